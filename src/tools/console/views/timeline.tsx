import type { ComponentChildren } from 'preact'
import type { Clock, Delivery, Payment, PaymentWithAll, Timer } from '../api.ts'
import { spanText, untilText, useNow } from '../clock.ts'
import { rupeesText } from '../format.ts'
import { useTimes } from '../settings.tsx'
import { Chip } from '../ui.tsx'
import { attemptText, copyOf, deliveryText, type Moment, storyOf } from './story.ts'

/** The details of a status: the amount, the UTR, or the reason of the failure. */
function Detail({ payment, status }: { payment: Payment; status: Moment['status'] }) {
  const { amount, currency_code, failure, history } = payment
  if (status === 'PENDING')
    return (
      <>
        created, <b>{rupeesText(amount, currency_code)}</b>
      </>
    )
  if (status === 'SUCCESS') return <>{history.utr !== null && `UTR ${history.utr}`}</>
  if (status !== 'FAILED' || failure === null) return null
  return (
    <>
      <b>{failure.reason}</b>: {failure.description}
    </>
  )
}

/** A delivery in one line, with its attempts below unless the first one succeeded. */
function DeliveryLine({
  delivery,
  timeOf,
}: {
  delivery: Delivery
  timeOf: (at: string) => string
}) {
  const { delivery_id, event, attempts, status } = delivery
  const copy = copyOf(delivery_id)
  const isPlain = attempts.length < 2 && attempts.every(({ ok }) => ok)
  return (
    <li>
      <a href={`#/deliveries/${delivery_id}`}>{event}</a>
      {copy && ` (copy ${copy})`}{' '}
      <span class={status === 'failed' ? 'failed' : ''}>{deliveryText(delivery)}</span>
      {isPlain && attempts[0] && ` (${attempts[0].status})`}
      {!isPlain && (
        <ol class="attempts">
          {attempts.map((attempt) => (
            <li key={attempt.number} class={attempt.ok ? '' : 'failed'}>
              attempt {attempt.number} at {timeOf(attempt.at)}: {attemptText(attempt)}
            </li>
          ))}
        </ol>
      )}
    </li>
  )
}

type Line = { key: string; at: string; class: string; what: ComponentChildren; hint?: string }

/** The line of a past moment. */
function pastLine(moment: Moment, payment: Payment, timeOf: (at: string) => string): Line {
  const { key, at, status, isStep, deliveries } = moment
  const lines = deliveries.map((one) => (
    <DeliveryLine key={one.delivery_id} delivery={one} timeOf={timeOf} />
  ))
  const since = Date.parse(at) - Date.parse(payment.created_at)
  return {
    key,
    at,
    class: isStep ? 'state' : 'triggered',
    hint: since > 0 ? `+${spanText(since)}` : '',
    what: (
      <>
        {isStep ? (
          <>
            <Chip state={status} /> <Detail payment={payment} status={status} />
          </>
        ) : (
          `Event triggered by hand; the payment was ${status}.`
        )}
        {lines.length > 0 && <ul class="delivery-lines">{lines}</ul>}
      </>
    ),
  }
}

const stepLine = ({ timer_id, at, kind, payload }: Timer): Line => ({
  key: timer_id,
  at,
  class: 'ahead',
  what:
    kind === 'transaction.step' ? (
      <>
        becomes <Chip state={String(payload['status'])} />{' '}
        {payload['reason'] !== undefined && <b>{String(payload['reason'])}</b>}
      </>
    ) : (
      kind
    ),
})

const attemptLine = ({ delivery_id, event, attempts, next_attempt_at }: Delivery): Line => ({
  key: `next ${delivery_id}`,
  at: next_attempt_at!,
  class: 'ahead',
  what: (
    <>
      attempt {attempts.length + 1} of <a href={`#/deliveries/${delivery_id}`}>{event}</a>
    </>
  ),
})

const secondOf = (at: string) => at.slice(0, 19)

/** Returns a function that formats an instant as a time of day: with milliseconds if another instant is in the same second. */
function timesOf(
  instants: readonly string[],
  wallOf: ReturnType<typeof useTimes>['wallOf'],
): (at: string) => string {
  const inSecond = new Map<string, Set<string>>()
  for (const at of instants) {
    const second = secondOf(at)
    inSecond.set(second, (inSecond.get(second) ?? new Set()).add(at))
  }
  return (at) => wallOf(at)[(inSecond.get(secondOf(at))?.size ?? 0) > 1 ? 'exact' : 'time']
}

/** The history of a payment, its current status and its pending steps, as one line. */
export function Timeline({ all, clock }: { all: PaymentWithAll; clock: Clock }) {
  const now = useNow(clock)
  const { wallOf, zoneOf } = useTimes()
  const { transaction: payment, steps, deliveries, timers } = all
  const story = storyOf(steps, deliveries)
  const waiting = deliveries.filter(
    ({ status, next_attempt_at }) => status === 'pending' && next_attempt_at !== null,
  )
  const ahead = [...timers.map(stepLine), ...waiting.map(attemptLine)].sort((a, b) =>
    a.at.localeCompare(b.at),
  )
  const instants = [
    ...story.map(({ at }) => at),
    ...ahead.map(({ at }) => at),
    ...deliveries.flatMap(({ attempts }) => attempts.map(({ at }) => at)),
  ]
  const timeOf = timesOf(instants, wallOf)
  const lines: Line[] = [
    ...story.map((moment) => pastLine(moment, payment, timeOf)),
    {
      key: 'now',
      at: new Date(now).toISOString(),
      class: 'is-now',
      what:
        ahead.length === 0
          ? `now: no steps left, the payment stays ${payment.history.status}`
          : clock.mode === 'frozen'
            ? 'now (the clock is frozen: nothing happens until you advance it)'
            : 'now',
    },
    ...ahead.map((line) => ({ ...line, hint: untilText(Date.parse(line.at) - now) })),
  ]
  let day = ''
  return (
    <ol class="timeline">
      {lines.map(({ key, at, class: kind, what, hint }) => {
        const { day: thisDay } = wallOf(at)
        const isNewDay = day !== thisDay
        day = thisDay
        return [
          isNewDay && (
            <li key={day} class="day">
              {day} {zoneOf(at)}
            </li>
          ),
          <li key={key} class={kind}>
            <span class="when">
              <time dateTime={at} title={at}>
                {timeOf(at)}
              </time>{' '}
              <span class="hint">{hint}</span>
            </span>
            <div class="what">{what}</div>
          </li>,
        ]
      })}
    </ol>
  )
}
