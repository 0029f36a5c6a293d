const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SHORT = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/
const ISO =
  /^P(?=.)(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9}(?:\.\d{1,3})?)S)?)?$/

/** The maximum duration: ten years of 365 days, so that ISO 8601 can express every due time. */
export const MAX_MS = 3_650 * UNIT_MS['d']!

export const DURATION_FORM = '500ms, 5s, 2m, 1h, 2d or ISO 8601 such as PT5S'

function isoMs(text: string): number | undefined {
  const parts = ISO.exec(text)
  if (!parts) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0))
  return (
    (weeks * 7 + days) * UNIT_MS['d']! +
    hours * UNIT_MS['h']! +
    minutes * UNIT_MS['m']! +
    Math.round(seconds * UNIT_MS['s']!)
  )
}

/** Whole ms of `500ms`, `1.5s`, `2m`, `1h`, `2d` or ISO 8601 (`P1DT2H`); `undefined` for months, no unit, or over `MAX_MS`. */
export function parseDuration(text: string): number | undefined {
  const short = SHORT.exec(text)
  const ms = short ? Math.round(Number(short[1]) * UNIT_MS[short[2]!]!) : isoMs(text)
  return ms === undefined || ms > MAX_MS ? undefined : ms
}

/** The shortest text that `parseDuration` reads back as these ms: `90000` -> `90s`, `7200000` -> `2h`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s'
  const unit = ['d', 'h', 'm', 's'].find((name) => ms % UNIT_MS[name]! === 0) ?? 'ms'
  return `${ms / UNIT_MS[unit]!}${unit}`
}

/** From `minMs` to `maxMs`, both included; equal for a fixed delay. */
export type Delay = { minMs: number; maxMs: number }

/** A delay: one duration, or a range `200ms..2s`. `undefined` where either end is no duration or the range runs backwards. */
export function parseDelay(text: string): Delay | undefined {
  const [from = '', to = from, ...rest] = text.split('..')
  const minMs = parseDuration(from.trim())
  const maxMs = parseDuration(to.trim())
  if (minMs === undefined || maxMs === undefined || rest.length > 0 || minMs > maxMs)
    return undefined
  return { minMs, maxMs }
}

/** The point of a delay that a fraction in [0, 1) picks, in whole ms. */
export const pointOf = ({ minMs, maxMs }: Delay, fraction: number): number =>
  minMs + Math.floor((maxMs - minMs + 1) * fraction)
