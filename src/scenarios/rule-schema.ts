import * as z from 'zod'
import { Fields, When } from './condition-schema.ts'
import { Outcome } from './outcome-schema.ts'
import { Delay, text } from './value-schema.ts'
import { shown } from './wording.ts'
import { EVENTS } from './words.ts'

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

/** One rule: which calls, how often, and what happens to them. */
export const Rule = z
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

/** One webhook rule: which events, how often, and what happens to them on their way out. */
export const WebhookRule = z
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

export type RuleDefinition = z.infer<typeof Rule>
export type WebhookRuleDefinition = z.infer<typeof WebhookRule>
