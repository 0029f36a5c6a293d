import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { nodeDisk } from '../../src/store/disk.ts'
import { Table } from '../../src/store/table.ts'
import type { Snapshot, Specs } from '../../src/store/worlds.ts'
import { contentBy, crashCopy, openPlain, UNSYNCED } from './plain-store.ts'

type Note = { id: string; at: number; text: string }
type Rows = { notes: Note; tags: Note }
const SPEC: Specs<Rows>['notes'] = {
  id: (row) => row.id,
  at: (row) => row.at,
  indexes: { all: () => 'all' },
}
const SPECS: Specs<Rows> = { notes: SPEC, tags: SPEC }
const note = (id: string, text = id, at = 0) => ({ id, at, text })

let fails = false
const disk: typeof nodeDisk = {
  ...UNSYNCED,
  renameSync(from, to) {
    if (fails && String(to).endsWith('db.json')) throw new Error('not now')
    nodeDisk.renameSync(from, to)
  },
}
const start = async (file: string | undefined) =>
  (await openPlain<Rows>(SPECS, file, { disk })).store
type Opened = Awaited<ReturnType<typeof start>>

const rowsOf = ({ base, images, counter }: Snapshot<Rows>) => [
  base,
  counter,
  [...new Table(SPEC, images.notes).rows()],
  new Table(SPEC, images.notes).page('all', 'all', 0, 999).map((entry) => entry.row),
  [...new Table(SPEC, images.tags).rows()],
]

const contentOf = (store: Opened) => contentBy(store, rowsOf)

const name = fc.constantFrom('a', 'b', 'c')
const word = fc.constantFrom('s', 't')
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('put' as const), name, n: fc.nat(9) }),
    fc.record({ do: fc.constant('put' as const), name, n: fc.nat(9) }),
    fc.record({ do: fc.constant('remove' as const), name, n: fc.nat(9) }),
    fc.record({ do: fc.constant('save' as const), name, word }),
    fc.record({ do: fc.constant('restore' as const), name, word }),
    fc.record({ do: fc.constant('forget' as const), name, word }),
    fc.record({ do: fc.constant('fork' as const), name, from: name, word, past: fc.boolean() }),
    fc.record({ do: fc.constant('reset' as const), name, word }),
    fc.record({ do: fc.constant('refuse' as const), name, word }),
    fc.record({ do: fc.constant('compact' as const) }),
    fc.record({ do: fc.constant('turn' as const) }),
    fc.record({ do: fc.constant('fail' as const) }),
  ),
  { minLength: 10, maxLength: 60 },
)

