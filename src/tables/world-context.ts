import type { Assumed } from '../assumptions/readings.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { Random } from '../runtime/random.ts'
import type { Entry, Table } from '../store/table.ts'
import type { Clock } from '../time/clock.ts'
import type { Scheduler } from '../time/scheduler.ts'
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

/** The kinds of resources: the part of an event's name before the dot. */
export type ResourceKind = 'transaction' | 'kyc' | 'bank' | 'user' | 'webhook'

export const kindOf = (event: string) => event.slice(0, event.indexOf('.')) as ResourceKind

export const TABLE_OF = {
  transaction: 'payments',
  kyc: 'kyc',
  bank: 'bank_accounts',
  user: 'users',
  webhook: 'webhook',
} as const

export function drawUntil(isFree: (id: string) => boolean, draw: () => string): string {
  for (;;) {
    const id = draw()
    if (isFree(id)) return id
  }
}

/** A drawn id that no row of a table has: rows of fixtures or of an import may be from the same random series. */
export const newIdIn = (table: { get: (id: string) => unknown }, draw: () => string): string =>
  drawUntil((id) => table.get(id) === undefined, draw)

/** The given id, or for `latest` the id of the newest resource of its kind; throws `not_found` if there is none. */
export function resourceIdOf({ tables }: SandboxTables, kind: ResourceKind, resource: string) {
  const table = tables[TABLE_OF[kind]]
  const id = resource === 'latest' ? table.newest('all', 'all')?.id : resource
  if (id !== undefined) return id
  throw new SandboxError('not_found', `No ${kind} exists yet, so \`latest\` matches nothing.`)
}

/** An event of a resource, emitted inside the change that caused it. */
export type ResourceEvent = {
  /** `transaction.success`, `kyc.failed`, … */
  type: string
  resourceId: string
  /** A caller triggered the event; no change of the resource caused it. */
  asked: boolean
}

/** Emits events to listeners, which may add to the change; if one throws, the change is rolled back. */
export function createResourceEvents() {
  const listeners: ((event: ResourceEvent) => void)[] = []
  return {
    on(listener: (event: ResourceEvent) => void) {
      listeners.push(listener)
    },
    emit(type: string, resourceId: string, asked = false) {
      for (const listener of listeners) listener({ type, resourceId, asked })
    },
  }
}

export type ResourceEvents = ReturnType<typeof createResourceEvents>
