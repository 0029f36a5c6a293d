import { pageSize } from '../model/paging.ts'
import {
  assumption,
  changeFields,
  ignored,
  PAGED_LISTS,
  type SchemaChange,
  unchanged,
} from './assumption.ts'

export const listOrder = assumption<'newest' | 'oldest'>({
  name: 'list_order',
  section: '4',
  concerns: PAGED_LISTS,
  question: 'Which row of a list is first?',
  basis: 'guess',
  why: 'A caller that looks for its latest payment on page 1 finds it.',
  default: 'newest_first',
  readings: {
    newest_first: { does: 'the row with the latest `created_at`', value: 'newest' },
    oldest_first: { does: 'the row with the earliest `created_at`', value: 'oldest' },
  },
})

const LISTS: ReadonlySet<string> = new Set(['listUsers', 'listTransactions'])

export const limitParameter = assumption<SchemaChange>({
  name: 'limit_parameter',
  section: '4.1, 4.2',
  concerns: ['listUsers', 'listTransactions'],
  question: 'Does `limit` in the query of GET /users and GET /transaction set the page size?',
  basis: 'observed',
  why: 'Section 4 names `limit` only for the history; elsewhere the observed pages have 50 and 10 rows. A loop that ends at a page shorter than its `limit` loses rows. Read `limit` or `total_pages` of the response.',
  default: 'ignored',
  readings: {
    ignored: {
      does: 'it has no effect: a page of GET /users has 50 rows, one of GET /transaction 10, as observed',
      value: changeFields(['limit'], ignored, (operation) => LISTS.has(operation)),
    },
    honoured: { does: 'it sets the page size, as in history', value: unchanged },
  },
})

const MAX_ROWS = 10_000

export const largestPage = assumption<SchemaChange>({
  name: 'largest_page',
  section: '8',
  concerns: PAGED_LISTS,
  question: 'What is the largest page of a list?',
  basis: 'convention',
  why: 'Many services have this maximum. A caller that reads `limit` or `total_pages` of the response does not depend on it.',
  default: '100',
  readings: { 100: { does: '100 rows; a larger `limit` counts as 100', value: unchanged } },
  form: {
    syntax: 'N',
    range: `N is 1 to ${MAX_ROWS}`,
    does: `N rows, 1 to ${MAX_ROWS}; a larger \`limit\` counts as N`,
    example: '5',
    pattern: /^[1-9][0-9]{0,4}$/,
    parse(reading) {
      const max = Number(reading)
      if (max > MAX_ROWS) return undefined
      return changeFields(['limit'], (field) => pageSize(Number(field.parse(undefined)), max))
    },
  },
})

export const pagePastTheEnd = assumption<boolean>({
  name: 'page_past_the_end',
  section: '4.1 to 4.3',
  concerns: PAGED_LISTS,
  question: 'What is the response for a page after the last one?',
  basis: 'guess',
  why: 'The contract shows no error for a list. A caller that stops at `total_pages` is right in both cases.',
  default: 'empty',
  readings: {
    empty: { does: '200 with an empty list', value: true },
    not_found: { does: '404 `not_found`; page 1 always exists', value: false },
  },
})
