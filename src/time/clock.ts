import { LAST_INSTANT } from '../model/formats.ts'
import { wallNow } from '../runtime/real-time.ts'

/** The stored state of a clock: the client's time was `anchor` when the wall clock was `wallAnchor` (both ms). */
export type ClockState = {
  mode: 'real' | 'frozen'
  speed: number
  anchor: number
  wallAnchor: number
}

/** Adapts a stored state if the wall clock was set back since: time continues where it stopped. */
const anchored = (state: ClockState, now: number): ClockState =>
  state.wallAnchor > now ? { ...state, wallAnchor: now } : state

/**
 * A client's clock: real, sped up or frozen. Times are ms since 1970 in memory, ISO 8601 on the wire.
 *
 * `wall` must not go back: see `createSteadyWall`.
 */
export function createClock(initial: ClockState, wall: () => number = wallNow) {
  let state = anchored(initial, wall())
  let latest = initial.anchor
  let stoppedAt: number | undefined

  const ticking = () => {
    if (state.mode === 'frozen') return state.anchor
    const passed = Math.floor(state.anchor + (wall() - state.wallAnchor) * state.speed)
    // A fast clock stops at the last instant that a timestamp can express.
    const at = Math.min(passed, LAST_INSTANT)
    // Time never runs backwards for a client.
    if (at > latest) latest = at
    return latest
  }
  const set = (change: Partial<ClockState>, at: number) => {
    latest = at
    state = { ...state, ...change, anchor: at, wallAnchor: wall() }
  }
  const now = () => stoppedAt ?? ticking()

  // Caches the text: one millisecond often has many changes.
  let isoAt = Number.NaN
  let isoText = ''
  function iso() {
    const at = now()
    if (at !== isoAt) {
      isoText = new Date(at).toISOString()
      isoAt = at
    }
    return isoText
  }

  return {
    now,
    iso,
    get state() {
      return state
    },
    /** Loads a stored state without changes, after a restart or a reset. */
    load(stored: ClockState) {
      stoppedAt = undefined
      state = anchored(stored, wall())
      latest = stored.anchor
    },
    freeze: (at = now()) => set({ mode: 'frozen' }, at),
    resume: () => set({ mode: 'real' }, now()),
    speed: (factor: number) => set({ speed: factor }, now()),
    /** Stops the clock at an instant in any mode, while due timers run. */
    stopAt(at: number) {
      stoppedAt = at
    },
    get isStopped() {
      return stoppedAt !== undefined
    },
    /** Ends `stopAt`; the clock continues from `at` in its own mode. */
    continueFrom(at: number) {
      stoppedAt = undefined
      set({}, at)
    },
    /** Real ms until the client's time is `at`; Infinity on a frozen clock. */
    realDelayUntil: (at: number) =>
      state.mode === 'frozen'
        ? Number.POSITIVE_INFINITY
        : Math.max(0, (at - ticking()) / state.speed),
  }
}

/** A client's clock. */
export type Clock = ReturnType<typeof createClock>
