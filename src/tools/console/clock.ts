// The client's time, which continues between two responses of the server.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Clock } from './api.ts'
import { useConnection } from './live.ts'

const TICK_MS = 200

/** Returns the current time (ms) of a clock that was read some time ago; without a connection, the last that is known. */
export function useNow(clock: Clock | undefined): number {
  const [seen, setSeen] = useState({ clock, at: performance.now() })
  const [, tick] = useState(0)
  const isLive = useConnection() !== 'lost'
  const last = useRef(0)
  if (seen.clock !== clock) {
    seen.clock = clock
    seen.at = performance.now()
    setSeen(seen)
  }
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  if (!clock) return 0
  const passed = clock.mode === 'real' ? (performance.now() - seen.at) * clock.speed : 0
  if (isLive) last.current = Date.parse(clock.now) + passed
  return last.current
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const

/** Formats a duration with its two largest units: `2d 3h`, `5s`, `200ms`. */
export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  const parts: string[] = []
  let rest = ms
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

/** Formats the time until an instant; `ms` is the time left. */
export const untilText = (ms: number): string => (ms <= 0 ? 'now' : `in ${spanText(ms)}`)
