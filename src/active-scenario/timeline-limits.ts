import type { StoredTimelineEntry, TimelineAction } from '../scenarios/compiled.ts'
import { CREATING } from '../scenarios/operations-and-events.ts'
import type { SandboxTables } from '../tables/tables.ts'

// An entry that is late catches up at most this many runs; earlier ones are skipped.
const MAX_BEHIND = 1_000
// A scenario that runs for days must not fill the memory: once a table has this number of rows, a timeline adds no more to any.
const MANY = 250_000
const MAX_ROWS = { users: MANY, kyc: MANY, bank_accounts: MANY, payments: MANY, deliveries: 50_000 }

export const actionName = (action: TimelineAction): string =>
  'call' in action ? action.call : Object.keys(action)[0]!

export const endsTimeline = (action: TimelineAction) => 'use' in action || 'reset' in action

export const isRecurring = ({
  every_ms: everyMs,
  remaining,
  do: action,
}: StoredTimelineEntry): boolean =>
  everyMs !== undefined && (remaining === undefined || remaining > 1) && !endsTimeline(action)

/** The number of times that an entry runs between `now` and `at`; skipped runs are not counted. */
export function countRuns(
  entry: StoredTimelineEntry,
  due_at: number,
  at: number,
  now = due_at,
): number {
  if (!isRecurring(entry)) return 1
  const everyMs = entry.every_ms!
  const { skipped } = nextTurn(everyMs, due_at, now)
  return Math.min(
    entry.remaining ?? Number.POSITIVE_INFINITY,
    1 + Math.floor((at - due_at) / everyMs) - skipped,
  )
}

/** The time of the next run of an entry, and the number of runs that are skipped because it is too late. */
export function nextTurn(everyMs: number, due_at: number, now: number) {
  const behind = Math.floor((now - due_at) / everyMs)
  const skipped = Math.max(0, behind - MAX_BEHIND)
  return { due_at: due_at + (skipped + 1) * everyMs, skipped }
}

const GROWING = new Set<string>(['create_users', 'credit', 'payout', 'trigger', ...CREATING])

/** The reason why an action is skipped: a table has the maximum number of rows; else `undefined`. */
export function limitReached(
  action: TimelineAction,
  { tables }: SandboxTables,
): string | undefined {
  if (!GROWING.has(actionName(action))) return undefined
  for (const [table, max] of Object.entries(MAX_ROWS))
    if (tables[table as keyof typeof MAX_ROWS].size >= max)
      return `skipped: the client has ${max.toLocaleString('en-US')} ${table}, the maximum that a timeline creates`
  return undefined
}
