import { useState } from 'preact/hooks'
import { EVENTS } from '../../../scenarios/operations-and-events.ts'
import { Act } from '../act.tsx'
import { type Clock, callOf, type Payment, type PaymentWithAll } from '../api.ts'
import { Choice, Input } from '../fields.tsx'
import { rupeesText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, Chip, Facts, HttpStatus, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Trigger } from './send.tsx'
import { Timeline } from './timeline.tsx'

const STATUSES = ['PROCESSING', 'SUCCESS', 'FAILED'] as const
const canChange = (from: string, to: string) =>
  from === 'PENDING' ||
  (from === 'PROCESSING' && to !== 'PROCESSING') ||
  (from === 'SUCCESS' && to === 'FAILED')

function ChangeStatus({ payment }: { payment: Payment }) {
  const [reason, setReason] = useState('')
  const [event, setEvent] = useState('transaction.success')
  const { transaction_id, history } = payment
  return (
    <Card title="Change status">
      <Input
        label="Failure reason"
        value={reason}
        placeholder="bank_account_closed"
        onInput={setReason}
      />
      <div class="row">
        {STATUSES.map((status) => (
          <Act
            key={status}
            label={status}
            disabled={!canChange(history.status, status)}
            call={callOf('simulateTransaction', {
              params: { id: transaction_id },
              body: { status, ...(status === 'FAILED' && reason !== '' && { reason }) },
            })}
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
        <Trigger event={event} resource={transaction_id} />
      </div>
      <p>
        <a href={`#/explore?transaction_id=${transaction_id}`}>Send its events in every order</a>
      </p>
    </Card>
  )
}

const DECIDED: Readonly<Record<PaymentWithAll['decided_by']['by'], string>> = {
  rule: 'a rule',
  magic_value: 'a magic value',
  default: 'no rule: the default steps',
  call: 'by hand: an admin call set the status',
  timeline: 'the timeline of the scenario',
  unknown:
    'unknown: the request log has no call that made it (fixtures, a timeline, or an old call)',
}

/** Who decided what happens to the payment. */
const Decided = ({ decided: { by, rule } }: { decided: PaymentWithAll['decided_by'] }) => (
  <>
    {by === 'magic_value' ? <a href="#/magic-values">{DECIDED[by]}</a> : DECIDED[by]}
    {rule !== null && (
      <>
        {by === 'call' || by === 'timeline' ? '; before, ' : ': '}
        <b>{rule}</b>
      </>
    )}
  </>
)

/** The calls in the log that concern the payment. */
const Calls = ({ requests }: { requests: PaymentWithAll['requests'] }) => (
  <Card title="Requests">
    {requests.length === 0 && <p class="empty">The request log has no call about it.</p>}
    <ul class="list">
      {requests.map(({ request_id, method, path, status, fault, rule, at }) => (
        <li key={request_id}>
          <a href={`#/requests/${request_id}`}>
            {method} {path}
          </a>
          <HttpStatus status={status} fault={fault} />
          {rule !== null && <span class="hint">{rule}</span>}
          <At at={at} />
        </li>
      ))}
    </ul>
  </Card>
)

/** A link to a user. Shows the email address when it is loaded. */
function UserLink({ id }: { id: string }) {
  const { data } = useLoaded(callOf('readUser', { params: { id } }), [])
  return <a href={`#/users/${id}`}>{data?.email ?? id}</a>
}

export function OnePayment({ id, clock }: { id: string; clock: Clock }) {
  const { data, problem } = useLoaded(callOf('readTransaction', { params: { id } }), [
    'change',
    'delivery',
    'timer',
    'request',
  ])
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
  const payment = data.transaction
  return (
    <>
      {crumbs}
      <h2>
        {rupeesText(payment.amount, payment.currency_code)} to {payment.history.account_holder_name}{' '}
        <Chip state={payment.history.status} />
      </h2>
      <Problem text={problem} />
      <div class="cards">
        <Card title="Timeline" wide>
          <Timeline all={data} clock={clock} />
          {clock.mode === 'frozen' && clock.next_timer_at !== null && (
            <Act label="To the next timer" call={callOf('advanceClockToNext')} />
          )}
        </Card>
        <Card title="Payment">
          <Facts
            facts={[
              ['Id', <code key="id">{payment.transaction_id}</code>],
              ['From', <UserLink key="from" id={payment.from_user_id} />],
              ['To', <UserLink key="to" id={payment.to_user_id} />],
              ['Decided by', <Decided key="decided" decided={data.decided_by} />],
              ['Account', <code key="account">{payment.history.account_number}</code>],
              ['Bank', payment.history.bank_name],
              ['Type', payment.transaction_type],
              ['Reference', payment.reference_id],
              ['Remark', payment.history.remark || null],
              ['UTR', payment.utr],
              ['Failure', payment.failure?.description],
            ]}
          />
        </Card>
        <Calls requests={data.requests} />
        <ChangeStatus payment={payment} />
      </div>
    </>
  )
}
