// Everything that happened to a payment, and what is to come, on one axis of time: lanes side by side, or one list on a phone.
import { groupBy } from '../../counting.ts'
import type { Delivery, PaymentWithAll } from '../api.ts'
import { useClient, useNow } from '../client.ts'
import { focusNext } from '../focus.ts'
import { isoOf, spanText, untilText } from '../format.ts'
import { useTimes } from '../settings.tsx'
import { Copy, Scroll, stateClass, useWidth } from '../ui.tsx'
import { copyOf, deliveryText, ruleText } from './payment-words.ts'

type Mark = { lane: string; at: number; text: string; look: string; href?: string; until?: number }

const CALLS = 'Your calls'
const RESPONSES = 'Responses'
const DECIDED = 'Decided by'
const STATUS = 'Status'
// Real time: on a fast clock, a moment is longer.
const SAME_MS = 200
// The names of the lanes, and what a column has beside its longest word, px.
const LANE = 136
const AROUND = 24
// A gap this many times as long as the usual one is drawn as a leap.
const LEAP = 20
// Short words for errors of tries, by the start of their code. The delivery has the whole sentence.
const ERRORS: Record<string, string> = { timeout: 'timed out', refused: 'refused', lost: 'lost' }
const ruler = document.createElement('canvas').getContext('2d')!
ruler.font = '13px system-ui'

const wordWidth = (text: string) =>
  AROUND + Math.max(...text.split(/\s|(?<=-)/).map((word) => ruler.measureText(word).width))

function callMarks({ requests, steps, decided_by, transaction }: PaymentWithAll): Mark[] {
  const calls = requests
    .toReversed()
    .filter(
      ({ request_id, path }) =>
        request_id === decided_by.request_id || path.includes(transaction.transaction_id),
    )
  const statusAt = (at: string) => steps.findLast((one) => one.at <= at)?.status
  // Calls that ask again and get the same are one mark.
  const groups = groupBy(calls, ({ method, request_id, path, status, at }) =>
    method === 'GET' ? [path, status, statusAt(at)].join() : request_id,
  )
  return [...groups.values()].flatMap(([call, ...again]): Mark[] => {
    const { method, path, status, fault, rule, duration_ms } = call
    const at = Date.parse(call.at)
    const href = `#/requests/${call.request_id}`
    const times = again.length > 0 ? ` ×${again.length + 1}` : ''
    const short = path.replace(/^\/v1/, '').replace(/\/[\da-f-]{36}.*/, '/…')
    const text = `${status ?? (fault === 'hang' ? 'no response' : 'connection lost')}, ${Math.round(duration_ms)} ms`
    const look = status !== null && status < 400 ? 'good' : 'bad'
    return [
      { lane: CALLS, at, href, look: '', text: `${method} ${short}${times}` },
      { lane: RESPONSES, at, href, look, text },
      ...(rule === null ? [] : [{ lane: DECIDED, at, look: '', text: ruleText(rule) }]),
    ]
  })
}

function statusMarks({ steps, timers }: PaymentWithAll, now: number): Mark[] {
  const planned = timers.filter(({ kind }) => kind === 'transaction.step')
  const ahead = planned.map(({ at, payload }) => ({ at, status: String(payload['status']) }))
  const all = [...steps, ...ahead]
  return all.map(({ status, at }, i): Mark => {
    const isAhead = i >= steps.length
    const isReturn = status === 'FAILED' && all[i - 1]?.status === 'SUCCESS'
    return {
      lane: STATUS,
      at: Date.parse(at),
      ...(!isAhead && { until: Date.parse(steps[i + 1]?.at ?? isoOf(now)) }),
      look: `${isAhead ? 'ahead' : 'lasts'} ${isReturn ? 'came' : stateClass(status)}`,
      text: isReturn ? `FAILED: ${isAhead ? 'comes' : 'came'} back` : status,
    }
  })
}

function deliveryMarks(delivery: Delivery): Mark[] {
  const { delivery_id, event, attempts, next_attempt_at, created_at, status } = delivery
  const copy = copyOf(delivery_id)
  const lane = `${event.replace('transaction.', 'Webhook: ')}${copy ? ` (copy ${copy})` : ''}`
  const href = `#/deliveries/${delivery_id}`
  const mark = (at: string, look: string, text: string): Mark => {
    return { lane, href, at: Date.parse(at), look, text }
  }
  const texts = attempts.map(({ status: got, error }) => {
    if (got !== null) return `your ${got}`
    return ERRORS[String(error?.code).split('_')[0]!] ?? error?.message ?? 'no response'
  })
  // Tries in a row with the same result are one mark.
  const tries = attempts.flatMap(({ at, ok }, i): Mark[] => {
    const text = texts[i]!
    if (text === texts[i - 1]) return []
    const end = texts.findIndex((one, k) => k > i && one !== text)
    const same = attempts.slice(i, end < 0 ? undefined : end)
    if (same.length === 1) return [mark(at, ok ? 'good' : 'bad', text)]
    const all = `${same.length} tries, all ${text.replace('your ', '')}`
    return [
      { ...mark(at, ok ? 'lasts good' : 'lasts bad', all), until: Date.parse(same.at(-1)!.at) },
    ]
  })
  if (status === 'pending' && next_attempt_at !== null)
    return [...tries, mark(next_attempt_at, 'ahead', `try ${attempts.length + 1}`)]
  if (tries.length > 0) return tries
  const text = status === 'recorded' ? 'no webhook' : deliveryText(delivery)
  return [mark(created_at, '', text)]
}

