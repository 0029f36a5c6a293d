import fc from 'fast-check'
import t from 'tap'
import { contentOf, differences, Table, type TableSpec } from '../../src/store/table.ts'

type Row = { id: string; at: number; group: string; mail?: string }

const SPEC: TableSpec<Row> = {
  id: (row) => row.id,
  at: (row) => row.at,
  indexes: {
    all: () => 'all',
    group: (row) => (row.group === '' ? undefined : row.group),
    mail: (row) => row.mail,
  },
}

const row = (id: string, at = 0, group = 'g', mail?: string): Row => ({
  id,
  at,
  group,
  ...(mail === undefined ? {} : { mail }),
})
const ids = (table: Table<Row>, index = 'all', key = 'all', offset = 0, limit = 1_000) =>
  table.page(index, key, offset, limit).map((entry) => entry.id)
const _inOrder = (table: Table<Row>) => table.rows().map((one) => one.id)

t.test('of several rows with a key the one that was inserted first is found', async (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 5, 'g', 'x')]))
  const found = (of = table) => of.first('mail', 'x')?.id
  table.put(row('b', 2, 'g', 'x'))
  t.equal(found(), 'a')
  const fork = new Table(SPEC, table.snapshot())
  table.put(row('c', 3, 'g', 'x'))
  table.delete('a')
  t.equal(found(), 'b')
  table.put(row('b', 2, 'g', 'y'))
  t.same([found(), table.first('mail', 'y')?.id], ['c', 'b'])
  t.equal(found(fork), 'a')
})

t.test('two contents differ by rows, not by their order or where they came from', async (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 1), row('b', 2), row('c', 3)]))
  const before = table.snapshot()
  t.same(differences(before, table.snapshot()), [])
  table.put(row('b', 2))
  table.put(row('c', 3, 'h'))
  table.delete('a')
  table.put(row('d', 4))
  t.same(differences(before, table.snapshot()), [
    { id: 'a', before: row('a', 1), after: undefined },
    { id: 'c', before: row('c', 3), after: row('c', 3, 'h') },
    { id: 'd', before: undefined, after: row('d', 4) },
  ])
})

// ---- against a list that is sorted and searched the plain way

type Kept = { row: Row; seq: number }
type Model = { rows: Map<string, Kept>; seq: number }

const copyOf = (model: Model): Model => ({ rows: new Map(model.rows), seq: model.seq })
const modelRows = (model: Model, compare: (a: Kept, b: Kept) => number, group?: string) =>
  [...model.rows.values()]
    .filter((kept) => group === undefined || kept.row.group === group)
    .sort(compare)
    .map((kept) => kept.row)
const newestFirst = (a: Kept, b: Kept) => b.row.at - a.row.at || b.seq - a.seq

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id,
      at: fc.nat(5),
      group: fc.constantFrom('', 'x', 'y'),
      isUndone: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('delete' as const), id, isUndone: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restore' as const), isUndone: fc.boolean() }),
  },
)

t.test('any series of changes, snapshots and rollbacks reads like a plain list', async () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isReadOften) => {
      const table = new Table(SPEC)
      let model: Model = { rows: new Map(), seq: 0 }
      let snapshot = table.snapshot()
      let snapshotModel = copyOf(model)
      for (const one of steps) {
        if (one.do === 'put') {
          const old = model.rows.get(one.id)
          const mail = one.group === 'x' ? `${one.id}@x` : undefined
          const next = row(one.id, old?.row.at ?? one.at, one.group, mail)
          const undo = table.put(next)
          // A number that was drawn stays drawn; only the order matters.
          const seq = old ? old.seq : ++model.seq
          if (one.isUndone) undo()
          else model.rows.set(one.id, { row: next, seq })
        } else if (one.do === 'delete') {
          const undo = table.delete(one.id)
          if (one.isUndone) undo?.()
          else model.rows.delete(one.id)
        } else if (one.do === 'snapshot') {
          snapshot = table.snapshot()
          snapshotModel = copyOf(model)
        } else {
          const undo = table.restore(snapshot)
          if (one.isUndone) undo()
          else model = copyOf(snapshotModel)
        }
        if (isReadOften) compare(table, model)
      }
      compare(table, model)
      compare(new Table(SPEC, snapshot), snapshotModel)
    }),
    { numRuns: 2_000 },
  )
})

function compare(table: Table<Row>, model: Model) {
  const mails = ['a', 'b', 'c']
  const sorted = [undefined, 'x', 'y'].map((group) => modelRows(model, newestFirst, group))
  const expected = JSON.stringify([
    sorted.map((rows) => [rows.map((one) => one.id), rows.length]),
    modelRows(model, (a, b) => a.seq - b.seq),
    sorted[0]!.slice(1, 3).map((one) => one.id),
    mails.map((name) => (model.rows.get(name)?.row.mail ? name : null)),
  ])
  const found = JSON.stringify([
    [
      [ids(table), table.count('all', 'all')],
      ...['x', 'y'].map((group) => [ids(table, 'group', group), table.count('group', group)]),
    ],
    table.rows(),
    ids(table, 'all', 'all', 1, 2),
    mails.map((name) => table.first('mail', `${name}@x`)?.id ?? null),
  ])
  if (found !== expected) throw new Error(`${found} is not ${expected}`)
}
