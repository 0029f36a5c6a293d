import { useEffect, useRef, useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import {
  callOf,
  curlOf,
  type LoggedRequest,
  read,
  type ShortRequest,
  serviceToken,
} from '../api.ts'
import { useClient } from '../client.ts'
import { Detail } from '../detail.tsx'
import { SearchField, useSearch } from '../fields.tsx'
import { countText, numberText, rupeesText } from '../format.ts'
import { listen } from '../live.ts'
import { AT_WIDTH, type Column, type Filter, ListRows, useFilters } from '../rows.tsx'
import { madeBy } from '../service.ts'
import { Ago, At } from '../settings.tsx'
import { BodyCard, Card, Copy, Facts, HttpStatus, Id, noneText, paymentText } from '../ui.tsx'
import { PACE_MS, problemOf, useEvents } from '../use-data.ts'
import { CALLERS, errorText, ruleText } from './payment-words.ts'

const COLUMNS: readonly Column<ShortRequest>[] = [
  {
    title: 'Call',
    width: 'minmax(0, 4fr)',
    show: ({ method, path }) => (
      <>
        <b>{method}</b> {path}
      </>
    ),
  },
  {
    title: 'Status',
    width: '6.5rem',
    show: ({ status, fault }) => <HttpStatus status={status} fault={fault} />,
  },
  { title: 'Payment', width: 'minmax(10.5rem, 3fr)', minor: true, show: paymentText },
  { title: 'Why', width: 'minmax(0, 5fr)', show: (call) => reasonText(call) || '–' },
  { title: 'By', width: '6.5rem', minor: true, show: ({ by }) => CALLERS[by] },
  { title: 'At', width: AT_WIDTH, show: ({ at }) => <At at={at} /> },
]
const reasonText = ({ reason, rule, fault }: ShortRequest) =>
  [reason, rule && ruleText(rule), fault && `fault ${fault}`].filter(Boolean).join(', ')

// The log keeps this many calls of a scenario, and this many others.
const MAX_CALLS = 1_000

function addOnTop(fresh: readonly ShortRequest[], before: readonly ShortRequest[]) {
  const known = new Set(before.map(({ request_id }) => request_id))
  const added = fresh.filter(({ request_id }) => !known.has(request_id))
  if (added.length === 0) return before
  const counts = { scenario: 0, other: 0 }
  return [...added, ...before].filter(
    ({ by }) => ++counts[by === 'scenario' ? by : 'other'] <= MAX_CALLS,
  )
}

const collectInto = (calls: ShortRequest[]) =>
  listen((kind, data) => {
    if (kind === 'request') calls.unshift(data as ShortRequest)
  })

/** The request log: read once, then updated with each call. */
function useRequests() {
  const [calls, setCalls] = useState<readonly ShortRequest[]>()
  const [problem, setProblem] = useState<string>()
  const load = async () => {
    // The response may not contain calls that arrive while the log is read.
    const arrived: ShortRequest[] = []
    const stop = collectInto(arrived)
    try {
      const requests: ShortRequest[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await read(callOf('listRequests', { query: { limit: 100, cursor } }))
        requests.push(...page.requests)
        // The newest are shown before the rest arrives.
        setCalls((before) => before ?? page.requests)
        cursor = page.next
      }
      setCalls(addOnTop(arrived, requests))
      setProblem(undefined)
    } catch (error) {
      setProblem(problemOf(error))
    }
    stop()
  }
  const { current: fresh } = useRef<ShortRequest[]>([])
  useEffect(() => {
    void load()
    return collectInto(fresh)
  }, [])
  function addFresh() {
    const added = fresh.splice(0)
    setCalls((before) => before && addOnTop(added, before))
  }
  useEvents(['request'], addFresh, PACE_MS)
  // There is no event for a cleared log.
  useEvents(['recheck'], load)
  return { calls, problem }
}

/** The classes of status: their filters, words and tones. */
export const CLASSES = {
  '2xx': ['2', '2xx: success', 'good'],
  '3xx': ['3', '3xx: redirect', 'open'],
  '4xx': ['4', '4xx: rejected', 'open'],
  '5xx': ['5', '5xx: the service failed', 'bad'],
  none: ['broken', 'no response, or a broken one', 'bad'],
} as const
const FILTERS: Readonly<Record<string, Filter>> = {
  by: { label: 'By', values: Object.entries(CALLERS) },
  status: {
    label: 'Status',
    values: Object.values(CLASSES).map(([status, text]) => [status, text]),
  },
}
const statusClass = (status: number | null) => (status === null ? 'broken' : String(status)[0])

const textOf = (call: ShortRequest) =>
  [call.method, call.path, call.operation, call.status, reasonText(call), paymentText(call)].join(
    ' ',
  )

/** Says how many calls a rule delays: the log has them when their responses are sent. */
export const waitingText = (count: number): string =>
  count === 1 ? '1 call waits for its response' : `${count} calls wait for their responses`

const countOf = (found = 0, all = 0) =>
  `${found === all ? '' : `${numberText(found)} of `}${all >= MAX_CALLS ? 'the newest ' : ''}${countText(all, 'call')}`

export function Requests() {
  const { waiting } = useClient().counts
  const { calls, problem } = useRequests()
  const search = useSearch()
  const { chosen, choices } = useFilters(FILTERS)
  const { status, by } = chosen
  const found = calls?.filter(
    (call) =>
      (!status || statusClass(call.status) === status) &&
      (!by || call.by === by) &&
      search.finds(textOf(call)),
  )
  return (
    <>
      <h2>Requests</h2>
      <div class="row">
        <SearchField search={search} placeholder="POST 422, a reference" />
        {choices}
        <Act
          label="Clear the log"
          confirm="Deletes all calls from the log. Nothing else changes."
          call={callOf('deleteRequests')}
        />
      </div>
      <ListRows
        problem={problem}
        label="Requests"
        columns={COLUMNS}
        list={`${status} ${by} ${search.text}`}
        all={found}
        href={({ request_id }) => `#/requests/${request_id}`}
        count={`${countOf(found?.length, calls?.length)}${waiting > 0 ? `. ${waitingText(waiting)}` : ''}`}
        empty={
          calls?.length === 0
            ? waiting > 0
              ? 'No call has its response yet.'
              : 'The service has not received any calls yet.'
            : noneText('call', search.text)
        }
      />
    </>
  )
}

const SENT = /^(content-type|idempotency-key)$/

/** A call as a curl command that runs as it is, but for the values that the log masks. */
function curlOfRequest({ method, path, query, headers, body }: LoggedRequest): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, String(one)]),
    ),
  ).toString()
  const sent = Object.entries(headers).filter(([name]) => SENT.test(name))
  return curlOf(
    method,
    path + (search && `?${search}`),
    { ...serviceToken(), ...Object.fromEntries(sent) },
    body ?? undefined,
  )
}