t.test('forks, snapshots and restores survive a kill at any moment, and a stop', async (t) => {
  const dir = t.testdir({})
  let run = 0
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const live = `${dir}/${++run}`
      let store = await start(`${live}/db.json`)
      const base = (key: string) => store.makeBase(key, { notes: [note(`of ${key}`)] })
      const add = (name: string) => {
        store.worlds.get(name) ?? store.addWorld(name, base('s'), { base: 's' })
        return store.worlds.get(name)!
      }
      let n = 0
      for (const step of all) {
        n++
        if (step.do === 'compact') void store.compact()
        else if (step.do === 'turn') await new Promise(setImmediate)
        else if (step.do === 'fail') {
          // The journal of the next document is begun, the document is not put in place.
          await store.compact()
          fails = true
          await store.compact()
          fails = false
        } else if (step.do === 'put') {
          const world = add(step.name)
          const put = () =>
            world.change(() => {
              world.random.counter++
              world.put('notes', note(`n${step.n}`, `${n}`, step.n % 3))
              if (step.n > 6) world.put('tags', note(`t${n}`))
            })
          // Some wait for the end of the turn to be written.
          if (n % 3) put()
          else store.batch(put)
        } else if (step.do === 'remove') add(step.name).remove('notes', `n${step.n}`)
        else if (step.do === 'save') add(step.name).save(step.word)
        else if (step.do === 'forget') add(step.name).forget(step.word)
        else if (step.do === 'restore') {
          const world = add(step.name)
          if (world.snapshots.has(step.word)) world.restore(step.word)
        } else if (step.do === 'reset') add(step.name).reset(base(step.word))
        else if (step.do === 'fork') {
          const source = add(step.from)
          if (step.name === step.from) continue
          store.worlds.get(step.name)?.drop()
          const past = step.past && source.snapshots.has(step.word)
          store.forkWorld(step.name, source, past ? step.word : undefined, { base: 's' })
        } else {
          const before = contentOf(store)
          const world = add(step.name)
          const known = contentOf(store)
          t.throws(() =>
            world.change(() => {
              world.put('notes', note('n1', 'refused'))
              world.save(step.word)
              world.put('notes', note('n2', 'refused'))
              world.reset(base('t'))
              world.restore(step.word)
              world.forget(step.word)
              store.forkWorld('z', world, undefined, {})
              world.drop()
              throw new Error('refused')
            }),
          )
          if (contentOf(store) !== known) throw new Error(`a refusal left a trace: ${before}`)
        }
      }
      await new Promise((resolve) => store.onDurable(resolve))
      const content = contentOf(store)
      const killed = await start(crashCopy(live, `${live}-killed`))
      if (contentOf(killed) !== content) throw new Error('other after a kill')
      await killed.compact()
      const twice = await start(crashCopy(`${live}-killed`, `${live}-twice`))
      if (contentOf(twice) !== content) throw new Error('other after two kills')
      await twice.close()
      await killed.close()
      await store.close()
      store = await start(`${live}/db.json`)
      if (contentOf(store) !== content) throw new Error('other after a stop')
      await store.close()
      const again = await start(`${live}-killed/db.json`)
      if (contentOf(again) !== content) throw new Error('other after two stops')
      await again.close()
    }),
    { seed: 20261121, numRuns: 60 },
  )
})

t.test('rows that worlds and snapshots share are in the document once', async (t) => {
  const dir = t.testdir({})
  const store = await start(`${dir}/db.json`)
  const world = store.addWorld('a', store.makeBase('base', { notes: [note('old')] }))
  world.change(() => {
    for (let i = 0; i < 2_000; i++) world.put('notes', note(`n${i}`, 'shared by all'))
  })
  for (let i = 0; i < 20; i++) store.forkWorld(`fork-${i}`, world, undefined, {})
  for (let i = 0; i < 5; i++) {
    world.put('notes', note('n0', `before snapshot ${i}`))
    world.save(`snapshot-${i}`)
  }
  const content = contentOf(store)
  await store.compact()
  const text = readFileSync(`${dir}/db.json`, 'utf8')
  t.equal(text.split('shared by all').length - 1, 2_000 * 6 - 5, 'five snapshots differ in a row')
  await store.close()
  const again = await start(`${dir}/db.json`)
  t.equal(contentOf(again), content)
  t.equal(
    again.worlds.get('fork-3')!.now().images.notes,
    again.worlds.get('fork-4')!.now().images.notes,
    'and in memory too',
  )
  await again.close()
})

t.test('a world that was dropped takes no change, and its base is let go', async (t) => {
  const store = await start(undefined)
  const world = store.addWorld('a', store.makeBase('own', { notes: [note('x')] }))
  store.addWorld('b', store.makeBase('other', {}))
  world.save('kept')
  world.reset(store.makeBase('later', {}))
  store.addWorld('c', store.bases.get('later')!, { base: 'other' })
  t.same([...store.bases.keys()], ['own', 'other', 'later'])
  store.worlds.get('a')!.drop()
  t.same([...store.bases.keys()], ['other', 'later'])
  t.throws(() => world.put('notes', note('late')), { message: 'The client a was deleted.' })
  t.throws(() => world.save('late'), { message: 'The client a was deleted.' })
  store.worlds.get('c')!.drop()
  t.same([...store.bases.keys()], ['other'])
  await store.close()
})
