import { z } from 'zod'
import { DURATION_FORM, parseDelay, parseDuration } from '../core/duration.ts'
import { shown } from './wording.ts'
import { EVENTS, OPERATIONS, OPERATORS } from './words.ts'

// No schema in this file transforms: the JSON Schema for editors describes just what is read here.

/** What a scenario may be called: it is a file's name without the ending. */
export const SCENARIO_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

const NAME_FORM = 'a name of small letters, digits and hyphens, at most 63 characters'
const text = (max: number) => z.string().min(1).max(max)

const ScenarioName = z
  .string()
  .regex(SCENARIO_NAME, { error: ({ input }) => `must be ${NAME_FORM}, not ${shown(input)}` })

const wrongDuration = (form: string) => (issue: { input?: unknown }) => {
  if (issue.input === undefined) return undefined
  const unit =
    typeof issue.input === 'number' ? `; a number has no unit, write ${issue.input}s` : ''
  return `must be a duration (${form}), not ${shown(issue.input)}${unit}`
}

/** A span of the client's time, as text. */
const Duration = z
  .string({ error: wrongDuration(DURATION_FORM) })
  .refine((value) => parseDuration(value) !== undefined, { error: wrongDuration(DURATION_FORM) })
  .meta({
    id: 'Duration',
    description: `A span of the client's time: ${DURATION_FORM}.`,
    examples: ['5s'],
  })

const DELAY_FORM = `${DURATION_FORM}, or a range such as 200ms..2s`

const Delay = z
  .string({ error: wrongDuration(DELAY_FORM) })
  .refine((value) => parseDelay(value) !== undefined, { error: wrongDuration(DELAY_FORM) })
  .meta({
    id: 'Delay',
    description: `How long an answer waits: ${DELAY_FORM}.`,
    examples: ['200ms..2s'],
  })

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const Threshold = z.union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,6})?$/)])

const Comparison = z
  .strictObject({
    eq: z.json().optional().meta({ description: 'Equal.' }),
    ne: z.json().optional().meta({ description: 'Not equal, or not there.' }),
    in: z
      .array(Scalar)
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'Equal to one of these.' }),
    gt: Threshold.optional().meta({ description: 'Greater, for numbers and decimal texts.' }),
    gte: Threshold.optional().meta({ description: 'Greater or equal.' }),
    lt: Threshold.optional().meta({ description: 'Less.' }),
    lte: Threshold.optional().meta({ description: 'Less or equal.' }),
    startsWith: text(256).optional().meta({ description: 'A text that starts so.' }),
    endsWith: text(256).optional().meta({ description: 'A text that ends so.' }),
    contains: Scalar.optional().meta({
      description: 'A text that holds this, or a list with this entry.',
    }),
    matches: text(200)
      .optional()
      .meta({ description: 'A text in which this regular expression (RE2) finds something.' }),
    empty: z
      .boolean()
      .optional()
      .meta({ description: 'true: there, but "", null, [] or {}. false: neither.' }),
    absent: z.boolean().optional().meta({ description: 'true: not there. false: there.' }),
    paise: z
      .int()
      .min(0)
      .max(99)
      .optional()
      .meta({ description: 'An amount with just these paise.' }),
  })
  .meta({ id: 'Comparison', description: 'All of these must hold.' })

const FieldName = z
  .string()
  .regex(new RegExp(`^(?!(?:${OPERATORS.join('|')})$)`))
  .min(1)

/** What a value must be: itself, a comparison, or a mapping of fields to conditions. */
export type Condition = z.infer<typeof Scalar> | readonly unknown[] | { [key: string]: Condition }

const Condition: z.ZodType<Condition> = z
  .lazy(() => z.union([Scalar, z.array(z.json()), Comparison, z.record(FieldName, Condition)]))
  .meta({
    id: 'Condition',
    description: 'A plain value (equal), a comparison, or fields with conditions.',
  }) as never

const Fields = z.record(FieldName, Condition)

const Operation = z
  .union([
    z.enum([...OPERATIONS, '*']),
    z.strictObject(
      Comparison.pick({
        eq: true,
        ne: true,
        in: true,
        startsWith: true,
        endsWith: true,
        contains: true,
      }).shape,
    ),
  ])
  .meta({ description: 'An operationId, or "*" for every one.' })

