import { LAST_INSTANT } from '../model/formats.ts'
import { realLater } from '../runtime/real-time.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { AdvanceOptions } from './advance.ts'
import type { Clock } from './clock.ts'
import { createMoves } from './moves.ts'
import { createTicker } from './ticker.ts'
import type { CommitOrder, Fired, TimerRow, TimerRows } from './timer.ts'
import { createRunner, firedTimer, type RunnerDeps } from './timer-runner.ts'
import { createYielding } from './yielding.ts'

export {
  type CommitOrder,
  createCommitOrder,
  type Fired,
  type TimerRow,
} from './timer.ts'

export type SchedulerDeps = RunnerDeps & {
  clock: Clock
  rows: TimerRows
  /** Called when the clock moved only part of the way and its new time could not be stored. */
  onHalfway?: () => void
  runtime?: Pick<Runtime, 'later' | 'yieldsToOthers'>
}

const timerId = (seq: number) => `tmr_${seq}`
const bySooner = (a: TimerRow, b: TimerRow) => a.due_at - b.due_at || a.seq - b.seq

/**
 * Runs stored timers when they are due on a client's clock. On a ticking clock a real timer runs them. An advance runs
 * each timer at its own instant, in order of time and then of insertion, and waits for the deliveries that it causes.
 */
export function createScheduler({
  clock,
  rows,
  onError,
  onRun,
  onUnknownKind,
  onHalfway,
  runtime = { later: realLater, yieldsToOthers: true },
}: SchedulerDeps) {
  const { later } = runtime
  const runner = createRunner({ rows, onError, onRun, onUnknownKind })
  const yielding = createYielding(runtime)
  const ticker = createTicker({ clock, runner, yielding, later, onError })
  const { yieldIfDue } = yielding
  const { move, whenIdle } = createMoves({ clock, runner, ticker, later, onHalfway, yieldIfDue })
  const { soonest } = runner

  // A search, because an index makes each payment a tenth slower, and few calls need one.
  function ofResource(id: string): TimerRow[] {
    const found: TimerRow[] = []
    for (const timer of rows.all()) if (timer.resource_id === id) found.push(timer)
    return found.sort(bySooner)
  }

  return {
    /** Registers the handler of a kind of timer. */
    handle: runner.handle,
    /** Stores a timer; it runs when the client's clock reaches `due_at`. */
    schedule({ due_at, kind, resource_id, payload }: Omit<TimerRow, 'timer_id' | 'seq'>): TimerRow {
      let seq = rows.nextSeq()
      while (rows.get(timerId(seq))) seq = rows.nextSeq()
      const row: TimerRow = {
        timer_id: timerId(seq),
        seq,
        // The clock never goes beyond this instant.
        due_at: Math.min(due_at, LAST_INSTANT),
        kind,
        resource_id,
        payload,
      }
      rows.insert(row)
      if (runner.add(row)) ticker.arm()
      return row
    },
    cancel: (id: string) => rows.remove(id),
    /** Cancels the timers of one kind and resource; with `isAffected` only those whose payload it accepts. */
    cancelAll(
      kind: string,
      resourceId: string,
      isAffected: (payload: TimerRow['payload']) => boolean = () => true,
    ) {
      for (const timer of ofResource(resourceId))
        if (timer.kind === kind && isAffected(timer.payload)) rows.remove(timer.timer_id)
    },
    /** Whether a timer runs before its due time, and so possibly before others of its resource. */
    isEarly: ({ due_at }: TimerRow) => due_at > clock.now(),
    /** Runs one timer now, whatever its due time. Returns an empty list if the timer could not take effect. */
    async fire(timer: TimerRow, order?: CommitOrder): Promise<Fired[]> {
      const at = clock.iso()
      const { happened, begun, result } = runner.run(timer, order)
      await begun
      return happened ? [{ ...firedTimer(timer, result), at }] : []
    },
    /** Runs one timer now without waiting for the deliveries that it causes. */
    runNow(timer: TimerRow) {
      runner.run(timer)
    },
    whenIdle,
    /** The pending timer with an id. */
    get: rows.get,
    /** All pending timers, soonest first. */
    pending: (): TimerRow[] => [...rows.all()].sort(bySooner),
    /** The pending timers of one resource, soonest first. */
    ofResource,
    /** The number of pending timers. */
    countPending(): number {
      let count = 0
      for (const _ of rows.all()) count++
      return count
    },
    next: soonest,
    advanceTo: (target: number, options?: AdvanceOptions) => move(() => target, options),
    /** Moves the clock by a span from its time at this call's turn. */
    advanceBy: (span: number, options?: AdvanceOptions) => move(() => clock.now() + span, options),
    /** Moves the clock to the next timer; does not move it if there is none. */
    advanceToNext: (options?: AdvanceOptions) =>
      move(() => soonest()?.due_at ?? clock.now(), options),
    /** Reloads the stored timers: at start, and after a reset. */
    reload() {
      runner.reload()
      ticker.arm()
    },
    /** Sets the real timer again after the clock was frozen, resumed or changed its speed. */
    arm: ticker.arm,
    start: ticker.start,
    stop: ticker.stop,
  }
}

/** A world's scheduler. */
export type Scheduler = ReturnType<typeof createScheduler>
