import { AmountNumber } from '../model/amount.ts'
import { assumption } from './assumption.ts'
import { changeFields, type SchemaChange, unchanged } from './schema-change.ts'

/** Whether the amount of a payment can be a decimal text. */
export const amountAsText = assumption<SchemaChange>({
  name: 'amount_as_text',
  section: '4.2',
  concerns: ['createTransaction'],
  question: 'Can `amount` in POST /transaction be a text, such as `"1500.50"`?',
  basis: 'guessed',
  why: 'The contract lists a number, and responses contain a text. A service that takes only a number says so on the first call.',
  default: 'accepted',
  readings: {
    accepted: {
      does: 'a decimal text is checked by its text, a number by the value that a JSON parser reads (`1e2` is 100)',
      value: unchanged,
    },
    refused: {
      does: 'an amount that is not a number is 400',
      value: changeFields(['amount'], () => AmountNumber),
    },
  },
})
