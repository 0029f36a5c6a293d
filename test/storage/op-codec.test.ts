import fc from 'fast-check'
import t from 'tap'
import type { Op } from '../../src/storage/op.ts'
import { type FileEntry, OpDecoder, OpEncoder } from '../../src/storage/op-codec.ts'

const SPECS = { payments: { repeated: [['bank', 'name'], ['status']] }, notes: {} }

/** The entries of ops as a file has them. */
function fileOf(ops: readonly Op[], encoder = new OpEncoder(SPECS)): FileEntry[] {
  const entries: FileEntry[] = []
  for (const op of ops) encoder.encode(op, entries)
  return JSON.parse(JSON.stringify(entries))
}

function opsOf(entries: readonly FileEntry[], decoder = new OpDecoder()): Op[] {
  return entries.flatMap((entry) => {
    const op = decoder.decode(entry)
    return op ? [op] : []
  })
}

const text = fc.constantFrom('', 'a', 'b', 'null', '₹', '"', '\u2028')
const value = fc.oneof(text, fc.nat(3), fc.constant(null), fc.constant(undefined))
const fields = fc.uniqueArray(
  fc.constantFrom('id', 'bank', 'name', 'status', 'a "quoted" name', 'a-b', '\u2028'),
)
const row = fields.chain((names) =>
  fc.record(Object.fromEntries(names.map((name) => [name, value]))),
)
const table = fc.constantFrom('payments', 'notes', 'gone')
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.tuple(fc.constant('put' as const), table, row),
  fc.tuple(fc.constant('set' as const), table, text, row),
  fc.tuple(fc.constant('remove' as const), table, text),
  fc.tuple(fc.constant('drop' as const), text),
)

t.test('ops are the same after a file, with the order of their fields', (t) => {
  fc.assert(
    fc.property(fc.array(op, { maxLength: 30 }), (ops) => {
      const [found, wanted] = [opsOf(fileOf(ops)), ops].map((one) => JSON.stringify(one))
      if (found !== wanted) throw new Error(`${found}\n${wanted}`)
    }),
    { seed: 20261123, numRuns: 2_000 },
  )
  t.end()
})

const pay = (id: string, more = {}): Op => [
  'put',
  'payments',
  { id, bank: 'HDFC0000001', name: 'KAVITA', status: 'PENDING', ...more },
]

t.test('a file has names and repeated values once', (t) => {
  t.same(fileOf([pay('p1'), pay('p2'), ['remove', 'payments', 'p1'], ['drop', 'c']]), [
    [
      'columns',
      0,
      'put',
      'payments',
      ['id', 'bank', 'name', 'status'],
      [['bank', 'name'], ['status']],
    ],
    ['values', 0, ['HDFC0000001', 'KAVITA']],
    ['values', 1, ['PENDING']],
    [0, 'p1', 0, 1],
    [0, 'p2', 0, 1],
    ['columns', 1, 'remove', 'payments', [], []],
    [1, 'p1'],
    ['drop', 'c'],
  ])
  t.end()
})

t.test('the first field of a group does not decide alone', (t) => {
  const ops = [pay('p1'), pay('p2', { name: 'ASHA' }), pay('p3')]
  t.same(opsOf(fileOf(ops)), ops)
  t.end()
})

t.test('values are one in memory', (t) => {
  const shared = { bank: { of: 'both' } }
  const rows = opsOf(fileOf([pay('p1', shared), pay('p2', shared)])).map(
    (op) => op[2] as typeof shared,
  )
  t.equal(rows[0]!.bank, rows[1]!.bank)
  t.end()
})

t.test('after a restart everything is defined again', (t) => {
  const encoder = new OpEncoder(SPECS)
  const decoder = new OpDecoder()
  const before = [pay('p1'), pay('p2', { status: 'FAILED' })]
  t.same(opsOf(fileOf(before, encoder), decoder), before)
  encoder.restart()
  const after = [pay('p3', { status: 'SUCCESS' }), pay('p4', { more: 1 })]
  const entries = fileOf(after, encoder)
  t.same(entries[0]!.slice(0, 2), ['columns', 0])
  t.same(opsOf(entries, decoder), after)
  t.same(opsOf(entries), after, 'without what was before it')
  t.end()
})

t.test('more values than an encoder keeps', (t) => {
  const ops = Array.from({ length: 100_010 }, (_, i) =>
    pay(`p${i}`, { bank: `bank ${i}`, status: i % 2 ? 'A' : 'B' }),
  )
  const entries = fileOf(ops)
  t.ok(entries.filter(([first]) => first === 'columns').length > 1, 'it starts again')
  t.same(JSON.stringify(opsOf(entries)), JSON.stringify(ops))
  t.end()
})

t.test('a change of several worlds is one line', (t) => {
  const encoder = new OpEncoder(SPECS)
  const line = (text: string) => new OpDecoder().decodeChange(JSON.parse(text))
  const one = encoder.encodeChange([['a', 3, [pay('p1')]]])
  t.same(line(one), [['a', 3, [pay('p1')]]])
  encoder.restart()
  const both = encoder.encodeChange([
    ['a', 4, [pay('p2')]],
    ['b', 0, [['drop', 'b']]],
  ])
  t.same(line(both), [
    ['a', 4, [pay('p2')]],
    ['b', 0, [['drop', 'b']]],
  ])
  t.end()
})
