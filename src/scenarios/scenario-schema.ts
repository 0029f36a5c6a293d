import * as z from 'zod'
import type { Assumption } from '../assumptions/assumption.ts'
import { ASSUMPTIONS, type Readings, readingChoices } from '../assumptions/readings.ts'
import { isObject } from '../model/formats.ts'
import { OPERATIONS, operationNamed } from './operations-and-events.ts'
import { MAX_PATTERNS, patternsIn } from './operators.ts'
import { Rule, rulesSchema, WebhookRule } from './rule-schema.ts'
import {
  type Check,
  crossCheck,
  Duration,
  mustBe,
  ScenarioName,
  suchAs,
  text,
} from './schema-parts.ts'
import { StatementRule } from './statement-schema.ts'
import { TimelineEntry } from './timeline-schema.ts'

const Bounds = z
  .strictObject({
    exactly: z.int().min(0).optional(),
    at_least: z.int().min(0).optional(),
    at_most: z.int().min(0).optional(),
  })
  .check(
    crossCheck((count, { report, isValid, isEmpty }) => {
      if (!isValid()) return
      const { exactly, at_least: min = 0, at_most: max = Number.POSITIVE_INFINITY } = count
      if (isEmpty) report([], 'an empty count; write exactly, at_least or at_most')
      if (exactly !== undefined && Object.keys(count).length > 1) {
        const message = '`exactly` cannot be combined with at_least or at_most; remove one'
        report(['exactly'], message, 'key')
      }
      if (min > max) {
        const message = `no number is at least ${min} and at most ${max}; at_least must not be larger than at_most`
        report([], message)
      }
    }),
  )

const Count = z.union([z.int().min(0), Bounds], {
  error: mustBe('a whole number or a mapping of exactly, at_least and at_most'),
})

/** The readings of an assumption; `does` explains them in an editor. */
function readingSchema(one: Assumption) {
  const { form } = one
  const quotes = Object.hasOwn(one.readings, 'null') ? '; write "null" with quotes' : ''
  const range = form ? ` (${form.range})` : ''
  const error = mustBe(`${readingChoices(one)}${range}${quotes}`)
  const words = z.enum(Object.keys(one.readings), { error })
  const schema = form
    ? z.union(
        // YAML reads a page size as a number.
        [
          words,
          z.string().regex(form.pattern).refine(isIn(form), { error }),
          z.int().refine(isIn(form), { error }),
        ],
        { error },
      )
    : words
  return schema.optional().describe(one.question)
}

const isIn =
  ({ pattern, parse }: NonNullable<Assumption['form']>) =>
  (reading: string | number) =>
    pattern.test(String(reading)) && parse(String(reading)) !== undefined

const Assume = z
  .strictObject(Object.fromEntries(ASSUMPTIONS.map((one) => [one.name, readingSchema(one)])))
  .describe(
    'Readings of open points of the contract, while this scenario is active.',
  ) as unknown as z.ZodType<Readings>

/** The fields of which a scenario has at least one. */
const DOING = ['rules', 'webhooks', 'timeline', 'statement', 'expect', 'assume', 'extends'] as const

function checkScenario(scenario: ScenarioDefinition, { report, isValid }: Check) {
  if (!isValid()) return
  const { rules = [], webhooks = [], timeline = [], statement = [] } = scenario
  if (!DOING.some((key) => scenario[key] !== undefined))
    report([], `the scenario is empty; add ${DOING.slice(0, -1).join(', ')} or ${DOING.at(-1)}`)
  const patterns = [
    ...rules.flatMap(({ when }, i) => patternsIn(when, ['rules', i, 'when'])),
    ...webhooks.flatMap(({ when }, i) => patternsIn(when, ['webhooks', i, 'when'])),
    ...timeline.flatMap(({ do: { rule } }, i) =>
      patternsIn(rule?.when, ['timeline', i, 'do', 'rule', 'when']),
    ),
    ...statement.flatMap(({ when }, i) => patternsIn(when, ['statement', i, 'when'])),
  ]
  const tooMany = patterns[MAX_PATTERNS]
  if (tooMany === undefined) return
  const message = `more than ${MAX_PATTERNS} patterns in one file; use starts_with, ends_with, contains or in, which are cheaper`
  report(tooMany, message, 'key')
}

// No schema here transforms its input, so that the JSON Schema for editors describes exactly what is accepted.

/** Endpoints such as `POST /kyc` are operationIds by another name. */
const byOperationId = (counts: unknown) =>
  isObject(counts)
    ? Object.fromEntries(Object.entries(counts).map(([name, one]) => [operationNamed(name), one]))
    : counts

const ScenarioFields = z.strictObject({
  $schema: z.string().max(500).optional().describe('For editors of JSON files.'),
  title: text(200).optional(),
  description: text(2_000).optional(),
  extends: ScenarioName.optional().describe(
    'Another scenario, whose rules apply after those of this one.',
  ),
  fast_forward: Duration.optional().describe('How much has passed when a sandbox starts with it.'),
  base: z
    .optional(z.literal('none'))
    .describe('none: the default scenario is not used, so magic values are off.'),
  counts: z
    .optional(z.literal('run'))
    .describe('run: exec counts the rules over all clients and resets, not for each client anew.'),
  assume: Assume.optional(),
  rules: rulesSchema(Rule, 'rules')
    .max(2_000)
    .optional()
    .describe('The first rule that matches acts.'),
  webhooks: rulesSchema(WebhookRule, 'webhooks')
    .max(500)
    .optional()
    .describe('How events are sent. The first rule that matches acts.'),
  timeline: z
    .optional(z.array(TimelineEntry).max(500))
    .describe('Actions at fixed times after the activation of the scenario.'),
  statement: rulesSchema(StatementRule, 'statement')
    .max(500)
    .optional()
    .describe('What the statement of the bank gets wrong. The first rule that matches acts.'),
  expect: z
    .strictObject(
      {
        requests: z
          .preprocess(byOperationId, z.partialRecord(z.enum(OPERATIONS), Count))
          .optional(),
      },
      { error: suchAs('{ requests: { createTransaction: 1 } }') },
    )
    .optional()
    .describe('What must have happened by the end of a test.'),
})

export const Scenario = ScenarioFields.check(crossCheck<ScenarioDefinition>(checkScenario)).meta({
  title: 'Scenario file of payout-sandbox',
})
export type ScenarioDefinition = z.infer<typeof ScenarioFields>
export type CountDefinition = z.infer<typeof Count>

/** Returns the text of `scenarios/scenario.schema.json`: the schema of scenario files as JSON Schema, for editors. */
export function scenarioJsonSchema(): string {
  const schema = z.toJSONSchema(Scenario, { target: 'draft-7', io: 'input', reused: 'inline' })
  return `${JSON.stringify(schema, null, 2)}\n`
}
