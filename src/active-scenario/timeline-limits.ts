import type {
  CompiledTimelineEntry,
  StoredTimelineEntry,
  TimelineAction,
} from '../scenarios/compiled.ts'
import { CREATING } from '../scenarios/operations-and-events.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'

// An entry that is late catches up at most this many runs; earlier ones are skipped.
const MAX_BEHIND = 1_000
// A scenario that runs for days must not fill the memory: a timeline adds no rows to a table beyond this number.
const MANY = 250_000
const MAX_ROWS = { users: MANY, kyc: MANY, bank_accounts: MANY, payments: MANY, deliveries: 50_000 }
// Most machines cannot do more work than this per real second; 1 is a row or two.
const MAX_COST_PER_SECOND = 10_000
// Replacing scenarios, rules or all data costs about as much as this many rows.
const REPLACEMENT_COST = 64
// A call costs about as much as this many rows.
const CALL_COST = 4

const formatCount = (n: number) => n.toLocaleString('en-US')

/** The name of an action: `create_users`, `credit`, ...; for a call its operation. */
export const actionName = (action: TimelineAction): string =>
  'call' in action ? action.call : Object.keys(action)[0]!

/** Whether an action ends its timeline. */
export const endsTimeline = (action: TimelineAction) => 'use' in action || 'reset' in action

/** The cost of an action; 1 is a row or two. */
export function costOf(action: TimelineAction): number {
  if ('create_users' in action) return action.create_users
  if ('call' in action) return CALL_COST
  return endsTimeline(action) || 'rule' in action ? REPLACEMENT_COST : 1
}

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

// The tables, and the names of the actions that add rows to them.
const GROWING_TABLES: readonly [table: keyof typeof MAX_ROWS, names: readonly string[]][] = [
  ['users', ['create_users', 'createUser']],
  ['kyc', ['submitKyc']],
  ['bank_accounts', ['addBankAccount']],
  ['payments', ['credit', 'payout', 'createTransaction']],
  ['deliveries', ['credit', 'payout', 'trigger', ...CREATING]],
]

/** The reason why an action is skipped: a table has the maximum number of rows; else `undefined`. */
export function limitReached(
  action: TimelineAction,
  { tables }: SandboxTables,
): string | undefined {
  for (const [table, names] of GROWING_TABLES) {
    if (!names.includes(actionName(action))) continue
    if (tables[table].size >= MAX_ROWS[table])
      return `skipped: the client has ${formatCount(MAX_ROWS[table])} ${table}, the maximum that a timeline creates`
  }
  return undefined
}

/** Returns a warning if the entries of a timeline are too frequent for a running clock. */
export function rateWarnings(
  timeline: readonly CompiledTimelineEntry[],
  { mode, speed }: Clock['state'],
): string[] {
  if (mode === 'frozen') return []
  let [turns, cost] = [0, 0]
  for (const { every_ms: everyMs, do: action } of timeline) {
    if (everyMs === undefined || endsTimeline(action)) continue
    const perSecond = (speed * 1_000) / everyMs
    turns += perSecond
    cost += perSecond * costOf(action)
  }
  if (cost <= MAX_COST_PER_SECOND) return []
  return [
    `timeline: at clock speed ${speed} its entries are due ${formatCount(turns)} times per real second, which is too often: they run as often as this machine can, and some runs are skipped`,
  ]
}
