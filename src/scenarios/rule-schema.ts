import * as z from 'zod'
import { Fields, When } from './condition-schema.ts'
import { Outcome } from './outcome-schema.ts'
import { Delay, text } from './value-schema.ts'
import { quoteValue } from './wording.ts'
import { EVENTS } from './words.ts'

const sequence = {
  sequence: z
    .array(z.union([z.literal('pass'), Outcome]))
    .min(1)
    .max(100)
    .optional()
    .meta({
      description:
        'One outcome for each matching call, in order. pass: the rule ignores that call.',
    }),
  then_on: z.enum(['last', 'loop', 'pass']).optional().meta({
    description:
      'What the rule does after the last outcome: last = repeat it (default), loop = start again, pass = ignore further calls.',
  }),
}

const which = {
  key: z
    .string()
    .regex(
      /^(?:operation|event|(?:params|query|headers|body|item|user|account|data)(?:\.[A-Za-z0-9_-]{1,64}){1,8})$/,
      {
        error: ({ input }) =>
          `must be the path of a value of the call, such as body.user_id, not ${quoteValue(input)}`,
      },
    )
    .optional()
    .meta({ description: 'Counts separately for each value at this path, such as body.user_id.' }),
  skip: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .meta({ description: 'Ignore the first N matching calls.' }),
  times: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .meta({ description: 'The rule acts at most N times.' }),
  chance: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .meta({ description: 'The probability that the rule acts on a matching call: 0.05 is 5 %.' }),
}

/** One rule: which calls it matches, how often it acts, and what happens to those calls. */
export const Rule = z
  .strictObject({
    name: text(120).optional().meta({
      description: 'The name of the rule in responses and logs; unique in the file.',
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
      `must be an event such as transaction.success, transaction.* or *, not ${quoteValue(input)}`,
  })
  .meta({ examples: ['transaction.*', ...EVENTS] })

/** One webhook rule: which events it matches, how often it acts, and how those events are sent. */
export const WebhookRule = z
  .strictObject({
    name: text(120).optional(),
    description: text(500).optional(),
    when: z.strictObject(
      {
        event: EventPattern.optional(),
        data: Fields.optional().meta({
          description: 'The resource, as its GET endpoint returns it.',
        }),
        user: Fields.optional(),
        account: Fields.optional(),
      },
      {
        error: ({ input }) =>
          input === undefined
            ? 'is missing; specify the events, such as when: { event: "transaction.*" }'
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
          .meta({ description: 'How often the event is sent in total.' }),
        drop: z.literal(true).optional().meta({ description: 'The event is never sent.' }),
        hold_until: z.enum(EVENTS).optional().meta({
          description:
            'Sends this event only after the named event of the same resource, which normally comes later.',
        }),
        signature: z.enum(['wrong', 'missing']).optional(),
        timestamp: z
          .literal('stale')
          .optional()
          .meta({ description: 'The event is signed with a timestamp far in the past.' }),
        body: z
          .literal('truncated')
          .optional()
          .meta({ description: 'The body is truncated after it is signed.' }),
      },
      {
        error: ({ input }) =>
          input === undefined
            ? 'is missing; specify the outcome, such as then: { copies: 2 }'
            : undefined,
      },
    ),
  })
  .meta({ id: 'WebhookRule' })

export type RuleDefinition = z.infer<typeof Rule>
export type WebhookRuleDefinition = z.infer<typeof WebhookRule>
