import * as z from 'zod'
import { DURATION_FORM, parseDelay, parseDuration } from '../time/duration.ts'
import { quoteValue } from './wording.ts'

/** The form of a scenario's name, which is its file name without the extension. */
export const SCENARIO_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

const NAME_FORM = 'a name of lowercase letters, digits and hyphens, at most 63 characters'
/** A non-empty text of at most `max` characters. */
export const text = (max: number) => z.string().min(1).max(max)

/** The name of a scenario. */
export const ScenarioName = z
  .string()
  .regex(SCENARIO_NAME, { error: ({ input }) => `must be ${NAME_FORM}, not ${quoteValue(input)}` })

const wrongDuration = (form: string) => (issue: { input?: unknown }) => {
  if (issue.input === undefined) return undefined
  const unit =
    typeof issue.input === 'number' ? `; a number has no unit, write ${issue.input}s` : ''
  return `must be a duration (${form}), not ${quoteValue(issue.input)}${unit}`
}

/** A duration on the client's clock, as text. */
export const Duration = z
  .string({ error: wrongDuration(DURATION_FORM) })
  .refine((value) => parseDuration(value) !== undefined, { error: wrongDuration(DURATION_FORM) })
  .meta({
    id: 'Duration',
    description: `A duration on the client's clock: ${DURATION_FORM}.`,
    examples: ['5s'],
  })

const DELAY_FORM = `${DURATION_FORM}, or a range such as 200ms..2s`

/** The delay of a response or an event: one duration, or a range of durations. */
export const Delay = z
  .string({ error: wrongDuration(DELAY_FORM) })
  .refine((value) => parseDelay(value) !== undefined, { error: wrongDuration(DELAY_FORM) })
  .meta({
    id: 'Delay',
    description: `The delay of the response: ${DELAY_FORM}.`,
    examples: ['200ms..2s'],
  })
