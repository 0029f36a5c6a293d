import type { Clock } from '../core/clock.ts'
import type { Events } from '../core/events.ts'
import type { Random } from '../core/random.ts'
import type { Scheduler } from '../core/scheduler.ts'
import { SandboxError } from '../model/errors.ts'
import type { SandboxTables } from './tables.ts'

/** What every service of a world is made from. */
export type Parts = {
  store: SandboxTables
  clock: Clock
  random: Random
  scheduler: Scheduler
  events: Events
}

/** The refusal of an id that this client does not have. */
export const notFound = (noun: string, id: string): SandboxError =>
  new SandboxError('not_found', `No ${noun} ${id} for this client.`)
