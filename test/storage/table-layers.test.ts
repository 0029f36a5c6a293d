import fc from 'fast-check'
import t from 'tap'
import { differences, type TableSpec } from '../../src/storage/layers.ts'
import { imageOf, Table } from '../../src/storage/table.ts'

type Row = { id: string; at: number; tag: string; word: string }
const SPEC: TableSpec<Row> = {
  id: (row) => row.id,
  at: (row) => row.at,
  indexes: { all: () => 'all', tag: (row) => (row.tag === 'none' ? undefined : row.tag) },
  uniques: { word: (row) => row.word },
}

const id = fc.integer({ min: 0, max: 12 })
const rowOf = (n: number, at: number, tag: string): Row => ({
  id: `r${n}`,
  at,
  tag,
  word: `word ${n} ${tag}`,
})
const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('put' as const),
      n: id,
      at: fc.integer({ min: 0, max: 5 }),
      tag: fc.constantFrom('a', 'b', 'none'),
    }),
    fc.record({ do: fc.constant('remove' as const), n: id }),
    fc.record({ do: fc.constant('undo' as const), n: id }),
    fc.record({ do: fc.constant('freeze' as const) }),
    fc.record({ do: fc.constant('thaw' as const) }),
  ),
  { maxLength: 40 },
)

/** The layers between the base and the one that takes the changes. */
const frozenOf = (table: Table<Row>) => table.view().layers.slice(1, -1)

/** The result of work in slices. */
function allOf<T>(work: Generator<undefined, T>): T {
  let step = work.next()
  while (!step.done) step = work.next()
  return step.value
}

t.test('a table of layers behaves as a plain list', async (t) => {
  fc.assert(
    fc.property(steps, (all) => {
      const base = [rowOf(0, 1, 'a'), rowOf(1, 2, 'b'), rowOf(2, 3, 'none')]
      const table = new Table(SPEC, imageOf(SPEC, base))
      let model = base.map((row, i) => ({ row, at: row.at, seq: i + 1 }))
      let seq = base.length
      for (const step of all) {
        if (step.do === 'put') {
          const row = rowOf(step.n, step.at, step.tag)
          const known = model.find((one) => one.row.id === row.id)
          if (known) known.row = row
          else model.push({ row, at: row.at, seq: ++seq })
          table.put(row)
        } else if (step.do === 'remove') {
          model = model.filter((one) => one.row.id !== `r${step.n}`)
          table.remove(`r${step.n}`)
        } else if (step.do === 'undo') {
          const key = `r${step.n}`
          const before = table.entry(key)
          if (before) table.place(key, table.remove(key))
        } else if (step.do === 'thaw') {
          table.unfreeze(() => false)
          t.same(frozenOf(table), [])
        } else table.image()
        const wanted = model.toSorted((x, y) => y.at - x.at || y.seq - x.seq).map(({ row }) => row)
        const page = (index: string, key: string) =>
          table.page(index, key, 0, 100).map(({ row }) => row)
        t.strictSame(page('all', 'all'), wanted)
        t.strictSame(
          page('tag', 'a'),
          wanted.filter(({ tag }) => tag === 'a'),
        )
        t.equal(table.count('all', 'all'), wanted.length)
        t.equal(table.count('tag', 'b'), wanted.filter(({ tag }) => tag === 'b').length)
        t.strictSame(
          table.page('all', 'all', 1, 2).map(({ row }) => row),
          wanted.slice(1, 3),
        )
        t.same(new Set([...table.rows()].map((row) => row.id)).size, [...table.rows()].length)
        for (const row of wanted) t.equal(table.findUnique('word', row.word)?.id, row.id)
      }
    }),
    { seed: 20261121, numRuns: 60 },
  )
})

t.test('an image keeps what was there, whatever comes after', async (t) => {
  const table = new Table(SPEC, imageOf(SPEC, [rowOf(0, 1, 'a')]))
  table.put(rowOf(1, 2, 'a'))
  const image = table.image()
  const fork = new Table(SPEC, image)
  table.put(rowOf(2, 3, 'a'))
  fork.remove('r0')
  t.same(
    fork.page('all', 'all', 0, 9).map((entry) => entry.id),
    ['r1'],
  )
  t.same(
    table.page('all', 'all', 0, 9).map((entry) => entry.id),
    ['r2', 'r1', 'r0'],
  )
  const back = table.load(image)
  t.equal(table.count('all', 'all'), 2)
  back()
  t.equal(table.count('all', 'all'), 3)
})

t.test('a layer that somebody stands on is not changed by a thaw', async (t) => {
  const table = new Table(SPEC, imageOf(SPEC, [rowOf(0, 1, 'a')]))
  const rows = [1, 2, 3].map((n) => rowOf(n, n, 'a'))
  for (const row of rows) table.put(row)
  const kept = table.image()
  table.put(rowOf(4, 4, 'a'))
  table.image()
  table.remove('r1')
  table.unfreeze((layer) => kept.layers.includes(layer as never))
  t.same(frozenOf(table), kept.layers.slice(1))
  t.same([...new Table(SPEC, kept).rows()], [rowOf(0, 1, 'a'), ...rows])
  t.same([...table.rows()], [rowOf(0, 1, 'a'), ...rows.slice(1), rowOf(4, 4, 'a')])
})

t.test('many images of a table that changes little leave few layers', async (t) => {
  const table = new Table(SPEC, imageOf(SPEC, [rowOf(0, 1, 'a')]))
  const images = []
  for (let i = 1; i <= 600; i++) {
    table.put(rowOf(i, i, i % 3 ? 'a' : 'b'))
    if (i % 10 === 0) table.remove(`r${i - 5}`)
    images.push({ image: table.image(), count: table.count('all', 'all') })
  }
  t.ok(table.image().layers.length <= 12, `${table.image().layers.length}`)
  for (const { image, count } of images) {
    const at = new Table(SPEC, image)
    t.equal(at.count('all', 'all'), count)
    t.equal([...at.rows()].length, count)
  }
})

t.test('the rows that differ between two images are found, whatever their layers', async (t) => {
  const table = new Table(SPEC, imageOf(SPEC, [rowOf(0, 1, 'a'), rowOf(1, 2, 'a')]))
  const before = table.image()
  t.same(allOf(differences(before, table.image())), [])
  table.put(rowOf(2, 3, 'a'))
  table.put(rowOf(0, 1, 'b'))
  table.put(rowOf(1, 2, 'a'))
  table.put(rowOf(3, 3, 'a'))
  table.remove('r3')
  const middle = table.image()
  table.remove('r1')
  const received = [
    { id: 'r0', before: rowOf(0, 1, 'a'), after: rowOf(0, 1, 'b') },
    { id: 'r1', before: rowOf(1, 2, 'a'), after: undefined },
    { id: 'r2', before: undefined, after: rowOf(2, 3, 'a') },
  ]
  t.same(allOf(differences(before, table.image())), received)
  t.same(allOf(differences(middle, table.image())), [received[1]])
})

t.test('changes are listed over any number of the lowest layers', async (t) => {
  const table = new Table(SPEC, imageOf(SPEC, [rowOf(0, 1, 'a')]))
  for (let i = 1; i < 40; i++) table.put(rowOf(i, i, 'a'))
  const image = table.image()
  table.remove('r3')
  table.put(rowOf(3, 50, 'a'))
  table.put(rowOf(4, 4, 'b'))
  const received = [...table.changes(image.layers.length)]
  t.same(received, [{ removed: 'r3' }, { row: rowOf(3, 50, 'a') }, { row: rowOf(4, 4, 'b') }])
})
