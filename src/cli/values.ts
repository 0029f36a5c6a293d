import { BadOption } from '../config/options.ts'

/** A JSON object of the command line; `called` says where it was given. */
export function jsonObject(called: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new BadOption(`${called} takes an object of JSON in quotes, not ${JSON.stringify(text)}`)
}

/** A whole number of the command line. */
export function wholeNumber(called: string, text: string, from: number, to: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new BadOption(
    `${called} takes a whole number from ${from} to ${to}, not ${JSON.stringify(text)}`,
  )
}

/** The query of those that are given, with its question mark; nothing where none is. */
export function queryOf(given: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}
