// Amounts and times as texts. No part of the page: a test needs no browser.
import { ordinal } from '../counting.ts'

const AMOUNT = /^\d+(?:\.\d{1,2})?$/
// It formats strings, too, and so loses no digit.
const GROUPED = new Intl.NumberFormat('en-IN', { minimumFractionDigits: 2 })

/** Formats an amount as people in India read it: `₹12,45,000.00`. A string that is no amount stays as it is. */
export function rupeesText(amount: string, currency = 'INR'): string {
  if (!AMOUNT.test(amount)) return amount
  const text = GROUPED.format(amount as `${number}`)
  return currency === 'INR' ? `₹${text}` : `${text} ${currency}`
}

/** Formats a sum that may be below zero. */
export const netText = (net: string): string =>
  `${net.startsWith('-') ? '−' : ''}${rupeesText(net.replace('-', ''))}`

/** The number of an amount as a person types it. Anything else stays a string, which the sandbox rejects. */
export function typedAmount(typed: string): number | string | undefined {
  const text = typed.trim()
  const plain = text.replace(/^₹\s*/, '').replace(/(?<=\d),(?=\d)/g, '')
  if (/^-?\d+(?:\.\d+)?$/.test(plain)) return Number(plain)
  return text === '' ? undefined : text
}

export const isoOf = (ms: number): string => new Date(ms).toISOString()

/** Where times are: in UTC, or where the browser is. */
export type Zone = 'utc' | 'local'

/** Formats an instant as `2026-01-01 05:30:00.000` in a zone; `offset` is that of the browser, in minutes east of UTC. */
export function wallTime(at: string, zone: Zone, offset = -new Date(at).getTimezoneOffset()) {
  const moved = zone === 'utc' ? at : new Date(Date.parse(at) + offset * 60_000).toISOString()
  return { day: moved.slice(0, 10), time: moved.slice(11, 19), exact: moved.slice(11, 23) }
}

const named = new Map<string | undefined, Intl.DateTimeFormat>()

/** The short name of a zone at an instant: `UTC`, `IST`, `GMT+1`; `place` is that of the browser. */
export function zoneName(at: string, zone: Zone, place?: string): string {
  if (zone === 'utc') return 'UTC'
  let format = named.get(place)
  if (!format) {
    // In English as it is written in India, where `IST` has a name.
    format = new Intl.DateTimeFormat('en-IN', { timeZone: place, timeZoneName: 'short' })
    named.set(place, format)
  }
  return format.formatToParts(Date.parse(at)).find(({ type }) => type === 'timeZoneName')!.value
}

/** The word for a place in an order: `second`, `21st`. */
export const ordinalWord = (n: number): string =>
  ['first', 'second', 'third', 'fourth', 'fifth'][n - 1] ?? ordinal(n)

/** A number as people in India read it: `1,10,424`. */
export const numberText = (count: number): string => count.toLocaleString('en-IN')

/** A count as people in India read it: `10,424 payments`, `1 payment`. */
export const countText = (count: number, noun: string): string =>
  `${numberText(count)} ${count === 1 ? noun : `${noun.replace(/y$/, 'ie')}s`}`

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

export const untilText = (ms: number): string => (ms <= 0 ? 'now' : `in ${spanText(ms)}`)
