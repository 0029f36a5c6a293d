import type { Assumed } from '../assumptions/readings.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { Random } from '../runtime/random.ts'
import type { Entry, Table } from '../store/table.ts'
import type { Clock } from '../time/clock.ts'
import type { Scheduler } from '../time/scheduler.ts'
import type { ResourceEvents } from './resources.ts'
import type { SandboxTables } from './tables.ts'

export type WorldContext = {
  store: SandboxTables
  clock: Clock
  random: Random
  scheduler: Scheduler
  events: ResourceEvents
  /** The readings in force of the points that the contract leaves open. */
  assumed: Assumed
}

/** The error of an id that this client does not have; `field` is the body field with the id. */
export function notFound(noun: string, id: string, field?: string): SandboxError {
  const message = `No ${noun} ${id} for this client.`
  return new SandboxError('not_found', message, fieldError(field, 'not_found', message))
}

/** The row with an id in a table of this client; throws `not_found`. */
export function entryIn<R>(
  table: Pick<Table<R>, 'entry'>,
  noun: string,
  id: string,
  field?: string,
): Entry<R> {
  const entry = table.entry(id)
  if (entry) return entry
  throw notFound(noun, quoteInput(id), field)
}

export const fieldError = (field: string | undefined, code: string, message: string) =>
  field === undefined ? {} : { errors: [{ field, code, message }] }
