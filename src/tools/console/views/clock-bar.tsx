// The clock in the header of every view: its speed, its jumps, and what is to come.
import { useEffect, useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf, type Response, read, send, type Timer } from '../api.ts'
import { useClient, useNow } from '../client.ts'
import { countText, isoOf, numberText, rupeesText, spanText, untilText } from '../format.ts'
import { useConnection } from '../live.ts'
import { At, useTimeText } from '../settings.tsx'
import { Button } from '../ui.tsx'
import { FRAME_MS, problemOf, useLoaded } from '../use-data.ts'
import { wordsOf } from './payment-words.ts'

const SPEEDS = [1, 60, 3_600]
const HOUR = 3_600_000
// A jump is made in parts, so that its progress shows and it can be stopped.
const PARTS = 24
// A shorter jump shows no progress, real ms.
const SLOW_MS = 1_000

type Fields = { amount?: unknown }

/** What each kind is about if nothing more is known, and its event. */
const KINDS: Readonly<Record<string, readonly [about: string, event: string]>> = {
  'transaction.step': ['a payment', ''],
  'transaction.utr': ['a payment', 'UTR'],
  'webhook.attempt': ['your webhook', 'webhook '],
  'kyc.step': ['a person', 'KYC '],
  'bank.step': ['a person', 'account '],
  'timeline.entry': ['scenario', ''],
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

/** By how much the clock jumped (ms), from when until when, and what happened then. */
type Effect = { byMs: number; since: string; until: string; summary: Response<'readSummary'> }

/** A jump of the clock: how far it is, and how to stop it; when it has ended, its effect. */
type Jump = { isOver: false; share: number; stop: () => void } | ({ isOver: true } & Effect)

type Target = number | 'next'

const timeNow = async () => Date.parse((await read(callOf('getClock'))).now)

function callsOf(target: Target) {
  if (target === 'next') return [callOf('advanceClockToNext')]
  const body = { by: `${target / PARTS}ms` }
  return Array.from({ length: PARTS }, () => callOf('advanceClock', { body }))
}

type TimeText = (at: string) => string

async function jump(target: Target, show: (jump: Jump) => void, timeText: TimeText) {
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  // Before anything is read: a second click must not start another one.
  show({ isOver: false, share: 0, stop })
  const from = await timeNow()
  const calls = callsOf(target)
  for (const [i, call] of calls.entries()) {
    if (isStopped) break
    show({ isOver: false, share: i / calls.length, stop })
    const effectOf = ({ now }: { now: string }) => {
      return { text: `The clock went to ${timeText(now)}.`, isBad: false }
    }
    await send(call, 'Advance', effectOf, true)
  }
  const to = await timeNow()
  // The clock may have run meanwhile, which is no part of the jump.
  const byMs = target === 'next' || isStopped ? to - from : target
  // What happened at the first instant was before the jump.
  const between = { since: isoOf(from + 1), until: isoOf(to) }
  const summary = await read(callOf('readSummary', { query: between }))
  show({ isOver: true, byMs, ...between, summary })
}

function Coming() {
  const { next_timer_at: next, pending_timers: count } = useClient().clock
  const now = useNow()
  const { data } = useLoaded(callOf('listTimers', { query: { limit: 1 } }), FRAME_MS)
  const [timer] = data?.timers ?? []
  return (
    <span class="coming hint">
      {next === null ? 'nothing scheduled' : `next ${untilText(Date.parse(next) - now)}`}
      {timer && `: ${textOfTimer(timer)}`}
      {count > 1 && `, ${count} coming`}
    </span>
  )
}

const WORDS = { settled: 'settled', failed: 'failed', came_back: 'came back' } as const

function partsOf({ since, until, summary }: Effect) {
  const between = new URLSearchParams({ since, until })
  const money = (Object.keys(WORDS) as (keyof typeof WORDS)[]).flatMap((outcome) => {
    const { count, rupees } = summary[outcome]
    const text = `${numberText(count)} ${WORDS[outcome]} (${rupeesText(rupees)})`
    return count > 0 ? [{ href: `#/payments?outcome=${outcome}&${between}`, text }] : []
  })
  const made = Object.values(summary.deliveries).reduce((sum, count) => sum + count)
  const events = { href: `#/deliveries?${between}`, text: countText(made, 'event') }
  return made > 0 ? [...money, events] : money
}

function EffectOfJump({ onClose, ...effect }: Effect & { onClose: () => void }) {
  const parts = partsOf(effect)
  return (
    <div class="jump bar" role="status">
      <b>{spanText(effect.byMs)}:</b>
      {parts.length === 0 && ' nothing settled or failed, and there were no events.'}
      {parts.map(({ href, text }) => (
        <a key={href} href={href}>
          {text}
        </a>
      ))}
      <Button label="Close" onPress={onClose} />
    </div>
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
        setProblem(problemOf(error))
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
          label={isFrozen ? 'Play' : 'Pause'}
          call={callOf(isFrozen ? 'resumeClock' : 'freezeClock')}
          effect={isFrozen ? 'The clock runs.' : 'The clock stands still.'}
        />
        <span class="speeds">
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
        <Coming />
      </section>
      {problem !== undefined && (
        <div class="jump bar failed" role="alert">
          {problem}
          <Button label="Close" onPress={() => setProblem(undefined)} />
        </div>
      )}
      {isSlow && jumped?.isOver === false && (
        <div class="jump bar" role="status">
          <progress value={jumped.share} aria-label="Progress of the jump" />
          <Button label="Stop here" onPress={jumped.stop} />
        </div>
      )}
      {jumped?.isOver && <EffectOfJump {...jumped} onClose={() => setJump(undefined)} />}
    </>
  )
}
