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

/** A client's clock: real, sped up or frozen. `wall` must not go back: see `createSteadyWall`. */
export class Clock {
  readonly #wall: () => number
  #state: ClockState
  #latest: number
  #stoppedAt: number | undefined

  constructor(initial: ClockState, wall: () => number = wallNow) {
    this.#wall = wall
    this.#state = anchored(initial, wall())
    this.#latest = initial.anchor
  }

  now(): number {
    return this.#stoppedAt ?? this.#ticking()
  }

  iso(): string {
    return new Date(this.now()).toISOString()
  }

  get state(): ClockState {
    return this.#state
  }

  /** Loads a stored state without changes, after a restart or a reset. */
  load(stored: ClockState) {
    this.#stoppedAt = undefined
    this.#state = anchored(stored, this.#wall())
    this.#latest = stored.anchor
  }

  freeze(at = this.now()) {
    this.#set({ mode: 'frozen' }, at)
  }

  resume() {
    this.#set({ mode: 'real' }, this.now())
  }

  /** Runs at this speed; a frozen clock resumes. */
  speed(factor: number) {
    this.#set({ mode: 'real', speed: factor }, this.now())
  }

  /** Stops the clock at an instant in any mode, while due timers run. */
  stopAt(at: number) {
    this.#stoppedAt = at
  }

  get isStopped(): boolean {
    return this.#stoppedAt !== undefined
  }

  /** Ends `stopAt`; the clock continues from `at` in its own mode. */
  continueFrom(at: number) {
    this.#stoppedAt = undefined
    this.#set({}, at)
  }

  /** Real ms until the client's time is `at`; Infinity on a frozen clock. */
  realDelayUntil(at: number): number {
    const { mode, speed } = this.#state
    return mode === 'frozen'
      ? Number.POSITIVE_INFINITY
      : Math.max(0, (at - this.#ticking()) / speed)
  }

  #ticking(): number {
    const { mode, speed, anchor, wallAnchor } = this.#state
    if (mode === 'frozen') return anchor
    const passed = Math.floor(anchor + (this.#wall() - wallAnchor) * speed)
    // A fast clock stops at the last instant that a timestamp can express.
    const at = Math.min(passed, LAST_INSTANT)
    // Time never runs backwards for a client.
    if (at > this.#latest) this.#latest = at
    return this.#latest
  }

  #set(change: Partial<ClockState>, at: number) {
    this.#latest = at
    this.#state = { ...this.#state, ...change, anchor: at, wallAnchor: this.#wall() }
  }
}