const When = z
  .strictObject(
    {
      operation: Operation.optional(),
      params: Fields.optional().meta({ description: 'Path parameters.' }),
      query: Fields.optional().meta({ description: 'Query parameters; compared as text.' }),
      headers: Fields.optional().meta({
        description: 'Request headers, their names in any case; compared as text.',
      }),
      body: Fields.optional().meta({ description: 'The JSON body.' }),
      item: Fields.optional().meta({ description: 'One document of POST /kyc.' }),
      user: Fields.optional().meta({ description: 'The user the call is about, as stored.' }),
      account: Fields.optional().meta({
        description: 'The receiving bank account, its numbers unmasked.',
      }),
    },
    {
      error: ({ input }) =>
        input === undefined
          ? 'is missing; say which calls, such as when: { operation: createTransaction }'
          : undefined,
    },
  )
  .meta({ id: 'When', description: 'Which calls: all of it must hold.' })

const step = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)
const after = Duration.optional().meta({
  description: 'How long after the step before; the first step is at creation.',
})
const lifecycle = <S extends z.ZodType>(one: S) => z.array(one).min(1).max(20)

const PaymentState = z.enum(['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'])
const CheckState = z.enum(['pending', 'success', 'failed'])
const Reason = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, {
  error: ({ input }) => `must be a word such as beneficiary_bank_offline, not ${shown(input)}`,
})
const Source = z.enum(['gateway', 'beneficiary_bank', 'business', 'internal'])

const TransactionStep = step({
  status: PaymentState,
  after,
  reason: Reason.optional().meta({
    description: 'Why it is FAILED, such as beneficiary_bank_offline.',
  }),
  description: text(200).optional().meta({ description: 'The reason as a sentence.' }),
  source: Source.optional().meta({ description: 'Whose fault it is.' }),
}).meta({ id: 'TransactionStep' })

const KycStep = step({
  status: CheckState,
  after,
  message: text(200).optional().meta({ description: 'The entry’s message.' }),
  statusCode: z
    .int()
    .min(100)
    .max(599)
    .optional()
    .meta({ description: 'The status of the check itself, in metadata.' }),
  result: z
    .strictObject({
      panStatus: text(120).optional(),
      name: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
      dateOfBirth: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
      aadhaarSeedingStatus: z.enum(['Y', 'N', 'NA']).optional(),
    })
    .nullable()
    .optional()
    .meta({ description: 'What differs from a clean PAN check; null: the source told nothing.' }),
  reason: Reason.optional().meta({ description: 'Why it is failed, as a word.' }),
}).meta({ id: 'KycStep' })

const BankStep = step({
  status: CheckState,
  after,
  message: text(200).optional().meta({ description: 'The answer’s inner message.' }),
  bankResponse: text(120)
    .optional()
    .meta({ description: 'What the bank said, such as Account is blocked.' }),
  accountName: text(120).optional().meta({ description: 'The holder’s name that the bank told.' }),
}).meta({ id: 'BankStep' })

