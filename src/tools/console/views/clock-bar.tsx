// The clock in the header of every view: its speed, its jumps, and what is to come.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { parseDuration } from '../../../model/duration.ts'
import { Act } from '../act.tsx'
import { callOf, read, send, type Timer } from '../api.ts'
import { useClient, useNow } from '../client.ts'
import { Input } from '../fields.tsx'
import { isoOf, spanText, untilText } from '../format.ts'
import { useConnection } from '../live.ts'
import { onRoute } from '../route.ts'
import { At, useTimeText } from '../settings.tsx'
import { Button } from '../ui.tsx'
import { FRAME_MS, problemOf, useLoaded } from '../use-data.ts'
import { type Effect, EffectOfJump } from './jump-effect.tsx'
import { Timers, textOfTimer } from './timers.tsx'

const SPEEDS = [1, 60, 3_600]
const HOUR = 3_600_000
// A jump is made in parts, so that its progress shows and it can be stopped.
const PARTS = 24
// A shorter jump shows no progress, real ms.
const SLOW_MS = 1_000

/** A jump of the clock: how far it is, and how to stop it; when it has ended, its effect. */
type Jump = { isOver: false; share: number; stop: () => void } | ({ isOver: true } & Effect)

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

/** The calls of a jump: by parts of it, because a running clock may have passed an instant in between. */
async function callsOf(target: Target) {
  if (target === 'next') return [callOf('advanceClockToNext')]
  if ('text' in target) return [callOf('advanceClock', { body: { by: target.text } })]
  const ms = 'by' in target ? target.by : target.at - (await timeNow())
  // The sandbox says that the clock cannot go back.
  if ('at' in target && ms < 0) return [callOf('advanceClock', { body: { to: isoOf(target.at) } })]
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
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  // Before anything is read: a second click must not start another one.
  show({ isOver: false, share: 0, stop })
  const [from, calls] = [await timeNow(), await callsOf(target)]
  for (const [i, call] of calls.entries()) {
    if (isStopped) break
    show({ isOver: false, share: i / calls.length, stop })
    const effectOf = ({ now }: { now: string }) => ({
      text: `The clock went to ${timeText(now)}.`,
      isBad: false,
    })
    await send(call, 'Advance', effectOf, true)
  }
  const to = await timeNow()
  // The clock may have run meanwhile, which is no part of the jump.
  const byMs = target !== 'next' && 'by' in target && !isStopped ? target.by : to - from
  // What happened at the first instant was before the jump.
  const between = { since: isoOf(from + 1), until: isoOf(to) }
  const summary = await read(callOf('readSummary', { query: between }))
  show({ isOver: true, byMs, ...between, summary })
}

/** Coming events on a slider: releasing the thumb or pressing Enter moves the clock to the chosen one. */
function Scrubber({
  timers: fresh,
  now,
  go,
}: {
  timers: readonly Timer[]
  now: number
  go: (target: Target) => void
}) {
  const id = useId()
  const [chosen, choose] = useState(0)
  // While the thumb is away from now, no event changes its place.
  const [held, hold] = useState<readonly Timer[]>()
  // An arrow key changes the value at each press, so only a drag ends with it.
  const isDragged = useRef(false)
  const isAhead = ({ at }: Timer) => Date.parse(at) > now
  // Events of the last read may be over.
  const timers = held ?? fresh.filter(isAhead)
  const timer = timers[chosen - 1]
  const when = timer && (isAhead(timer) ? untilText(Date.parse(timer.at) - now) : 'over')
  const text = timer && `${when}: ${textOfTimer(timer)}`
  function end(isChosen: boolean) {
    if (isChosen && timer && isAhead(timer)) go({ at: Date.parse(timer.at) })
    isDragged.current = false
    hold(undefined)
    choose(0)
  }
  return (
    <span class="scrubber">
      <input
        type="range"
        min={0}
        max={timers.length}
        value={chosen}
        list={id}
        disabled={timers.length === 0}
        aria-label="Go to a coming event: choose it, then press Enter"
        aria-valuetext={text ?? 'now'}
        onPointerDown={() => {
          isDragged.current = true
        }}
        onInput={({ currentTarget }) => {
          hold(timers)
          choose(currentTarget.valueAsNumber)
        }}
        onChange={() => isDragged.current && end(true)}
        onKeyDown={({ key }) => {
          isDragged.current = false
          if (key === 'Enter' || key === 'Escape') end(key === 'Enter')
        }}
        onBlur={() => end(false)}
      />
      <datalist id={id}>
        {timers.map(({ timer_id }, i) => (
          <option key={timer_id} value={i + 1} />
        ))}
      </datalist>
      {text !== undefined && <output class="card">{text}</output>}
    </span>
  )
}

/** What is to come: a scrubber, the list of timers, and a field for any other jump. */
function Coming({ go }: { go: (target: Target) => void }) {
  const { clock } = useClient()
  const now = useNow()
  const [text, setText] = useState('1h')
  const { data } = useLoaded(callOf('listTimers', { query: { limit: 12 } }), FRAME_MS)
  const box = useRef<HTMLDetailsElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => onRoute(() => box.current?.removeAttribute('open')), [])
  const { next_timer_at: next, pending_timers: count } = clock
  return (
    <>
      <Scrubber timers={data?.timers ?? []} now={now} go={go} />
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
        <summary class="bar button">
          <span class="visually-hidden">Coming: </span>
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
            <Timers onGo={(at) => go({ at: Date.parse(at) })} />
          </div>
        )}
      </details>
    </>
  )
}

export function ClockBar() {
  const { mode, speed, next_timer_at } = useClient().clock
  const now = useNow()
  const timeText = useTimeText()
  const isLost = useConnection() === 'lost'
  const [jumped, setJump] = useState<Jump>()
  const [isSlow, setSlow] = useState(false)
  const [problem, setProblem] = useState<string>()
  useEffect(() => setProblem(undefined), [isLost])
  const isJumping = jumped?.isOver === false
  useEffect(() => {
    setSlow(false)
    if (!isJumping) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [isJumping])
  function go(target: Target) {
    if (isJumping) return
    jump(target, setJump, timeText)
      .then(() => setProblem(undefined))
      .catch((error: Error) => {
        setJump(undefined)
        // The page has no fields of these names.
        setProblem(problemOf(error)?.replace(/^(by|to) must/, 'A jump must'))
      })
  }
  const isFrozen = mode === 'frozen'
  const pace = speed === 1 ? 'real time' : `× ${speed}`
  return (
    <>
      <div class="now">
        <At at={isoOf(now)} />
        <span class="hint">{isLost ? 'the last known time' : isFrozen ? 'frozen' : pace}</span>
      </div>
      <section class="clock bar" aria-label="Clock">
        <Act
          quiet
          label={isFrozen ? 'Play' : 'Pause'}
          call={callOf(isFrozen ? 'resumeClock' : 'freezeClock')}
          effect={isFrozen ? 'The clock runs.' : 'The clock stands still.'}
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
            />
          ))}
        </span>
        <Button label="+1 h" isOff={isJumping} onPress={() => go({ by: HOUR })} />
        <Button label="+1 day" isOff={isJumping} onPress={() => go({ by: 24 * HOUR })} />
        <Button
          label="Next event"
          isOff={isJumping || next_timer_at === null}
          onPress={() => go('next')}
        />
        <Coming go={go} />
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
