import * as z from 'zod'
import { MIN_PAISE, paiseOf } from '../model/money.ts'
import { CheckState, PaymentState, Reason } from './outcome-schema.ts'
import { Rule, WebhookRule } from './rule-schema.ts'
import { Duration, ScenarioName, text } from './value-schema.ts'
import { quoteValue } from './wording.ts'
import { EVENTS, OPERATIONS } from './words.ts'

const Uuid = z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, {
  error: ({ input }) => `must be a UUID, not ${quoteValue(input)}`,
})
const Resource = z
  .string()
  .regex(/^(?:latest|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    error: ({ input }) => `must be latest or a UUID, not ${quoteValue(input)}`,
  })
  .meta({ description: 'latest (the newest resource), or the id of a resource.' })

const wrongAmount = ({ input }: { input?: unknown }) =>
  input === undefined
    ? undefined
    : `must be rupees such as "2500.00", from 1.00 to 9999999999.99, not ${quoteValue(input)}`

const Amount = z
  .union(
    [
      // The pattern is for editors only; `refine` below checks the value.
      z.string().meta({ pattern: '^\\d{1,10}(\\.\\d{1,2})?$' }),
      z.number().meta({ minimum: 1, maximum: 9_999_999_999.99 }),
    ],
    { error: wrongAmount },
  )
  .refine((amount) => (paiseOf(amount) ?? 0) >= MIN_PAISE, { error: wrongAmount })
  .meta({ description: 'Rupees, 1.00 to 9999999999.99, at most two decimals.' })

const Simulate = z.strictObject({
  transaction: Resource.optional(),
  kyc: Resource.optional(),
  bank: Resource.optional(),
  status: z.union([PaymentState, CheckState], {
    error: ({ input }) =>
      input === undefined
        ? undefined
        : `must be a status such as SUCCESS or failed, not ${quoteValue(input)}`,
  }),
  reason: Reason.optional(),
})

const Credit = z.strictObject({
  amount: Amount,
  to_user_id: Uuid.optional().meta({
    description:
      'The receiver. If it is missing, the sandbox chooses a user with a verified account.',
  }),
  from_user_id: Uuid.optional(),
  benif_bank_id: Uuid.optional(),
  reference_id: text(100).optional(),
  remark: text(50).optional(),
})

const Do = z
  .strictObject(
    {
      trigger: z.enum(EVENTS).optional().meta({ description: 'Fires an event now.' }),
      resource: Resource.optional().meta({
        description: 'The resource of `trigger`: latest (default) or an id.',
      }),
      simulate: Simulate.optional().meta({ description: 'Changes the status of one resource.' }),
      credit: Credit.optional().meta({ description: 'Creates an incoming payment.' }),
      create_users: z
        .int()
        .min(1)
        .max(1_000)
        .optional()
        .meta({ description: 'Creates this number of users.' }),
      use: ScenarioName.optional().meta({ description: 'Activates another scenario.' }),
      rule: Rule.optional().meta({
        description: 'Pushes a rule. It has priority over the rules of the scenario.',
      }),
      reset: z
        .literal(true)
        .optional()
        .meta({ description: 'Resets the world to the fixtures and the start scenario.' }),
    },
    {
      error: ({ input }) =>
        input === undefined
          ? 'is missing; specify the action, such as do: { use: provider-outage }'
          : undefined,
    },
  )
  .meta({ id: 'Action' })

const TimelineEntry = z
  .strictObject({
    after: Duration.optional().meta({
      description: 'The time since the activation of the scenario; immediately if it is missing.',
    }),
    every: Duration.optional().meta({ description: 'Repeats the action at this interval.' }),
    times: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .meta({ description: 'The total number of runs; repeats forever if it is missing.' }),
    do: Do,
  })
  .meta({ id: 'TimelineEntry' })

const Count = z.union(
  [
    z.int().min(0),
    z.strictObject({
      exactly: z.int().min(0).optional(),
      at_least: z.int().min(0).optional(),
      at_most: z.int().min(0).optional(),
    }),
  ],
  {
    error: ({ input }) =>
      input === undefined
        ? undefined
        : `must be a whole number or a mapping of exactly, at_least and at_most, not ${quoteValue(input)}`,
  },
)

// No schema here transforms its input, so that the JSON Schema for editors describes exactly what is accepted.

/** A scenario file. */
export const Scenario = z
  .strictObject({
    $schema: z.string().max(500).optional().meta({ description: 'For editors of JSON files.' }),
    title: text(200).optional(),
    description: text(2_000).optional(),
    extends: ScenarioName.optional().meta({
      description: 'Another scenario, whose rules apply after those of this one.',
    }),
    base: z
      .literal('none')
      .optional()
      .meta({ description: 'none: the default scenario is not used, so magic values are off.' }),
    rules: z
      .array(Rule)
      .max(2_000)
      .optional()
      .meta({ description: 'The first rule that matches acts.' }),
    webhooks: z
      .array(WebhookRule)
      .max(500)
      .optional()
      .meta({ description: 'How events are sent. The first rule that matches acts.' }),
    timeline: z
      .array(TimelineEntry)
      .max(500)
      .optional()
      .meta({ description: 'Actions at fixed times after the activation of the scenario.' }),
    expect: z
      .strictObject({ requests: z.partialRecord(z.enum(OPERATIONS), Count).optional() })
      .optional()
      .meta({ description: 'What must have happened by the end of a test.' }),
  })
  .meta({ title: 'Scenario file of payout-sandbox' })

export type ScenarioDefinition = z.infer<typeof Scenario>
export type ActionDefinition = z.infer<typeof Do>
export type TimelineDefinition = z.infer<typeof TimelineEntry>
export type CountDefinition = z.infer<typeof Count>
