// The search of everything, which `/` opens.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { callOf } from '../api.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { rupeesText } from '../format.ts'
import { Card, Chip, HttpStatus, stateOf } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

const SHOWN = 5

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

type Hit = readonly [href: string, text: string, chip?: ComponentChildren]

export function Search() {
  const search = useSearch()
  const query = { search: search.query ?? '\u0000', limit: SHOWN }
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
      payments?.transactions.map((one) => {
        const rupees = rupeesText(one.amount, one.currency_code)
        const text = `${rupees} to ${one.history.account_holder_name}`
        return [`#/payments/${one.transaction_id}`, text, <Chip state={stateOf(one)} />]
      }),
    ],
    Users: [users?.total, users?.users.map((one) => [`#/users/${one.user_id}`, one.email])],
    Deliveries: [
      deliveries?.total,
      deliveries?.deliveries.map(({ delivery_id, event, status }) => [
        `#/deliveries/${delivery_id}`,
        event,
        <Chip state={status} />,
      ]),
    ],
    Requests: [
      foundCalls?.length,
      foundCalls?.map(({ request_id, method, path, status }) => [
        `#/requests/${request_id}`,
        `${method} ${path}`,
        <HttpStatus status={status} />,
      ]),
    ],
    Scenarios: [
      foundScenarios?.length,
      foundScenarios?.map(({ name }) => [`#/scenarios/${encodeURIComponent(name)}`, name]),
    ],
  }
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
          {Object.values(kinds).every(([total]) => total === 0) && (
            <p class="empty" role="status">
              Nothing matches “{search.text}”.
            </p>
          )}
          {Object.entries(kinds).map(
            ([title, [total = 0, hits = []]]) =>
              total > 0 && (
                <Card key={title} title={title}>
                  <ul class="list">
                    {hits.slice(0, SHOWN).map(([href, text, chip]) => (
                      <li key={href}>
                        <a href={href}>{text}</a> {chip}
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
        </div>
      )}
    </>
  )
}
