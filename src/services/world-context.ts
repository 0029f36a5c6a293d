import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import type { ResourceEvents } from '../core/resource-events.ts'
import type { Scheduler } from '../core/scheduler.ts'
import { SandboxError } from '../model/errors.ts'
import type { SandboxTables } from './tables.ts'

/** The dependencies of every service of a world. */
export type WorldContext = {
  store: SandboxTables
  clock: Clock
  random: Random
  scheduler: Scheduler
  events: ResourceEvents
}

/** The error of an id that this client does not have; `field` is the body field with the id. */
export function notFound(noun: string, id: string, field?: string): SandboxError {
  const message = `No ${noun} ${id} for this client.`
  return new SandboxError('not_found', message, fieldError(field, 'not_found', message))
}

/** The `errors` of an error about one field. */
export const fieldError = (field: string | undefined, code: string, message: string) =>
  field === undefined ? {} : { errors: [{ field, code, message }] }
