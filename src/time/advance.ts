// time/: a client's clock, its timers, and the calls that move it. Whatever happens later is a timer, stored as a row.
// scheduler.ts is where to begin.

import { SandboxError } from '../model/errors.ts'
import { isoOf, LAST_INSTANT } from '../model/formats.ts'
import { createCommitOrder, type Fired, isTemporary, type Runner, type TimeDeps } from './runner.ts'

/** The maximum number of timers of one call; with more, its caller would wait for minutes. */
const MAX_TIMERS = 1_000_000
// A response with a million timers would fill the memory of both sides.
export const MAX_FIRED = 10_000
/** After this number of batches of timers, other work has its turn. */
export const BATCHES_IN_A_ROW = 4
// An advance waits this long (real ms) for attempts that it did not start: its caller may be their receiver.
const RECEIVER_WAIT_MS = 1_000

export type AdvanceOptions = {
  /** Stores the time of the clock; `isThrough`: it reached the target. Throws if the time cannot be written. */
  persist?: (isThrough: boolean) => void
  /** Aborted when the caller has disconnected; the clock then stops where it is. */
  signal?: AbortSignal | undefined
  max?: number
}

/** The time of the clock at the end, the first timers that ran, and the number of further timers that ran. */
export type AdvanceResult = { now: string; fired: Fired[]; omitted: number }

type AdvanceDeps = TimeDeps & { runner: Runner }

const counted = (n: number) => n.toLocaleString('en-US')

/** The error of an advance that could move the clock only part of the way. */
const notWritten = (at: number, { code, headers }: SandboxError) =>
  new SandboxError(
    code,
    `The data file cannot be written, so the clock stopped at ${isoOf(at)}. The timers that ran before then are stored; the others are still pending. Free disk space or make the file writable, then try again.`,
    { headers },
  )

const tooManyForeseen = (count: number, max: number, end: number) =>
  new SandboxError(
    'too_many_timers',
    `At least ${counted(count)} timers are due until ${isoOf(end)}; one call runs at most ${counted(max)}. Nothing was changed. Advance by less, or use a timeline with a longer \`every\`.`,
  )

const tooManyRan = (max: number, at: number) =>
  new SandboxError(
    'too_many_timers',
    `This call ran ${counted(max)} timers, the maximum of one call, because timers scheduled further timers. The clock stopped at ${isoOf(at)}. The timers that ran are stored. Advance again to continue.`,
  )

/** Runs every timer until `target`, each at its own instant, and waits for its deliveries; it stops where a change can't be written. */
async function advance(
  target: number,
  { persist = () => {}, signal, max = MAX_TIMERS }: AdvanceOptions,
  { clock, rows, runner, later, onHalfway }: AdvanceDeps,
): Promise<AdvanceResult> {
  const fired: Fired[] = []
  const order = createCommitOrder()
  let reached = clock.now()
  let [ran, batches, omitted] = [0, 0, 0]
  const epoch = runner.epoch()
  // While this call waited for its turn, another call may have moved the clock further.
  const end = Math.min(Math.max(target, reached), LAST_INSTANT)
  const countDue = runner.countDue(end)
  if (countDue > max) throw tooManyForeseen(countDue, max, end)

  const hasEnded = () => epoch !== runner.epoch() || signal?.aborted === true

  /** Runs the due timers and returns why it ended. */
  async function runOnTheWay(): Promise<'through' | 'ended' | 'too many'> {
    await runner.settled()
    for (let timer = rows.soonest(); timer && timer.due_at <= end; timer = rows.soonest()) {
      if (hasEnded()) return 'ended'
      if (ran >= max) return 'too many'
      const at = Math.max(reached, timer.due_at)
      clock.stopAt(at)
      const batch = runner.runDue(at, order)
      const kept = batch.fired.slice(0, MAX_FIRED - fired.length)
      fired.push(...kept)
      omitted += batch.fired.length - kept.length
      ran += batch.ran
      reached = at
      await runner.ready(at)
      if (++batches % BATCHES_IN_A_ROW === 0 || batch.isLarge)
        await new Promise<void>((resolve) => void later(0, resolve))
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
  return { now: clock.iso(), fired, omitted }
}

/** The calls that move the clock, one after the other. The `ticker` pauses meanwhile. */
export function createMoves(deps: AdvanceDeps & { ticker: { pause(): void; resume(): void } }) {
  const { clock, runner, ticker, later } = deps
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const mine = last.then(task)
    last = mine.catch(() => {})
    return mine
  }

  /** Waits a moment for the attempts at receivers; throws `receiver_busy` if one does not respond in time. */
  async function waitForReceivers(): Promise<void> {
    let cancel = () => {}
    const late = new Promise<boolean>((resolve) => {
      cancel = later(RECEIVER_WAIT_MS, () => resolve(true))
    })
    const isLate = await Promise.race([runner.receiversDone().then(() => false), late])
    cancel()
    if (isLate)
      throw new SandboxError(
        'receiver_busy',
        'A webhook attempt is still waiting for the response of your receiver. The clock was not moved. A webhook handler must respond before it advances the clock. Any other caller may try again; tests that run in parallel need one client each, such as the base path /@worker-1.',
      )
  }

  return {
    /** Moves the clock to a target that is computed when it is this call's turn. */
    async move(getTarget: () => number, options: AdvanceOptions = {}): Promise<AdvanceResult> {
      // An advance cannot know whether its caller is a webhook handler, which would then never respond.
      if (runner.isWaitingForReceivers()) await waitForReceivers()
      return inTurn(async () => {
        if (options.signal?.aborted) return { now: clock.iso(), fired: [], omitted: 0 }
        ticker.pause()
        try {
          return await advance(getTarget(), options, deps)
        } finally {
          ticker.resume()
        }
      })
    },
    /** Runs a function when no call moves the clock, so that it can replace state that such a call uses. */
    whenIdle: <T>(run: () => T): Promise<T> => inTurn(async () => run()),
  }
}
