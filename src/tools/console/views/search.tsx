// The search of everything, which `/` opens.
import type { ComponentChildren } from 'preact'
import { Act } from '../act.tsx'
import { type Call, callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { SearchField, useSearch, type Search as Words } from '../fields.tsx'
import { rupeesText } from '../format.ts'
import { Card, Chip, HttpStatus, stateOf } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { type Armed, armCall } from './trouble.tsx'
import { TROUBLES } from './troubles.ts'
import { nameOf } from './users.tsx'

const SHOWN = 5

/** What one search found: an address, what it is, the field that has the words, and its state. */
type Hit = {
  href: string
  text: string
  fields: readonly string[]
  chip?: ComponentChildren
}

type Action = readonly [words: string, label: string, call: Call, effect: string]

/** What can be done from here: the words that find it, what it's called, its call and its effect. */
function actionsOf(active: string, isFrozen: boolean): Action[] {
  const arms = TROUBLES.map((trouble): Action => {
    const call = armCall(trouble, trouble.options[0]![0], active)
    return [trouble.text, `Arm: ${trouble.title}`, call, `Armed: ${trouble.title}.`]
  })
  const jumps = Object.entries({ '1h': '+1 hour', '1d': '+1 day' }).map(
    ([by, label]): Action => [
      'clock',
      label,
      callOf('advanceClock', { body: { by } }),
      `${label}.`,
    ],
  )
  const clock: Action = isFrozen
    ? ['resume', 'Play the clock', callOf('resumeClock'), 'The clock runs.']
    : ['stop', 'Pause the clock', callOf('freezeClock'), 'The clock stands still.']
  return [...arms, ...jumps, clock]
}

const textsOf = (...rows: (object | null)[]) =>
  rows.flatMap((row) => Object.values(row ?? {})).filter((one) => typeof one === 'string')

type HitOf<T> = (row: T) => Hit

const kindOf = <T,>(title: string, total = 0, rows: readonly T[] = [], hitOf: HitOf<T>) => ({
  title,
  total,
  hits: rows.map(hitOf),
})

/** What the server and the page find, by kind: how many, and the first of them. */
function useKinds(search: Words) {
  // Enough that what matches exactly is among them.
  const query = { search: search.query ?? '\u0000', limit: 100 }
  const payments = useLoaded(callOf('readTransactions', { query })).data
  const users = useLoaded(callOf('readUsers', { query })).data
  const deliveries = useLoaded(callOf('listDeliveries', { query })).data
  const calls = useLoaded(callOf('listRequests', { query: { limit: 100 } })).data
  const scenarios = useLoaded(callOf('listScenarios')).data
  const foundCalls = calls?.requests.filter((one) =>
    search.finds(JSON.stringify({ ...one, headers: null, response: null })),
  )
  const foundScenarios = scenarios?.scenarios.filter(({ name, title, description }) =>
    search.finds(`${name} ${title} ${description}`),
  )
  return [
    kindOf('Payments', payments?.total, payments?.transactions, (one) => ({
      href: `#/payments/${one.transaction_id}`,
      text: `${rupeesText(one.amount, one.currency_code)} to ${one.history.account_holder_name}`,
      fields: textsOf(one, one.history, one.failure),
      chip: <Chip state={stateOf(one)} />,
    })),
    kindOf('Users', users?.total, users?.users, (one) => ({
      href: `#/users/${one.user_id}`,
      text: nameOf(one),
      fields: textsOf(one),
    })),
    kindOf('Deliveries', deliveries?.total, deliveries?.deliveries, (one) => ({
      href: `#/deliveries/${one.delivery_id}`,
      text: one.event,
      fields: textsOf(one),
      chip: <Chip state={one.status} />,
    })),
    kindOf('Requests', foundCalls?.length, foundCalls, (one) => ({
      href: `#/requests/${one.request_id}`,
      text: `${one.method} ${one.path}`,
      fields: textsOf(one),
      chip: <HttpStatus status={one.status} />,
    })),
    kindOf('Scenarios', foundScenarios?.length, foundScenarios, ({ name, title }) => ({
      href: `#/scenarios/${encodeURIComponent(name)}`,
      text: name,
      fields: [title ?? ''],
    })),
  ]
}

export function Search({ armed }: { armed: Armed }) {
  const search = useSearch()
  const actions = actionsOf(armed.active ?? 'default', useClient().clock.mode === 'frozen')
  const wanted = search.query?.trim().toLowerCase()
  const isExact = ({ text, fields }: Hit) =>
    [text, ...fields].some((one) => one.toLowerCase() === wanted)
  const fieldOf = ({ text, fields }: Hit) =>
    search.finds(text) ? undefined : fields.find((one) => search.finds(one))
  // What matches exactly comes first, and its kind too.
  const exactFirst = <T,>(all: readonly T[], isFirst: (one: T) => boolean) =>
    all.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
  const kinds = exactFirst(useKinds(search), ({ hits }) => hits.some(isExact))
  const found = actions.filter(
    ([words, label]) => wanted !== undefined && search.finds(`${label} ${words}`),
  )
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
          {found.length === 0 && kinds.every(({ total }) => total === 0) && (
            <p class="empty" role="status">
              Nothing matches “{search.text}”.
            </p>
          )}
          {kinds.map(
            ({ title, total, hits }) =>
              total > 0 && (
                <Card key={title} title={title}>
                  <ul class="list">
                    {exactFirst(hits, isExact)
                      .slice(0, SHOWN)
                      .map((hit) => (
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
                {found.map(([, label, call, effect]) => (
                  <li key={label}>
                    <Act {...{ label, call, effect }} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      )}
    </>
  )
}
