// The clock in the header of every view: its speed, its jumps, and what is to come.
import { useEffect, useRef, useState } from 'preact/hooks'
import { parseDuration } from '../../../model/duration.ts'
import { Act } from '../act.tsx'
import { type Client, callOf, read, send, type Timer } from '../api.ts'
import { useNow } from '../clock.ts'
import { Input } from '../fields.tsx'
import { spanText, untilText } from '../format.ts'
import { useConnection } from '../live.ts'
import { onRoute } from '../route.ts'
import { At, useTimeText } from '../settings.tsx'
import { stateClass } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { type Counts, EffectOfJump } from './jump-effect.tsx'
import { Timers, textOfTimer } from './timers.tsx'

const SPEEDS = [1, 60, 3_600]
const HOUR = 3_600_000
// A jump is made in parts, so that its progress shows and it can be stopped.
const PARTS = 24
// A shorter jump shows no progress, real ms.
const SLOW_MS = 1_000

/** A jump of the clock: how far it is, and how to stop it; when it has ended, the counts before and after. */
type Jump =
  | { isOver: false; share: number; stop: () => void }
  | { isOver: true; byMs: number; before: Counts; after: Counts }

/** By a duration (ms), to an instant (ms) or the next timer, or what else the user typed. */
type Target = { by: number } | { at: number } | { text: string } | 'next'
// An instant starts with a year; a duration does not.
const INSTANT = /^\d{4}-/

/** What a typed duration or instant means; the sandbox reads any other form. */
function targetOf(typed: string): Target {
  const text = typed.trim()
  const by = parseDuration(text)
  if (by !== undefined) return { by }
  return INSTANT.test(text) && !Number.isNaN(Date.parse(text)) ? { at: Date.parse(text) } : { text }
}

const timeNow = async () => Date.parse((await read(callOf('getClock'))).now)
const countsNow = () => read(callOf('readSummary'))

/** The calls of a jump: by parts of it, because a running clock may have passed an instant in between. */
async function callsOf(target: Target) {
  if (target === 'next') return [callOf('advanceClockToNext')]
  if ('text' in target) return [callOf('advanceClock', { body: { by: target.text } })]
  const ms = 'by' in target ? target.by : Math.max(0, target.at - (await timeNow()))
  const part = Math.ceil(ms / PARTS)
  const parts = Array.from({ length: Math.ceil(ms / Math.max(part, 1)) || 1 }, (_, i) =>
    Math.min(part, ms - i * part),
  )
  return parts.map((by) => callOf('advanceClock', { body: { by: `${by}ms` } }))
}

/** Moves the clock. */
async function jump(
  target: Target,
  show: (jump: Jump) => void,
  timeText: (at: string) => string,
): Promise<void> {
  const [from, before, calls] = [await timeNow(), await countsNow(), await callsOf(target)]
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  for (const [i, call] of calls.entries()) {
    if (isStopped) break
    show({ isOver: false, share: i / calls.length, stop })
    await send(call, 'Advance', ({ now }) => ({
      text: `It is ${timeText(now)} now.`,
      isBad: false,
    }))
  }
  // The clock may have run meanwhile, which is no part of the jump.
  const byMs =
    target !== 'next' && 'by' in target && !isStopped ? target.by : (await timeNow()) - from
  show({ isOver: true, byMs, before, after: await countsNow() })
}

/** The coming events on a line; their distance from now is compressed. */
function Rail({ timers, now }: { timers: readonly Timer[]; now: number }) {
  const far = Math.max(...timers.map(({ at }) => Date.parse(at) - now), 1_000)
  const placeOf = (at: string) =>
    Math.round((92 * Math.log1p(Math.max(0, Date.parse(at) - now))) / Math.log1p(far)) + 4
  return (
    <svg class="rail" viewBox="0 0 200 24" aria-hidden="true">
      <line x1="4" y1="12" x2="196" y2="12" />
      <line class="now" x1="4" y1="3" x2="4" y2="21" />
      {timers.map((timer) => (
        <circle
          key={timer.timer_id}
          class={stateClass(String(timer.payload['status']))}
          cx={placeOf(timer.at) * 2}
          cy="12"
          r="4"
        >
          <title>{textOfTimer(timer)}</title>
        </circle>
      ))}
    </svg>
  )
}

