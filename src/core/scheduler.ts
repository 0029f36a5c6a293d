import { SandboxError } from '../model/errors.ts'
import { LAST_INSTANT } from '../model/text.ts'
import type { Clock } from './clock.ts'
import { realLater } from './later.ts'
import type { Outside } from './outside.ts'

/** Something that will happen: a stored row, so that it can be listed, fired, cancelled and survives a restart. */
export type TimerRow = {
  timer_id: string
  /** Client's time, ms. */
  due_at: number
  /** Insertion number; breaks ties of `due_at`. */
  seq: number
  kind: string
  /** The id of the resource it is about, if any. */
  resource_id?: string | undefined
  payload: Record<string, unknown>
}

/** What ran, as `clock/advance` tells it. */
export type Fired = { at: string; kind: string; timer_id: string; resource_id?: string } & Record<
  string,
  unknown
>

/** Those that run at once: what they come to is stored in this order, so that a run can be repeated. */
export type AtOnce = {
  /** Ends when the result of the one before is stored. */
  last: Promise<void>
}

/** An order for those that one call runs. */
export const atOnce = (): AtOnce => ({ last: Promise.resolve() })

/**
 * Does what a timer says. A promise is waited for when time is advanced, and not when the clock ticks; fields tell what
 * came of it where that is not what the payload says; `false`: it could not happen any more.
 */
export type TimerHandler = (
  timer: TimerRow,
  /** Absent while the clock ticks: then nobody waits for a slow receiver. */
  order: AtOnce | undefined,
) => Promise<void> | Readonly<Record<string, unknown>> | false | undefined

/** What running a timer came to: whether it happened, what it began, and what is told of it besides its payload. */
type Ran = { happened: boolean; begun?: Promise<void>; cameOf?: object }

export type SchedulerDeps = {
  clock: Clock
  /** The stored timers; `change` makes a timer's end and its effects one write. */
  rows: {
    all: () => Iterable<TimerRow>
    get: (id: string) => TimerRow | undefined
    put: (row: TimerRow) => void
    remove: (id: string) => void
    change: <T>(run: () => T) => T
    nextSeq: () => number
  }
  onError: (error: unknown, timer: TimerRow) => void
  /** Told inside the change that ends a timer. */
  onRun?: (timer: TimerRow) => void
  /** Told when time went only some of its way, and where it stands could not be stored. */
  onHalfway?: () => void
  outside?: Pick<Outside, 'later' | 'pauses'>
}

// setTimeout fires at once beyond 2^31-1 ms; a day is far enough to look ahead.
const LONGEST_SLEEP = 86_400_000
// How long the event loop may be kept while many timers run in a row, real ms.
const SLICE_MS = 20
// Timers that are due at once and run as one change, at most.
const TOGETHER = 64
// Of those that go together an advance begins no more while so many run, until so few do: a long backlog is not
// begun as a whole.
const [MANY_RUNNING, FEW_RUNNING] = [128, 64]
// A timer whose change could not be written is tried again after this long, real ms.
const RETRY_MS = 1_000

/** Whether a timer may run well the next time: its change could not be written. */
const isPassing = (error: unknown): error is SandboxError =>
  error instanceof SandboxError && error.word === 'storage_unavailable'

/** The refusal of an advance that came some of its way. */
const stoppedAt = (at: number, { word, headers }: SandboxError) =>
  new SandboxError(
    word,
    `The data file cannot be written: time went up to ${new Date(at).toISOString()} and no further. What ran until then is kept, the rest is still to happen. Free the disk or make it writable, then try again.`,
    { headers },
  )

/** Stores where the clock stands; throws where that can't be written. */
type Keep = () => void
const keepNothing: Keep = () => {}

const before = (a: TimerRow, b: TimerRow) =>
  a.due_at < b.due_at || (a.due_at === b.due_at && a.seq < b.seq)

/** A binary heap of what is due, soonest first; cancelled timers are skipped when they come up. */
function createHeap() {
  const items: TimerRow[] = []
  function up(start: number) {
    let i = start
    const item = items[i]!
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!before(item, items[parent]!)) break
      items[i] = items[parent]!
      i = parent
    }
    items[i] = item
  }
  function down() {
    let i = 0
    const item = items[0]!
    for (;;) {
      let child = 2 * i + 1
      if (child >= items.length) break
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++
      if (!before(items[child]!, item)) break
      items[i] = items[child]!
      i = child
    }
    items[i] = item
  }
  return {
    peek: () => items[0],
    push(timer: TimerRow) {
      items.push(timer)
      up(items.length - 1)
    },
    pop() {
      const last = items.pop()
      if (last && items.length > 0) {
        items[0] = last
        down()
      }
    },
    clear: () => {
      items.length = 0
    },
  }
}

/**
 * Runs stored timers when they are due on a client's clock: by ticking, or by being advanced, when each runs at its
 * own instant, in order of time and then of insertion, and the deliveries it causes are waited for.
 */
