// The search of everything, which `/` opens.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { rupeesText } from '../format.ts'
import { Card, Chip, HttpStatus, stateOf } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { type Armed, armCall } from './trouble.tsx'
import { TROUBLES } from './troubles.ts'
import { nameOf } from './users.tsx'

const SHOWN = 5

/** `/` and Ctrl-K open the search. */
export function useSearchKey() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      const isTyping = (target as Element).matches('input, select, textarea')
      const isSlash = key === '/' && !isTyping && !ctrlKey && !metaKey && !altKey
      if (!isSlash && !(key === 'k' && (ctrlKey || metaKey))) return
      event.preventDefault()
      location.hash = '#/search'
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** What one search found: an address, what it is, the field that has the words, and its state. */
type Hit = {
  href: string
  text: string
  fields: readonly (string | null | undefined)[]
  chip?: ComponentChildren
}

/** What can be done from here, by the words that find it. */
function useActions(
  active: string,
): readonly (readonly [words: string, action: ComponentChildren])[] {
  const { clock } = useClient()
  const isFrozen = clock.mode === 'frozen'
  return [
    ...TROUBLES.flatMap((trouble) => {
      const [[option = ''] = []] = trouble.options
      const label = `Arm: ${trouble.title}`
      const act = (
        <Act
          label={label}
          call={armCall(trouble, option, active)}
          effect={`Armed: ${trouble.title}.`}
        />
      )
      return [[`${label} ${trouble.text}`, act] as const]
    }),
    ...Object.entries({ '1h': '+1 hour', '1d': '+1 day' }).map(
      ([by, label]) =>
        [
          `${label} clock`,
          <Act
            label={label}
            call={callOf('advanceClock', { body: { by } })}
            effect={`${label}.`}
          />,
        ] as const,
    ),
    [
      isFrozen ? 'play resume clock' : 'pause stop clock',
      <Act
        label={isFrozen ? 'Play the clock' : 'Pause the clock'}
        call={callOf(isFrozen ? 'resumeClock' : 'freezeClock')}
        effect={isFrozen ? 'The clock runs.' : 'The clock stands still.'}
      />,
    ],
  ]
}

/** What the server and the page find, by kind: how many, and the first of them. */
function useHits(search: ReturnType<typeof useSearch>) {
  // Enough that what matches exactly is among them.
  const query = { search: search.query ?? '\u0000', limit: 100 }
  const payments = useLoaded(callOf('readTransactions', { query })).data
  const users = useLoaded(callOf('readUsers', { query })).data
  const deliveries = useLoaded(callOf('listDeliveries', { query })).data
  const calls = useLoaded(callOf('listRequests', { query: { limit: 100 } })).data
  const scenarios = useLoaded(callOf('listScenarios')).data
  const foundCalls = calls?.requests.filter((one) =>
    search.finds(
      JSON.stringify([one.method, one.path, one.query, one.status, one.body, one.reason]),
    ),
  )
  const foundScenarios = scenarios?.scenarios.filter(({ name, title, description }) =>
    search.finds(`${name} ${title} ${description}`),
  )
  const kinds: Readonly<Record<string, readonly [number | undefined, Hit[] | undefined]>> = {
    Payments: [
      payments?.total,
      payments?.transactions.map((one) => ({
        href: `#/payments/${one.transaction_id}`,
        text: `${rupeesText(one.amount, one.currency_code)} to ${one.history.account_holder_name}`,
        fields: [
          one.reference_id,
          one.amount,
          one.history.utr,
          one.failure?.reason,
          one.transaction_id,
          one.from_user_id,
        ],
        chip: <Chip state={stateOf(one)} />,
      })),
    ],
    Users: [
      users?.total,
      users?.users.map((one) => ({
        href: `#/users/${one.user_id}`,
        text: nameOf(one),
        fields: [one.email, one.mobile, one.user_id],
      })),
    ],
    Deliveries: [
      deliveries?.total,
      deliveries?.deliveries.map(({ delivery_id, event, status, reference_id, resource_id }) => ({
        href: `#/deliveries/${delivery_id}`,
        text: event,
        fields: [reference_id, delivery_id, resource_id],
        chip: <Chip state={status} />,
      })),
    ],
    Requests: [
      foundCalls?.length,
      foundCalls?.map(({ request_id, method, path, status, reference_id, reason }) => ({
        href: `#/requests/${request_id}`,
        text: `${method} ${path}`,
        fields: [reference_id, reason],
        chip: <HttpStatus status={status} />,
      })),
    ],
    Scenarios: [
      foundScenarios?.length,
      foundScenarios?.map(({ name, title }) => ({
        href: `#/scenarios/${encodeURIComponent(name)}`,
        text: name,
        fields: [title],
      })),
    ],
  }
  return kinds
}

export function Search({ armed }: { armed: Armed }) {
  const search = useSearch()
  const actions = useActions(armed.active ?? 'default')
  const kinds = useHits(search)
  const wanted = search.query?.trim().toLowerCase()
  const isExact = ({ text, fields }: Hit) =>
    [text, ...fields].some((one) => one?.toLowerCase() === wanted)
  const fieldOf = ({ text, fields }: Hit) =>
    search.finds(text) ? undefined : fields.find((one) => one && search.finds(one))
  // What matches exactly comes first, and its kind too.
  const sorted = Object.entries(kinds).map(
    ([title, [total, hits = []]]) =>
      [title, [total, [...hits.filter(isExact), ...hits.filter((one) => !isExact(one))]]] as const,
  )
  sorted.sort(([, [, a]], [, [, b]]) => Number(b.some(isExact)) - Number(a.some(isExact)))
  const found = actions.filter(([words]) => wanted !== undefined && search.finds(words))
  return (
    <>
      <h2>Search everything</h2>
      <p class="hint">
        Payments, users, deliveries, calls and scenarios that have all the words, and what to do,
        such as “arm 504” or “+1 day”. Enter opens the first.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          document.querySelector<HTMLElement>('.hits :is(a, button)')?.click()
        }}
      >
        <SearchField
          search={search}
          placeholder="an id, a name, an amount, a reference, 422"
          isFirst
        />
      </form>
      {search.query !== undefined && (
        <div class="cards hits">
          {found.length === 0 && Object.values(kinds).every(([total]) => total === 0) && (
            <p class="empty" role="status">
              Nothing matches “{search.text}”.
            </p>
          )}
          {sorted.map(
            ([title, [total = 0, hits = []]]) =>
              total > 0 && (
                <Card key={title} title={title}>
                  <ul class="list">
                    {hits.slice(0, SHOWN).map((hit) => (
                      <li key={hit.href}>
                        <a href={hit.href}>{hit.text}</a>
                        <span class="hint">{fieldOf(hit)}</span> {hit.chip}
                      </li>
                    ))}
                  </ul>
                  {total > SHOWN && (
                    <a
                      href={`#/${title.toLowerCase()}?${new URLSearchParams({ search: search.text })}`}
                    >
                      All {total}
                    </a>
                  )}
                </Card>
              ),
          )}
          {found.length > 0 && (
            <Card title="Do it">
              <ul class="list">
                {found.map(([words, action]) => (
                  <li key={words}>{action}</li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      )}
    </>
  )
}
