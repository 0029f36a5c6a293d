import * as z from 'zod'
import { DECIMAL, MIN_PAISE, paiseOf } from './money.ts'

const MESSAGE = 'must be 1.00 to 9999999999.99 with at most two decimals; amounts are never rounded'

const isPayable = (amount: number | string) => (paiseOf(amount) ?? 0) >= MIN_PAISE
// These bounds and the pattern are only for the OpenAPI document; `isPayable` checks them. It has no `multipleOf: 0.01`:
// validators divide in binary, so they reject 1.11.
const NUMBER = z.number().meta({ minimum: 1, maximum: 9_999_999_999.99 })
const TEXT = z.string().meta({ pattern: DECIMAL.source.replace('^', String.raw`^(?!0+(?:\.|$))`) })

/** An amount in rupees as a client may send it if a text is refused. */
export const AmountNumber = NUMBER.refine(isPayable, { error: MESSAGE })

/** An amount in rupees as a client sends it: a number, or a decimal text. */
export const AmountInput = z
  .union([NUMBER, TEXT], {
    error: (issue) =>
      issue.input === undefined ? undefined : 'must be a number or a decimal text',
  })
  .refine(isPayable, { error: MESSAGE })
  .meta({ description: 'Rupees, 1.00 to 9999999999.99, at most two decimals.', examples: [1500.5] })

/** An amount in a response: decimal text with two places. */
export const Amount = z.string().regex(/^\d{1,10}\.\d{2}$/)
