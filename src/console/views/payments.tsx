import { useState } from 'preact/hooks'
import { EVENTS } from '../../scenarios/words.ts'
import { type Clock, untilText, useNow } from '../clock.ts'
import { useLoaded, usePages } from '../data.ts'
import type { Delivery, Payment, Timer } from '../types.ts'
import { Act, At, Card, Chip, Choice, type Column, Facts, Input, Problem, Rows } from '../ui.tsx'

const COLUMNS: readonly Column<Payment>[] = [
  {
    title: 'Amount',
    width: 'minmax(0, 2fr)',
    show: ({ amount, currency_code }) => `${amount} ${currency_code}`,
  },
  {
    title: 'Status',
    width: 'minmax(0, 2fr)',
    show: ({ history }) => <Chip state={history.status} />,
  },
  { title: 'To', width: 'minmax(0, 3fr)', show: ({ history }) => history.account_holder_name },
  {
    title: 'Type',
    width: 'minmax(0, 1fr)',
    minor: true,
    show: ({ transaction_type }) => transaction_type,
  },
  {
    title: 'Reference',
    width: 'minmax(0, 2fr)',
    minor: true,
    show: ({ reference_id }) => reference_id ?? '–',
  },
  {
    title: 'Remark',
    width: 'minmax(0, 2fr)',
    minor: true,
    show: ({ history }) => history.remark,
  },
  {
    title: 'Created',
    width: 'minmax(0, 3fr)',
    minor: true,
    show: ({ created_at }) => <At at={created_at} />,
  },
]
const hrefOf = ({ transaction_id }: Payment) => `#/payments/${transaction_id}`

export function Payments() {
  const { total, problem, at, want } = usePages<Payment>('/transactions', 'transactions', [
    'change',
  ])
  return (
    <>
      <h2>Payments</h2>
      <Problem text={problem} />
      {total !== undefined && (
        <Rows
          label="Payments"
          columns={COLUMNS}
          total={total}
          at={at}
          want={want}
          href={hrefOf}
          empty="There is no payment yet. POST /v1/transaction makes one."
        />
      )}
    </>
  )
}

type Moment = { at: string; order: number; key: string; what: preact.ComponentChildren }

/** What happened to a payment and what will, in the order of time. */
function timelineOf(payment: Payment, deliveries: readonly Delivery[], timers: readonly Timer[]) {
  const done: Moment[] = [
    {
      at: payment.created_at,
      order: 0,
      key: 'created',
      what: (
        <>
          created: <b>{payment.amount}</b> {payment.currency_code}
        </>
      ),
    },
  ]
  const ahead: Moment[] = []
  const statuses = new Set<string>()
  for (const delivery of deliveries) {
    const { delivery_id, event, created_at, status, next_attempt_at } = delivery
    statuses.add(event.slice(event.indexOf('.') + 1).toUpperCase())
    const link = <a href={`#/deliveries/${delivery_id}`}>{event}</a>
    done.push({
      at: created_at,
      order: 1,
      key: `event ${delivery_id}`,
      what: (
        <>
          event {link} <Chip state={status} />
        </>
      ),
    })
    for (const { number, at, ok, status: answered, error } of delivery.attempts)
      done.push({
        at,
        order: 2,
        key: `attempt ${delivery_id} ${number}`,
        what: (
          <>
            attempt {number} of {link}: <b>{ok ? 'taken' : 'not taken'}</b> (
            {answered ?? error?.code})
          </>
        ),
      })
    if (status === 'pending')
      ahead.push({
        at: next_attempt_at ?? '',
        order: 2,
        key: `next ${delivery_id}`,
        what: (
          <>
            {next_attempt_at === null
              ? 'waits for the event before it'
              : `attempt ${delivery.attempts.length + 1}`}
            : {link}
          </>
        ),
      })
  }
  // A payment of the fixtures, or one whose events are no longer kept.
  const { status, metadata } = payment.history
  if (!statuses.has(status) && status !== 'PENDING')
    done.push({
      at: payment.updated_at,
      order: 1,
      key: 'status',
      what: (
        <>
          became <Chip state={status} /> {metadata?.reason}
        </>
      ),
    })
  for (const { timer_id, at, kind, payload } of timers)
    ahead.push({
      at,
      order: 0,
      key: timer_id,
      what: (
        <>
          {kind === 'transaction.step' ? 'becomes' : kind}{' '}
          <Chip state={String(payload['status'] ?? '')} />{' '}
          {payload['reason'] === undefined ? '' : String(payload['reason'])}
        </>
      ),
    })
  const inTime = (a: Moment, b: Moment) => a.at.localeCompare(b.at) || a.order - b.order
  // What has no instant waits for what has one.
  const last = (a: Moment, b: Moment) => Number(a.at === '') - Number(b.at === '') || inTime(a, b)
  return { done: done.sort(inTime), ahead: ahead.sort(last) }
}

