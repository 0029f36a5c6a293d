import { pageSize } from '../model/paging.ts'
import {
  assumption,
  changeFields,
  choice,
  ignored,
  PAGED_LISTS,
  type SchemaChange,
  unchanged,
} from './assumption.ts'

export const listOrder = assumption<'newest' | 'oldest'>({
  name: 'list_order',
  section: '4',
  concerns: PAGED_LISTS,
  question: 'Which row of a list comes first?',
  basis: 'guess',
  why: "Your latest payment isn't on page 1.",
  readings: {
    newest_first: { does: 'the newest', value: 'newest' },
    oldest_first: { does: 'the oldest', value: 'oldest' },
  },
})

const LISTS: ReadonlySet<string> = new Set(['listUsers', 'listTransactions'])

export const limitParameter = assumption<SchemaChange>({
  name: 'limit_parameter',
  section: '4.1, 4.2',
  concerns: ['listUsers', 'listTransactions'],
  question: 'Does `limit` apply to GET /users and GET /transaction?',
  basis: 'observed',
  why: 'A loop that stops at a short page loses rows.',
  readings: {
    ignored: {
      does: 'no, 50 and 10 rows, as observed',
      value: changeFields(['limit'], ignored, (operation) => LISTS.has(operation)),
    },
    honoured: { does: 'yes, as in history', value: unchanged },
  },
})

const MAX_ROWS = 10_000

export const largestPage = assumption<SchemaChange>({
  name: 'largest_page',
  section: '8',
  concerns: PAGED_LISTS,
  question: 'How large can a page be?',
  basis: 'convention',
  why: 'A loop that expects more rows loses some.',
  readings: { 100: { does: '100 rows', value: unchanged } },
  form: {
    syntax: 'N',
    range: `N is 1 to ${MAX_ROWS}`,
    does: `N rows, 1 to ${MAX_ROWS}, whatever the \`limit\``,
    example: '5',
    pattern: /^[1-9][0-9]{0,4}$/,
    parse(reading) {
      const max = Number(reading)
      if (max > MAX_ROWS) return undefined
      return changeFields(['limit'], (field) => pageSize(Number(field.parse(undefined)), max))
    },
  },
})

export const pagePastTheEnd = choice({
  name: 'page_past_the_end',
  section: '4.1 to 4.3',
  concerns: PAGED_LISTS,
  question: 'What does a page past the end return?',
  basis: 'guess',
  why: 'A loop that ignores `total_pages` fails.',
  readings: { empty: '200 with an empty list', not_found: '404, except for page 1' },
})
