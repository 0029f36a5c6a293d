import { LAST_INSTANT } from '../model/text.ts'

/** What a clock is, as stored: the client's time `anchor` was now when the wall said `wallAnchor` (both ms). */
export type ClockState = {
  mode: 'real' | 'frozen'
  speed: number
  anchor: number
  wallAnchor: number
}

/** The wall clock in ms: the only place where the product reads it. */
export const wallNow = (): number => Date.now()

export type SteadyWallOptions = {
  wall: () => number
  /** A monotonic clock, ms. */
  elapsed: () => number
  /** Told when the wall clock was set back, and by how many ms. */
  onSetBack?: (ms: number) => void
}

// A wall clock is corrected by a few ms all the time.
const TOLD_FROM_MS = 1_000

/**
 * The wall clock for measuring how time goes by: where the real one is set back, this one goes on by the monotonic
 * clock, and where the real one is then put right again, this one does not leap.
 */
export function createSteadyWall({ wall, elapsed, onSetBack }: SteadyWallOptions): () => number {
  let lastWall = wall()
  let lastElapsed = elapsed()
  // What this clock is ahead of the wall clock.
  let ahead = 0
  return () => {
    const [now, elapsedNow] = [wall(), elapsed()]
    const leap = now - lastWall - (elapsedNow - lastElapsed)
    if (now < lastWall) {
      ahead -= leap
      if (lastWall - now >= TOLD_FROM_MS) onSetBack?.(lastWall - now)
    } else if (leap > 0 && ahead > 0) ahead -= Math.min(ahead, leap)
    lastWall = now
    lastElapsed = elapsedNow
    return now + ahead
  }
}

/** A stored state of a clock whose wall clock was set back since: time goes on from where it stood. */
const anchored = (state: ClockState, now: number): ClockState =>
  state.wallAnchor > now ? { ...state, wallAnchor: now } : state

/**
 * A client's clock: real, sped up or frozen. Times are ms since 1970 inside, ISO 8601 on the wire.
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
    // A fast clock comes to the end of what a timestamp can tell, and stands there.
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

  // Many changes come in one millisecond.
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
    /** Takes a stored state as it is, as after a restart or a reset. */
    load(stored: ClockState) {
      stoppedAt = undefined
      state = anchored(stored, wall())
      latest = stored.anchor
    },
    freeze: (at = now()) => set({ mode: 'frozen' }, at),
    resume: () => set({ mode: 'real' }, now()),
    speed: (factor: number) => set({ speed: factor }, now()),
    /** Holds the time still at an instant, whatever the mode, while due timers are run. */
    stopAt(at: number) {
      stoppedAt = at
    },
    get isStopped() {
      return stoppedAt !== undefined
    },
    /** Ends a stopAt; the clock goes on from `at` in its own mode. */
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