const MOVES = ['PROCESSING', 'SUCCESS', 'FAILED'] as const
const mayMove = (from: string, to: string) =>
  from === 'PENDING' ||
  (from === 'PROCESSING' && to !== 'PROCESSING') ||
  (from === 'SUCCESS' && to === 'FAILED')

function Move({ payment }: { payment: Payment }) {
  const [reason, setReason] = useState('')
  const [event, setEvent] = useState('transaction.success')
  const { transaction_id, history } = payment
  return (
    <Card title="Move it by hand">
      <Input
        label="Reason of a failure"
        value={reason}
        placeholder="bank_account_closed"
        onInput={setReason}
      />
      <div class="row">
        {MOVES.map((status) => (
          <Act
            key={status}
            label={status}
            disabled={!mayMove(history.status, status)}
            call={{
              method: 'POST',
              path: `/simulate/transactions/${transaction_id}`,
              body: { status, ...(status === 'FAILED' && reason !== '' && { reason }) },
            }}
          />
        ))}
      </div>
      <div class="row">
        <Choice
          label="Event"
          value={event}
          values={EVENTS.filter((one) => one.startsWith('transaction.'))}
          onChange={setEvent}
        />
        <Act
          label="Trigger"
          call={{
            method: 'POST',
            path: '/webhooks/trigger',
            body: { event, resource_id: transaction_id },
          }}
        />
      </div>
    </Card>
  )
}

const Moments = ({ moments, now }: { moments: readonly Moment[]; now?: number }) => (
  <ol class="timeline">
    {moments.map(({ key, at, what }) => (
      <li key={key} class={now === undefined ? '' : 'ahead'}>
        {at === '' ? <span class="hint">later</span> : <At at={at} />}
        <span>{what}</span>
        {now !== undefined && at !== '' && (
          <span class="hint">{untilText(Date.parse(at) - now)}</span>
        )}
      </li>
    ))}
  </ol>
)

export function OnePayment({ id, clock }: { id: string; clock: Clock }) {
  const { data, problem } = useLoaded<{
    transaction: Payment
    deliveries: Delivery[]
    timers: Timer[]
  }>(`/transactions/${encodeURIComponent(id)}`, ['change', 'delivery', 'timer'])
  const now = useNow(clock)
  const crumbs = (
    <p class="crumbs">
      <a href="#/payments">Payments</a>
    </p>
  )
  if (!data)
    return (
      <>
        {crumbs}
        <Problem text={problem} />
      </>
    )
  const { transaction: payment, deliveries, timers } = data
  const { done, ahead } = timelineOf(payment, deliveries, timers)
  return (
    <>
      {crumbs}
      <h2>
        {payment.amount} {payment.currency_code} to {payment.history.account_holder_name}{' '}
        <Chip state={payment.history.status} />
      </h2>
      <Problem text={problem} />
      <div class="cards">
        <Card title="What happened" wide>
          <Moments moments={done} />
        </Card>
        <Card title="What is to come" wide>
          {ahead.length === 0 ? (
            <p class="empty">Nothing: it stays {payment.history.status} unless it is moved.</p>
          ) : (
            <Moments moments={ahead} now={now} />
          )}
        </Card>
        <Card title="Payment">
          <Facts
            facts={[
              ['Id', <code key="id">{payment.transaction_id}</code>],
              [
                'From',
                <a key="from" href={`#/users/${payment.from_user_id}`}>
                  {payment.from_user_id}
                </a>,
              ],
              [
                'To',
                <a key="to" href={`#/users/${payment.to_user_id}`}>
                  {payment.to_user_id}
                </a>,
              ],
              ['Account', <code key="account">{payment.history.account_number}</code>],
              ['Bank', payment.history.bank_name],
              ['Type', payment.transaction_type],
              ['Reference', payment.reference_id],
              ['Remark', payment.history.remark || null],
              ['UTR', payment.utr],
              ['Failure', payment.history.metadata?.description],
            ]}
          />
        </Card>
        <Move payment={payment} />
      </div>
    </>
  )
}
