import { Act } from '../act.tsx'
import { type Client, callOf, type Timer } from '../api.ts'
import { useNow } from '../clock.ts'
import { untilText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, Heads, Problem, Scroll } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { useStill } from './feed.tsx'
import { RunTimer } from './send.tsx'

const MAX_TIMERS = 20

const VIEWS: Readonly<Record<string, string>> = {
  'transaction.step': 'payments',
  'transaction.utr': 'payments',
  'webhook.attempt': 'deliveries',
}

const KINDS: Readonly<Record<string, string>> = {
  'transaction.step': 'a payment becomes',
  'transaction.utr': 'a payment gets its UTR',
  'webhook.attempt': 'your webhook gets',
  'kyc.step': 'a KYC record becomes',
  'bank.step': 'an account becomes',
  'timeline.entry': 'the scenario does',
}

/** What a timer does, with a link to its payment or delivery. */
function TimerText({ timer }: { timer: Timer }) {
  const { kind, resource_id, payload } = timer
  // The action of a timeline is a word with its fields; a call names its operation.
  const { call, ...action } = (payload['do'] ?? {}) as Record<string, unknown>
  const word = payload['status'] ?? payload['event'] ?? call ?? Object.keys(action)[0] ?? ''
  const view = VIEWS[kind]
  return (
    <>
      {KINDS[kind] ?? kind} <b>{String(word)}</b>{' '}
      {resource_id !== undefined &&
        (view ? (
          <a href={`#/${view}/${resource_id}`}>{resource_id.slice(0, 12)}</a>
        ) : (
          <code>{resource_id.slice(0, 12)}</code>
        ))}
    </>
  )
}

/** The pending timers, soonest first. */
export function Timers({
  client,
  reload,
  onGo,
}: {
  client: Client
  reload: () => void
  /** Moves the clock to a timer. */
  onGo: (at: string) => void
}) {
  const query = { limit: MAX_TIMERS }
  const {
    data,
    problem,
    reload: reloadTimers,
  } = useLoaded(callOf('listTimers', { query }), [
    'timer',
    'change',
    'delivery',
    'clock',
    'scenario',
    'request',
  ])
  const now = useNow(client.clock)
  const {
    value: timers,
    props,
    release,
  } = useStill<Timer[] | undefined, HTMLTableElement>(data?.timers)
  const done = () => {
    release()
    void reloadTimers()
    reload()
  }
  const more = client.clock.pending_timers - (timers?.length ?? 0)
  return (
    <Card title="Pending timers" wide>
      <Problem text={problem} />
      {timers?.length === 0 && <p class="empty">No pending timers</p>}
      {timers !== undefined && timers.length > 0 && (
        <Scroll label="Timers">
          <table class="stack" {...props}>
            <Heads titles={['When', 'At', 'What', 'Actions']} />
            <tbody>
              {timers.map((timer) => (
                <tr key={timer.timer_id}>
                  <td>{untilText(Date.parse(timer.at) - now)}</td>
                  <td>
                    <At at={timer.at} />
                  </td>
                  <td>
                    <TimerText timer={timer} />
                  </td>
                  <td>
                    <span class="row tight">
                      <RunTimer timer={timer} onDone={done} />
                      <button
                        type="button"
                        aria-label={`Go there: ${timer.timer_id}`}
                        onClick={() => onGo(timer.at)}
                      >
                        Go there
                      </button>
                      <Act
                        quiet
                        label="Cancel the event"
                        name={timer.timer_id}
                        confirm="What it would do never happens."
                        call={callOf('deleteTimer', { params: { id: timer.timer_id } })}
                        onDone={done}
                      />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {timers?.length === MAX_TIMERS && more > 0 && <p class="hint">and {more} more</p>}
    </Card>
  )
}
