import { pageSize } from '../model/paging.ts'
import { assumption } from './assumption.ts'
import { PAGED_LISTS } from './concerns.ts'
import { changeFields, type SchemaChange, unchanged } from './schema-change.ts'

const MAX_ROWS = 10_000

/** The maximum page size. */
export const largestPage = assumption<SchemaChange>({
  name: 'largest_page',
  section: '8',
  concerns: PAGED_LISTS,
  question: 'What is the largest page of a list?',
  basis: 'custom',
  why: 'Many services have this maximum. A caller that reads `limit` or `total_pages` of the response does not depend on it.',
  default: '100',
  readings: { 100: { does: '100 rows; a larger `limit` counts as 100', value: unchanged } },
  form: {
    syntax: 'N',
    range: `N is 1 to ${MAX_ROWS}`,
    does: `N rows, 1 to ${MAX_ROWS}; a larger \`limit\` counts as N`,
    example: '20',
    pattern: /^[1-9][0-9]{0,4}$/,
    parse(reading) {
      const max = Number(reading)
      if (max > MAX_ROWS) return undefined
      return changeFields(['limit'], (field) => pageSize(Number(field.parse(undefined)), max))
    },
  },
})
