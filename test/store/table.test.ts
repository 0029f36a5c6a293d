import fc from 'fast-check'
import t from 'tap'
import {
  contentOf,
  differences,
  memoizedText,
  Table,
  type TableSpec,
} from '../../src/store/table.ts'

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
const ids = (table: Table<Row>, index = 'all', key = 'all') =>
  table.page(index, key, 0, 1_000).map((entry) => entry.id)

t.test('a row is found, replaced in its place and removed', async (t) => {
  const table = new Table(SPEC)
  t.equal(table.put(row('a', 1, 'g', 'a@x')), table.entry('a'), 'what is there now is handed back')
  table.put(row('b', 1))
  t.equal(table.put(row('a', 1, 'h', 'a2@x')).row.group, 'h')
  t.same(ids(table), ['b', 'a'], 'a replaced row keeps its place')
  t.same([ids(table, 'group', 'g'), ids(table, 'group', 'h')], [['b'], ['a']])
  t.equal(table.first('mail', 'a@x'), undefined)
  t.equal(table.first('mail', 'a2@x')?.id, 'a')
  t.equal(table.place('a', undefined)?.id, 'a')
  t.equal(table.place('a', undefined), undefined)
  t.same([table.get('a'), table.count('all', 'all'), table.count('group', 'h')], [undefined, 1, 0])
  t.equal(table.first('mail', 'a2@x'), undefined)
  t.equal(table.newest('group', 'h'), undefined)
})

t.test('a page is newest first, ties by insertion, and costs nothing to be empty', async (t) => {
  const table = new Table(SPEC)
  for (let i = 0; i < 25; i++) table.put(row(`r${i}`, i < 20 ? i : 19))
  const pages: readonly (readonly [number, number, string[]])[] = [
    [0, 3, ['r24', 'r23', 'r22']],
    [4, 3, ['r20', 'r19', 'r18']],
    [23, 10, ['r1', 'r0']],
    [25, 10, []],
    [0, 0, []],
  ]
  for (const [offset, limit, expected] of pages) {
    const found = table.page('all', 'all', offset, limit).map((entry) => entry.id)
    t.same(found, expected, `offset ${offset}, limit ${limit}`)
  }
  t.equal(table.newest('all', 'all')?.id, 'r24')
  t.same(table.page('all', 'none', 0, 5), [])
})

t.test('rows older than those below them are listed by their time', async (t) => {
  const base = contentOf(SPEC, [row('a', 100), row('b', 200), row('c', 300)])
  const table = new Table(SPEC, base)
  table.put(row('d', 150))
  table.put(row('e', 50))
  table.put(row('f', 300))
  t.same(ids(table), ['f', 'c', 'b', 'd', 'a', 'e'])
  t.same(
    table.page('all', 'all', 2, 2).map((entry) => entry.id),
    ['b', 'd'],
    'a page in the middle',
  )
})

t.test('a row that comes late to a key takes its place there', async (t) => {
  const table = new Table(SPEC)
  table.put(row('a', 200, 'x'))
  table.put(row('b', 100, 'x'))
  table.put(row('c', 150, 'k'))
  table.put(row('a', 200, 'k'))
  table.put(row('d', 160, 'k'))
  t.same(ids(table, 'group', 'k'), ['a', 'd', 'c'])
})

t.test('a removed row that is made anew comes where it belongs now', async (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 1), row('b', 2)]))
  table.place('a', undefined)
  table.put(row('a', 3))
  t.same(ids(table), ['a', 'b'])
  t.equal(table.count('all', 'all'), 2)
  t.same(
    Array.from(table.rows(), (one) => one.id),
    ['b', 'a'],
  )
})

t.test('a key that moved on is not taken from its new owner', async (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 1, 'g', 'x'), row('b', 2, 'g', 'y')]))
  table.put(row('a', 1, 'g', 'y'))
  table.put(row('b', 2, 'g', 'x'))
  t.same([table.first('mail', 'y')?.id, table.first('mail', 'x')?.id], ['a', 'b'])
})

t.test('of several rows with a unique key the first one is found', async (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 1, 'g', 'x')]))
  const found = (of = table) => of.first('mail', 'x')?.id
  table.put(row('b', 2, 'g', 'x'))
  t.equal(found(), 'a')
  const fork = new Table(SPEC, table.image())
  table.put(row('c', 3, 'g', 'x'))
  table.place('a', undefined)
  t.equal(found(), 'b')
  table.place('b', undefined)
  t.equal(found(), 'c')
  table.place('c', undefined)
  t.equal(found(), undefined)
  fork.place('b', undefined)
  t.equal(found(fork), 'a')
  fork.place('a', undefined)
  t.equal(found(fork), undefined)
})

t.test('an image never changes, a fork shares it, a load goes back to it', async (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 1, 'g', 'm')]))
  table.put(row('b', 2))
  table.place('a', undefined)
  const image = table.image()
  const fork = new Table(SPEC, image)
  table.put(row('c', 3))
  fork.put(row('d', 4, 'g', 'm'))
  t.same(
    [ids(table), ids(fork)],
    [
      ['c', 'b'],
      ['d', 'b'],
    ],
  )
  t.equal(table.first('mail', 'm'), undefined)
  const wayBack = table.load(image)
  t.same(ids(table), ['b'])
  wayBack()
  t.same(ids(table), ['c', 'b'])
  t.same(
    [...fork.rows()].map((one) => one.id),
    ['b', 'd'],
  )
})

