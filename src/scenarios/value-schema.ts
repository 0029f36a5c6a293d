import * as z from 'zod'
import { DURATION_FORM, parseDelay, parseDuration } from '../core/duration.ts'
import { shown } from './wording.ts'

/** What a scenario may be called: it is a file's name without the ending. */
export const SCENARIO_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

const NAME_FORM = 'a name of small letters, digits and hyphens, at most 63 characters'
/** A text of bounded length. */
export const text = (max: number) => z.string().min(1).max(max)

/** The name of a scenario. */
export const ScenarioName = z
  .string()
  .regex(SCENARIO_NAME, { error: ({ input }) => `must be ${NAME_FORM}, not ${shown(input)}` })

const wrongDuration = (form: string) => (issue: { input?: unknown }) => {
  if (issue.input === undefined) return undefined
  const unit =
    typeof issue.input === 'number' ? `; a number has no unit, write ${issue.input}s` : ''
  return `must be a duration (${form}), not ${shown(issue.input)}${unit}`
}

/** A span of the client's time, as text. */
export const Duration = z
  .string({ error: wrongDuration(DURATION_FORM) })
  .refine((value) => parseDuration(value) !== undefined, { error: wrongDuration(DURATION_FORM) })
  .meta({
    id: 'Duration',
    description: `A span of the client's time: ${DURATION_FORM}.`,
    examples: ['5s'],
  })

const DELAY_FORM = `${DURATION_FORM}, or a range such as 200ms..2s`

/** How long an answer or an event waits: one duration, or a range of them. */
export const Delay = z
  .string({ error: wrongDuration(DELAY_FORM) })
  .refine((value) => parseDelay(value) !== undefined, { error: wrongDuration(DELAY_FORM) })
  .meta({
    id: 'Delay',
    description: `How long an answer waits: ${DELAY_FORM}.`,
    examples: ['200ms..2s'],
  })
