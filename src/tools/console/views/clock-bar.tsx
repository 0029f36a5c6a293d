// The clock in the header of every view: its speed, its jumps, and the line of time.
import { useEffect, useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { type Call, callOf, type Response, read, send } from '../api.ts'
import { TICK_MS, useClient, useNow } from '../client.ts'
import { countText, isoOf, numberText, rupeesText, spanText } from '../format.ts'
import { useConnection } from '../live.ts'
import type { CallError } from '../service.ts'
import { At } from '../settings.tsx'
import { Button } from '../ui.tsx'
import { problemOf } from '../use-data.ts'
import { ENDS, OUTCOMES } from './payment-words.ts'
import { Rail } from './rail.tsx'

const SPEEDS = [1, 60, 3_600]
const HOUR = 3_600_000
// A jump is made in parts, so that its progress shows and it can be stopped.
const PARTS = 24

/** By how much the clock jumped (ms), from when until when, and what happened then. */
type Effect = { byMs: number; since: string; until: string; summary: Response<'readSummary'> }

/** A jump of the clock: how far it is, and how to stop it; when it has ended, its effect. */
type Jump =
  | { isOver: false; share: number; isBusy?: true; stop: () => void }
  | ({ isOver: true } & Effect)

/** By how much, to which instant, or to the next event. */
type Target = number | 'next' | { to: string }

const timeNow = async () => Date.parse((await read(callOf('getClock'))).now)

/** The calls of a jump. To an instant, so that a part that is sent again moves no further; the clock may pass one by itself. */
function callsOf(target: Target, from: number): Call<'advanceClock' | 'advanceClockToNext'>[] {
  if (target === 'next') return [callOf('advanceClockToNext')]
  const to = typeof target === 'number' ? from + target : Date.parse(target.to)
  const partOf = (i: number) => isoOf(from + Math.round(((to - from) * i) / PARTS))
  return Array.from({ length: PARTS }, (_, i) =>
    callOf('advanceClock', { body: { to: partOf(i + 1) } }),
  )
}

// A receiver that is still busy with an event refuses a part: the jump waits for it, as long as its attempt may take.
const BUSY_MS = 300
const MAX_TRIES = 60

async function sendPatiently(
  call: Call<'advanceClock' | 'advanceClockToNext'>,
  isStopped: () => boolean,
  onBusy: () => void,
) {
  for (let tries = 1; ; tries++)
    try {
      return await send(call, 'Advance', undefined, true)
    } catch (error) {
      const { code } = error as CallError
      if (code === 'clock_cannot_go_back') return undefined
      if (code !== 'receiver_busy' || tries === MAX_TRIES || isStopped()) throw error
      onBusy()
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS))
    }
}

/** The jumps of this page until it is closed, ms. */
export const jumps: { from: number; to: number }[] = []

async function jump(target: Target, show: (jump: Jump) => void) {
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  // Before anything is read: a second click must not start another one.
  show({ isOver: false, share: 0, stop })
  const from = await timeNow()
  const calls = callsOf(target, from)
  for (const [i, call] of calls.entries()) {
    if (isStopped) break
    const now = { isOver: false, share: i / calls.length, stop } as const
    show(now)
    const onBusy = () => show({ ...now, isBusy: true })
    await sendPatiently(call, () => isStopped, onBusy)
  }
  const to = await timeNow()
  // The clock may have run meanwhile, which is no part of the jump.
  const byMs = typeof target !== 'number' || isStopped ? to - from : target
  jumps.push({ from: to - byMs, to })
  dispatchEvent(new Event('jump'))
  // What happened at the first instant was before the jump.
  const between = { since: isoOf(from + 1), until: isoOf(to) }
  const summary = await read(callOf('readSummary', { query: between }))
  show({ isOver: true, byMs, ...between, summary })
}

function EffectOfJump({ byMs, since, until, summary, onClose }: Effect & { onClose: () => void }) {
  const between = new URLSearchParams({ since, until })
  const money = ENDS.flatMap((outcome) => {
    const { count, rupees } = summary[outcome]
    const text = `${numberText(count)} ${OUTCOMES[outcome].verb} (${rupeesText(rupees)})`
    return count > 0 ? [{ href: `#/payments?outcome=${outcome}&${between}`, text }] : []
  })
  const { tries: _, ...deliveries } = summary.deliveries
  const made = Object.values(deliveries).reduce((sum, count) => sum + count)
  const events = { href: `#/deliveries?${between}`, text: countText(made, 'event') }
  const parts = made > 0 ? [...money, events] : money
  return (
    <div class="jump bar" role="status">
      <b>{spanText(byMs)}:</b>
      {parts.length === 0 && ' no payment settled or failed, and no event was sent.'}
      {parts.map(({ href, text }) => (
        <a key={href} href={href}>
          {text}
        </a>
      ))}
      <Button label="Close" onPress={onClose} />
    </div>
  )
}

/** The time of the client. It changes more often than anything else, so nothing else is drawn with it. */
function Now({ isLost }: { isLost: boolean }) {
  const { mode, speed } = useClient().clock
  const now = useNow(TICK_MS)
  const pace = mode === 'frozen' ? mode : speed === 1 ? 'real time' : `× ${speed}`
  return (
    <div class="now">
      <At at={isoOf(now)} />
      <span class="hint">{isLost ? 'the last known time' : pace}</span>
    </div>
  )
}

export function ClockBar() {
  const { mode, speed, next_timer_at } = useClient().clock
  const isLost = useConnection() === 'lost'
  const [jumped, setJump] = useState<Jump>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => setProblem(undefined), [isLost])
  const isJumping = jumped?.isOver === false
  function go(target: Target) {
    if (isJumping) return
    jump(target, setJump)
      .then(() => setProblem(undefined))
      .catch((error: Error) => {
        setJump(undefined)
        setProblem(problemOf(error))
      })
  }
  const isFrozen = mode === 'frozen'
  return (
    <>
      <section class="clock bar" aria-label="Clock">
        <span class="play">
          <Act
            label={isFrozen ? 'Play' : 'Pause'}
            call={callOf(isFrozen ? 'resumeClock' : 'freezeClock')}
            effect={isFrozen ? 'The clock runs.' : 'The clock stands still.'}
          />
        </span>
        <Now isLost={isLost} />
        <span class="seg speeds">
          {SPEEDS.map((factor) => (
            <Act
              key={factor}
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
        <Button label="+1 h" isOff={isJumping} onPress={() => go(HOUR)} />
        <Button label="+1 day" isOff={isJumping} onPress={() => go(24 * HOUR)} />
        <Button
          label="Next event"
          isOff={isJumping || next_timer_at === null}
          onPress={() => go('next')}
        />
      </section>
      <Rail isOff={isJumping} goTo={(to) => go({ to })} />
      {problem !== undefined && (
        <div class="jump bar failed" role="alert">
          {problem}
          <Button label="Close" onPress={() => setProblem(undefined)} />
        </div>
      )}
      {jumped?.isOver === false && (
        <div class="jump bar late" role="status">
          <progress value={jumped.share} aria-label="Progress of the jump" />
          {jumped.isBusy && 'Your receiver hasn’t answered yet. It has ten seconds a try.'}
          <Button label="Stop here" onPress={jumped.stop} />
        </div>
      )}
      {jumped?.isOver && <EffectOfJump {...jumped} onClose={() => setJump(undefined)} />}
    </>
  )
}
