import { EVENTS } from '../../../scenarios/operations-and-events.ts'
import { type Attempt, type Clock, callOf, type Delivery } from '../api.ts'
import { useClient } from '../client.ts'
import { Detail } from '../detail.tsx'
import { AT_WIDTH, type Column, type Filter, PagedList } from '../rows.tsx'
import { Ago, At } from '../settings.tsx'
import { BodyCard, Card, Chip, Facts, HttpStatus, Id, paymentText, Text } from '../ui.tsx'
import { deliveryText } from './payment-words.ts'
import { Redeliver, SendAgain } from './send.tsx'
import { Signature } from './signature.tsx'
import { Webhook } from './webhook.tsx'

const ResponseStatus = ({ attempt: { status, error } }: { attempt: Attempt }) =>
  status === null ? (
    <span class="chip bad">{error?.code ?? 'no response'}</span>
  ) : (
    <HttpStatus status={status} />
  )

const COLUMNS: readonly Column<Delivery>[] = [
  { title: 'Event', width: 'minmax(11.5rem, 3fr)', show: ({ event }) => event },
  { title: 'Status', width: '7rem', show: ({ status }) => <Chip state={status} /> },
  {
    title: 'Response',
    width: 'minmax(4.5rem, 2fr)',
    minor: true,
    show: ({ attempts }) => {
      const last = attempts.at(-1)
      return last ? <ResponseStatus attempt={last} /> : '–'
    },
  },
  { title: 'Payment', width: 'minmax(9.5rem, 4fr)', show: paymentText },
  {
    title: 'Attempts',
    width: '10rem',
    minor: true,
    show: ({ attempts, next_attempt_at: next }) => (
      <>
        {attempts.length}
        {next && ', next '} {next && <At short at={next} />}
      </>
    ),
  },
  { title: 'Created', width: AT_WIDTH, show: ({ created_at }) => <At at={created_at} /> },
]
const FILTERS: Readonly<Record<string, Filter>> = {
  status: {
    label: 'Status',
    values: ['pending', 'delivered', 'failed', 'dropped', 'cancelled', 'recorded'],
  },
  event: { label: 'Event', values: EVENTS },
  tried: { label: 'Attempts', values: Object.entries({ again: 'retried', '5xx': 'my 5xx' }) },
}

export const Deliveries = () => (
  <>
    <h2>Webhook deliveries</h2>
    <Webhook />
    <PagedList
      id="listDeliveries"
      label="Deliveries"
      noun="delivery"
      placeholder="event, reference, id"
      filters={FILTERS}
      columns={COLUMNS}
      href={({ delivery_id }) => `#/deliveries/${delivery_id}`}
      none="No events yet."
      bulk={SendAgain}
    />
  </>
)

function resultText(delivery: Delivery, clock: Clock): string {
  const reason = delivery.attempts.at(-1)?.error?.message
  const [first, ...rest] = [deliveryText(delivery), reason].filter(Boolean).join(': ')
  const text = first!.toUpperCase() + rest.join('')
  return clock.mode === 'frozen' && delivery.status === 'pending'
    ? `${text}. The clock is frozen: nothing is sent until you advance or resume it`
    : text
}

const AttemptCard = ({ attempt, delivery }: { attempt: Attempt; delivery: Delivery }) => (
  <Card title={`Attempt ${attempt.number}`} wide>
    <Facts
      facts={{
        At: <Ago at={attempt.at} />,
        URL: <code>{attempt.url}</code>,
        Response: <ResponseStatus attempt={attempt} />,
        Duration: `${attempt.duration_ms} ms`,
        Error: attempt.error?.message,
      }}
    />
    <Signature attempt={attempt} delivery={delivery} />
    <details>
      <summary>Request headers</summary>
      <Facts facts={attempt.headers} />
    </details>
    <details>
      <summary>Response{attempt.truncated && attempt.response !== '' && ' (first 4 KiB)'}</summary>
      {attempt.truncated && attempt.response === '' ? (
        <p class="empty">The body is compressed, so it is not stored.</p>
      ) : (
        <Text label="Response" value={attempt.response || null} />
      )}
    </details>
  </Card>
)

const hrefOf = ({ event, resource_id: id }: Delivery) =>
  event.startsWith('transaction.') ? `#/payments/${id}` : undefined

export function OneDelivery({ id }: { id: string }) {
  const { clock } = useClient()
  return (
    <Detail list="Deliveries" call={callOf('getDelivery', { params: { id } })}>
      {(delivery) => (
        <>
          <h2>
            {delivery.event} <Chip state={delivery.status} />
          </h2>
          <p class={delivery.attempts.at(-1)?.ok === false ? 'failed' : ''}>
            {resultText(delivery, clock)}.
          </p>
          <div class="cards">
            <Card title="Delivery" wide>
              <Facts
                facts={{
                  Id: <Id id={delivery.delivery_id} />,
                  Event: delivery.event_id ? (
                    <Id id={delivery.event_id} />
                  ) : (
                    'none: no webhook was set'
                  ),
                  Resource: <Id id={delivery.resource_id} href={hrefOf(delivery)} />,
                  Payment: paymentText(delivery),
                  Created: <Ago at={delivery.created_at} />,
                  'Next attempt': delivery.next_attempt_at && <At at={delivery.next_attempt_at} />,
                  'Waits for': delivery.hold_until,
                  Rule: delivery.rule,
                }}
              />
              <Redeliver id={delivery.delivery_id} />
            </Card>
            {delivery.attempts.toReversed().map((attempt) => (
              <AttemptCard key={attempt.number} attempt={attempt} delivery={delivery} />
            ))}
            <BodyCard title="Body" value={delivery.body} wide>
              {delivery.fault?.body && (
                <p class="failed">
                  Truncated by rule {delivery.rule}: only the first half was sent.
                </p>
              )}
            </BodyCard>
          </div>
        </>
      )}
    </Detail>
  )
}
