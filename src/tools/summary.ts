import type { Between } from '../model/paging.ts'
import { outcomeOf, type PaymentRow, rupeesOf, stepsOf } from '../model/payment.ts'
import { betweenTest } from '../model/search.ts'
import type { Summary } from '../model/summary.ts'
import { callerOf } from '../requests/request-log.ts'
import { isOwnDebit } from '../routes/admin/client-data.ts'
import type { World } from '../world/world.ts'
import { countBy } from './counting.ts'

// Minutes: round durations up to the longest time of a clock.
const BUCKETS = [1 / 60, 1 / 6, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 10_080]
const SIZES = [...BUCKETS, 1_440 * 30, 1_440 * 365, 1_440 * 365_000].map((n) => n * 60_000)
const MAX_BUCKETS = 60
const MAX_STUCK = 10
// A timer that is due runs in much less real time.
const LATE_MS = 1_000

/** A payment with its outcome, its steps, and when (ms) it was made and reached the last of them; each is computed once. */
function paidOf(row: PaymentRow) {
  const steps = stepsOf(row)
  const [made, reached] = [Date.parse(row.created_at), Date.parse(steps.at(-1)!.at)]
  return { row, outcome: outcomeOf(row), steps, made, reached }
}
type Paid = ReturnType<typeof paidOf>

const sumOf = (paid: readonly Paid[]) => ({
  count: paid.length,
  rupees: rupeesOf(paid.reduce((sum, { row }) => sum + row.paise, 0)),
})

function byReason(paid: readonly Paid[]) {
  return { ...sumOf(paid), reasons: countBy(paid, ({ row }) => row.failure?.reason ?? 'unknown') }
}

function medianToSuccess(paid: readonly Paid[]): number | null {
  const spans = paid
    .flatMap(({ steps, made }) => {
      const success = steps.find(({ status }) => status === 'SUCCESS')
      return success ? [Date.parse(success.at) - made] : []
    })
    .sort((a, b) => a - b)
  return spans[spans.length >> 1] ?? null
}

const BOUNDS = SIZES.slice(0, BUCKETS.length)

const perSpan = () => Array.from({ length: BOUNDS.length + 1 }, () => 0)
const placeOfSpan = (ms: number) => BOUNDS.filter((bound) => bound <= ms).length

/** How long payments of one outcome took to reach it. */
function tookOf(paid: readonly Paid[]) {
  if (paid.length === 0) return null
  // The clock can be set back.
  const spans = paid.map(({ made, reached }) => Math.max(0, reached - made)).sort((a, b) => a - b)
  const counts = perSpan()
  for (const span of spans) counts[placeOfSpan(span)]!++
  const at = (share: number) => spans[Math.ceil(spans.length * share) - 1]!
  return { p50_ms: at(0.5), p95_ms: at(0.95), counts }
}

function seriesOf(paid: readonly Paid[], world: World): Summary['series'] {
  if (paid.length === 0) return null
  // The clock can be set back, to before a payment was made or reached its status.
  const now = world.clock.now()
  const start = paid.reduce((least, { made, reached }) => Math.min(least, made, reached), now)
  const end = paid.reduce((most, { made, reached }) => Math.max(most, made, reached), now)
  const countOf = (size: number) => Math.floor(end / size) - Math.floor(start / size) + 1
  const size = SIZES.find((one) => countOf(one) <= MAX_BUCKETS)!
  const from = Math.floor(start / size)
  const each = () => Array.from({ length: countOf(size) }, () => 0)
  const paise = { settled: each(), failed: each() }
  const counts = { settled: each(), failed: each(), came_back: each() }
  for (const { row, outcome, reached } of paid) {
    if (outcome === 'in_flight') continue
    const bucket = Math.floor(reached / size) - from
    counts[outcome][bucket]!++
    paise[outcome === 'settled' ? outcome : 'failed'][bucket]! += row.paise
  }
  const outages = each()
  for (const { at, operation, status } of world.requests.newestFirst()) {
    const bucket = Math.floor(at / size) - from
    if (operation === 'createTransaction' && (status ?? 500) >= 500 && bucket in outages)
      outages[bucket]!++
  }
  return {
    from: new Date(from * size).toISOString(),
    bucket_ms: size,
    settled: paise.settled.map(rupeesOf),
    failed: paise.failed.map(rupeesOf),
    counts,
    outages,
  }
}

