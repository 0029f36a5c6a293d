import type { TimerRow } from '../model/delivery.ts'
import type { Random } from '../runtime/random.ts'
import type { Later } from '../runtime/real-time.ts'
import type { Log } from '../runtime/runtime.ts'
import { type SandboxTables, settingOf } from '../tables/tables.ts'
import { Clock, type ClockState } from '../time/clock.ts'
import { createScheduler, type Scheduler } from '../time/scheduler.ts'
import type { Feed } from './feed.ts'
import type { WorldStart } from './shared-resources.ts'

/** The start time of `--clock frozen`: fixed, so that two runs give the same bytes. */
const FROZEN_AT = Date.parse('2026-01-01T00:00:00.000Z')

function startingClock({ clock, clockSpeed }: WorldStart, wall: () => number): ClockState {
  const wallAnchor = wall()
  if (clock === 'real') return { mode: 'real', speed: clockSpeed, anchor: wallAnchor, wallAnchor }
  const anchor = clock === 'frozen' ? FROZEN_AT : Date.parse(clock)
  return { mode: 'frozen', speed: clockSpeed, anchor, wallAnchor }
}

/** The clock options as they are stored with a clock, to find out at a start whether they have changed. */
export const startedAsOf = ({ clock, clockSpeed }: WorldStart) => `${clock} ${clockSpeed}`

export function storeClock(tables: SandboxTables, state: ClockState, startedAs: string) {
  tables.put('settings', { name: 'clock', value: { ...state, startedAs } })
}

/** Adapts stored settings to the start options of this client: the clock continues, and the scenario stays. */
export function adoptSettings(tables: SandboxTables, start: WorldStart, wall: () => number) {
  const scenario = settingOf(tables.tables.settings, 'scenario')
  if (scenario) {
    tables.put('settings', { name: 'scenario', value: { ...scenario, startedAs: start.scenario } })
  }
  const clock = settingOf(tables.tables.settings, 'clock')
  if (clock) storeClock(tables, { ...clock, wallAnchor: wall() }, startedAsOf(start))
}

// The delay before the clock is stored again after a failure, real ms.
const RETRY_MS = 1_000

export type WorldClockDeps = {
  tables: SandboxTables
  start: WorldStart
  /** The monotonic wall clock that drives the client's clock. */
  wall: () => number
  later: Later
  random: Random
  feed: Feed
  log: Log
}

const rowOf = ({ row }: { row: TimerRow }) => row

/** The scheduler of a world's clock, with its timers in a table. */
function createTimers(clock: WorldClock, { tables, later, random, feed, log }: WorldClockDeps) {
  const { timers } = tables.tables
  return createScheduler({
    clock,
    rows: {
      all: () => timers.page('all', 'all', 0, Number.POSITIVE_INFINITY).map(rowOf).reverse(),
      soonest: () => timers.page('all', 'all', timers.count('all', 'all') - 1, 1)[0]?.row,
      count: () => timers.size,
      get: (id) => timers.get(id),
      insert: (row: TimerRow) => void tables.put('timers', row),
      remove: (id) => tables.remove('timers', id),
      change: tables.change,
      changeSize: () => tables.unit.size,
      nextSeq: random.next,
    },
    onError(error, { timer_id, kind }) {
      log.error(`Timer ${timer_id} (${kind}) of client "${tables.name}" failed`, error)
    },
    onHalfway: () => clock.persistSoon(),
    onRun: (timer) => feed.publishAfterCommit('timer', timer),
    later,
  })
}

/** The clock of a world with its timers. Its state is stored, so that a restart continues from there. */
export class WorldClock extends Clock {
  readonly timers: Scheduler
  readonly #deps: WorldClockDeps
  readonly isContinued: boolean
  // Whether the clock is ahead of its stored state, because a write failed.
  #isUnsaved = false
  #cancelRetry = () => {}

  constructor(deps: WorldClockDeps) {
    const { tables, start, wall } = deps
    const stored = settingOf(tables.tables.settings, 'clock')
    // The stored one continues, unless the clock options have changed.
    const isContinued = stored?.startedAs === startedAsOf(start)
    super(isContinued ? stored : startingClock(start, wall), wall)
    this.#deps = deps
    this.isContinued = isContinued
    this.timers = createTimers(this, deps)
  }

  #store(state: ClockState) {
    storeClock(this.#deps.tables, state, startedAsOf(this.#deps.start))
  }

  persist() {
    this.#store(this.state)
    this.#isUnsaved = false
  }

  #tryToPersist(): boolean {
    try {
      if (this.#isUnsaved) this.persist()
    } catch {
      // Not yet.
    }
    return !this.#isUnsaved
  }

  /** Stores the state of the clock as soon as the disk accepts it. */
  persistSoon() {
    this.#isUnsaved = true
    this.#cancelRetry = this.#deps.later(RETRY_MS, () => {
      if (!this.#tryToPersist()) this.persistSoon()
    })
  }

  /** The present state of the clock, as it can be stored in a snapshot or another world. */
  present(): ClockState {
    const { mode, speed } = this.state
    return { mode, speed, anchor: this.now(), wallAnchor: this.#deps.wall() }
  }

  persistNow() {
    this.#store(this.present())
  }

  /** Changes the clock and stores it; if it cannot be stored, the change is rolled back. */
  change(run: () => void) {
    const before = this.state
    try {
      run()
      this.persist()
    } catch (error) {
      this.load(before)
      throw error
    } finally {
      this.timers.arm()
    }
    const { mode, speed } = this.state
    this.#deps.feed.publish('clock', { now: this.iso(), mode, speed })
  }

  /** Stores the clock of the start options; returns its time, ms. `reload` must follow the commit. */
  restart(): number {
    const state = startingClock(this.#deps.start, this.#deps.wall)
    this.#store(state)
    return state.anchor
  }

  /** Continues from the stored state after it was replaced. */
  reload() {
    const state = settingOf(this.#deps.tables.tables.settings, 'clock')
    if (state) this.load(state)
  }

  /** Adapts the settings of a loaded state to the start options. */
  adoptSettings() {
    adoptSettings(this.#deps.tables, this.#deps.start, this.#deps.wall)
  }

  start() {
    this.timers.start()
    if (!this.isContinued) this.persist()
  }

  stop() {
    this.#tryToPersist()
    this.#cancelRetry()
    this.timers.stop()
  }
}
