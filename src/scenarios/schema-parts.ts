import * as z from 'zod'
import { DURATION_FORM, parseDelay, parseDuration } from '../model/duration.ts'
import { isClockTime } from '../model/formats.ts'
import { quoteValue } from '../model/words.ts'
import type { Json } from './condition.ts'
import { describeInput } from './explain.ts'
import type { Path } from './yaml.ts'

/** The form of a scenario's name, which is its file name without the extension. */
export const SCENARIO_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** An object with unchecked content; not a list and not null. */
export type Mapping = Record<string, unknown>

/** The error of a value in words: `must be …, not …`. A missing value has the usual error. */
export const mustBe =
  (what: string) =>
  ({ input }: { input?: unknown }): string | undefined =>
    input === undefined ? undefined : `must be ${what}, not ${quoteValue(input)}`

/** The error of what is no mapping: says what to write. All other errors are the usual ones. */
export const suchAs =
  (form: string, advice?: string) =>
  ({ code, input }: z.core.$ZodRawIssue): string | undefined => {
    if (input === undefined) return advice && `is missing; ${advice}, such as ${form}`
    return code === 'invalid_type'
      ? `must be a mapping such as ${form}, not ${describeInput(input)}`
      : undefined
  }

export type Report = (path: Path, message: string, of?: 'key' | 'value') => void

/** What a check of several fields gets besides the value. */
export type Check = {
  report: Report
  /** Whether nothing is wrong at or below a path; without a path, whether the whole value is valid. */
  isValid: (...path: PropertyKey[]) => boolean
  /** Whether the value has no keys or entries, known or unknown. */
  isEmpty: boolean
  /** Drops the errors so far: the next one explains them better. */
  clear: () => void
}

/** A check of several fields together. It runs even if some are invalid, so that a file gets all its errors at once. */
export const crossCheck = <T extends object>(check: (value: T, found: Check) => void) =>
  z.superRefine<T>(
    (value, context) => {
      const { issues } = context
      if (issues.some(({ code, path }) => code === 'invalid_type' && !path?.length)) return
      check(value, {
        report: (path, message, of = 'value') =>
          context.addIssue({ code: 'custom', path: [...path], message, params: { of } }),
        isValid: (...path) =>
          !issues.some((issue) => path.every((key, i) => issue.path?.[i] === key)),
        isEmpty:
          Object.keys(value).length === 0 &&
          !issues.some(({ code, path }) => code === 'unrecognized_keys' && !path?.length),
        clear: () => {
          issues.length = 0
        },
      })
    },
    { when: () => true },
  )

/** A value that the check of its parent reads: a union cannot say which shape was meant. Editors get the shape of `shape`. */
export function checkedByParent<T>(shape: () => z.ZodType<T>, meta: z.GlobalMeta): z.ZodType<T, T> {
  const schema = z.unknown().meta(meta)
  schema._zod.processJSONSchema = (...given) => shape()._zod.processJSONSchema!(...given)
  return schema as z.ZodType<T, T>
}

/** Any JSON value; its TypeScript type does not refer to zod. The values of a file and of a body are JSON already. */
export const AnyJson = z.unknown() as z.ZodType<Json, Json>

export const text = (max: number) => z.string().min(1).max(max)

export const ScenarioName = z.string().regex(SCENARIO_NAME, {
  error: mustBe('a name of lowercase letters, digits and hyphens, at most 63 characters'),
})

/** A string that `parse` understands; `form` tells a user how to write it. */
function timeText(form: string, parse: (text: string) => unknown, meta: z.GlobalMeta) {
  const error = ({ input }: { input?: unknown }) => {
    const unit = typeof input === 'number' ? `; a number has no unit, write ${input}s` : ''
    const wrong = mustBe(`a duration (${form})`)({ input })
    return wrong && wrong + unit
  }
  return z
    .string({ error })
    .refine((value) => parse(value) !== undefined, { error })
    .meta(meta)
}

export const Duration = timeText(DURATION_FORM, parseDuration, {
  id: 'Duration',
  description: `A duration on the client's clock: ${DURATION_FORM}.`,
  examples: ['5s'],
})

const wrongInstant = {
  error: mustBe('an instant such as "2026-01-01T10:00:00Z", from 1970 to 9999'),
}

export const Instant = z.iso
  .datetime({ offset: true, abort: true, ...wrongInstant })
  .refine((value) => isClockTime(Date.parse(value)), wrongInstant)

const DELAY_FORM = `${DURATION_FORM}, or a range such as 200ms..2s`

/** The delay of a response or an event: one duration, or a range of durations. */
export const Delay = timeText(DELAY_FORM, parseDelay, {
  id: 'Delay',
  description: `The delay of the response: ${DELAY_FORM}.`,
  examples: ['200ms..2s'],
})
