import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { countText } from '../format.ts'
import { AT_WIDTH, type Column, Detail, ListRows } from '../rows.tsx'
import { Ago, At } from '../settings.tsx'
import { BodyCard, Card, Facts, Id, noneText, Problem, paymentText } from '../ui.tsx'
import { PACE_MS, useLoaded } from '../use-data.ts'
import { UseInbox } from './webhook.tsx'

type Message = ResponseBody<'listInbox'>['messages'][number]

// It keeps no more.
const ALL = callOf('listInbox', { query: { limit: 100 } })

function paymentOf({ type, body }: Message): string {
  if (!type?.startsWith('transaction.')) return '–'
  const [, amount] = /"amount": ?"?([\d.]+)/.exec(body) ?? []
  const [, reference] = /"reference_id": ?"([^"]+)"/.exec(body) ?? []
  return paymentText({ amount: amount ?? null, reference_id: reference ?? null })
}

const Verdict = ({ verified }: Pick<Message, 'verified'>) => (
  <span class={`chip ${verified ? 'good' : 'bad'}`}>
    {verified ? 'valid signature' : 'rejected'}
  </span>
)

const againText = ({ attempt, repeated }: Message) =>
  [attempt !== null && attempt > 1 && `attempt ${attempt}`, repeated && 'received before']
    .filter(Boolean)
    .join(', ') || '–'

const COLUMNS: readonly Column<Message>[] = [
  { title: 'Event', width: 'minmax(11.5rem, 3fr)', show: ({ type }) => type ?? 'no event' },
  { title: 'Signature', width: '9rem', show: Verdict },
  { title: 'Payment', width: 'minmax(10.5rem, 4fr)', show: paymentOf },
  { title: 'Again', width: 'minmax(0, 3fr)', minor: true, show: againText },
  { title: 'Received', width: AT_WIDTH, show: ({ received_at }) => <At at={received_at} /> },
]

export function Inbox() {
  const search = useSearch()
  const { data, problem } = useLoaded(ALL, PACE_MS)
  const found = data?.messages.filter(({ type, body }) => search.finds(`${type} ${body}`))
  return (
    <>
      <h2>Inbox</h2>
      <p class="hint">
        The built-in receiver of events: it accepts each one, checks its signature, and keeps the
        newest 100.
      </p>
      <div class="row">
        <UseInbox />
        <SearchField search={search} placeholder="failed, an id" />
        <Act
          label="Clear the inbox"
          confirm="Deletes all messages of the inbox. Nothing else changes."
          call={callOf('clearInbox')}
        />
      </div>
      <Problem text={problem} />
      {data && found && (
        <ListRows
          label="Inbox"
          columns={COLUMNS}
          list={search.text}
          all={found}
          href={({ message_id }) => `#/inbox/${message_id}`}
          count={countText(found.length, 'message')}
          empty={data.total === 0 ? 'No messages yet.' : noneText('message', search.text)}
        />
      )}
    </>
  )
}

function OfMessage({ message }: { message: Message }) {
  const { type, verified, reason, webhook_id: event, body, headers } = message
  const [, payment] = /"transaction_id": ?"([^"]+)"/.exec(body) ?? []
  return (
    <>
      <h2>
        {type ?? 'No event'} <Verdict verified={verified} />
      </h2>
      <p class={verified ? '' : 'failed'}>
        {reason === null ? 'The signature fits the body and the secret.' : `Rejected: ${reason}.`}
      </p>
      <div class="cards" style={{ '--least': '30rem' }}>
        <Card title="Message" wide>
          <Facts
            facts={{
              Received: <Ago at={message.received_at} />,
              Event: event && <Id id={event} href={`#/deliveries?search=${event}`} />,
              Payment: payment && <Id id={payment} href={`#/payments/${payment}`} />,
              Again: againText(message),
            }}
          />
        </Card>
        <BodyCard title="Body" value={body} />
        <Card title="Headers">
          <Facts facts={headers} />
        </Card>
      </div>
    </>
  )
}

export const OneMessage = ({ id }: { id: string }) => (
  <Detail list="Inbox" call={ALL}>
    {({ messages }) => {
      const message = messages.find(({ message_id }) => message_id === id)
      return message ? <OfMessage message={message} /> : <p>The inbox no longer has it.</p>
    }}
  </Detail>
)