/** What the server sets itself; a scripted value would break the answer's framing. */
const FRAMING =
  /^(?!(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer)$)[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/i

const Respond = z
  .strictObject({
    status: z.int().min(200).max(599),
    body: z
      .json()
      .optional()
      .meta({ description: 'Sent as JSON; without it, the error envelope of the status.' }),
    headers: z
      .record(
        z.string().regex(FRAMING, {
          error: ({ input }) =>
            `${shown(input)} is no header that a scenario can set; the server frames its answers itself`,
        }),
        z
          .string()
          .max(1_024)
          .regex(/^[\t\x20-\x7e]*$/, { error: 'must be one line of printable ASCII' }),
      )
      .optional(),
  })
  .meta({
    id: 'Respond',
    description: 'Answers instead of the operation, which is not carried out.',
  })

const outcome = {
  kyc: lifecycle(KycStep).optional().meta({ description: 'What becomes of a KYC item.' }),
  bank: lifecycle(BankStep).optional().meta({ description: 'What becomes of a bank account.' }),
  transaction: lifecycle(TransactionStep)
    .optional()
    .meta({ description: 'What becomes of a payment.' }),
  respond: Respond.optional(),
  delay: Delay.optional(),
  fault: z
    .enum(['reset', 'hang', 'empty', 'malformed', 'truncate'])
    .optional()
    .meta({ description: 'What goes wrong with the answer.' }),
  at: z.enum(['before', 'after']).optional().meta({
    description:
      'Whether the fault comes before (the default) or after the operation is carried out.',
  }),
}

const Outcome = z
  .strictObject(outcome)
  .meta({ id: 'Outcome', description: 'What happens to a call.' })

const sequence = {
  sequence: z
    .array(z.union([z.literal('pass'), Outcome]))
    .min(1)
    .max(100)
    .optional()
    .meta({
      description:
        'An outcome for each matching call in turn; pass: the rule stays out of that call.',
    }),
  then_on: z.enum(['last', 'loop', 'pass']).optional().meta({
    description:
      'After the sequence: its last outcome again (the default), all over, or the rule stays out.',
  }),
}

const which = {
  key: z
    .string()
    .regex(
      /^(?:operation|event|(?:params|query|headers|body|item|user|account|data)(?:\.[A-Za-z0-9_-]{1,64}){1,8})$/,
      {
        error: ({ input }) =>
          `must be the path of a value of the call, such as body.user_id, not ${shown(input)}`,
      },
    )
    .optional()
    .meta({ description: 'Counts for each value of this path by itself, such as body.user_id.' }),
  skip: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .meta({ description: 'The first N matching calls go by.' }),
  times: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .meta({ description: 'The rule acts N times, then no more.' }),
  chance: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .meta({ description: 'The part of matching calls it acts on: 0.05 is five in a hundred.' }),
}

const Rule = z
  .strictObject({
    name: text(120).optional().meta({
      description: 'What the rule is called in answers and logs; one of its own in the file.',
    }),
    description: text(500).optional(),
    when: When,
    ...which,
    then: Outcome.extend(sequence).optional(),
    ...sequence,
  })
  .meta({ id: 'Rule' })

const EventPattern = z
  .string()
  .regex(/^(?:\*|[a-z]+\.(?:\*|[a-z]+\*?)|[a-z]+\*)$/, {
    error: ({ input }) =>
      `must be an event such as transaction.success, transaction.* or *, not ${shown(input)}`,
  })
  .meta({ examples: ['transaction.*', ...EVENTS] })

const WebhookRule = z
  .strictObject({
    name: text(120).optional(),
    description: text(500).optional(),
    when: z.strictObject(
      {
        event: EventPattern.optional(),
        data: Fields.optional().meta({ description: 'The resource, as its GET shows it.' }),
        user: Fields.optional(),
        account: Fields.optional(),
      },
      {
        error: ({ input }) =>
          input === undefined
            ? 'is missing; say which events, such as when: { event: "transaction.*" }'
            : undefined,
      },
    ),
    ...which,
    then: z.strictObject(
      {
        delay: Delay.optional(),
        copies: z
          .int()
          .min(1)
          .max(100)
          .optional()
          .meta({ description: 'How many times the event is sent in all.' }),
        drop: z.literal(true).optional().meta({ description: 'The event is never sent.' }),
        hold_until: z.enum(EVENTS).optional().meta({
          description: 'Sent only after this later event of the same resource: out of order.',
        }),
        signature: z.enum(['wrong', 'missing']).optional(),
        timestamp: z
          .literal('stale')
          .optional()
          .meta({ description: 'Signed with a time long past.' }),
        body: z
          .literal('truncated')
          .optional()
          .meta({ description: 'The body is cut after it was signed.' }),
      },
      {
        error: ({ input }) =>
          input === undefined
            ? 'is missing; say what happens, such as then: { copies: 2 }'
            : undefined,
      },
    ),
  })
  .meta({ id: 'WebhookRule' })

const Uuid = z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, {
  error: ({ input }) => `must be a UUID, not ${shown(input)}`,
})
const Resource = z
  .string()
  .regex(/^(?:latest|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    error: ({ input }) => `must be latest or a UUID, not ${shown(input)}`,
  })
  .meta({ description: 'latest, or the id of a resource.' })

const wrongAmount = ({ input }: { input?: unknown }) =>
  input === undefined ? undefined : `must be rupees such as "2500.00", not ${shown(input)}`

