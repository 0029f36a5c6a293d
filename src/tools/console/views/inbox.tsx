import { useEffect } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { groupBy } from '../../counting.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Detail } from '../detail.tsx'
import { SearchField, useSearch } from '../fields.tsx'
import { countText, numberText } from '../format.ts'
import { AT_WIDTH, type Column, ListRows } from '../rows.tsx'
import { Ago, At } from '../settings.tsx'
import { BodyCard, Card, Facts, Id, noneText, paymentText } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { isInbox, UseInbox } from './webhook.tsx'

type Message = ResponseBody<'listInbox'>['messages'][number]

const ALL = callOf('listInbox', { query: { limit: 100 } })

/** A field of a body, which need not be JSON. */
const fieldOf = (body: string, name: string) =>
  new RegExp(`"${name}": ?"?(?!null)([^",}]+)`).exec(body)?.[1] ?? null

const paymentOf = ({ type, body }: Message): string =>
  type?.startsWith('transaction.')
    ? paymentText({ amount: fieldOf(body, 'amount'), reference_id: fieldOf(body, 'reference_id') })
    : '–'

// The messages that this tab has opened.
const KEY = 'payout-sandbox opened messages'
const opened = new Set<string>(JSON.parse(sessionStorage.getItem(KEY) ?? '[]'))
const isNew = ({ message_id: id }: Message) => !opened.has(id) && location.hash !== `#/inbox/${id}`

const Verdict = ({ verified }: Pick<Message, 'verified'>) => (
  <span class={`chip ${verified ? 'good' : 'bad'}`}>
    {verified ? 'valid signature' : 'rejected'}
  </span>
)

const againText = ({ attempt, repeated }: Message) =>
  [attempt !== null && attempt > 1 && `attempt ${attempt}`, repeated && 'received before']
    .filter(Boolean)
    .join(', ') || '–'

type Row = Message & { isUnder: boolean }

/** The messages of a payment stand together, below the newest. */
function rowsOf(messages: readonly Message[]): Row[] {
  const keyOf = ({ body, message_id }: Message) => fieldOf(body, 'transaction_id') ?? message_id
  const groups = [...groupBy(messages, keyOf).values()]
  return groups.flatMap((group) => group.map((one, i) => ({ ...one, isUnder: i > 0 })))
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Event',
    width: 'minmax(12.5rem, 3fr)',
    show: (row) => (
      <span class={isNew(row) ? 'shape link new' : 'shape'}>
        {row.isUnder && '↳ '}
        {row.type ?? 'no event'}
        {isNew(row) && <span class="visually-hidden"> (new)</span>}
      </span>
    ),
  },
  { title: 'Signature', width: '9rem', show: Verdict },
  { title: 'Payment', width: 'minmax(10.5rem, 4fr)', show: paymentOf },
  { title: 'Again', width: 'minmax(0, 3fr)', minor: true, show: againText },
  { title: 'Received', width: AT_WIDTH, show: ({ received_at }) => <At at={received_at} /> },
]

export function Inbox() {
  const search = useSearch()
  const { data, problem } = useLoaded(ALL)
  const { webhook_url: url } = useClient()
  const emptyText =
    url === null || isInbox(url) ? 'No messages yet.' : `No messages yet: events go to ${url}.`
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
      <ListRows
        label="Inbox"
        problem={problem}
        columns={COLUMNS}
        list={search.text}
        all={found && rowsOf(found)}
        href={({ message_id }) => `#/inbox/${message_id}`}
        count={`${countText(found?.length ?? 0, 'message')}, ${numberText(found?.filter(isNew).length ?? 0)} new`}
        empty={data?.total === 0 ? emptyText : noneText('message', search.text)}
      />
    </>
  )
}

function OfMessage({ message }: { message: Message }) {
  const { type, verified, reason, webhook_id: event, body, headers } = message
  const payment = fieldOf(body, 'transaction_id')
  useEffect(() => {
    opened.add(message.message_id)
    sessionStorage.setItem(KEY, JSON.stringify([...opened].slice(-100)))
  }, [message.message_id])
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
