import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { countText } from '../format.ts'
import { At } from '../settings.tsx'
import { noneText, Problem, paymentText, Text } from '../ui.tsx'
import { PACE_MS, useLoaded, useStill } from '../use-data.ts'
import { UseInbox } from './webhook.tsx'

type Message = ResponseBody<'listInbox'>['messages'][number]

function paymentOf(body: string): string {
  const [, amount] = /"amount": ?"?([\d.]+)/.exec(body) ?? []
  const [, reference] = /"reference_id": ?"([^"]+)"/.exec(body) ?? []
  return paymentText({ amount: amount ?? null, reference_id: reference ?? null })
}

const OneMessage = ({ type, received_at, attempt, repeated, verified, reason, body }: Message) => (
  <li>
    <details>
      <summary>
        <b>{type ?? 'no event'}</b>{' '}
        <span class={`chip ${verified ? 'good' : 'bad'}`}>
          {verified ? 'valid signature' : 'rejected'}
        </span>{' '}
        {attempt !== null && attempt > 1 && `attempt ${attempt} `}
        {repeated && 'received before '}
        {type?.startsWith('transaction.') && `${paymentOf(body)} `}
        <At at={received_at} />
      </summary>
      {reason !== null && <p class="failed">{reason}</p>}
      <Text label="Body" value={body} />
    </details>
  </li>
)

export function Inbox() {
  const search = useSearch()
  const call = callOf('listInbox', { query: { limit: 100 } })
  const { data, problem } = useLoaded(call, PACE_MS)
  const fresh = data?.messages.filter(({ type, body }) => search.finds(`${type} ${body}`))
  const { value: found, props } = useStill(fresh, search.text)
  return (
    <>
      <h2>Inbox</h2>
      <p class="hint">
        The built-in receiver of events: it accepts each one, checks its signature, and keeps the
        newest.
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
      {data && (
        <p class="hint" aria-live="polite">
          {countText(data.total, 'message')}
          {data.total > 100 && '; these are the 100 newest'}
        </p>
      )}
      {found?.length === 0 && (
        <p class="empty">
          {data!.total === 0 ? 'No messages yet.' : noneText('message', search.text)}
        </p>
      )}
      <ul class="list" {...props}>
        {found?.map((message) => (
          <OneMessage key={message.message_id} {...message} />
        ))}
      </ul>
    </>
  )
}
