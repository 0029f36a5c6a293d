import * as z from 'zod'

// Every text is one line without control characters (C0, DEL, C1); lone surrogates cannot be sent as UTF-8.
const WITHOUT_CONTROL_CHARACTERS = /^[^\x00-\x1f\x7f-\x9f]*$/

const NOT_BLANK = /^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$/

const isAllowed = (text: string) => text.isWellFormed() && WITHOUT_CONTROL_CHARACTERS.test(text)

/** An object with these fields and no others, by its name in the OpenAPI documents. */
export const named = <S extends z.core.$ZodLooseShape>(id: string, fields: S) =>
  z.strictObject(fields).meta({ id })

/** A string of bounded length without control characters or lone surrogates; not only spaces, if it must not be empty. */
export const text = (max: number, min = 1) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine(isAllowed, {
      error: 'must not contain control characters or lone surrogates',
      abort: true,
    })
    .refine((value) => min === 0 || /^$|\S/.test(value), { error: 'must not be only spaces' })
    .meta({ pattern: (min === 0 ? WITHOUT_CONTROL_CHARACTERS : NOT_BLANK).source })

/** An identifier: a UUID of any version, compared in lower case. */
export const Uuid = z.guid().toLowerCase()

export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ examples: ['2026-01-01T09:30:00.000Z'] })

export const isoOf = (ms: number): string => new Date(ms).toISOString()

const TRACE =
  /^(?!ff)([0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(?:(?<!^00.{53})-.*)?$/

/** The W3C header that names the trace of a call, and the caller's place in it. */
export const Traceparent = z.string().regex(TRACE)

/** The `traceparent` of a request without what a later version adds; `undefined` if it has none that is valid. */
export const traceOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? TRACE.exec(value)?.[1] : undefined

export const rowTimes = { created_at: Timestamp, updated_at: Timestamp }

/** Until when reads do not find a row, if a scenario has said so. */
export const VisibleAt = z.exactOptional(Timestamp)

/** The last instant (ms) that a timestamp with a four-digit year can express. */
export const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/** Whether a clock may be set to an instant (ms): from 1970 to the year 9999. */
export const isClockTime = (ms: number): boolean => ms >= 0 && ms <= LAST_INSTANT

export const IsoDate = z.iso.date()

const DAY_OF_ANY_YEAR = String.raw`(?:0[1-9]|1\d|2[0-8])-(?:0[1-9]|1[0-2])|(?:29|30)-(?:0[13-9]|1[0-2])|31-(?:0[13578]|1[02])`
const LEAP_YEAR = String.raw`\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00`

/** A calendar date, DD-MM-YYYY. It is one pattern, so that the OpenAPI document says the same. */
export const DAY_FIRST = new RegExp(
  String.raw`^(?:(?:${DAY_OF_ANY_YEAR})-\d{4}|29-02-(?:${LEAP_YEAR}))$`,
)

export const yearFirst = (dayFirst: string): string => dayFirst.split('-').reverse().join('-')

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Removes the keys whose value is undefined, as exact optional types require. */
export function omitUndefined<T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as never
}
