import { parseDuration } from '../src/model/duration.ts'
import type { Runtime } from '../src/runtime/runtime.ts'

/** Real time that passes only when a test says so; pass `runtime` to `start(t, { sandbox })`. */
export function manualTime() {
  const timers = new Set<{ due: number; run: () => void }>()
  let now = 0
  return {
    runtime: (real: Runtime): Runtime => ({
      ...real,
      later(ms, run) {
        // Work that only lets other work go first does not wait.
        if (ms === 0) return real.later(0, run)
        const timer = { due: now + ms, run }
        timers.add(timer)
        return () => timers.delete(timer)
      },
    }),
    /** How long each waiting timer still has, ms. */
    left: () => [...timers].map(({ due }) => due - now),
    /** Waits until this many timers wait. */
    async waiting(count = 1) {
      while (timers.size < count) await new Promise(setImmediate)
    },
    /** Lets real time pass, and runs the timers that are due. */
    pass(duration: string) {
      now += parseDuration(duration)!
      const due = [...timers].filter((timer) => timer.due <= now)
      for (const timer of due.sort((a, b) => a.due - b.due)) {
        timers.delete(timer)
        timer.run()
      }
    },
  }
}
