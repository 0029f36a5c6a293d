import { BadOption } from '../config/options.ts'

/** Parses a JSON object; `label` names the argument in the message. Throws `BadOption`. */
export function parseJsonObject(label: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new BadOption(`${label} takes a JSON object in quotes, not ${JSON.stringify(text)}`)
}

/** Parses a whole number from `min` to `max`; `label` names the argument in the message. Throws `BadOption`. */
export function parseWholeNumber(label: string, text: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new BadOption(
    `${label} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`,
  )
}
