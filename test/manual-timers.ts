import type { Later } from '../src/runtime/real-time.ts'

/** Timers of a process whose real time the test moves: `later` takes them, `pass` runs those that are due, in order. */
export function manualTimers() {
  const waiting = new Set<{ at: number; run: () => void }>()
  let now = 0
  const later: Later = (ms, run) => {
    const timer = { at: now + ms, run }
    waiting.add(timer)
    return () => waiting.delete(timer)
  }
  const nextBy = (end: number) =>
    [...waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
  return {
    later,
    pass(ms: number) {
      const end = now + ms
      for (let next = nextBy(end); next; next = nextBy(end)) {
        waiting.delete(next)
        now = Math.max(now, next.at)
        next.run()
      }
      now = end
    },
  }
}
