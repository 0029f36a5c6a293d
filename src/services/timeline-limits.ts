import type { Clock } from '../core/clock.ts'
import type { CompiledTimelineEntry, TimelineAction } from '../scenarios/compiled.ts'
import type { SandboxTables } from './tables.ts'

/** What a stored entry of a timeline says: the action, and how it comes again. */
export type StoredTimelineEntry = { do: TimelineAction; every_ms?: number; left?: number }

// An entry that is behind makes up for this many turns at most; the earlier ones are left out.
const MAX_BEHIND = 1_000
// A scenario that runs for days must not fill the memory: a timeline adds nothing to a table beyond this.
const MAX_ROWS = { users: 250_000, payments: 250_000, deliveries: 50_000, rules: 2_000 } as const
// More work than this a real second is more than most machines do; 1 is a row or two.
const MAX_COST_PER_SECOND = 10_000
// What exchanges all that decides costs about as much as this many rows.
const REPLACEMENT_COST = 64

const formatCount = (n: number) => n.toLocaleString('en-US')

/** The word of an action: `create_users`, `credit`, ... */
export const actionName = (action: TimelineAction) => Object.keys(action)[0]!

/** An action that ends the timeline it is part of. */
export const endsTimeline = (action: TimelineAction) => 'use' in action || 'reset' in action

/** How much work an action is; 1 is a row or two. */
export function costOf(action: TimelineAction): number {
  if ('create_users' in action) return action.create_users
  return endsTimeline(action) || 'rule' in action ? REPLACEMENT_COST : 1
}

export const isRecurring = ({
  every_ms: everyMs,
  left,
  do: action,
}: StoredTimelineEntry): boolean =>
  everyMs !== undefined && (left === undefined || left > 1) && !endsTimeline(action)

/** How often an entry that is due at an instant runs from `now` until `at`; turns that it leaves out are not counted. */
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
    entry.left ?? Number.POSITIVE_INFINITY,
    1 + Math.floor((at - due_at) / everyMs) - skipped,
  )
}

/** When an entry comes again, and how many of its turns are left out since it is too far behind. */
export function nextTurn(everyMs: number, due_at: number, now: number) {
  const behind = Math.floor((now - due_at) / everyMs)
  const skipped = Math.max(0, behind - MAX_BEHIND)
  return { due_at: due_at + (skipped + 1) * everyMs, skipped }
}

const GROWING_TABLES: readonly [word: string, table: keyof typeof MAX_ROWS][] = [
  ['create_users', 'users'],
  ['credit', 'payments'],
  ['credit', 'deliveries'],
  ['trigger', 'deliveries'],
  ['rule', 'rules'],
]

/** Why an action is left out: the client has as many rows as a timeline may make; else `undefined`. */
export function limitReached(
  action: TimelineAction,
  { tables }: SandboxTables,
): string | undefined {
  for (const [word, table] of GROWING_TABLES) {
    if (!(word in action)) continue
    // The rows of each layer, a row that was changed in several counted in each: cheap, and near enough.
    const rows = tables[table].view().layers.reduce((sum, layer) => sum + layer.rows.size, 0)
    if (rows >= MAX_ROWS[table])
      return `skipped: the client has ${formatCount(MAX_ROWS[table])} ${table}, the maximum that a timeline creates`
  }
  return undefined
}

/** Says so where the entries of a timeline cannot keep their rates on a clock that ticks. */
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