function Made({ call }: { call: LoggedRequest }) {
  const { operation, response, made, reference_id: reference } = call
  const { noun, href } = madeBy(operation, made ?? response) ?? {}
  if (noun === undefined) return <>nothing: it reads or changes</>
  if (href !== undefined) return <a href={href}>{noun}</a>
  if (call.status !== null && call.status >= 400) return <>nothing: the call was rejected</>
  if (reference === null) return <>the response has no id</>
  return (
    <>
      the response has no id:{' '}
      <a href={`#/payments?${new URLSearchParams({ search: reference })}`}>
        payments with the reference {reference}
      </a>
    </>
  )
}

/** The heading of a call: its method and path, or the payment that it made if its response hid that. */
function headlineOf(call: LoggedRequest): string {
  const { method, path, operation, made, amount } = call
  const error = made !== undefined && errorText(call)
  return error && madeBy(operation, made)?.href
    ? `${error} A payment of ${rupeesText(amount ?? '0')} was made.`
    : `${method} ${path}`
}

const NOT_KEPT = 'It isn’t kept: the call was rejected before it was read, or it isn’t JSON.'

export const OneRequest = ({ id }: { id: string }) => (
  <Detail list="Requests" call={callOf('getRequest', { params: { id } })}>
    {(call) => (
      <>
        <h2>
          {headlineOf(call)} <HttpStatus status={call.status} fault={call.fault} />
        </h2>
        {call.reason !== null && <p class={call.made ? 'hint' : 'failed'}>{call.reason}</p>}
        {/* A UUID fits into a line. */}
        <div class="cards" style={{ '--least': '30rem' }}>
          <BodyCard
            title="Body"
            value={call.body}
            none={Number(call.headers['content-length']) > 0 ? NOT_KEPT : undefined}
          />
          <BodyCard title="Response" value={call.response} />
          <Card title="Call">
            <Facts
              facts={{
                Id: <Id id={call.request_id} />,
                At: <Ago at={call.at} />,
                By: [CALLERS[call.by], call.headers['user-agent']].filter(Boolean).join(', '),
                Operation: call.operation,
                Rule: call.rule === null ? 'none' : ruleText(call.rule),
                Made: <Made call={call} />,
                Payment: call.amount && rupeesText(call.amount),
                Reference: call.reference_id && <Id id={call.reference_id} />,
                Fault: call.fault === 'hang' ? 'hang: no response, the caller waits' : call.fault,
                Duration: `${call.duration_ms} ms`,
                'Replayed response': call.replayed ? 'yes (Idempotency-Key)' : null,
              }}
            />
            <span data-key="c">
              <Copy label="Copy as curl" text={curlOfRequest(call)} />
            </span>
            {JSON.stringify(call.body).includes('XX') && (
              <p class="hint">Account and document numbers are masked in the log: use yours.</p>
            )}
          </Card>
          <Card title="Headers">
            <Facts facts={call.headers} />
          </Card>
        </div>
      </>
    )}
  </Detail>
)