function marksOf(all: PaymentWithAll, now: number, speed: number): Mark[] {
  const marks = [
    ...callMarks(all),
    ...statusMarks(all, now),
    ...all.deliveries.toReversed().flatMap(deliveryMarks),
  ]
  // What is closer together than people can tell apart is one instant.
  let at = Number.NEGATIVE_INFINITY
  return marks
    .sort((a, b) => a.at - b.at)
    .map((mark) => {
      if (mark.at - at > SAME_MS * speed) at = mark.at
      return { ...mark, at }
    })
}

function ticksOf(marks: readonly Mark[], now: number) {
  const instants = [...new Set([...marks.map(({ at }) => at), now])].sort((a, b) => a - b)
  const gaps = instants.slice(1).map((at, i) => at - instants[i]!)
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0
  return instants.map((at, i) => ({
    at,
    isLeap: i > 0 && gaps[i - 1]! > LEAP * Math.max(usual, 1),
  }))
}

type Span = readonly [text: string, from: number, to: number]

/** How wide the axis must be so that no word breaks, px; `heads` are above its columns, of which the first is 2. */
function neededWidth(heads: readonly string[], spans: readonly Span[]): number {
  const widths = heads.map((head) => ruler.measureText(head).width + 10)
  for (const [text, from, to] of spans) {
    const own = wordWidth(text) / (to - from)
    for (let i = from - 2; i < to - 2; i++) widths[i] = Math.max(widths[i]!, own)
  }
  return LANE + widths.reduce((sum, one) => sum + one)
}

export function Axis({ all }: { all: PaymentWithAll }) {
  const now = useNow()
  const { wallOf, zoneOf } = useTimes()
  const { mode, speed } = useClient().clock
  const { box, width } = useWidth()
  const marks = marksOf(all, now, mode === 'real' ? Math.max(1, speed) : 1)
  const ticks = ticksOf(marks, now)
  const columnOf = (at: number) =>
    ticks.findIndex((tick) => tick.at >= Math.min(at, ticks.at(-1)!.at)) + 2
  const used = marks.map(({ lane }) => lane)
  const lanes = [...new Set([CALLS, RESPONSES, DECIDED, STATUS, ...used])].filter((lane) =>
    used.includes(lane),
  )
  const start = ticks[0]!.at
  const { day } = wallOf(isoOf(start))
  const timeOf = (at: number) => {
    const wall = wallOf(isoOf(at))
    const isExact = ticks.some(
      (one) => one.at !== at && Math.floor(one.at / 1_000) === Math.floor(at / 1_000),
    )
    return `${wall.day === day ? '' : `${wall.day} `}${isExact ? wall.exact : wall.time}`
  }
  const distanceOf = (at: number) => {
    if (at > now) return untilText(at - now)
    return at === now ? 'now' : at === start ? 'start' : `+${spanText(at - start)}`
  }
  const columnsOf = (at: number, until = at): [number, number] =>
    until > at ? [columnOf(at), columnOf(until)] : [columnOf(at), columnOf(at) + 1]
  const times = ticks.map(({ at }) => timeOf(at))
  const distances = ticks.map(({ at }) => distanceOf(at))
  const spans = marks.map(({ at, until, text }) => [text, ...columnsOf(at, until)] as const)
  // Where not all times fit, the distances are enough. Much narrower, it's no picture: time runs down.
  const areTimesShown = width >= neededWidth(times, spans)
  const isDown = width < neededWidth([times[0]!, ...distances.slice(1)], spans) * 0.85
  const cells = groupBy(marks, ({ at, lane }) => `${at} ${lane}`)
  const lines = marks.map(
    ({ at, lane, text, look }) =>
      `${timeOf(at)} ${lane}: ${text}${look.startsWith('ahead') ? ` (${untilText(at - now)})` : ''}`,
  )
  return (
    <>
      <p class="hint">
        {day} {zoneOf(isoOf(start))}
        {marks.some(({ look }) => look.startsWith('ahead')) &&
          '; solid: happened; dashed: scheduled'}
        . <Copy label="Copy as text" text={lines.join('\n')} />
      </p>
      <Scroll label="Axis of the payment">
        <ol
          class={`axis ${isDown ? 'down' : ''}`}
          ref={box}
          style={{
            gridTemplateColumns: `${LANE}px repeat(${ticks.length}, minmax(min-content, 1fr))`,
            gridTemplateRows: `2.8rem repeat(${lanes.length}, auto)`,
          }}
          onKeyDown={(event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
            if (step && focusNext(box.current!, 'a[href]', step)) event.preventDefault()
          }}
        >
          {ticks.map(({ at, isLeap }, i) => (
            <li
              key={at === now ? 'now' : `tick ${at}`}
              class={`tick${isLeap ? ' leap' : ''}${at === now ? ' is-now' : ''}`}
              style={{ gridColumn: i + 2, gridRow: '1 / -1' }}
              title={times[i]}
            >
              {(areTimesShown || i === 0) && <time dateTime={isoOf(at)}>{times[i]}</time>}{' '}
              <span class="hint">{distances[i]}</span>
            </li>
          ))}
          {lanes.map((lane, i) => (
            <li key={lane} class="lane hint" aria-hidden="true" style={{ gridRow: i + 2 }}>
              {lane}
            </li>
          ))}
          {[...cells].map(([key, own]) => {
            const { at, lane } = own[0]
            const until = Math.max(...own.map((one) => one.until ?? at))
            const gridColumn = columnsOf(at, until).join(' / ')
            return (
              <li key={key} style={{ gridColumn, gridRow: lanes.indexOf(lane) + 2 }}>
                <span class="when hint">
                  {timeOf(at)} {lane}{' '}
                </span>
                {own.map(({ text, href, look }) => (
                  <a key={text} class={`mark ${look}`} href={href}>
                    {text}
                  </a>
                ))}
              </li>
            )
          })}
        </ol>
      </Scroll>
    </>
  )
}
