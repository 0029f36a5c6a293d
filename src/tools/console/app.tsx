import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { CallsProvider, useShownCalls } from './act.tsx'
import { BASE, type CallEvent, callOf, curlOfCall, type SentCall, textOf } from './api.ts'
import { ClientProvider, useClient } from './client.ts'
import { Check, Choice } from './fields.tsx'
import { keepFocus, useHeadHeight } from './focus.ts'
import { Keys } from './keys.tsx'
import { useConnection } from './live.ts'
import { type Route, useListener, useRoute, useScrollToTop, useWide } from './route.ts'
import { GONE_TEXT, isServiceCall, setAccessToken } from './service.ts'
import { AdminToken, Theme, useSetting, ZoneProvider } from './settings.tsx'
import { Button, Chip, Copy, Loading, Problem } from './ui.tsx'
import { useLoaded } from './use-data.ts'
import { Assumptions } from './views/assumptions.tsx'
import { ClockBar } from './views/clock-bar.tsx'
import { Control } from './views/control.tsx'
import { Deliveries, OneDelivery } from './views/deliveries.tsx'
import { Inbox, OneMessage } from './views/inbox.tsx'
import { Overview } from './views/overview.tsx'
import { OnePayment } from './views/payment-view.tsx'
import { Payments } from './views/payments.tsx'
import { OneRequest, Requests } from './views/requests.tsx'
import { OneScenario, RejectedFiles, Scenarios } from './views/scenarios.tsx'
import { Search } from './views/search.tsx'
import { Statement } from './views/statement.tsx'
import { Sweep } from './views/sweep.tsx'
import { type Armed, MakeTrouble, useArmed } from './views/trouble.tsx'
import { OneUser, Users } from './views/users.tsx'

const ZONES = Object.entries({ utc: 'UTC', local: 'Local' })
type Props = { armed: Armed }
/** A view: the text of its link, and the components of itself or its list, and of one row of that. */
type ViewEntry = readonly [string, FunctionComponent<Props>?, FunctionComponent<{ id: string }>?]
/** The views in their groups, by the first part of the route. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, ViewEntry>>>> = {
  Money: {
    overview: ['Overview', Overview],
    payments: ['Payments', Payments, OnePayment],
    users: ['Users', Users, OneUser],
    statement: ['Statement', Statement],
  },
  Traffic: {
    requests: ['Requests', Requests, OneRequest],
    deliveries: ['Deliveries', Deliveries, OneDelivery],
    inbox: ['Inbox', Inbox, OneMessage],
  },
  'Make trouble': {
    trouble: ['Trouble', MakeTrouble],
    scenarios: ['Scenarios', Scenarios, OneScenario],
    sweep: ['Sweep', Sweep],
  },
  Settings: { control: ['Control', Control], assumptions: ['Assumptions', Assumptions] },
}
const VIEWS: Readonly<Record<string, ViewEntry>> = Object.assign(
  { search: ['Search', Search], more: ['More'] },
  ...Object.values(GROUPS),
)

// The views that a phone has as tabs; the others are behind "More".
const TABS = ['overview', 'payments', 'requests', 'trouble']

function Split({ list, detail }: { list: ComponentChildren; detail: ComponentChildren }) {
  const isWide = useWide()
  // The same elements at each width, so that a form keeps what was typed.
  return (
    <div class={isWide ? 'split' : 'bare'}>
      {(isWide || !detail) && <div class="of-list">{list}</div>}
      {detail && <div class="detail">{detail}</div>}
    </div>
  )
}

/** What a menu says beside a view. */
type Counts = Readonly<Partial<Record<string, ComponentChildren>>>

function Menu({ view, counts, label }: { view: string; counts: Counts; label: string }) {
  const current = (name: string) => (name === view ? 'page' : undefined)
  return (
    <nav aria-label={label}>
      {Object.entries(GROUPS).map(([group, views]) => (
        <div role="group" aria-label={group} key={group}>
          <span class="group hint" aria-hidden="true">
            {group}
          </span>
          {Object.entries(views).map(([name, [title]]) => (
            <a
              href={`#/${name}`}
              key={name}
              class={TABS.includes(name) ? 'tab' : undefined}
              aria-current={current(name)}
            >
              {title}
              <span class="hint">{counts[name]}</span>
            </a>
          ))}
        </div>
      ))}
      <a href="#/more" class="tab phone" aria-current={current('more')}>
        More
      </a>
    </nav>
  )
}

// The lists beside which a row stands.
const BESIDE = ['payments', 'deliveries', 'requests', 'inbox']

function View({ armed, route: { view, id } }: Props & { route: Route }) {
  const client = useClient()
  const [title, Main, One] = VIEWS[view] ?? ['Not found']
  useEffect(() => {
    document.title = `${title} · ${client.name} · payout-sandbox`
  }, [title, client.name])
  // Not redrawn with each tick of the client's clock.
  return useMemo(() => {
    if (!Main)
      return (
        <p>
          There is no such view. Go to the <a href="#/overview">overview</a>.
        </p>
      )
    const detail = One && id !== undefined && <One id={id} />
    return BESIDE.includes(view) ? (
      <Split list={<Main armed={armed} />} detail={detail} />
    ) : (
      detail || <Main armed={armed} />
    )
  }, [view, id, armed])
}

// A call that waits longer than this says why, ms.
const LATE_MS = 1_500
// How long the effect of a call is shown.
const TOAST_MS = 5_000

