import { assumption } from './assumption.ts'
import { changeFields, ignored, type SchemaChange, unchanged } from './schema-change.ts'

const LISTS: ReadonlySet<string> = new Set(['listUsers', 'listTransactions'])

/** Whether the caller chooses the page size of the lists for which the contract shows no such parameter. */
export const limitParameter = assumption<SchemaChange>({
  name: 'limit_parameter',
  section: '4.1, 4.2',
  concerns: ['listUsers', 'listTransactions'],
  question: 'Does `limit` in the query of GET /users and GET /transaction set the page size?',
  basis: 'guessed',
  why: 'The contract lists `limit` for history, and no other list. A caller that reads `limit` or `total_pages` of the response is right in both cases.',
  default: 'honoured',
  readings: {
    honoured: { does: 'it sets the page size, as in history', value: unchanged },
    ignored: {
      does: 'it has no effect: a page of GET /users has 50 rows, one of GET /transaction 10, as observed',
      value: changeFields(['limit'], ignored, (operation) => LISTS.has(operation)),
    },
  },
})