const Amount = z.union(
  [
    z.string().regex(/^\d{1,10}(\.\d{1,2})?$/, { error: wrongAmount }),
    z.number().min(1, { error: wrongAmount }),
  ],
  { error: wrongAmount },
)

const Simulate = z.strictObject({
  transaction: Resource.optional(),
  kyc: Resource.optional(),
  bank: Resource.optional(),
  status: z.union([PaymentState, CheckState], {
    error: ({ input }) =>
      input === undefined
        ? undefined
        : `must be a status such as SUCCESS or failed, not ${shown(input)}`,
  }),
  reason: Reason.optional(),
})

const Credit = z.strictObject({
  amount: Amount,
  to_user_id: Uuid.optional().meta({
    description: 'Who receives it; else the sandbox picks a user with a verified account.',
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
        description: 'Which resource `trigger` is about: latest (the default) or an id.',
      }),
      simulate: Simulate.optional().meta({ description: 'Moves one resource by hand.' }),
      credit: Credit.optional().meta({ description: 'Makes an incoming payment.' }),
      create_users: z
        .int()
        .min(1)
        .max(1_000)
        .optional()
        .meta({ description: 'Makes so many users.' }),
      use: ScenarioName.optional().meta({ description: 'Makes another scenario the active one.' }),
      rule: Rule.optional().meta({ description: 'Pushes a rule in front of the scenario.' }),
      reset: z
        .literal(true)
        .optional()
        .meta({ description: 'Back to the fixtures and the start scenario.' }),
    },
    {
      error: ({ input }) =>
        input === undefined
          ? 'is missing; say what happens, such as do: { use: provider-outage }'
          : undefined,
    },
  )
  .meta({ id: 'Action' })

const TimelineEntry = z
  .strictObject({
    after: Duration.optional().meta({
      description: 'How long after the scenario was activated; at once without it.',
    }),
    every: Duration.optional().meta({ description: 'And again each time after this long.' }),
    times: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .meta({ description: 'How many times in all; without end without it.' }),
    do: Do,
  })
  .meta({ id: 'TimelineEntry' })

const Count = z.union(
  [
    z.int().min(0),
    z.strictObject({
      exactly: z.int().min(0).optional(),
      atLeast: z.int().min(0).optional(),
      atMost: z.int().min(0).optional(),
    }),
  ],
  {
    error: ({ input }) =>
      input === undefined
        ? undefined
        : `must be a whole number or a mapping of exactly, atLeast and atMost, not ${shown(input)}`,
  },
)

/** A scenario file. */
export const Scenario = z
  .strictObject({
    $schema: z.string().max(500).optional().meta({ description: 'For editors of JSON files.' }),
    title: text(200).optional(),
    description: text(2_000).optional(),
    extends: ScenarioName.optional().meta({
      description: 'Another scenario to lie under this one.',
    }),
    base: z
      .literal('none')
      .optional()
      .meta({ description: 'none: the default scenario does not lie under this one.' }),
    rules: z.array(Rule).max(2_000).optional().meta({ description: 'First match wins.' }),
    webhooks: z
      .array(WebhookRule)
      .max(500)
      .optional()
      .meta({ description: 'What happens to events on their way out; first match wins.' }),
    timeline: z
      .array(TimelineEntry)
      .max(500)
      .optional()
      .meta({ description: 'What happens by itself, from the moment the scenario is activated.' }),
    expect: z
      .strictObject({ requests: z.partialRecord(z.enum(OPERATIONS), Count).optional() })
      .optional()
      .meta({ description: 'What must have happened at the end.' }),
  })
  .meta({ id: 'Scenario', title: 'Scenario file of payout-sandbox' })

export { Rule }
export type ScenarioDefinition = z.infer<typeof Scenario>
export type RuleDefinition = z.infer<typeof Rule>
export type OutcomeDefinition = z.infer<typeof Outcome>
export type WebhookRuleDefinition = z.infer<typeof WebhookRule>
export type WhenDefinition = z.infer<typeof When>
export type ActionDefinition = z.infer<typeof Do>
export type TimelineDefinition = z.infer<typeof TimelineEntry>
export type CountDefinition = z.infer<typeof Count>
export type TransactionStepDefinition = z.infer<typeof TransactionStep>
export type KycStepDefinition = z.infer<typeof KycStep>
export type BankStepDefinition = z.infer<typeof BankStep>