export function createScheduler({
  clock,
  rows,
  onError,
  onRun,
  onHalfway,
  outside: { later, pauses } = { later: realLater, pauses: true },
}: SchedulerDeps) {
  const heap = createHeap()
  const handlers = new Map<string, TimerHandler>()
  const together = new Set<string>()
  const running = new Set<Promise<void>>()
  // Told when so few run that an advance may begin more.
  let fewRunning = () => {}
  let endSleep = () => {}
  let turn: Promise<unknown> = Promise.resolve()
  let advancing = false
  // Raised when the timers are taken anew: an advance of before has nothing to do with them.
  let life = 0
  let runsDue = false
  let stopped = true

  /** The soonest timer that still exists. */
  function soonest(): TimerRow | undefined {
    for (let due = heap.peek(); due; due = heap.peek()) {
      const timer = rows.get(due.timer_id)
      // A row that was replaced has another place in the heap.
      if (timer && timer.due_at === due.due_at && timer.seq === due.seq) return timer
      heap.pop()
    }
    return undefined
  }

  const fired = (timer: TimerRow, cameOf?: object): Fired => ({
    at: new Date(timer.due_at).toISOString(),
    kind: timer.kind,
    timer_id: timer.timer_id,
    ...(timer.resource_id === undefined ? {} : { resource_id: timer.resource_id }),
    ...timer.payload,
    ...cameOf,
  })

  function run(timer: TimerRow, order?: AtOnce): Ran {
    let result: ReturnType<TimerHandler>
    try {
      result = rows.change(() => {
        rows.remove(timer.timer_id)
        onRun?.(timer)
        return handlers.get(timer.kind)?.(timer, order)
      })
    } catch (error) {
      // It is stored again, and must be found again.
      heap.push(timer)
      if (isPassing(error)) throw error
      // A handler that fails would fail for ever and keep back all that is due after it.
      rows.remove(timer.timer_id)
      onError(error, timer)
      result = false
    }
    if (!(result instanceof Promise))
      return result === false
        ? { happened: false }
        : { happened: true, ...(result && { cameOf: result }) }
    const tracked = result
      .catch((error) => onError(error, timer))
      .then(() => {
        running.delete(tracked)
        if (running.size <= FEW_RUNNING) fewRunning()
      })
    running.add(tracked)
    return { happened: true, begun: tracked }
  }

  /** Sets the one real timer for what is due next. */
  function arm() {
    endSleep()
    if (stopped || advancing) return
    const timer = soonest()
    if (!timer) return
    const delay = clock.realDelayUntil(timer.due_at)
    if (delay === Number.POSITIVE_INFINITY) return
    endSleep = later(Math.min(Math.ceil(delay), LONGEST_SLEEP), tick)
  }

  /**
   * Runs what is due at an instant, up to a number of timers, as one change: one write for all of them.
   * With an order they are told, and what one of them has begun ends before the next runs, but for kinds that go
   * together.
   */
  function runDue(at: number, order?: AtOnce): Fired[] {
    const taken: TimerRow[] = []
    const told: Fired[] = []
    runsDue = true
    try {
      rows.change(() => {
        for (let timer = soonest(); timer && timer.due_at <= at; timer = soonest()) {
          if (taken.length === TOGETHER) break
          if (order && running.size > 0 && !together.has(timer.kind)) break
          taken.push(timer)
          const { happened, cameOf } = run(timer, order)
          if (order && happened) told.push(fired(timer, cameOf))
        }
      })
    } catch (error) {
      // All of them are stored again, and must be found again.
      for (const timer of taken) heap.push(timer)
      throw error
    } finally {
      runsDue = false
    }
    return told
  }

  function tick() {
    const until = performance.now() + SLICE_MS
    let wait: number | undefined
    for (let due = soonest(); due && due.due_at <= clock.now(); due = soonest()) {
      try {
        runDue(clock.now())
        if (pauses && performance.now() > until) wait = 0
      } catch (error) {
        onError(error, due)
        wait = RETRY_MS
      }
      if (wait !== undefined) break
    }
    if (wait === undefined) arm()
    else if (!stopped) endSleep = later(wait, tick)
  }

  /**
   * Everything due until `target`, each at its own instant; answers when all it caused has settled. `keep` then stores
   * where the clock stands. Where something can't be written, the clock stands where the last that was written ran.
   */
  async function runUntil(target: number, keep: Keep): Promise<Fired[]> {
    const told: Fired[] = []
    const order = atOnce()
    let reached = clock.now()
    let wrote = false
    const mine = life
    // While it waited for its turn, another call may have gone further.
    const end = Math.min(Math.max(target, reached), LAST_INSTANT)
    endSleep()
    advancing = true
    clock.hold(reached)
    try {
      await Promise.all(running)
      let until = performance.now() + SLICE_MS
      for (
        let timer = soonest();
        timer && timer.due_at <= end && mine === life;
        timer = soonest()
      ) {
        const at = Math.max(reached, timer.due_at)
        clock.hold(at)
        told.push(...runDue(at, order))
        reached = at
        wrote = true
        const next = running.size > 0 ? soonest() : undefined
        const joins = next && next.due_at <= at && together.has(next.kind)
        if (!joins) await Promise.all(running)
        else if (running.size >= MANY_RUNNING)
          await new Promise<void>((resolve) => {
            fewRunning = resolve
          })
        if (pauses && performance.now() > until) {
          await new Promise(setImmediate)
          until = performance.now() + SLICE_MS
        }
      }
      // After a reset the clock stands elsewhere already.
      const isHeld = clock.isHeld
      if (isHeld) clock.release(mine === life ? end : reached)
      try {
        keep()
      } catch (error) {
        if (isHeld) clock.hold(reached)
        throw error
      }
    } catch (error) {
      if (clock.isHeld) clock.release(reached)
      if (!wrote || !isPassing(error)) throw error
      onHalfway?.()
      throw stoppedAt(reached, error)
    } finally {
      advancing = false
      arm()
    }
    return told
  }

  /** One call that moves time at once; the next one waits for it. */
  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const mine = turn.then(task)
    turn = mine.catch(() => {})
    return mine
  }

  return {
    /** Names what a kind of timer does; those that go `together` are waited for at once, per instant. */
    handle(kind: string, handler: TimerHandler, how: { together?: boolean } = {}) {
      handlers.set(kind, handler)
      if (how.together) together.add(kind)
    },
    /** Stores a timer; it runs when the client's clock gets there. */
    schedule({ due_at, kind, resource_id, payload }: Omit<TimerRow, 'timer_id' | 'seq'>): TimerRow {
      const seq = rows.nextSeq()
      const row: TimerRow = {
        timer_id: `tmr_${seq}`,
        seq,
        // Later the clock never gets.
        due_at: Math.min(due_at, LAST_INSTANT),
        kind,
        resource_id,
        payload,
      }
      rows.put(row)
      const next = heap.peek()
      heap.push(row)
      if (!next || row.due_at < next.due_at) arm()
      return row
    },
    cancel(id: string) {
      rows.remove(id)
    },
    /** Cancels what is to happen to one resource, or those of it that are `unfit`. */
    cancelAll(
      kind: string,
      resourceId: string,
      unfit: (payload: TimerRow['payload']) => boolean = () => true,
    ) {
      const theirs = [...rows.all()].filter(
        (timer) => timer.kind === kind && timer.resource_id === resourceId && unfit(timer.payload),
      )
      for (const { timer_id } of theirs) rows.remove(timer_id)
    },
    /** Whether a timer runs before its time, and so maybe before others of its resource. */
    isEarly: ({ due_at }: TimerRow) => due_at > clock.now(),
    /** Runs one timer now, whatever its time; nothing is told of one that could not happen. */
    async fire(timer: TimerRow, order?: AtOnce): Promise<Fired[]> {
      const at = clock.iso()
      const { happened, begun, cameOf } = run(timer, order)
      await begun
      return happened ? [{ ...fired(timer, cameOf), at }] : []
    },
    /** Runs a function when no call moves time: what it replaces is then no longer needed by one that does. */
    whenStill: <T>(run: () => T): Promise<T> => inTurn(async () => run()),
    /** Runs one timer now, and does not wait for the deliveries it causes. */
    runNow(timer: TimerRow) {
      run(timer)
    },
    /** Everything that is to happen, soonest first. */
    pending: (): TimerRow[] => [...rows.all()].sort((a, b) => a.due_at - b.due_at || a.seq - b.seq),
    next: soonest,
    advanceTo: (target: number, keep = keepNothing) => inTurn(() => runUntil(target, keep)),
    /** Moves by a span from the time it is when its turn comes. */
    advanceBy: (span: number, keep = keepNothing) =>
      inTurn(() => runUntil(clock.now() + span, keep)),
    /** Jumps to the next timer; stays where there is none. */
    advanceToNext: (keep = keepNothing) =>
      inTurn(() => runUntil(soonest()?.due_at ?? clock.now(), keep)),
    /** Takes the stored timers as they are: at start, and after a reset. */
    reload() {
      // A reset by a timer of its own is part of an advance; any other ends it.
      if (!runsDue) life++
      heap.clear()
      for (const timer of rows.all()) heap.push(timer)
      arm()
    },
    /** Looks at the clock anew: it was frozen, resumed or changed its speed. */
    arm,
    start() {
      stopped = false
      arm()
    },
    stop() {
      stopped = true
      endSleep()
    },
  }
}

/** A world's scheduler. */
export type Scheduler = ReturnType<typeof createScheduler>
