import t from 'tap'
import { OPERATIONS as ENDPOINTS } from '../../src/routes/v1/operations.ts'
import { fieldsOf, OPERATIONS_WITH } from '../../src/scenarios/call-fields.ts'
import { OPERATIONS } from '../../src/scenarios/operations-and-events.ts'
import { readScenario } from '../../src/scenarios/read.ts'

const keysOf = (schema: unknown) => Object.keys((schema as { shape?: object })?.shape ?? {})

t.test('scenarios know the fields of each endpoint, and no others', async (t) => {
  t.strictSame(ENDPOINTS.map(({ id }) => id).sort(), [...OPERATIONS].sort())
  for (const { id, body, query, params } of ENDPOINTS) {
    const known = { body: keysOf(body), query: keysOf(query), params: keysOf(params) }
    for (const [part, fields] of Object.entries(known))
      t.strictSame(
        fieldsOf(part as 'body', [id as 'createUser'])!.fields,
        fields,
        `${part} of ${id}`,
      )
    t.equal(OPERATIONS_WITH.body.includes(id as 'createUser'), body !== undefined, `body of ${id}`)
  }
})

t.test('a file may not have many patterns, nor one that is slow to compile', async (t) => {
  const problemsOf = (patterns: readonly string[]) => {
    const rules = patterns.map((matches, i) => ({
      when: { operation: 'createUser', body: { email: { matches } } },
      then: { delay: `${i + 1}ms` },
    }))
    const result = readScenario(JSON.stringify({ rules }), { name: 'x', file: 'x' })
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`)
  }
  const many = Array.from({ length: 21 }, (_, i) => `^a${i}`)
  t.strictSame(problemsOf(many.slice(1)), [])
  t.strictSame(problemsOf(many), [
    'rules[20].when.body.email.matches: more than 20 patterns in one file; use starts_with, ends_with, contains or in, which are cheaper',
  ])
  t.strictSame(problemsOf(['a'.repeat(100)]), [], 'as long as a pattern may be')
  t.match(problemsOf(['a{101}']), [/is too large: RE2 expands it to \d+ instructions/])
  t.match(problemsOf(['a{1000}'.repeat(4)]), [/is too large: its repeats have a sum of 4000/])
})
