import { SandboxError } from '../model/errors.ts'
import { LAST_INSTANT } from '../model/text.ts'
import type { Clock } from './clock.ts'
import { createCommitOrder, type Fired } from './timer.ts'
import { isPassing, type Runner } from './timer-runner.ts'

/** The most timers that one call runs; more of them would keep its caller waiting for minutes. */
const MAX_TIMERS = 1_000_000
// An answer of a million timers would fill the memory of both sides.
const MAX_FIRED = 10_000

/** How a call that moves time is carried out. */
export type AdvanceOptions = {
  /** Stores where the clock stands, at the target or short of it; throws where that can't be written. */
  keep?: (isThrough: boolean) => void
  /** Aborted when the caller is gone: time then stops where it is. */
  signal?: AbortSignal | undefined
  /** The most timers that it may run. */
  most?: number
}

/** Where the clock stood when it ended, the first of what ran, and how many timers more. */
export type AdvanceResult = { now: string; fired: Fired[]; omitted: number }

export type AdvanceDeps = {
  clock: Clock
  runner: Runner
  /** Changes when the timers are taken anew: an advance of before has nothing to do with them. */
  lifeOf: () => number
  /** Called when time moved only part of the way and the new time could not be stored. */
  onHalfway?: (() => void) | undefined
  /** Lets other work in between where this has taken long. */
  letOthersIn: () => Promise<void> | undefined
}

const counted = (n: number) => n.toLocaleString('en-US')
const iso = (ms: number) => new Date(ms).toISOString()

/** The refusal of an advance that came some of its way. */
const notWritten = (at: number, { code, headers }: SandboxError) =>
  new SandboxError(
    code,
    `The data file cannot be written, so the clock stopped at ${iso(at)}. The timers that ran before then are stored; the others are still pending. Free disk space or make the file writable, then try again.`,
    { headers },
  )

const tooManyForeseen = (count: number, most: number, end: number) =>
  new SandboxError(
    'too_many_timers',
    `At least ${counted(count)} timers are due until ${iso(end)}; one call runs at most ${counted(most)}. Nothing was changed. Advance by less, or use a timeline with a longer \`every\`.`,
  )

const tooManyRan = (most: number, at: number) =>
  new SandboxError(
    'too_many_timers',
    `This call ran ${counted(most)} timers, the maximum of one call, because timers scheduled further timers. The clock stopped at ${iso(at)}. The timers that ran are stored. Advance again to continue.`,
  )

/** Keeps the first of what ran, and counts the rest. */
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
 * Runs everything that is due until `target`, each timer at its own instant; resolves when all that it caused has
 * settled. Where something can't be written, the clock stands where the last that was written ran.
 */
export async function advance(
  target: number,
  { keep = () => {}, signal, most = MAX_TIMERS }: AdvanceOptions,
  { clock, runner, lifeOf, onHalfway, letOthersIn }: AdvanceDeps,
): Promise<AdvanceResult> {
  const firedList = createFiredList()
  const order = createCommitOrder()
  let reached = clock.now()
  let ran = 0
  const life = lifeOf()
  // While it waited for its turn, another call may have gone further.
  const end = Math.min(Math.max(target, reached), LAST_INSTANT)
  const foreseen = runner.foreseen(end)
  if (foreseen > most) throw tooManyForeseen(foreseen, most, end)

  /** Runs what is due on the way, and says why it ended. */
  async function runOnTheWay(): Promise<'through' | 'ended' | 'too many'> {
    await runner.settled()
    for (let timer = runner.soonest(); timer && timer.due_at <= end; timer = runner.soonest()) {
      if (life !== lifeOf() || signal?.aborted) return 'ended'
      if (ran >= most) return 'too many'
      const at = Math.max(reached, timer.due_at)
      clock.stopAt(at)
      const batch = runner.runDue(at, order)
      firedList.add(batch.told)
      ran += batch.ran
      reached = at
      const next = runner.isAnyRunning ? runner.soonest() : undefined
      const joins = next && next.due_at <= at && runner.isTogether(next)
      await (joins ? runner.room() : runner.settled())
      await letOthersIn()
    }
    return life !== lifeOf() || signal?.aborted ? 'ended' : 'through'
  }

  clock.stopAt(reached)
  try {
    const how = await runOnTheWay()
    // After a reset the clock stands elsewhere already.
    const { isStopped } = clock
    if (isStopped) clock.continueFrom(how === 'through' ? end : reached)
    try {
      keep(how === 'through')
    } catch (error) {
      if (isStopped) clock.stopAt(reached)
      throw error
    }
    if (how === 'too many') throw tooManyRan(most, reached)
  } catch (error) {
    if (clock.isStopped) clock.continueFrom(reached)
    if (ran === 0 || !isPassing(error)) throw error
    onHalfway?.()
    throw notWritten(reached, error)
  }
  // The next call that waits for its turn may set the clock at once.
  return { now: clock.iso(), ...firedList.result() }
}
