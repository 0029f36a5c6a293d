// The search of everything, which `/` opens.
import { useEffect } from 'preact/hooks'
import { callOf } from '../api.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { rupeesText } from '../format.ts'
import { Card, Chip, HttpStatus } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

const SHOWN = 5

/** Goes to the search when the user types `/` outside of a field. */
export function useSearchKey() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element).matches('input, select, textarea')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      location.hash = '#/search'
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

type Hit = { href: string; text: string; chip?: string; status?: number | null }

/** The first hits of one kind, and a link to all of them. */
const Hits = ({
  title,
  hits,
  total,
  all,
}: {
  title: string
  hits: Hit[]
  total: number
  all: string
}) => (
  <Card title={title}>
    {total === 0 && <p class="empty">None</p>}
    <ul class="list">
      {hits.map(({ href, text, chip, status }) => (
        <li key={href}>
          <a href={href}>{text}</a> {chip && <Chip state={chip} />}
          {status !== undefined && <HttpStatus status={status} />}
        </li>
      ))}
    </ul>
    {total > hits.length && <a href={all}>All {total}</a>}
  </Card>
)

/** What the words find: payments, users, deliveries, calls and scenarios. */
export function Search() {
  const search = useSearch()
  const query = { search: search.query ?? '\u0000', limit: SHOWN }
  const payments = useLoaded(callOf('readTransactions', { query }), ['change']).data
  const users = useLoaded(callOf('readUsers', { query }), ['change']).data
  const deliveries = useLoaded(callOf('listDeliveries', { query }), ['delivery']).data
  const calls = useLoaded(callOf('listRequests', { query: { limit: 100 } }), ['request']).data
  const scenarios = useLoaded(callOf('listScenarios'), ['scenario']).data
  const all = (view: string) => `#/${view}?${new URLSearchParams({ search: search.text })}`
  const foundCalls = (calls?.requests ?? []).filter((one) =>
    search.finds(
      JSON.stringify([one.method, one.path, one.query, one.status, one.body, one.reason]),
    ),
  )
  const foundScenarios = (scenarios?.scenarios ?? []).filter(({ name, title, description }) =>
    search.finds(`${name} ${title} ${description}`),
  )
  return (
    <>
      <h2>Search everything</h2>
      <p class="hint">Payments, users, deliveries, calls and scenarios that have all the words.</p>
      <SearchField
        search={search}
        placeholder="an id, a name, an amount, a reference, 422"
        isFirst
      />
      {search.query !== undefined && (
        <div class="cards">
          <Hits
            title="Payments"
            total={payments?.total ?? 0}
            all={all('payments')}
            hits={(payments?.transactions ?? []).map((one) => ({
              href: `#/payments/${one.transaction_id}`,
              text: `${rupeesText(one.amount, one.currency_code)} to ${one.history.account_holder_name}`,
              chip: one.history.status,
            }))}
          />
          <Hits
            title="Users"
            total={users?.total ?? 0}
            all={all('users')}
            hits={(users?.users ?? []).map(({ user_id, email }) => ({
              href: `#/users/${user_id}`,
              text: email,
            }))}
          />
          <Hits
            title="Deliveries"
            total={deliveries?.total ?? 0}
            all={all('deliveries')}
            hits={(deliveries?.deliveries ?? []).map(({ delivery_id, event, status }) => ({
              href: `#/deliveries/${delivery_id}`,
              text: event,
              chip: status,
            }))}
          />
          <Hits
            title="Requests"
            total={foundCalls.length}
            all={all('requests')}
            hits={foundCalls.slice(0, SHOWN).map(({ request_id, method, path, status }) => ({
              href: `#/requests/${request_id}`,
              text: `${method} ${path}`,
              status,
            }))}
          />
          <Hits
            title="Scenarios"
            total={foundScenarios.length}
            all={all('scenarios')}
            hits={foundScenarios.slice(0, SHOWN).map(({ name }) => ({
              href: `#/scenarios/${encodeURIComponent(name)}`,
              text: name,
            }))}
          />
        </div>
      )}
    </>
  )
}
