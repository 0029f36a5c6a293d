import { useEffect, useState } from 'preact/hooks'
import { Copy } from './act.tsx'
import {
  BASE,
  type Client,
  callOf,
  curlOfCall,
  onResponse,
  type SentCall,
  textOf,
  watchCalls,
} from './api.ts'
import { spanText, untilText, useNow } from './clock.ts'
import { keepFocus, useVisibleTab } from './focus.ts'
import { type State, watchState } from './live.ts'
import { type Route, useRoute, useScrollToTop } from './route.ts'
import { AdminToken, At, Theme, Times, useZoneSetting, ZoneProvider } from './settings.tsx'
import { Chip, Problem } from './ui.tsx'
import { useLoaded } from './use-data.ts'
import { Assumptions } from './views/assumptions.tsx'
import { ClientMenu } from './views/clients.tsx'
import { Control } from './views/control.tsx'
import { Deliveries, OneDelivery } from './views/deliveries.tsx'
import { Explore } from './views/explore.tsx'
import { MagicValues } from './views/magic-values.tsx'
import { Overview } from './views/overview.tsx'
import { OnePayment } from './views/payment.tsx'
import { Payments } from './views/payments.tsx'
import { OneRequest, Requests } from './views/requests.tsx'
import { OneScenario, RejectedFiles, Scenarios } from './views/scenarios.tsx'
import { Sweep } from './views/sweep.tsx'
import { OneUser, Users } from './views/users.tsx'

const VIEWS = [
  ['overview', 'Overview'],
  ['users', 'Users'],
  ['payments', 'Payments'],
  ['deliveries', 'Deliveries'],
  ['requests', 'Requests'],
  ['scenarios', 'Scenarios'],
  ['assumptions', 'Assumptions'],
  ['magic-values', 'Magic values'],
  ['sweep', 'Sweep'],
  ['explore', 'Explore'],
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
      return id === undefined ? <Users count={client.counts.users} /> : <OneUser id={id} />
    case 'payments':
      return id === undefined ? <Payments /> : <OnePayment id={id} clock={client.clock} />
    case 'deliveries':
      return id === undefined ? (
        <Deliveries client={client} reload={reload} />
      ) : (
        <OneDelivery id={id} clock={client.clock} />
      )
    case 'requests':
      return id === undefined ? (
        <Requests waiting={client.counts.waiting} />
      ) : (
        <OneRequest id={id} />
      )
    case 'scenarios':
      return id === undefined ? <Scenarios /> : <OneScenario name={id} />
    case 'assumptions':
      return <Assumptions />
    case 'magic-values':
      return <MagicValues />
    case 'sweep':
      return <Sweep />
    case 'explore':
      return <Explore />
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

function Now({ client }: { client: Client }) {
  const { clock } = client
  const now = useNow(clock)
  const text = new Date(now).toISOString()
  const isFrozen = clock.mode === 'frozen'
  const next = clock.next_timer_at === null ? undefined : Date.parse(clock.next_timer_at) - now
  return (
    <div class="now">
      <At at={text} />
      <span class="hint">
        {isFrozen ? 'frozen' : clock.speed === 1 ? 'real time' : `× ${clock.speed}`}
        {next === undefined
          ? ', nothing scheduled'
          : isFrozen
            ? `: next timer ${spanText(next)} ahead`
            : `, next ${untilText(next)}`}
      </span>
    </div>
  )
}

// A call that waits longer than this says why, ms.
const LATE_MS = 1_500

/** The last call that changes something, and its result: its effect if it has one, otherwise its status. */
function LastCall() {
  const [sent, setSent] = useState<SentCall>()
  const [isLate, setLate] = useState(false)
  useEffect(() => watchCalls(setSent), [])
  useEffect(() => {
    setLate(false)
    const timer = setTimeout(() => setLate(true), LATE_MS)
    return () => clearTimeout(timer)
  }, [sent])
  return (
    <footer class={sent?.problem || sent?.effect?.isBad ? 'failed' : ''}>
      <div
        role="status"
        aria-live="polite"
        aria-busy={sent !== undefined && sent.status === undefined}
      >
        {sent === undefined ? (
          <span class="hint">Each button shows the call that it sends.</span>
        ) : (
          <>
            <code>{textOf(sent)}</code>{' '}
            <b>
              {sent.status === undefined
                ? 'waiting…'
                : (sent.effect?.text ?? (sent.status || 'no response'))}
            </b>
            {sent.status === undefined && isLate && (
              <span>
                {' '}
                The sandbox has not responded yet. A rule may delay this call or hold its
                connection: see the rules in Control.
              </span>
            )}
            {sent.problem && <span> {sent.problem}</span>}
          </>
        )}
      </div>
      {sent && <Copy text={curlOfCall(sent)} label="Copy as curl" />}
    </footer>
  )
}

/** The page of a deleted client. It sends no call: any call at the base path would create the client again. */
const Deleted = () => (
  <>
    <h2>This client was deleted</h2>
    <p>
      The client <code>{BASE.slice(2)}</code> no longer exists. Go to the{' '}
      <a href="/__admin/">default client</a>, or create {BASE.slice(2)} again from the fixtures:{' '}
      <button type="button" onClick={() => location.reload()}>
        Create it again
      </button>
    </p>
  </>
)

export function App() {
  const route = useRoute()
  const [state, setState] = useState<State>('connecting')
  const [zone, setZone] = useZoneSetting()
  const {
    data: client,
    problem,
    reload,
  } = useLoaded(callOf('readClient'), [
    'request',
    'change',
    'timer',
    'delivery',
    'clock',
    'scenario',
    'waiting',
    'recheck',
  ])
  useEffect(() => watchState(setState), [])
  useEffect(() => keepFocus(document.body), [])
  useScrollToTop(route)
  useVisibleTab(route.view)
  // Shows the effect of calls from this page, even if the stream has no event for them.
  useEffect(() => onResponse(() => void reload()), [reload])
  return (
    <ZoneProvider value={zone}>
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
          <a href="/docs">Service API</a>
          <a href="/docs?api=admin">Admin API</a>
          <Times zone={zone} onChange={setZone} />
          <Theme />
        </div>
      </div>
      <main id="main" tabIndex={-1}>
        <AdminToken />
        {route.view !== 'scenarios' && <RejectedFiles />}
        {state !== 'deleted' && <Problem text={problem} />}
        {state === 'deleted' ? (
          <Deleted />
        ) : (
          client && <View client={client} reload={() => void reload()} route={route} />
        )}
      </main>
      <LastCall />
    </ZoneProvider>
  )
}
