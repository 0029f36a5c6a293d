// The line of time in the header: what has happened, now, and what is coming.
import { useState } from 'preact/hooks'
import { callOf, type Timer } from '../api.ts'
import { useClient, useNow } from '../client.ts'
import { countText, rupeesText, spanText, untilText } from '../format.ts'
import { useListener } from '../route.ts'
import { At } from '../settings.tsx'
import { Button, stateClass, stateOf, useWidth } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { wordsOf } from './payment-words.ts'

type Fields = { amount?: unknown }

/** What each kind is about if nothing more is known, its event, and the shape of its mark. */
const KINDS: Readonly<Record<string, readonly [about: string, event: string, shape: string]>> = {
  'transaction.step': ['a payment', '', 'money'],
  'transaction.utr': ['a payment', 'UTR', 'money'],
  'webhook.attempt': ['your webhook', 'webhook ', 'webhook'],
  'kyc.step': ['a person', 'KYC ', 'scenario'],
  'bank.step': ['a person', 'account ', 'scenario'],
  'timeline.entry': ['scenario', '', 'scenario'],
}

function textOfTimer({ kind, payload, amount, name }: Timer): string {
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

type Mark = { x: number; at: string; texts: string[]; shape: string; tone: string; href?: string }

// Where now is, in percent; what is close to it has more room than what is far.
const NOW = 18
const CLOSE_MS = 20_000
const MIN_SPAN_MS = 3_600_000
const PAST_SPAN_MS = 86_400_000
// Marks closer than this (px) are one.
const APART = 28
const MAX_TEXTS = 6

const share = (ms: number, span: number) =>
  Math.min(1, Math.log1p(Math.max(0, ms) / CLOSE_MS) / Math.log1p(span / CLOSE_MS))

function grouped(marks: readonly Mark[], width: number): Mark[] {
  const groups: Mark[] = []
  for (const mark of marks) {
    const last = groups.at(-1)
    if (last && mark.x - last.x < (100 * APART) / width) last.texts.push(...mark.texts)
    else groups.push({ ...mark, texts: [...mark.texts] })
  }
  return groups
}

const COMING = callOf('listTimers', { query: { limit: 60 } })
const PAST = callOf('readTransactions', { query: { limit: 20 } })

function useMarks(now: number, width: number) {
  const timers = useLoaded(COMING).data?.timers ?? []
  const coming = timers.filter(({ at }) => Date.parse(at) > now)
  const past = useLoaded(PAST).data?.transactions ?? []
  const spanMs = Math.max(MIN_SPAN_MS, ...coming.map(({ at }) => Date.parse(at) - now))
  const ahead = coming.map((timer): Mark => {
    const { kind, payload, at } = timer
    const x = NOW + 1 + share(Date.parse(at) - now, spanMs) * (97 - NOW)
    const [, , shape = 'scenario'] = KINDS[kind] ?? []
    const tone = stateClass(String(payload['status']))
    return { x, at, texts: [textOfTimer(timer)], shape, tone }
  })
  const done = past
    .filter(({ updated_at }) => now - Date.parse(updated_at) <= PAST_SPAN_MS)
    .map((payment): Mark => {
      const { updated_at: at, transaction_id: id, amount, history } = payment
      const text = `${rupeesText(amount)} to ${history.account_holder_name}: ${stateOf(payment)}`
      return {
        x: NOW - 1 - share(now - Date.parse(at), PAST_SPAN_MS) * (NOW - 2),
        at,
        texts: [text],
        shape: 'money',
        tone: stateClass(stateOf(payment)),
        href: `#/payments/${id}`,
      }
    })
    .sort((a, b) => a.x - b.x)
  return { spanMs, ahead: grouped(ahead, width), done: grouped(done, width) }
}

/** Instants of the line that have a label: now, and spans that people think in. */
const SPANS = [60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000, 2_592_000_000]
const LABEL_APART = 14

function labelsOf(spanMs: number) {
  const labels: { x: number; text: string }[] = []
  for (const ms of SPANS.filter((one) => one <= spanMs)) {
    const x = NOW + 1 + share(ms, spanMs) * (97 - NOW)
    if (x - (labels.at(-1)?.x ?? NOW) >= LABEL_APART) labels.push({ x, text: `+${spanText(ms)}` })
  }
  return labels
}

type Props = { isOff: boolean; goTo: (at: string) => void }

export function Rail({ isOff, goTo }: Props) {
  const now = useNow()
  const { pending_timers: count } = useClient().clock
  const { box, width } = useWidth()
  const { spanMs, ahead, done } = useMarks(now, width)
  const [chosen, choose] = useState<Mark>()
  useListener(window, 'keydown', ({ key }: KeyboardEvent) => {
    if (key === 'Escape') choose(undefined)
  })
  const left = (x: number) => ({ left: `${x}%` })
  // Unlike `left`, it needs no new layout.
  const moved = (x: number) => ({ translate: `${x}cqw` })
  return (
    <div class="rail">
      <ol aria-label="Past and coming" ref={box}>
        <li class="past" />
        <li class="next" />
        {done.map(({ x, shape, tone, texts, href }) => (
          <li key={`done ${href}`} style={moved(x)}>
            <a href={href} class={`ev done ${shape} ${tone}`} title={texts[0]}>
              <span class="visually-hidden">{texts[0]}</span>
            </a>
          </li>
        ))}
        <li class="at-now" style={left(NOW)} />
        {ahead.map((mark) => {
          const { x, at, shape, tone, texts } = mark
          const text = texts.length === 1 ? texts[0] : `${countText(texts.length, 'event')}`
          return (
            <li key={`${at} ${texts[0]}`} style={moved(x)}>
              <button
                type="button"
                class={`ev ${texts.length > 1 ? 'many' : `${shape} ${tone}`}`}
                title={text}
                aria-label={`${text}, ${untilText(Date.parse(at) - now)}`}
                aria-expanded={chosen?.at === at}
                onClick={() => choose(chosen?.at === at ? undefined : mark)}
              >
                {texts.length > 1 && texts.length}
              </button>
            </li>
          )
        })}
        {labelsOf(count === 0 ? 0 : spanMs).map(({ x, text }) => (
          <li key={text} class="label hint" style={left(x)}>
            {text}
          </li>
        ))}
        {count === 0 && <li class="label hint none">nothing scheduled</li>}
      </ol>
      {chosen && (
        <div class="card pop" role="dialog" aria-label="Coming">
          <p>
            <At at={chosen.at} /> <span class="hint">{untilText(Date.parse(chosen.at) - now)}</span>
          </p>
          <ul class="list">
            {chosen.texts.slice(0, MAX_TEXTS).map((text, i) => (
              <li key={i}>{text}</li>
            ))}
          </ul>
          {chosen.texts.length > MAX_TEXTS && (
            <p class="hint">and {countText(chosen.texts.length - MAX_TEXTS, 'more event')}</p>
          )}
          <p class="bar">
            <span class="primary">
              <Button
                label="Go there"
                isOff={isOff}
                onPress={() => {
                  choose(undefined)
                  goTo(chosen.at)
                }}
              />
            </span>
          </p>
        </div>
      )}
    </div>
  )
}
