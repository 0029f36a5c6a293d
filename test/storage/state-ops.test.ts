import fc from 'fast-check'
import t from 'tap'
import { rowsOf, type TableSpec } from '../../src/storage/layers.ts'
import type { Op } from '../../src/storage/op.ts'
import { OpDecoder, OpEncoder } from '../../src/storage/op-codec.ts'
import { OpReader, opsOf } from '../../src/storage/state-ops.ts'
import type { Snapshot } from '../../src/storage/world-tables.ts'
import { Worlds } from '../../src/storage/worlds.ts'

type Note = { id: string; at: number; text: string }
type Rows = { notes: Note; tags: Note }
const SPEC: TableSpec<Note> = {
  id: (row) => row.id,
  at: (row) => row.at,
  indexes: { all: () => 'all' },
}
const SPECS = { notes: SPEC, tags: SPEC }
const note = (id: string, text = id): Note => ({ id, at: 0, text })

const stateOf = ({ base, images, counter }: Snapshot<Rows>) => [
  base.key,
  counter,
  [...rowsOf(images.notes.layers)],
  [...rowsOf(images.tags.layers)],
]

/** Every world with its snapshots, as text. */
const worldsIn = (worlds: Worlds<Rows>) =>
  JSON.stringify(
    [...worlds.byName.values()].map((world) => [
      world.name,
      world.about,
      stateOf(world.now()),
      [...world.snapshots].map(([name, snapshot]) => [name, stateOf(snapshot)]),
    ]),
  )

/** The bases and the worlds, as text. */
const contentOf = (worlds: Worlds<Rows>) =>
  JSON.stringify([
    [...worlds.bases].map(([key, { images }]) => [key, [...rowsOf(images.notes.layers)]]),
    worldsIn(worlds),
  ])

/** Ops as a file has them. */
const asRead = (ops: Iterable<Op>): Op[] => JSON.parse(JSON.stringify([...ops]))

function worldsOf(ops: readonly Op[], specs: typeof SPECS = SPECS) {
  const worlds = new Worlds<Rows>(specs)
  const reader = new OpReader(worlds)
  for (const op of ops) reader.apply(op)
  reader.finish()
  t.equal(reader.applied, ops.length)
  return worlds
}

const name = fc.constantFrom('a', 'b', 'c')
const word = fc.constantFrom('s', 't')
const n = fc.nat(6)
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('put' as const), name, n }),
    fc.record({ do: fc.constant('put' as const), name, n }),
    fc.record({ do: fc.constant('remove' as const), name, n }),
    fc.record({ do: fc.constant('save' as const), name, word }),
    fc.record({ do: fc.constant('restore' as const), name, word }),
    fc.record({ do: fc.constant('reset' as const), name, word }),
    fc.record({ do: fc.constant('fork' as const), name, from: name, word }),
  ),
  { maxLength: 40 },
)

type Steps = typeof steps extends fc.Arbitrary<infer S> ? S : never

function run(worlds: Worlds<Rows>, all: Steps) {
  const base = (key: string) => worlds.makeBase(key, { notes: [note(`of ${key}`)] })
  const of = (name: string) => worlds.byName.get(name) ?? worlds.add(name, base('s'))
  for (const [i, step] of all.entries()) {
    const world = of(step.name)
    if (step.do === 'put')
      world.change(() => {
        world.random.counter++
        world.put(step.n > 4 ? 'tags' : 'notes', note(`n${step.n}`, `${i}`))
      })
    else if (step.do === 'remove') world.remove('notes', `n${step.n}`)
    else if (step.do === 'save') world.save(step.word)
    else if (step.do === 'restore' && world.snapshots.has(step.word)) world.restore(step.word)
    else if (step.do === 'reset') world.reset(base(step.word))
    else if (step.do === 'fork' && step.name !== step.from) {
      world.drop()
      const source = of(step.from)
      const snapshot = source.snapshots.has(step.word) ? step.word : undefined
      worlds.fork(step.name, source, snapshot, { base: 's' })
    }
  }
}

t.test('a state as ops is the same state again, and the same ops', (t) => {
  fc.assert(
    fc.property(steps, (all) => {
      const worlds = new Worlds<Rows>(SPECS)
      run(worlds, all)
      const ops = asRead(opsOf(worlds))
      const again = worldsOf(ops)
      if (contentOf(again) !== contentOf(worlds)) throw new Error('another state')
      if (JSON.stringify(asRead(opsOf(again))) !== JSON.stringify(ops)) throw new Error('other ops')
    }),
    { seed: 20261122, numRuns: 300 },
  )
  t.end()
})

t.test('the lines of a journal give the same worlds and snapshots, after a document too', (t) => {
  fc.assert(
    fc.property(steps, steps, (before, after) => {
      const worlds = new Worlds<Rows>(SPECS)
      run(worlds, before)
      const again = new Worlds<Rows>(SPECS)
      const reader = new OpReader(again)
      for (const op of asRead(opsOf(worlds))) reader.apply(op)
      reader.finish()
      const [encoder, decoder] = [new OpEncoder(SPECS), new OpDecoder()]
      worlds.unit.write = (changes) => {
        for (const change of changes)
          reader.change(decoder.decodeChange(JSON.parse(encoder.encodeChange(change))))
      }
      run(worlds, after)
      if (worldsIn(again) !== worldsIn(worlds)) throw new Error('another state')
    }),
    { seed: 20261123, numRuns: 300 },
  )
  t.end()
})

t.test('ops do not depend on later changes while the layers are kept frozen', (t) => {
  const worlds = new Worlds<Rows>(SPECS)
  const world = worlds.add('a', worlds.makeBase('s', { notes: [note('old')] }))
  world.put('notes', note('x', 'first'))
  const content = contentOf(worlds)
  const release = worlds.keepFrozen()
  const ops = opsOf(worlds)
  const pinned = world.pin()
  world.put('notes', note('x', 'second'))
  world.save('late')
  worlds.add('late', world.base)
  pinned.release()
  t.equal(contentOf(worldsOf(asRead(ops))), content, 'another reader released its layers')
  release()
  t.end()
})

t.test('rows of a table that is gone are dropped', (t) => {
  const worlds = new Worlds<Rows>(SPECS)
  const world = worlds.add('a', worlds.makeBase('s', { tags: [note('t0')] }))
  world.put('tags', note('t1'))
  world.put('notes', note('n1'))
  world.save('s')
  world.put('tags', note('t2'))
  world.put('notes', note('n2'))
  world.remove('tags', 't1')
  const again = worldsOf(asRead(opsOf(worlds)), { notes: SPEC } as typeof SPECS)
  t.same([...again.byName.get('a')!.tables.notes.rows()], [note('n1'), note('n2')])
  t.end()
})
