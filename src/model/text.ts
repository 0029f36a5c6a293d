import { z } from 'zod'

// NUL and lone surrogates can't be kept or sent faithfully; other control characters have no place in a name.
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

const isFit = (text: string) => text.isWellFormed() && !UNFIT.test(text)

/** A text of bounded length without control characters or lone surrogates. */
export const text = (max: number, min = 1) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine(isFit, { error: 'must not hold control characters or lone surrogates', abort: true })

/** An identifier: a UUID of any version, compared in lower case. */
export const Uuid = z.guid().toLowerCase()

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ examples: ['2026-01-01T09:30:00.000Z'] })

/** A calendar date, YYYY-MM-DD. */
export const IsoDate = z.iso.date()

/** Turns DD-MM-YYYY into YYYY-MM-DD; `undefined` where there is no such day. */
export function isoDateOf(dayFirst: string): string | undefined {
  const parts = /^(\d{2})-(\d{2})-(\d{4})$/.exec(dayFirst)
  if (!parts) return undefined
  const iso = `${parts[3]}-${parts[2]}-${parts[1]}`
  const date = new Date(`${iso}T00:00:00.000Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso) ? iso : undefined
}
