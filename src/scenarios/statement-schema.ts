import * as z from 'zod'
import { paiseOf } from '../model/payment.ts'
import { quoteValue } from '../model/words.ts'
import { Condition, ConditionCheck } from './condition-schema.ts'
import { limits } from './rule-schema.ts'
import { crossCheck, type Mapping, mustBe, suchAs, text } from './schema-parts.ts'

const wrongDifference = {
  error: mustBe('a difference in rupees, in quotes, such as "+1.00" or "-0.50"'),
}

const StatementWhen = z
  .strictObject(
    {
      amount: Condition.optional().describe('In rupees.'),
      reference: Condition.optional().describe('The client_transaction_id of the payment.'),
      transaction_id: Condition.optional(),
      direction: Condition.optional().describe('debit, or credit for a payment that came back.'),
      from: Condition.optional().describe('The from_user_id of the payment.'),
      to: Condition.optional().describe('The to_user_id of the payment.'),
    },
    { error: suchAs('when: { amount: 500 }', 'specify the rows') },
  )
  .check(
    crossCheck((when: Mapping, { report, isEmpty }) => {
      if (isEmpty)
        return report([], 'an empty `when`; to match every row, write amount: { absent: false }')
      if (Object.keys(when).length === 0) return
      const { direction } = when
      if (typeof direction === 'string' && !['debit', 'credit'].includes(direction))
        report(['direction'], `must be debit or credit, not ${quoteValue(direction)}`)
      // The messages name the part `data`, which is not in the file.
      new ConditionCheck((path, message, of) => report(path.slice(1), message, of)).checkParts(
        { data: when },
        ['data'],
      )
    }),
  )

const StatementOutcome = z
  .strictObject(
    {
      omit: z.literal(true).optional().describe('The row is missing.'),
      repeat: z.int().min(2).max(10).optional().describe('How often the row comes in total.'),
      amount: z
        .string(wrongDifference)
        .regex(/^[+-]/, wrongDifference)
        .refine((value) => (paiseOf(value.slice(1)) ?? 0) > 0, wrongDifference)
        .optional()
        .describe('The difference of the amount in rupees, such as "+1.00".'),
      day: z.literal('next').optional().describe('The row comes a day later.'),
      utr: z.literal('missing').optional().describe('The row has no UTR.'),
    },
    { error: suchAs('then: { omit: true }', 'specify the outcome') },
  )
  .check(
    crossCheck((then, { report, isValid }) => {
      if (!isValid() || Object.keys(then).length === 1) return
      report([], 'must have exactly one of omit, repeat, amount, day and utr')
    }),
  )

/** One break in the statement: which rows it matches, how often it acts, and what the statement says instead. */
export const StatementRule = z
  .strictObject({
    name: text(120).optional(),
    description: text(500).optional(),
    when: StatementWhen,
    skip: limits.skip,
    times: limits.times,
    then: StatementOutcome,
  })
  .meta({ id: 'StatementRule' })
export type StatementRuleDefinition = z.infer<typeof StatementRule>
