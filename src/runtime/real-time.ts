/** The wall clock in ms. No other code of the product reads it. */
export const wallNow = (): number => Date.now()

export type SteadyWallOptions = {
  wall: () => number
  elapsed: () => number
  /** Called when the wall clock was set back, with the difference in ms. */
  onSetBack?: (ms: number) => void
}

// Smaller corrections of a wall clock are normal and not reported.
const MIN_REPORTED_MS = 1_000

/** A wall clock that never goes back, and doesn't jump forward when a clock that was set back is corrected. */
export function createSteadyWall({ wall, elapsed, onSetBack }: SteadyWallOptions): () => number {
  let lastWall = wall()
  let lastElapsed = elapsed()
  // How many ms this clock is ahead of the wall clock.
  let ahead = 0
  return () => {
    const [now, elapsedNow] = [wall(), elapsed()]
    const leap = now - lastWall - (elapsedNow - lastElapsed)
    if (now < lastWall) {
      ahead -= leap
      if (lastWall - now >= MIN_REPORTED_MS) onSetBack?.(lastWall - now)
    } else if (leap > 0 && ahead > 0) ahead -= Math.min(ahead, leap)
    lastWall = now
    lastElapsed = elapsedNow
    return now + ahead
  }
}

// The longest time of a timer of Node, about 24 days. Node runs a timer with a longer one at once.
const MAX_TIMER_MS = 2 ** 31 - 1

/** Runs a function after `ms` real ms, at most 24 days; returns a function that cancels it. */
export type Later = (ms: number, run: () => void) => () => void

export const realLater: Later = (ms, run) => {
  const timer = setTimeout(run, Math.min(ms, MAX_TIMER_MS))
  return () => clearTimeout(timer)
}

/** `realLater` with a timer that does not keep the process alive. */
export const unrefLater: Later = (ms, run) => {
  const timer = setTimeout(run, Math.min(ms, MAX_TIMER_MS)).unref()
  return () => clearTimeout(timer)
}

const QUIET_MS = 600_000

/** Returns a function that calls `run` on its first call, and again only after a pause of ten minutes without calls. */
export function oncePerBurst(run: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - last > QUIET_MS) run()
    last = now
  }
}

/** Long work shares the event loop with all clients: it runs in slices, which are counted here for the whole process. */

// The maximum time of one slice, real ms.
const SLICE_MS = 8
const TURNS_BETWEEN = 4

let sliceEnds: number | undefined
let lastTurn: Promise<void> = Promise.resolve()

const nextTurn = () => new Promise(setImmediate)

/** Whether the current slice of long work has used its time. */
export function isSliceOver(): boolean {
  const now = performance.now()
  if (sliceEnds === undefined) {
    sliceEnds = now + SLICE_MS
    setImmediate(() => {
      sliceEnds = undefined
    })
  }
  return now >= sliceEnds
}

/** Waits some turns of the event loop without long work: a call needs several from its connection to its response. */
async function rest() {
  for (let turn = 0; turn < TURNS_BETWEEN; turn++) await nextTurn()
  sliceEnds = undefined
}

/** Resolves when the caller may continue: one slice at a time, first come, first served. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(rest)
  return lastTurn
}
