import t from 'tap'
import { LargeJson } from '../../src/json/large-json.ts'
import { SandboxError } from '../../src/model/errors.ts'

const PLAN = { tables: { users: (item: unknown) => item, kyc: (item: unknown) => item } }

function read(text: string | Uint8Array, depth = 40): unknown {
  const work = new LargeJson(Buffer.from(text as string), depth).read(PLAN)
  let step = work.next()
  while (!step.done) step = work.next()
  return step.value
}

/** What a text is refused with. */
function messageOf(text: string): string {
  try {
    read(text)
  } catch (error) {
    return (error as Error).message
  }
  return 'taken'
}

function refusal(text: string | Uint8Array): string {
  try {
    read(text)
  } catch (error) {
    if (error instanceof SandboxError) return error.code
    throw error
  }
  return 'taken'
}

const many = (n: number) =>
  Array.from({ length: n }, (_, i) => ({
    id: i,
    name: `a"b\\ ]}[{,${i} é€😀`,
    none: null,
    in: [[1], {}],
  }))

t.test('a large text has the value that JSON.parse gives', async (t) => {
  const documents = [
    { tables: { users: many(3_000), kyc: [] }, other: [1, { a: 'x'.repeat(100_000) }] },
    { tables: { users: [], kyc: many(1), more: many(3) } },
    { tables: { users: 5, kyc: { a: 1 } } },
    { tables: [], users: many(2) },
    { tables: {} },
    {},
    [1, [2]],
    'text',
    null,
  ]
  for (const document of documents)
    for (const space of [0, 3, '\t'])
      t.strictSame(read(JSON.stringify(document, undefined, space)), document)
  t.strictSame(read(`\ufeff ${JSON.stringify({ a: 1 })} \r\n`), { a: 1 })
  t.strictSame(read('{"tables":{"users":[1]},"tables":{"users":[2]}}'), { tables: { users: [2] } })
})

t.test('what is no JSON is refused, wherever the text is cut or bent', async (t) => {
  const good = JSON.stringify({ a: [1, 'x,]'], tables: { users: [{ a: 1 }, 'b', 3], kyc: [[]] } })
  t.equal(refusal(good), 'taken')
  for (let i = 0; i < good.length; i++) t.equal(refusal(good.slice(0, i)), 'malformed_json', `${i}`)
  const bent = [
    '{"tables":{"users":[1,]}}',
    '{"tables":{"users":[,1]}}',
    '{"tables":{"users":[1,,2]}}',
    '{"tables":{"users":[1 2]}}',
    '{"tables":{"users":[1}}',
    '{"tables":{"users":[1]]}',
    '{"tables":{"users":[{]}]}}',
    '{"tables":{"users":[1],}}',
    '{"tables":{,"users":[1]}}',
    '{"tables":{"users" [1]}}',
    '{"tables":{users:[1]}}',
    '{"tables":{"users":[\u000b1]}}',
    '{"tables":{"users":[1]}} x',
    '{"tables":{"users":[1]}}{}',
    '{"tables":{"users":[{"__proto__":1}]}}',
    '{"tables":{"__proto__":[1]}}',
    '{"tables":{"users":[{"constructor":{"prototype":1}}]}}',
    '',
  ]
  for (const text of bent) t.equal(refusal(text), 'malformed_json', text)
  t.equal(refusal(Buffer.from('{"tables":{"users":["\xff"]}}', 'latin1')), 'malformed_json')
})

t.test('what could not be parsed in little time is refused before it is parsed', async (t) => {
  const mib9 = 9 * 1024 * 1024
  const rows = (row: string, n: number) => `{"tables":{"users":[${`${row},`.repeat(n)}${row}]}}`
  t.equal(refusal(rows('1', 1_000_000)), 'payload_too_large')
  t.equal(refusal(rows('1', 900_000)), 'taken')
  t.equal(refusal(`{"tables":{"users":["${'a'.repeat(mib9)}"]}}`), 'payload_too_large')
  t.equal(refusal(`{"x":"${'a'.repeat(mib9)}"}`), 'payload_too_large')
  t.equal(refusal(`{"x":[${'[],'.repeat(300_000)}[]]}`), 'payload_too_large')
  t.equal(refusal(`{${' '.repeat(mib9)}"x":1}`), 'malformed_json')
  const keys = Array.from({ length: 2_000 }, (_, i) => `"k${i}":1`).join()
  t.equal(refusal(`{"tables":{${keys}}}`), 'payload_too_large')
  const object = (n: number, first = 0) =>
    `{${Array.from({ length: n }, (_, i) => `"k${first + i}":[1,2,{"a":1,"b":2}]`)}}`
  t.equal(refusal(rows(object(1_000), 3)), 'taken')
  const tooMany =
    /^The body is too large: .+ has more than 1000 fields in one object\. Send less\.$/
  for (const text of [
    rows(object(1_001), 0),
    rows(`{"in":[[${object(1_001)}]]}`, 0),
    `{"x":${object(1_001)}}`,
    object(1_001),
  ])
    t.match(messageOf(text), tooMany)
  const siblings = Array.from({ length: 20 }, (_, i) => object(1_000, i * 1_000))
  t.equal(refusal(`{"x":[${siblings}]}`), 'taken', 'each object has a count of its own')
  const perRow = /an item of tables\.users has more than 131072 values/
  t.match(messageOf(rows(`[${siblings},${siblings}]`, 0)), perRow)
  const deep = (n: number) => `{"tables":{"users":[${'['.repeat(n)}${']'.repeat(n)}]}}`
  t.equal(refusal(deep(37)), 'taken')
  t.equal(refusal(deep(38)), 'json_too_deep')
  t.equal(refusal('['.repeat(5_000_000)), 'json_too_deep')
})