/** What a timer will settle, by how soon. */
function toComeOf({ clock }: World, inFlight: readonly Paid[]) {
  const rows = new Map(inFlight.map(({ row }) => [row.transaction_id, row]))
  const [paise, counts] = [perSpan(), perSpan()]
  for (const { kind, resource_id, due_at, payload } of clock.timers.pending()) {
    const row = kind === 'transaction.step' ? rows.get(resource_id ?? '') : undefined
    if (!row || payload['status'] !== 'SUCCESS') continue
    const span = placeOfSpan(due_at - clock.now())
    paise[span]! += row.paise
    counts[span]!++
  }
  return { rupees: paise.map(rupeesOf), counts }
}

function stuckOf({ clock }: World, inFlight: readonly Paid[]) {
  const latest = clock.now() - LATE_MS * clock.state.speed
  const steps = clock.timers.pending().filter(({ kind }) => kind === 'transaction.step')
  // Soonest first, so the last step of a payment decides.
  const dueAt = new Map(steps.map(({ resource_id, due_at }) => [resource_id, due_at]))
  const stuck = inFlight.filter(({ row }) => (dueAt.get(row.transaction_id) ?? 0) < latest)
  const payments = stuck.slice(0, MAX_STUCK).map(({ row, steps: taken }) => ({
    transaction_id: row.transaction_id,
    rupees: rupeesOf(row.paise),
    to: row.account_name,
    status: row.status,
    since: taken.at(-1)!.at,
    overdue: dueAt.has(row.transaction_id),
  }))
  return { ...sumOf(stuck), payments }
}

function deliveriesOf(world: World, isWanted: (at: string | number) => boolean, isAll: boolean) {
  const { deliveries } = world.webhooks
  const tries: number[] = []
  const recorded = deliveries.recorded()
  const counts = { first_attempt: 0, with_retry: 0, waiting: 0, failed: 0, not_sent: 0 }
  for (const { status, attempts, created_at } of deliveries.all()) {
    if (!isWanted(created_at)) continue
    if (status === 'delivered') {
      // One that was sent again by hand has more attempts than it needed.
      const needed = attempts.findIndex(({ ok }) => ok)
      counts[needed === 0 ? 'first_attempt' : 'with_retry']++
      while (tries.length <= needed) tries.push(0)
      if (needed >= 0) tries[needed]!++
    } else if (status === 'pending') counts.waiting++
    else counts[status === 'failed' ? 'failed' : 'not_sent']++
  }
  // Only the newest are kept, but their ids count all of them.
  const { delivery_id: last = 'rec_0' } = recorded.at(-1) ?? {}
  counts.not_sent += isAll
    ? Number(last.slice(4))
    : recorded.filter(({ at }) => isWanted(at)).length
  return { ...counts, tries }
}

/** Sums up a client, overall or between two instants: plain loops, because few callers want it. */
export function summaryOf(world: World, between: Between): Summary {
  const isThen = betweenTest(between)
  const isWanted = isThen ?? (() => true)
  const { payments } = world.tables.tables
  const paid = payments
    .rows()
    .filter((row) => isOwnDebit(world, row))
    .map(paidOf)
    .filter(({ reached }) => isWanted(reached))
  const of = (wanted: Paid['outcome']) => paid.filter(({ outcome }) => outcome === wanted)
  const [settled, inFlight] = [of('settled'), of('in_flight')]
  const finished = paid.length - inFlight.length
  const calls = world.requests
    .newestFirst()
    .filter((call) => isWanted(call.at) && callerOf(call) === 'code')
  const others = calls.filter(({ rule, stepsRule }) => rule === undefined || rule === stepsRule)
  const [failed, cameBack] = [of('failed'), of('came_back')]
  return {
    settled: sumOf(settled),
    in_flight: sumOf(inFlight),
    failed: byReason(failed),
    came_back: byReason(cameBack),
    success_rate: finished === 0 ? null : settled.length / finished,
    median_to_success_ms: medianToSuccess(paid),
    series: seriesOf(paid, world),
    spans: {
      bounds_ms: BOUNDS,
      settled: tookOf(settled),
      failed: tookOf(failed),
      came_back: tookOf(cameBack),
      to_come: toComeOf(world, inFlight),
    },
    stuck: stuckOf(world, inFlight),
    deliveries: deliveriesOf(world, isWanted, !isThen),
    calls: {
      all: calls.length,
      refused: others.filter(({ status = 0 }) => status >= 400).length,
      by_class: countBy(calls, ({ status }) => (status ? `${Math.floor(status / 100)}xx` : 'none')),
      by_rule: calls.length - others.length,
      dropped: world.requests.dropped,
    },
  }
}
