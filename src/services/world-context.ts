import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import type { ResourceEvents } from '../core/resource-events.ts'
import type { Scheduler } from '../core/scheduler.ts'
import { SandboxError } from '../model/errors.ts'
import type { SandboxTables } from './tables.ts'

/** What every service of a world is made from. */
export type WorldContext = {
  store: SandboxTables
  clock: Clock
  random: Random
  scheduler: Scheduler
  events: ResourceEvents
}

/** The refusal of an id that this client does not have; `field` is where a body has it. */
export function notFound(noun: string, id: string, field?: string): SandboxError {
  const message = `No ${noun} ${id} for this client.`
  return new SandboxError('not_found', message, fieldError(field, 'not_found', message))
}

/** Names the field that a refusal is about. */
export const fieldError = (field: string | undefined, code: string, message: string) =>
  field === undefined ? {} : { errors: [{ field, code, message }] }