t.test('rows and changes keep the order they came in, undone removals included', async (t) => {
  const table = new Table(SPEC)
  for (const id of ['a', 'b', 'c']) table.put(row(id, 1))
  const removed = table.place('a', undefined)
  table.place('a', removed)
  t.same(
    [...table.rows()].map((one) => one.id),
    ['a', 'b', 'c'],
  )
  t.same(ids(table), ['c', 'b', 'a'])
})

t.test('two contents differ by rows, not by their order or where they came from', (t) => {
  const table = new Table(SPEC, contentOf(SPEC, [row('a', 1), row('b', 2), row('c', 3)]))
  const before = table.image()
  t.same(differences(before, table.image()), [])
  table.put(row('b', 2))
  table.put(row('c', 3, 'h'))
  table.place('a', undefined)
  table.put(row('d', 4))
  t.same(differences(before, table.image()), [
    { id: 'a', before: row('a', 1), after: undefined },
    { id: 'c', before: row('c', 3), after: row('c', 3, 'h') },
    { id: 'd', before: undefined, after: row('d', 4) },
  ])
  t.end()
})

t.test('a text is kept from its second use on, and gone with its row', async (t) => {
  const table = new Table(SPEC)
  let rendered = 0
  const text = memoizedText<Row>('text', (one) => `${one.group}${++rendered}`)
  table.put(row('a'))
  const read = () => text(table.entry('a')!)
  t.same([read(), read(), read(), read()], ['g1', 'g2', 'g2', 'g2'])
  table.put(row('a', 0, 'h'))
  t.equal(read(), 'h3')
})

// ---- against a list that is sorted and searched the plain way

type Kept = { row: Row; at: number; seq: number }
type Model = { rows: Map<string, Kept>; seq: number }

const copyOf = (model: Model): Model => ({ rows: new Map(model.rows), seq: model.seq })
function modelPut(model: Model, next: Row) {
  const old = model.rows.get(next.id)
  model.rows.set(next.id, {
    row: next,
    at: old ? old.at : next.at,
    seq: old ? old.seq : ++model.seq,
  })
}
const modelIds = (model: Model, group?: string) =>
  [...model.rows.values()]
    .filter((kept) => group === undefined || kept.row.group === group)
    .sort((a, b) => b.at - a.at || b.seq - a.seq)
    .map((kept) => kept.row.id)

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(
      fc.constant('put' as const),
      id,
      fc.nat(5),
      fc.constantFrom('', 'x', 'y'),
      fc.boolean(),
    ),
  },
  { weight: 3, arbitrary: fc.tuple(fc.constant('remove' as const), id, fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('image' as const)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('load' as const), fc.boolean()) },
)

t.test('any series of changes, images, loads and undos reads like a plain list', async () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isReadOften) => {
      const table = new Table(SPEC)
      let model: Model = { rows: new Map(), seq: 0 }
      let image = table.image()
      let imageModel = copyOf(model)
      for (const one of steps) {
        if (one[0] === 'put') {
          const [, name, at, group, undone] = one
          const mail = group === 'x' ? `${name}@x` : undefined
          const next = row(name, model.rows.get(name)?.at ?? at, group, mail)
          const before = table.entry(next.id)
          table.put(next)
          if (undone) {
            table.place(name, before)
            // A number that was drawn stays drawn; only the order matters.
            if (!before) model.seq++
          } else modelPut(model, next)
        } else if (one[0] === 'remove') {
          const before = table.place(one[1], undefined)
          if (one[2]) {
            if (before) table.place(one[1], before)
          } else model.rows.delete(one[1])
        } else if (one[0] === 'image') {
          image = table.image()
          imageModel = copyOf(model)
        } else {
          const wayBack = table.load(image)
          if (one[1]) wayBack()
          else model = copyOf(imageModel)
        }
        if (isReadOften) same(table, model)
      }
      same(table, model)
      // The content that was shared is as it was.
      same(new Table(SPEC, image), imageModel)
    }),
    { numRuns: 2_000 },
  )
})

function same(table: Table<Row>, model: Model) {
  const read = (of: string | undefined) => [
    of === undefined ? ids(table) : ids(table, 'group', of),
    of === undefined ? table.count('all', 'all') : table.count('group', of),
  ]
  const rows = [...model.rows.values()].sort((a, b) => a.seq - b.seq).map((kept) => kept.row)
  const expected = JSON.stringify([
    ...[undefined, 'x', 'y'].map((group) => [
      modelIds(model, group),
      modelIds(model, group).length,
    ]),
    rows,
    modelIds(model).slice(1, 3),
    ['a', 'b', 'c'].map((name) => (model.rows.get(name)?.row.mail ? name : null)),
  ])
  const found = JSON.stringify([
    ...[undefined, 'x', 'y'].map(read),
    [...table.rows()],
    table.page('all', 'all', 1, 2).map((entry) => entry.id),
    ['a', 'b', 'c'].map((name) => table.first('mail', `${name}@x`)?.id ?? null),
  ])
  if (found !== expected) throw new Error(`${found} is not ${expected}`)
}
