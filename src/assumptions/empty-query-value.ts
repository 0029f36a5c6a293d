import { assumption } from './assumption.ts'
import { PAGED_LISTS } from './concerns.ts'

type Query = Readonly<Record<string, unknown>>

/** Returns the same query if it has no empty value: nearly all have none. */
function withoutEmpty(query: Query): Query {
  for (const name in query) {
    if (query[name] === '')
      return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
  }
  return query
}

/** What a query parameter with an empty value means. */
export const emptyQueryValue = assumption<(query: Query) => Query>({
  name: 'empty_query_value',
  section: '4.1, 4.2, 4.3',
  concerns: PAGED_LISTS,
  question: 'What does a query parameter with an empty value mean, such as `?page=`?',
  basis: 'custom',
  why: 'Most services read it as a missing one. A service that does not says so on the first call.',
  default: 'missing',
  readings: {
    missing: { does: 'the same as a request without this parameter', value: withoutEmpty },
    refused: { does: '400 `validation_failed`', value: (query) => query },
  },
})
