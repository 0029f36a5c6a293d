import { SandboxError } from '../model/errors.ts'
import { LAST_INSTANT } from '../model/formats.ts'
import type { Clock } from './clock.ts'
import { createCommitOrder, type Fired } from './timer.ts'
import { isTemporary, type Runner } from './timer-runner.ts'

/** The maximum number of timers of one call; with more, its caller would wait for minutes. */
const MAX_TIMERS = 1_000_000
// A response with a million timers would fill the memory of both sides.
const MAX_FIRED = 10_000

/** Options of a call that moves the clock. */
export type AdvanceOptions = {
  /** Stores the time of the clock; `isThrough`: it reached the target. Throws if the time cannot be written. */
  persist?: (isThrough: boolean) => void
  /** Aborted when the caller has disconnected; the clock then stops where it is. */
  signal?: AbortSignal | undefined
  /** The maximum number of timers to run. */
  max?: number
}

/** The time of the clock at the end, the first timers that ran, and the number of further timers that ran. */
export type AdvanceResult = { now: string; fired: Fired[]; omitted: number }

export type AdvanceDeps = {
  clock: Clock
  runner: Runner
  /** Called when time moved only part of the way and the new time could not be stored. */
  onHalfway?: (() => void) | undefined
  /** Lets other work run if the advance has run for long; undefined otherwise. */
  yieldIfDue: () => Promise<void> | undefined
}

const counted = (n: number) => n.toLocaleString('en-US')
const iso = (ms: number) => new Date(ms).toISOString()

/** The error of an advance that could move the clock only part of the way. */
const notWritten = (at: number, { code, headers }: SandboxError) =>
  new SandboxError(
    code,
    `The data file cannot be written, so the clock stopped at ${iso(at)}. The timers that ran before then are stored; the others are still pending. Free disk space or make the file writable, then try again.`,
    { headers },
  )

const tooManyForeseen = (count: number, max: number, end: number) =>
  new SandboxError(
    'too_many_timers',
    `At least ${counted(count)} timers are due until ${iso(end)}; one call runs at most ${counted(max)}. Nothing was changed. Advance by less, or use a timeline with a longer \`every\`.`,
  )

const tooManyRan = (max: number, at: number) =>
  new SandboxError(
    'too_many_timers',
    `This call ran ${counted(max)} timers, the maximum of one call, because timers scheduled further timers. The clock stopped at ${iso(at)}. The timers that ran are stored. Advance again to continue.`,
  )

/** Collects the first `MAX_FIRED` timers that ran and counts the others. */
function createFiredList() {
  const fired: Fired[] = []
  let omitted = 0
  return {
    add(more: readonly Fired[]) {
      const room = MAX_FIRED - fired.length
      fired.push(...(more.length > room ? more.slice(0, room) : more))
      omitted += Math.max(0, more.length - room)
    },
    result: () => ({ fired, omitted }),
  }
}

/**
 * Runs every timer that is due until `target`, each at its own instant. Resolves when all deliveries that they caused
 * have ended. If a change cannot be written, the clock stops at the last instant whose changes were written.
 */
export async function advance(
  target: number,
  { persist = () => {}, signal, max = MAX_TIMERS }: AdvanceOptions,
  { clock, runner, onHalfway, yieldIfDue }: AdvanceDeps,
): Promise<AdvanceResult> {
  const firedList = createFiredList()
  const order = createCommitOrder()
  let reached = clock.now()
  let ran = 0
  const { work } = runner
  const epoch = runner.epoch()
  // While this call waited for its turn, another call may have moved the clock further.
  const end = Math.min(Math.max(target, reached), LAST_INSTANT)
  const countDue = runner.countDue(end)
  if (countDue > max) throw tooManyForeseen(countDue, max, end)

  const hasEnded = () => epoch !== runner.epoch() || signal?.aborted === true

  /** Runs the due timers and returns why it ended. */
  async function runOnTheWay(): Promise<'through' | 'ended' | 'too many'> {
    await work.settled()
    for (let timer = runner.soonest(); timer && timer.due_at <= end; timer = runner.soonest()) {
      if (hasEnded()) return 'ended'
      if (ran >= max) return 'too many'
      const at = Math.max(reached, timer.due_at)
      clock.stopAt(at)
      const batch = runner.runDue(at, order)
      firedList.add(batch.fired)
      ran += batch.ran
      reached = at
      const next = work.isAny ? runner.soonest() : undefined
      const joins = next && next.due_at <= at && runner.runsInParallel(next)
      await (joins ? work.room() : work.settled())
      await yieldIfDue()
    }
    return hasEnded() ? 'ended' : 'through'
  }

  clock.stopAt(reached)
  try {
    const how = await runOnTheWay()
    // After a reset the clock already has another time.
    const { isStopped } = clock
    if (isStopped) clock.continueFrom(how === 'through' ? end : reached)
    try {
      persist(how === 'through')
    } catch (error) {
      if (isStopped) clock.stopAt(reached)
      throw error
    }
    if (how === 'too many') throw tooManyRan(max, reached)
  } catch (error) {
    if (clock.isStopped) clock.continueFrom(reached)
    if (ran === 0 || !isTemporary(error)) throw error
    onHalfway?.()
    throw notWritten(reached, error)
  }
  // Read the time now: the next call in the queue may change the clock immediately.
  return { now: clock.iso(), ...firedList.result() }
}
