// What happened, as sentences: made of the newest payments, deliveries and calls.
import type { ComponentChildren } from 'preact'
import { groupBy } from '../../counting.ts'
import { callOf, type Delivery, type Payment, type ShortRequest, type User } from '../api.ts'
import { countText, isoOf, rupeesText } from '../format.ts'
import { setUrlFields, useUrlFields } from '../route.ts'
import { Ago } from '../settings.tsx'
import { Card, Problem } from '../ui.tsx'
import { PACE_MS, useLoaded, useStill } from '../use-data.ts'
import { callText, errorText, isBad, OUTCOMES, receiptText, wordsOf } from './payment-words.ts'

type Item = {
  key: string
  at: string
  tone: string
  href: string
  text: ComponentChildren
  settled?: Payment
}

const MAX_ITEMS = 20
// A sentence takes a moment to read.
const READ_MS = 2 * PACE_MS

export const kycReason = ({ kyc_status, metadata }: User['kyc'][number]): string | undefined =>
  kyc_status === 'failed' && metadata ? wordsOf(metadata.response.message) : undefined

function itemOfPayment(payment: Payment, firstOf: ReadonlyMap<string, Delivery>): Item {
  const { transaction_id: id, amount, history, failure, outcome, updated_at } = payment
  const key = `${id} transaction.${history.status.toLowerCase()}`
  const { tone, verb } = OUTCOMES[outcome]
  const event = firstOf.get(key)
  const text = (
    <>
      <b>{rupeesText(amount)}</b> to {history.account_holder_name} {verb}
      {failure && `: ${wordsOf(failure.reason)}`}.{event && receiptText(event)}
    </>
  )
  return {
    key,
    at: event?.created_at ?? updated_at,
    tone,
    href: `#/payments/${id}`,
    text,
    ...(outcome === 'settled' && { settled: payment }),
  }
}

const PEOPLE: Readonly<Record<string, readonly [tone: string, before: string, after: string]>> = {
  'user.created': ['line', '', 'is a new user'],
  'kyc.success': ['good', '', 'passed KYC'],
  'kyc.failed': ['bad', 'KYC of ', 'failed'],
}

function itemsOfEvent(event: Delivery, users: readonly User[]): Item[] {
  const { resource_id: id, created_at: at } = event
  const words = PEOPLE[event.event]
  const isAbout = ({ user_id, kyc }: User) =>
    user_id === id || kyc.some(({ kyc_id }) => kyc_id === id)
  const user = words && users.find(isAbout)
  if (!user) return []
  const [tone, before, after] = words
  const record = user.kyc.find(({ kyc_id }) => kyc_id === id)
  const reason = record && kycReason(record)
  const why = reason ? `: ${reason}` : ''
  const text = (
    <>
      {before}
      <b>{record?.full_name ?? user.email}</b> {after}
      {why}.{receiptText(event)}
    </>
  )
  return [{ key: `${id} ${event.event}`, at, tone, href: `#/users/${user.user_id}`, text }]
}

const MINUTE_MS = 60_000

/** A call. If it made a payment although its caller got an error, one sentence says both. */
function itemOfCall(call: ShortRequest, payments: readonly Payment[]): Item {
  const { request_id, at, amount, reference_id } = call
  const error = errorText(call)
  const isOf = (one: Payment) =>
    Number(one.amount) === Number(amount) &&
    one.reference_id === reference_id &&
    one.created_at >= at &&
    Date.parse(one.created_at) - Date.parse(at) < MINUTE_MS
  const payment = error === undefined ? undefined : payments.findLast(isOf)
  return {
    key: request_id,
    at,
    tone: isBad(call) ? 'bad' : 'line',
    href: payment ? `#/payments/${payment.transaction_id}` : `#/requests/${request_id}`,
    text: payment ? (
      <>
        {error} <b>{rupeesText(payment.amount)}</b> to {payment.history.account_holder_name}{' '}
        {OUTCOMES[payment.outcome].verb} anyway.
      </>
    ) : (
      callText(call)
    ),
  }
}

const MANY = 3

/** What settled in a minute is one sentence, with the largest. */
function grouped(items: readonly Item[]): Item[] {
  const groups = groupBy(items, ({ key, at, settled }) =>
    settled ? `${Math.floor(Date.parse(at) / MINUTE_MS)}` : key,
  )
  return [...groups.values()].flatMap((group) =>
    group.length < MANY ? group : [itemOfGroup(group)],
  )
}

