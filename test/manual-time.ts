import { parseDuration } from '../src/model/duration.ts'
import type { Runtime } from '../src/runtime/runtime.ts'
import { manualTimers } from './manual-timers.ts'

/** Real time that passes only when a test says so; pass `runtime` to `start(t, { sandbox })`. */
export function manualTime() {
  const { later, left, pass } = manualTimers()
  return {
    runtime: (real: Runtime): Runtime => ({
      ...real,
      // Work that only lets other work go first does not wait.
      later: (ms, run) => (ms === 0 ? real : { later }).later(ms, run),
    }),
    left,
    /** Waits until this many timers wait. */
    async waiting(count = 1) {
      while (left().length < count) await new Promise(setImmediate)
    },
    /** Lets real time pass, and runs the timers that are due. */
    pass: (duration: string) => pass(parseDuration(duration)!),
  }
}
