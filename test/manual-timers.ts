import type { Later } from '../src/runtime/real-time.ts'
import type { World } from '../src/world/world.ts'

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
    /** How long each waiting timer still has, ms. */
    left: () => [...waiting].map(({ at }) => at - now),
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

/** Schedules a timer in 1 s and one in 2 s, each with work that lasts until the test ends it. */
export function heldTimers({ clock, tables }: World) {
  const { timers } = clock
  let settle = () => {}
  const work = () =>
    new Promise<void>((resolve) => {
      settle = resolve
    })
  timers.handle('of the test', work)
  for (const ms of [1_000, 2_000])
    tables.change(() =>
      timers.schedule({ due_at: clock.now() + ms, kind: 'of the test', payload: {} }),
    )
  return {
    /** Waits until an advance runs the first one. */
    async running() {
      while (timers.pending().length > 1) await new Promise(setImmediate)
    },
    settle: () => settle(),
  }
}