function LastCall() {
  const [sent, setSent] = useState<SentCall>()
  const areCallsShown = useShownCalls()
  const [isLate, setLate] = useState(false)
  // An error has one message.
  useListener(window, 'call', ({ detail: one }: CallEvent) =>
    setSent(one.effect?.isShown && !areCallsShown ? undefined : one),
  )
  const isBad = (one: SentCall | undefined) => one?.problem || one?.effect?.isBad
  // An error belongs to the view that caused it, until the user changes something there.
  const forget = () => setSent((one) => (isBad(one) ? undefined : one))
  useListener(window, 'input', forget)
  useListener(window, 'hashchange', forget)
  const isWaiting = sent !== undefined && sent.status === undefined
  useEffect(() => {
    setLate(false)
    // An error stays until something else is done.
    if (!isWaiting && (isBad(sent) || areCallsShown)) return
    const then = () => (isWaiting ? setLate(true) : setSent(undefined))
    const timer = setTimeout(then, isWaiting ? LATE_MS : TOAST_MS)
    return () => clearTimeout(timer)
  }, [sent, areCallsShown])
  const done = sent?.problem === undefined ? 'done' : ''
  return (
    <footer class={isBad(sent) ? 'failed' : ''}>
      <div role="status" aria-live="polite" aria-busy={isWaiting}>
        {sent !== undefined && (
          <>
            {areCallsShown ? (
              <code>{textOf(sent)}</code>
            ) : (
              // Some effects begin with the label.
              !sent.effect?.text.startsWith(sent.label) && `${sent.label}:`
            )}{' '}
            <b>
              {isWaiting
                ? 'waiting…'
                : (sent.effect?.text ?? (areCallsShown ? sent.status || 'no response' : done))}
            </b>
            {isWaiting && isLate && sent.id !== 'advanceClock' && (
              <span>
                {' '}
                The sandbox hasn't responded yet.{' '}
                {isServiceCall(sent) &&
                  'A rule may delay this call or hold its connection: see the rules in Trouble.'}
              </span>
            )}
            {sent.problem && <span> {sent.problem}</span>}
          </>
        )}
      </div>
      {sent && areCallsShown && <Copy text={curlOfCall(sent)} label="Copy as curl" />}
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
      <Button label="Create it again" onPress={() => location.reload()} />
    </p>
  </>
)

type Setting = ReturnType<typeof useSetting>
type SettingsProps = { times: Setting; calls: Setting }

const PageSettings = ({ times: [zone, setZone], calls: [calls, setCalls] }: SettingsProps) => (
  <div class="more" role="group" aria-label="Settings of the page">
    <a href="/docs">Service API</a>
    <a href="/docs?api=admin">Admin API</a>
    <Check
      label="Show calls"
      checked={calls === 'shown'}
      onChange={(areShown) => setCalls(areShown ? 'shown' : 'hidden')}
    />
    <Choice label="Times" value={zone} values={ZONES} onInput={setZone} />
    <Theme />
  </div>
)

const Brand = () => (
  <a class="brand" href="#/overview">
    <svg viewBox="0 0 28 16" aria-hidden="true">
      <path d="M2 8h12M14 8h12" />
      <circle cx="5" cy="8" r="3" class="link" />
      <path d="M14 1v14" />
      <circle cx="22" cy="8" r="3" />
    </svg>
    <h1>payout-sandbox</h1>
    <span class="hint wide">Sandbox: moves no money</span>
  </a>
)

export function App() {
  const route = useRoute()
  const state = useConnection()
  const times = useSetting('times', 'local')
  const calls = useSetting('calls', 'hidden')
  const { data: client, problem } = useLoaded(callOf('readClient'))
  if (client) setAccessToken(client.access_token)
  useEffect(() => keepFocus(document.body), [])
  useScrollToTop(route)
  useHeadHeight()
  const armed = useArmed()
  const shown = client ? <View armed={armed} route={route} /> : !problem && <Loading />
  const settings = <PageSettings times={times} calls={calls} />
  const counts = { trouble: armed.waiting > 0 && `${armed.waiting} armed` }
  return (
    <CallsProvider value={calls[0] === 'shown'}>
      <ClientProvider value={client}>
        <ZoneProvider value={times[0] === 'utc' ? 'utc' : 'local'}>
          <button
            type="button"
            class="visually-hidden skip"
            onClick={() => document.getElementById('main')!.focus()}
          >
            Skip to the content
          </button>
          <aside class="side" aria-label="Menu">
            <Brand />
            <a class="client button" href="#/control">
              <span class="word">Client </span>
              <b>{BASE.slice(2) || 'default'}</b>
            </a>
            <a
              class="find button"
              href="#/search"
              aria-current={route.view === 'search' ? 'page' : undefined}
            >
              Search <kbd>/</kbd>
            </a>
            <Menu label="Views" view={route.view} counts={counts} />
            {settings}
            <span class="state" role="status" aria-live="polite">
              <Chip state={state} />
            </span>
          </aside>
          <header>{client && <ClockBar />}</header>
          <main id="main" tabIndex={-1}>
            <AdminToken />
            <RejectedFiles />
            {state !== 'deleted' && state !== 'locked' && <Problem text={problem} />}
            {state === 'lost' && (
              <p class="problem" role="alert">
                {GONE_TEXT} The page shows what it last knew, and reconnects by itself.
              </p>
            )}
            {state === 'deleted' ? (
              <Deleted />
            ) : route.view === 'more' ? (
              <>
                <h2>More</h2>
                <div class="card all">
                  <Menu label="All views" view={route.view} counts={counts} />
                  {settings}
                </div>
              </>
            ) : (
              shown
            )}
          </main>
          <Keys />
          <LastCall />
        </ZoneProvider>
      </ClientProvider>
    </CallsProvider>
  )
}
