import { callOf, sendLater, type Timer, undo, waits } from '../api.ts'
import { useClient, useNow } from '../client.ts'
import { rupeesText, untilText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, Heads, Problem, Scroll } from '../ui.tsx'
import { useLoaded, useStill } from '../use-data.ts'
import { wordsOf } from './feed.tsx'
import { RunTimer } from './send.tsx'

const MAX_TIMERS = 20

const VIEWS: Readonly<Record<string, string>> = {
  'transaction.step': 'payments',
  'transaction.utr': 'payments',
  'webhook.attempt': 'deliveries',
}

type Fields = { amount?: unknown }

/** What each kind is about, if that is not known, and its event. */
const KINDS: Readonly<Record<string, readonly [about: string, event: string]>> = {
  'transaction.step': ['a payment', ''],
  'transaction.utr': ['a payment', 'UTR'],
  'webhook.attempt': ['your webhook', 'webhook '],
  'kyc.step': ['a person', 'KYC '],
  'bank.step': ['a person', 'account '],
  'timeline.entry': ['scenario', ''],
}
// How long a cancelled event can be undone, real ms; and how long the call takes at most.
const UNDO_MS = 10_000
const CALL_MS = 500

/** What a timer does: with the amount and the person, if they are known. */
export function textOfTimer({ kind, payload, amount, name }: Timer): string {
  // The action of a timeline is a word with its fields; a call names its operation.
  const { call, body, ...actions } = (payload['do'] ?? {}) as Record<string, Fields>
  const [[action = '', fields] = []] = Object.entries(actions)
  const word = payload['status'] ?? payload['event'] ?? call ?? wordsOf(action)
  const rupees = (body ?? fields)?.amount
  const of = typeof rupees === 'string' ? ` of ${rupeesText(rupees)}` : ''
  const [noun, event] = KINDS[kind] ?? [wordsOf(kind), '']
  const about = amount === undefined ? (name ?? noun) : `${rupeesText(amount)} to ${name}`
  return `${about}: ${event}${word}${of}`
}

const cancelOf = ({ timer_id: id }: Timer) => callOf('deleteTimer', { params: { id } })

/** The pending timers, soonest first; a cancelled one goes when it can no longer be undone. */
export function Timers({
  onGo,
}: {
  /** Moves the clock to a timer. */
  onGo: (at: string) => void
}) {
  const { clock } = useClient()
  const query = { limit: MAX_TIMERS }
  const { data, problem } = useLoaded(callOf('listTimers', { query }))
  const now = useNow()
  const { value: timers, props } = useStill<Timer[] | undefined, HTMLTableElement>(data?.timers)
  function cancel(timer: Timer) {
    const { mode, speed } = clock
    // It must not happen before the call says that it does not.
    const left = mode === 'real' ? (Date.parse(timer.at) - now) / speed : UNDO_MS
    const effect = `Cancelled: ${textOfTimer(timer)}.`
    sendLater(cancelOf(timer), 'Cancel the event', effect, Math.min(UNDO_MS, left - CALL_MS))
  }
  const more = clock.pending_timers - (timers?.length ?? 0)
  return (
    <Card title="Coming" wide>
      <Problem text={problem} />
      {timers?.length === 0 && <p class="empty">Nothing is scheduled.</p>}
      {timers !== undefined && timers.length > 0 && (
        <Scroll label="Timers">
          <table class="stack" {...props}>
            <Heads titles={['When', 'At', 'What', 'Actions']} />
            <tbody>
              {timers.map((timer) => {
                const left = Date.parse(timer.at) - now
                return (
                  <tr key={timer.timer_id}>
                    <td>{left < 0 ? 'happened' : untilText(left)}</td>
                    <td>
                      <At at={timer.at} />
                    </td>
                    <td>
                      {timer.resource_id && VIEWS[timer.kind] ? (
                        <a href={`#/${VIEWS[timer.kind]}/${timer.resource_id}`}>
                          {textOfTimer(timer)}
                        </a>
                      ) : (
                        textOfTimer(timer)
                      )}
                    </td>
                    <td>
                      {left >= 0 && (
                        <span class="bar">
                          <RunTimer timer={timer} />
                          <button
                            type="button"
                            aria-label={`Go there: ${timer.timer_id}`}
                            onClick={() => onGo(timer.at)}
                          >
                            Go there
                          </button>
                          <button
                            type="button"
                            aria-label={`${waits(cancelOf(timer)) ? 'Undo' : 'Cancel the event'}: ${timer.timer_id}`}
                            onClick={() => (waits(cancelOf(timer)) ? undo() : cancel(timer))}
                          >
                            {waits(cancelOf(timer)) ? 'Undo' : 'Cancel the event'}
                          </button>
                        </span>
                      )}
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </Scroll>
      )}
      {timers?.length === MAX_TIMERS && more > 0 && <p class="hint">and {more} more</p>}
    </Card>
  )
}
