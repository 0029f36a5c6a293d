import { outcomeOf, type PaymentRow, rupeesOf, stepsOf } from '../model/payment.ts'
import type { Summary } from '../model/summary.ts'
import { isOwnDebit } from '../routes/admin/client-data.ts'
import type { World } from '../world/world.ts'

// Minutes: round durations up to the longest time of a clock.
const BUCKETS = [1 / 60, 1 / 6, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 10_080]
const SIZES = [...BUCKETS, 1_440 * 30, 1_440 * 365, 1_440 * 365_000].map((n) => n * 60_000)
const MAX_BUCKETS = 60
const MAX_STUCK = 10
// A timer that is due runs in much less real time.
const LATE_MS = 1_000

const sumOf = (rows: readonly PaymentRow[]) => ({
  count: rows.length,
  rupees: rupeesOf(rows.reduce((sum, { paise }) => sum + paise, 0)),
})

function byReason(rows: readonly PaymentRow[]) {
  const reasons: Record<string, number> = {}
  for (const { failure } of rows) {
    const reason = failure?.reason ?? 'unknown'
    reasons[reason] = (reasons[reason] ?? 0) + 1
  }
  return { ...sumOf(rows), reasons }
}

/** A payment with its steps, which are computed once. */
type Paid = PaymentRow & { steps: ReturnType<typeof stepsOf> }

const reachedAt = ({ steps }: Paid) => steps.at(-1)!.at

function medianToSuccess(rows: readonly Paid[]): number | null {
  const spans = rows
    .flatMap((row) => {
      const success = row.steps.find(({ status }) => status === 'SUCCESS')
      return success ? [Date.parse(success.at) - Date.parse(row.created_at)] : []
    })
    .sort((a, b) => a - b)
  return spans[spans.length >> 1] ?? null
}

function seriesOf(rows: readonly Paid[], now: number): Summary['series'] {
  if (rows.length === 0) return null
  const start = Math.min(...rows.map(({ created_at }) => Date.parse(created_at)))
  // The clock can be set back, to before a payment.
  const end = Math.max(now, ...rows.map((row) => Date.parse(reachedAt(row))))
  const countOf = (size: number) => Math.floor(end / size) - Math.floor(start / size) + 1
  const size = SIZES.find((one) => countOf(one) <= MAX_BUCKETS)!
  const from = Math.floor(start / size)
  const paise = Array.from({ length: countOf(size) }, () => ({ settled: 0, failed: 0 }))
  for (const row of rows) {
    const outcome = outcomeOf(row)
    const bucket = paise[Math.floor(Date.parse(reachedAt(row)) / size) - from]!
    if (outcome === 'in_flight') continue
    bucket[outcome === 'settled' ? 'settled' : 'failed'] += row.paise
  }
  return {
    from: new Date(from * size).toISOString(),
    bucket_ms: size,
    settled: paise.map(({ settled }) => rupeesOf(settled)),
    failed: paise.map(({ failed }) => rupeesOf(failed)),
  }
}

function stuckOf({ scheduler, clock }: World, inFlight: readonly Paid[]) {
  const latest = clock.now() - LATE_MS * clock.state.speed
  const steps = scheduler.pending().filter(({ kind }) => kind === 'transaction.step')
  // Soonest first, so the last step of a payment decides.
  const dueAt = new Map(steps.map(({ resource_id, due_at }) => [resource_id, due_at]))
  const stuck = inFlight.filter(({ transaction_id: id }) => (dueAt.get(id) ?? 0) < latest)
  const payments = stuck.slice(0, MAX_STUCK).map((row) => ({
    transaction_id: row.transaction_id,
    rupees: rupeesOf(row.paise),
    to: row.account_name,
    status: row.status,
    since: reachedAt(row),
    overdue: dueAt.has(row.transaction_id),
  }))
  return { ...sumOf(stuck), payments }
}

function deliveriesOf({ deliveries }: World, isWanted: (at: string | number) => boolean) {
  const counts = { first_attempt: 0, with_retry: 0, waiting: 0, failed: 0, not_sent: 0 }
  for (const { status, attempts, created_at } of deliveries.all()) {
    if (!isWanted(created_at)) continue
    if (status === 'delivered') counts[attempts[0]?.ok ? 'first_attempt' : 'with_retry']++
    else if (status === 'pending') counts.waiting++
    else counts[status === 'failed' ? 'failed' : 'not_sent']++
  }
  counts.not_sent += deliveries.recorded().filter(({ at }) => isWanted(at)).length
  return counts
}

/** Sums up a client, of an instant on: plain loops, because few callers want it. */
export function summaryOf(world: World, since = ''): Summary {
  const isWanted = (at: string | number) => since === '' || new Date(at).toISOString() >= since
  const { payments } = world.tables.tables
  const rows = payments
    .rows()
    .filter((row) => isOwnDebit(world, row) && isWanted(row.created_at))
    .map((row): Paid => ({ ...row, steps: stepsOf(row) }))
  const of = (outcome: string) => rows.filter((row) => outcomeOf(row) === outcome)
  const [settled, inFlight] = [of('settled'), of('in_flight')]
  const finished = rows.length - inFlight.length
  const calls = world.requests.newestFirst().filter(({ at }) => isWanted(at))
  const others = calls.filter(({ rule, stepsRule }) => rule === undefined || rule === stepsRule)
  return {
    settled: sumOf(settled),
    in_flight: sumOf(inFlight),
    failed: byReason(of('failed')),
    came_back: byReason(of('came_back')),
    success_rate: finished === 0 ? null : settled.length / finished,
    median_to_success_ms: medianToSuccess(rows),
    series: seriesOf(rows, world.clock.now()),
    stuck: stuckOf(world, inFlight),
    deliveries: deliveriesOf(world, isWanted),
    calls: {
      all: calls.length,
      refused: others.filter(({ status = 0 }) => status >= 400).length,
      by_rule: calls.length - others.length,
      dropped: world.requests.dropped,
    },
  }
}