/** What is to come: a rail that opens the list of timers, and a field for any other jump. */
function Coming({ client, reload, go }: ClockProps & { go: (target: Target) => void }) {
  const now = useNow(client.clock)
  const [text, setText] = useState('1h')
  const { data } = useLoaded(callOf('listTimers', { query: { limit: 12 } }), [
    'timer',
    'change',
    'delivery',
    'clock',
    'scenario',
  ])
  const box = useRef<HTMLDetailsElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => onRoute(() => box.current?.removeAttribute('open')), [])
  const { next_timer_at: next, pending_timers: count } = client.clock
  return (
    <details
      class="coming"
      ref={box}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return
        box.current!.open = false
        box.current!.querySelector('summary')!.focus()
      }}
    >
      <summary class="bar">
        <span class="visually-hidden">Coming: </span>
        <Rail timers={data?.timers ?? []} now={now} />
        <span class="hint">
          {next === null ? 'nothing scheduled' : `next ${untilText(Date.parse(next) - now)}`}
          {count > 1 && `, ${count} coming`}
        </span>
      </summary>
      {isOpen && (
        <div class="card panel">
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault()
              go(targetOf(text))
            }}
          >
            <Input label="Duration or instant" value={text} onInput={setText} />
            <button type="submit">Advance</button>
          </form>
          <Timers client={client} reload={reload} onGo={(at) => go({ at: Date.parse(at) })} />
        </div>
      )}
    </details>
  )
}

type ClockProps = { client: Client; reload: () => void }

export function ClockBar({ client, reload }: ClockProps) {
  const { mode, speed, next_timer_at } = client.clock
  const now = useNow(client.clock)
  const timeText = useTimeText()
  const isLost = useConnection() === 'lost'
  const [jumped, setJump] = useState<Jump>()
  const [isSlow, setSlow] = useState(false)
  const [problem, setProblem] = useState<string>()
  const isJumping = jumped?.isOver === false
  useEffect(() => {
    setSlow(false)
    if (!isJumping) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [isJumping])
  const go = (target: Target) =>
    void jump(target, setJump, timeText)
      .then(() => setProblem(undefined))
      .catch((error: Error) => {
        setJump(undefined)
        // The page has no fields of these names.
        setProblem(error.message.replace(/^(by|to) must/, 'A jump must'))
      })
      .finally(reload)
  const jumpButton = (label: string, target: Target, isOff = false) => (
    <button
      type="button"
      aria-disabled={isJumping || isOff || undefined}
      onClick={() => {
        if (!isJumping && !isOff) go(target)
      }}
    >
      {label}
    </button>
  )
  const isFrozen = mode === 'frozen'
  const pace = speed === 1 ? 'real time' : `× ${speed}`
  return (
    <>
      <div class="now">
        <At at={new Date(now).toISOString()} />
        <span class="hint">{isLost ? 'the last known time' : isFrozen ? 'frozen' : pace}</span>
      </div>
      <section class="clock bar" aria-label="Clock">
        <Act
          quiet
          label={isFrozen ? 'Play' : 'Pause'}
          call={callOf(isFrozen ? 'resumeClock' : 'freezeClock')}
          effect={isFrozen ? 'The clock runs.' : 'The clock stands still.'}
          onDone={reload}
        />
        <span class="speeds">
          {SPEEDS.map((factor) => (
            <Act
              key={factor}
              quiet
              label={`×${factor}`}
              isPressed={!isFrozen && speed === factor}
              call={callOf('setClockSpeed', { body: { factor } })}
              effect={
                factor === 1
                  ? 'The clock runs in real time.'
                  : `A second is ${spanText(factor * 1_000)} for this client.`
              }
              onDone={reload}
            />
          ))}
        </span>
        {jumpButton('+1 h', { by: HOUR })}
        {jumpButton('+1 day', { by: 24 * HOUR })}
        {jumpButton('Next event', 'next', next_timer_at === null)}
        <Coming client={client} reload={reload} go={go} />
      </section>
      {problem !== undefined && (
        <div class="jump bar failed" role="alert">
          {problem}
          <button type="button" onClick={() => setProblem(undefined)}>
            Close
          </button>
        </div>
      )}
      {isSlow && jumped?.isOver === false && (
        <div class="jump bar" role="status">
          <progress value={jumped.share} aria-label="Progress of the jump" />
          <button type="button" onClick={jumped.stop}>
            Stop here
          </button>
        </div>
      )}
      {jumped?.isOver && <EffectOfJump {...jumped} onClose={() => setJump(undefined)} />}
    </>
  )
}
