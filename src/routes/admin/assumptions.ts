import * as z from 'zod'
import { Basis } from '../../assumptions/assumption.ts'
import { type Readings, readingProblem } from '../../assumptions/readings.ts'
import { adminCall } from '../../http/admin-call.ts'
import { named } from '../../model/formats.ts'
import type { World } from '../../world/world.ts'
import { READING_SOURCES } from '../../world/world-assumptions.ts'

// To find what was meant by a name takes time.
const MAX_PROBLEMS = 20

/** Adds an error for each invalid reading, up to a limit; with `canUndo`, `null` is valid. */
const checkReadings =
  ({ canUndo }: { canUndo: boolean }) =>
  (readings: object, context: z.RefinementCtx) => {
    let left = MAX_PROBLEMS
    for (const [name, reading] of Object.entries(readings)) {
      if (left === 0) return
      const message = readingProblem(name, reading, canUndo)
      if (message === undefined) continue
      left--
      context.addIssue({ code: 'custom', path: [name], message, params: { code: 'invalid_value' } })
    }
  }

export const ReadingsField = z
  .record(z.string(), z.string())
  .superRefine(checkReadings({ canUndo: false })) as z.ZodType<Readings>

const Assumption = named('Assumption', {
  name: z.string(),
  section: z.string().meta({ description: 'The section of the contract.' }),
  question: z.string(),
  reading: z.string().meta({ description: 'The reading in force.' }),
  source: z.enum(READING_SOURCES).meta({ description: 'Where the reading in force comes from.' }),
  default: z.string(),
  basis: Basis,
  why: z.string(),
  readings: z.array(
    z.strictObject({
      reading: z.string(),
      does: z.string(),
      example: z.string().optional().meta({
        description: 'If `reading` is a form such as `N/minute`: a reading of this form.',
      }),
    }),
  ),
})
const Assumptions = named('AssumptionsResponse', { assumptions: z.array(Assumption) })

const listOf = ({ scenarios }: World) => ({
  assumptions: scenarios.assumptions.describe().map(({ assumption, reading, source }) => {
    const { name, section, question, default: usual, basis, why, form } = assumption
    const readings: z.infer<typeof Assumption>['readings'] = [
      ...Object.entries(assumption.readings).map(([word, { does }]) => ({ reading: word, does })),
      ...(form ? [{ reading: form.syntax, does: form.does, example: form.example }] : []),
    ]
    return { name, section, question, reading, source, default: usual, basis, why, readings }
  }),
})

export const assumptionCalls = [
  adminCall({
    id: 'listAssumptions',
    summary: 'List the assumptions, their readings, and the reading in force',
    response: Assumptions,
    handle: listOf,
  }),
  adminCall({
    id: 'setAssumptions',
    summary: 'Choose readings; null undoes a choice',
    body: z.record(z.string(), z.string().nullable()).superRefine(checkReadings({ canUndo: true })),
    response: Assumptions,
    handle(world, { body }) {
      world.scenarios.assumptions.change(body)
      return listOf(world)
    },
  }),
]