function itemOfGroup(group: readonly Item[]): Item {
  const paid = group.map(({ settled }) => settled!)
  const largest = paid.reduce((a, b) => (Number(b.amount) > Number(a.amount) ? b : a))
  const paise = paid.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0)
  const at = group[0]!.at
  const from = Math.floor(Date.parse(at) / MINUTE_MS) * MINUTE_MS
  const then = `since=${isoOf(from)}&until=${isoOf(from + MINUTE_MS - 1)}`
  const text = (
    <>
      {countText(paid.length, 'payment')} settled, <b>{rupeesText((paise / 100).toFixed(2))}</b>,
      the largest is <b>{rupeesText(largest.amount)}</b> to {largest.history.account_holder_name}.
    </>
  )
  const href = `#/payments?outcome=settled&${then}`
  // The oldest says which group it is, however many follow.
  return { key: `many ${group.at(-1)!.key}`, at, tone: 'good', href, text }
}

const FILTERS = { any: 'All', failed: 'Failed', came_back: 'Came back', calls: 'My calls' } as const
type Filter = keyof typeof FILTERS

const DELIVERIES = callOf('listDeliveries', { query: { limit: 100 } })
const USERS = callOf('readUsers', { query: { limit: 100 } })

function useItems(filter: Filter) {
  const query = { outcome: filter === 'calls' ? 'any' : filter, limit: 50 }
  const payments = useLoaded(callOf('readTransactions', { query }), READ_MS)
  const deliveries = useLoaded(DELIVERIES, READ_MS)
  const of = filter === 'calls' ? { by: 'code' } : {}
  const calls = useLoaded(callOf('listRequests', { query: { ...of, limit: 50 } }), READ_MS)
  const users = useLoaded(USERS, READ_MS)
  const problem = payments.problem ?? deliveries.problem ?? calls.problem ?? users.problem
  // All at once, because what is shown may be held.
  if (!payments.data || !deliveries.data || !calls.data || !users.data)
    return { problem, items: [] }
  const events = deliveries.data.deliveries
  // The first delivery of each event, which is the last in the list: later ones are copies, or were triggered by hand.
  const firstOf = new Map(events.map((one) => [`${one.resource_id} ${one.event}`, one]))
  const paid = payments.data.transactions.map((one) => itemOfPayment(one, firstOf))
  const met = events.flatMap((one) => itemsOfEvent(one, users.data!.users))
  const once = new Map(met.map((one) => [one.key, one])).values()
  const { requests } = calls.data
  const shown = filter === 'calls' ? requests : requests.filter(isBad)
  const mine = shown.map((one) => itemOfCall(one, payments.data!.transactions))
  const items = filter === 'calls' ? mine : filter === 'any' ? [...paid, ...once, ...mine] : paid
  items.sort((a, b) => b.at.localeCompare(a.at))
  return { problem, items: grouped(items).slice(0, MAX_ITEMS) }
}

export function Feed() {
  const asked = useUrlFields().get('feed') ?? ''
  const filter = Object.hasOwn(FILTERS, asked) ? (asked as Filter) : 'any'
  const { items, problem } = useItems(filter)
  const { value: shown, props } = useStill(items, filter)
  const news = items.filter(({ key }) => !shown.some((one) => one.key === key)).length
  return (
    <Card
      title="What happened"
      beside={
        <>
          {/* It has its place before it appears, so that it moves nothing. */}
          <span class="chip" style={{ visibility: news > 0 ? 'visible' : 'hidden' }}>
            {news} new
          </span>
          <div class="seg" role="group" aria-label="Show">
            {Object.entries(FILTERS).map(([name, title]) => (
              <button
                type="button"
                key={name}
                aria-pressed={name === filter}
                onClick={() => setUrlFields({ feed: name === 'any' ? '' : name })}
              >
                {title}
              </button>
            ))}
          </div>
        </>
      }
    >
      <Problem text={problem} />
      <ul class="list happened" {...props}>
        {/* A new one on top changes what stands in each place, and moves no row. */}
        {shown.map(({ key, at, tone, href, text }, i) => (
          <li key={`${i} ${key}`}>
            <a href={href}>
              <span class={`shape ${tone}`} />
              {text}
            </a>
            <span class="hint">
              <Ago short at={at} />
            </span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="empty">Nothing of this kind yet.</p>}
    </Card>
  )
}
