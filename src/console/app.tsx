import { useEffect, useState } from 'preact/hooks'
import { Copy } from './act.tsx'
import { BASE, curlOfCall, type Made, onMade, textOf, watchCalls } from './api.ts'
import { untilText, useNow } from './clock.ts'
import { useLoaded } from './data.ts'
import { Choice } from './fields.tsx'
import { keepFocus } from './focus.ts'
import { type State, watchState } from './live.ts'
import { type Route, useFreshStart, useRoute } from './route.ts'
import { useTabInSight } from './tabs.ts'
import { AdminToken } from './token.tsx'
import type { Client } from './types.ts'
import { Chip, Problem } from './ui.tsx'
import { ClientMenu } from './views/clients.tsx'
import { Control } from './views/control.tsx'
import { Deliveries, OneDelivery } from './views/deliveries.tsx'
import { MagicValues } from './views/magic-values.tsx'
import { Overview } from './views/overview.tsx'
import { OnePayment } from './views/payment.tsx'
import { Payments } from './views/payments.tsx'
import { OneRequest, Requests } from './views/requests.tsx'
import { OneScenario, Refused, Scenarios } from './views/scenarios.tsx'
import { OneUser, Users } from './views/users.tsx'

const VIEWS = [
  ['overview', 'Overview'],
  ['users', 'Users'],
  ['payments', 'Payments'],
  ['deliveries', 'Deliveries'],
  ['requests', 'Requests'],
  ['scenarios', 'Scenarios'],
  ['magic-values', 'Magic values'],
  ['control', 'Control'],
] as const

function View({
  client,
  reload,
  route: { view, id },
}: {
  client: Client
  reload: () => void
  route: Route
}) {
  useEffect(() => {
    const title = VIEWS.find(([name]) => name === view)?.[1] ?? 'Not found'
    document.title = `${title} · ${client.name} · payout-sandbox`
  }, [view, client.name])
  switch (view) {
    case 'overview':
      return <Overview client={client} reload={reload} />
    case 'users':
      return id === undefined ? <Users /> : <OneUser id={id} />
    case 'payments':
      return id === undefined ? <Payments /> : <OnePayment id={id} clock={client.clock} />
    case 'deliveries':
      return id === undefined ? <Deliveries /> : <OneDelivery id={id} />
    case 'requests':
      return id === undefined ? <Requests /> : <OneRequest id={id} />
    case 'scenarios':
      return id === undefined ? <Scenarios /> : <OneScenario name={id} />
    case 'magic-values':
      return <MagicValues />
    case 'control':
      return <Control client={client} />
    default:
      return (
        <p>
          There is no such view. Go to the <a href="#/overview">overview</a>.
        </p>
      )
  }
}

const THEME = 'payout-sandbox theme'

/** Light, dark, or as the system has it. */
function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem(THEME) ?? 'system')
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
    localStorage.setItem(THEME, theme)
  }, [theme])
  return (
    <Choice
      label="Theme"
      value={theme}
      values={[
        ['system', 'System'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ]}
      onChange={setTheme}
    />
  )
}

function Now({ client }: { client: Client }) {
  const { clock } = client
  const now = useNow(clock)
  const text = new Date(now).toISOString()
  const next = clock.next_timer_at === null ? undefined : Date.parse(clock.next_timer_at) - now
  return (
    <div class="now">
      <time dateTime={text}>
        {text.slice(0, 10)} <b>{text.slice(11, 19)}</b>
      </time>
      <span class="hint">
        {clock.mode === 'frozen' ? 'frozen' : clock.speed === 1 ? 'real time' : `× ${clock.speed}`}
        {next === undefined ? ', nothing scheduled' : `, next ${untilText(next)}`}
      </span>
    </div>
  )
}

/** The call that was made last, and how it ended. */
function LastCall() {
  const [made, setMade] = useState<Made>()
  useEffect(() => watchCalls(setMade), [])
  return (
    <footer class={made?.problem || made?.effect?.isBad ? 'refused' : ''}>
      <div
        role="status"
        aria-live="polite"
        aria-busy={made !== undefined && made.status === undefined}
      >
        {made === undefined ? (
          <span class="hint">Each button shows the admin call that it makes.</span>
        ) : (
          <>
            <code>{textOf(made)}</code>{' '}
            <b>{made.status === undefined ? 'waiting…' : made.status || 'no response'}</b>
            {made.problem && <span> {made.problem}</span>}
            {made.effect && <span> {made.effect.text}</span>}
          </>
        )}
      </div>
      {made && <Copy text={curlOfCall(made)} label="Copy as curl" />}
    </footer>
  )
}

/** The page of a client that is no more; asked for anything, the server would make another one of its name. */
const Deleted = () => (
  <>
    <h2>This client was deleted</h2>
    <p>
      There is no client <code>{BASE.slice(2)}</code> any more. Go to the{' '}
      <a href="/__admin/">default client</a>, or{' '}
      <button type="button" onClick={() => location.reload()}>
        make it anew
      </button>{' '}
      from the fixtures.
    </p>
  </>
)

export function App() {
  const route = useRoute()
  const [state, setState] = useState<State>('connecting')
  const {
    data: client,
    problem,
    reload,
  } = useLoaded<Client>('/client', [
    'request',
    'change',
    'timer',
    'delivery',
    'clock',
    'scenario',
    'look',
  ])
  useEffect(() => watchState(setState), [])
  useEffect(() => keepFocus(document.body), [])
  useFreshStart(route)
  useTabInSight(route.view)
  // Show the effect of calls made here, even if the stream has no event for them.
  useEffect(() => onMade(() => void reload()), [reload])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')!.focus()}>
        Skip to the content
      </button>
      <header>
        <h1>payout-sandbox</h1>
        {client && <Now client={client} />}
        <ClientMenu name={client?.name} />
        <span role="status" aria-live="polite">
          <Chip state={state} />
        </span>
      </header>
      <div class="side">
        <nav aria-label="Views">
          {VIEWS.map(([name, title]) => (
            <a
              href={`#/${name}`}
              key={name}
              aria-current={name === route.view ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <div class="more">
          <a href="/docs">The service’s API</a>
          <a href="/docs?api=admin">The admin API</a>
          <Theme />
        </div>
      </div>
      <main id="main" tabIndex={-1}>
        <AdminToken />
        {route.view !== 'scenarios' && <Refused />}
        {state !== 'deleted' && <Problem text={problem} />}
        {state === 'deleted' ? (
          <Deleted />
        ) : (
          client && <View client={client} reload={() => void reload()} route={route} />
        )}
      </main>
      <LastCall />
    </>
  )
}
