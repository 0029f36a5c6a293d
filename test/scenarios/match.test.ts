import t from 'tap'
import type { Condition } from '../../src/scenarios/condition.ts'
import { operationsOf, passesAll, testsOf } from '../../src/scenarios/match.ts'
import { OPERATOR_NAMES } from '../../src/scenarios/operators.ts'

const matches = (condition: Condition, body: unknown) =>
  passesAll(testsOf('body', condition), { body })

/** Each operator: a condition for `v`, values that it lets through, and values that it does not. */
const TABLE: readonly (readonly [
  condition: Condition,
  yes: readonly unknown[],
  no: readonly unknown[],
])[] = [
  ['a', ['a'], ['A', 'b', '', null, undefined, ['a']]],
  [5, [5, '5', '5.00'], ['05x', 6, true, null, undefined]],
  ['100.00', ['100.00', 100], ['100', '100.0', 100.5]],
  [true, [true], ['true', 1, false, undefined]],
  [null, [null], ['', 0, undefined]],
  [{ eq: 'a' }, ['a'], ['b', undefined]],
  [{ eq: [1, { a: 2 }] }, [[1, { a: 2 }]], [[1], [1, { a: 3 }], undefined]],
  [{ ne: 'a' }, ['b', undefined, null], ['a']],
  [{ ne: 5 }, [6, undefined], [5, '5.0']],
  [{ in: ['a', 5, null] }, ['a', 5, '5.00', null], ['b', 6, undefined]],
  [{ gt: 10 }, [10.01, '11', '10.50'], [10, '10.00', 'x', '', null, undefined, [11]]],
  [{ gte: 10 }, [10, '10.00', 11], [9.99, '9', undefined]],
  [{ lt: 10 }, [9.99, '9', -1], [10, '10', undefined, 'x']],
  [{ lte: '10.00' }, [10, '10', 0], [10.01, undefined]],
  [{ gte: 10, lt: 20 }, [10, 19.99], [9, 20]],
  [{ starts_with: 'HDFC' }, ['HDFC0000001'], ['hdfc', 'XHDFC', 5, undefined]],
  [{ ends_with: '@x.com' }, ['a@x.com'], ['a@x.com.', undefined]],
  [{ contains: 'b' }, ['abc', ['a', 'b']], ['ac', ['abc'], 5, undefined]],
  [{ contains: 5 }, [[4, 5], 'a5'], [[4], undefined]],
  [{ matches: '^[A-Z]{3}P' }, ['XXXPX0001A'], ['XXXCX0001A', 5, undefined]],
  [{ matches: 'b+' }, ['abbc'], ['ac']],
  [{ empty: true }, ['', null, [], {}], ['a', 0, false, [1], undefined]],
  [{ empty: false }, ['a', 0, false, [1]], ['', null, undefined]],
  [{ absent: true }, [undefined], [null, '', 0]],
  [{ absent: false }, [null, '', 0], [undefined]],
  [{ paise: 91 }, [100.91, '100.91', '0.91'], [100.9, '100.910', 91, '91', 'x', -0.91, undefined]],
  [{ paise: 0 }, [100, '100', '100.00'], [100.01, undefined]],
  [{ paise: 50 }, [100.5, '100.5'], [100.05]],
  [
    { inner: { deep: { gt: 1 } } },
    [{ inner: { deep: 2 } }],
    [{ inner: { deep: 1 } }, { inner: 2 }, undefined],
  ],
]

t.test('each operator lets through what it says, and no more', async (t) => {
  for (const [condition, yes, no] of TABLE) {
    for (const v of yes)
      t.ok(
        matches({ v: condition }, { v }),
        `${JSON.stringify(condition)} takes ${JSON.stringify(v)}`,
      )
    for (const v of no)
      t.notOk(
        matches({ v: condition }, { v }),
        `${JSON.stringify(condition)} leaves ${JSON.stringify(v)}`,
      )
  }
})

t.test('the table has every operator', async (t) => {
  const used = new Set(
    TABLE.flatMap(([condition]) =>
      condition && typeof condition === 'object' ? Object.keys(condition) : [],
    ),
  )
  for (const operator of OPERATOR_NAMES) t.ok(used.has(operator), operator)
})

t.test('all conditions of one object must hold', async (t) => {
  const condition = { a: { gte: 5, lt: 10 }, b: { starts_with: 'x' } }
  t.ok(matches(condition, { a: 7, b: 'xy' }))
  t.notOk(matches(condition, { a: 7, b: 'y' }))
  t.notOk(matches(condition, { a: 12, b: 'xy' }))
})

t.test('what a value inherits is not there', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__', 'length']) {
    t.notOk(matches({ [name]: { absent: false } }, {}), name)
  }
  t.notOk(matches({ a: 1 }, null))
  t.notOk(matches({ a: 1 }, 'text'))
  t.notOk(matches({ a: 1 }, undefined))
})

t.test('header names match in any case, and headers, query and params as text', async (t) => {
  const holds = (part: 'headers' | 'query' | 'params', condition: Condition, value: unknown) =>
    passesAll(testsOf(part, condition), { [part]: value })
  t.ok(holds('headers', { 'X-Test': 'lost' }, { 'x-test': 'lost' }))
  t.notOk(holds('headers', { 'X-Test': 'lost' }, { 'x-test': 'Lost' }))
  t.ok(holds('query', { page: 2 }, { page: '2' }))
  t.ok(holds('query', { page: '2' }, { page: 2 }))
  t.ok(holds('query', { page: { gt: 1 } }, { page: '2' }))
  t.ok(holds('query', { type: { in: ['debit', 1] } }, { type: '1' }))
  t.ok(holds('headers', { flag: true }, { flag: 'true' }))
  t.ok(holds('params', { userId: 'u1' }, { userId: 'u1' }))
  for (const part of ['headers', 'query', 'params'] as const) {
    t.ok(holds(part, { flag: { absent: true } }, {}), part)
    t.notOk(holds(part, { flag: { absent: true } }, { flag: 'x' }), part)
    t.ok(holds(part, { flag: { absent: false } }, { flag: '' }), part)
    t.ok(holds(part, { flag: { empty: true } }, { flag: '' }), part)
    t.ok(holds(part, { flag: { empty: false } }, { flag: 'x' }), part)
    t.notOk(holds(part, { flag: { empty: true } }, { flag: 'x' }), part)
  }
})

t.test('a pattern runs in linear time, in the first 512 characters of a text', async (t) => {
  const start = performance.now()
  t.notOk(matches({ v: { matches: '^(a+)+$' } }, { v: `${'a'.repeat(4_000)}b` }))
  t.ok(performance.now() - start < 20_000, 'a native engine would take minutes')
  t.ok(matches({ v: { matches: 'a$' } }, { v: 'a'.repeat(512) }))
  t.notOk(matches({ v: { matches: 'a$' } }, { v: 'a'.repeat(513) }), 'its end is further on')
  t.ok(matches({ v: { matches: 'b' } }, { v: `${'a'.repeat(511)}ba` }))
  t.notOk(matches({ v: { matches: 'b' } }, { v: `${'a'.repeat(512)}b` }))
})

t.test('an operation is one, some, or every one', async (t) => {
  t.strictSame(operationsOf('getUser'), ['getUser'])
  t.equal(operationsOf('*').length, 16)
  t.equal(operationsOf(undefined).length, 16)
  t.strictSame(operationsOf({ in: ['getUser', 'listUsers'] }), ['getUser', 'listUsers'])
  t.strictSame(operationsOf({ starts_with: 'add' }), ['addBankAccount'])
  t.equal(operationsOf({ ne: 'getUser' }).length, 15)
})
