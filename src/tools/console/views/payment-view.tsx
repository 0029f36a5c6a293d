import { useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf, type Payment, type PaymentWithAll } from '../api.ts'
import { useClient, useNow } from '../client.ts'
import { Detail } from '../detail.tsx'
import { Fold, Input } from '../fields.tsx'
import { Ago } from '../settings.tsx'
import { Card, Chip, Facts, Id, stateOf } from '../ui.tsx'
import { Axis } from './axis.tsx'
import { PaymentForm } from './make-payment.tsx'
import { errorText, outcomeText, ruleText, webhookText } from './payment-words.ts'
import { Redeliver, Trigger } from './send.tsx'

const STATUSES = ['PROCESSING', 'SUCCESS', 'FAILED'] as const
const canChange = (from: string, to: string) =>
  from === 'PENDING' ||
  (from === 'PROCESSING' && to !== 'PROCESSING') ||
  (from === 'SUCCESS' && to === 'FAILED')

function ChangeStatus({ payment }: { payment: Payment }) {
  const [reason, setReason] = useState('')
  const { transaction_id, history } = payment
  return (
    <Fold title="Change its status, or send one of its events">
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
      <Trigger payment={transaction_id} />
    </Fold>
  )
}

const DECIDED: Readonly<Record<PaymentWithAll['decided_by']['by'], string>> = {
  rule: 'a rule',
  magic_value: 'a magic value',
  default: 'the default steps, as no rule matched',
  call: 'an admin call that set the status',
  timeline: 'the timeline of the scenario',
  unknown:
    'something that the request log doesn’t have: fixtures, an old call, or one that still waits for its response',
}

const Decided = ({ decided: { by, rule } }: { decided: PaymentWithAll['decided_by'] }) => (
  <>
    {DECIDED[by]}
    {rule !== null && (
      <>
        {by === 'call' || by === 'timeline' ? '; before, ' : ': '}
        <b>{ruleText(rule)}</b>
      </>
    )}
  </>
)

function Actions({ all: { transaction, deliveries } }: { all: PaymentWithAll }) {
  const sent = deliveries.find(({ event_id }) => event_id !== null)
  return (
    <Card title="From here" wide>
      {sent && <Redeliver id={sent.delivery_id} label="Send its last event again" />}
      <Fold title="Pay again with a change">
        <PaymentForm like={transaction} />
      </Fold>
      <ChangeStatus payment={transaction} />
    </Card>
  )
}

const link = (user: string, name: string | null) => <a href={`#/users/${user}`}>{name ?? user}</a>

const PaymentFacts = ({ payment, payment: { history } }: { payment: Payment }) => (
  <Facts
    facts={{
      Id: <Id id={payment.transaction_id} />,
      From: link(payment.from_user_id, payment.payer),
      To: link(payment.to_user_id, history.account_holder_name),
      Account: <code>{history.account_number}</code>,
      Bank: history.bank_name,
      Created: <Ago at={payment.created_at} />,
      Type: payment.transaction_type,
      Reference: payment.reference_id && <Id id={payment.reference_id} />,
      Remark: history.remark || null,
      UTR: history.utr,
      Failure: payment.failure?.description,
    }}
  />
)

function Story({ all }: { all: PaymentWithAll }) {
  const now = useNow()
  const { clock } = useClient()
  const { transaction: payment, requests, decided_by, deliveries, timers } = all
  const made = requests.find(({ request_id }) => request_id === decided_by.request_id)
  const replaced = made?.rule !== decided_by.rule && made?.rule
  // A payment that failed gets no UTR any more.
  const isSettled = payment.history.status === 'SUCCESS'
  const next = timers.find(({ kind }) => isSettled || kind !== 'transaction.utr')?.at
  return (
    <>
      <h2>
        {errorText(made)} {outcomeText(all, now)} <Chip state={stateOf(payment)} />
      </h2>
      <p>
        {replaced ? (
          <>
            <b>{ruleText(replaced)}</b> decided the response; the payment was decided by{' '}
          </>
        ) : (
          'Decided by '
        )}
        <Decided decided={decided_by} />. {webhookText(deliveries, now)}
      </p>
      <div class="cards">
        <Card title="On one axis" wide>
          <Axis all={all} />
          {clock.mode === 'frozen' && next !== undefined && (
            <p>
              The clock is frozen: nothing happens until you advance it.{' '}
              <Act
                label="To its next event"
                call={callOf('advanceClock', { body: { to: next } })}
              />
            </p>
          )}
        </Card>
        <Actions all={all} />
        <Card title="Payment" wide>
          <PaymentFacts payment={payment} />
        </Card>
      </div>
    </>
  )
}

export const OnePayment = ({ id }: { id: string }) => (
  <Detail list="Payments" call={callOf('readTransaction', { params: { id } })}>
    {(all) => <Story all={all} />}
  </Detail>
)
