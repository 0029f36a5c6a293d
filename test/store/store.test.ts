import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Disk } from '../../src/store/disk.ts'
import { EditedBesideJournal } from '../../src/store/errors.ts'
import type { Specs } from '../../src/store/worlds.ts'
import { crashCopy, openPlain, type PlainOptions, UNSYNCED } from './plain-store.ts'

type Rows = { notes: { id: string; at: number; text: string } }

const SPECS: Specs<Rows> = {
  notes: { id: (row) => row.id, at: (row) => row.at, indexes: { all: () => 'all' } },
}
const note = (id: string, text = id, at = 0) => ({ id, at, text })

async function open(t: Test, file: string, more: PlainOptions = {}) {
  const { store, lines } = await openPlain(SPECS, file, more)
  t.teardown(() => store.close())
  const world = () => store.worlds.get('w') ?? store.addWorld('w', store.makeBase('base', {}))
  const put = (...row: Parameters<typeof note>) => void world().put('notes', note(...row))
  const ids = () => [...world().tables.notes.rows()].map(({ id }) => id)
  return { store, world, put, ids, lines }
}

t.test('the document is plain JSON, one row a line, in a stable order', async (t) => {
  const dir = t.testdir({})
  const file = `${dir}/db.json`
  const { store, put } = await open(t, file)
  for (const id of ['a', 'b', 'c']) put(id)
  await store.compact()
  const before = readFileSync(file, 'utf8').split('\n')
  t.match(JSON.parse(before.join('\n')), {
    format: 6,
    clients: { w: { tables: { notes: [{}, {}, {}] } } },
  })
  put('b', 'changed')
  await store.close()
  const after = readFileSync(file, 'utf8').split('\n')
  t.equal(after.length, before.length)
  t.same(
    after.filter((line) => !before.includes(line)),
    ['{"id":"b","at":0,"text":"changed"},'],
  )
  t.same(readdirSync(dir).sort(), ['db.json', 'db.json.journal'])
})

t.test('an edit stays in place at a stop if nothing was changed since the document', async (t) => {
  const file = join(t.testdir({}), 'db.json')
  const { store, put } = await open(t, file)
  put('a')
  await store.compact()
  writeFileSync(file, readFileSync(file, 'utf8').replace('"text":"a"', '"text":"A"'))
  await store.close()
  t.equal((await open(t, file)).world().tables.notes.get('a')!.text, 'A')
})

t.test('a kill at any stage of a rewrite loses nothing, also beside an edit', async (t) => {
  for (const isEdited of [false, true]) {
    const dir = t.testdir({ live: {} })
    const states: string[] = []
    let isWatching = false
    let n = 0
    // A kill before and after each call that changes the folder.
    const watched = <K extends keyof Disk>(name: K) =>
      ((...args: unknown[]) => {
        if (isWatching) states.push(crashCopy(`${dir}/live`, `${dir}/${name}${n++}`))
        const result = (UNSYNCED[name] as (...all: unknown[]) => unknown)(...args)
        if (isWatching) states.push(crashCopy(`${dir}/live`, `${dir}/${name}${n++}`))
        return result
      }) as Disk[K]
    const disk = {
      ...UNSYNCED,
      openSync: watched('openSync'),
      renameSync: watched('renameSync'),
      unlinkSync: watched('unlinkSync'),
      writeFileSync: watched('writeFileSync'),
      copyFileSync: watched('copyFileSync'),
    }
    const opened = await open(t, `${dir}/live/db.json`, { disk })
    const { store, put } = opened
    put('a')
    await store.compact()
    put('b')
    isWatching = true
    const rewriting = store.compact()
    if (isEdited) writeFileSync(`${dir}/live/db.json`, 'edited')
    put('c')
    await rewriting
    isWatching = false
    t.ok(states.length > 10)
    for (const file of states) {
      const killed = await open(t, file).catch((error: unknown) => error as Error)
      if (killed instanceof Error) {
        // Until the journal of the new document is there, the edit is one beside a journal.
        if (isEdited && killed instanceof EditedBesideJournal) continue
        throw killed
      }
      const ids = killed.ids()
      t.same(ids.slice(0, 2), ['a', 'b'], file)
      if (file === states.at(-1)) t.same(ids, ['a', 'b', 'c'])
      await killed.store.close()
    }
    await store.close()
  }
})

t.test(
  'nothing is lost while the document is rewritten, which is when the journal is as large',
  async (t) => {
    const dir = t.testdir({ live: {} })
    const file = `${dir}/live/db.json`
    const { put, ids } = await open(t, file, { compactFrom: 1_000 })
    let documents = 0
    let last = ''
    for (let n = 0; n < 300; n++) {
      put(`n${n % 50}`, 'x'.repeat(n))
      if (n % 3 === 0) await new Promise(setImmediate)
      const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
      if (text !== last) documents++
      last = text
      if (n % 20) continue
      const killed = await open(t, crashCopy(`${dir}/live`, `${dir}/killed`))
      t.same(killed.ids(), ids())
      await killed.store.close()
    }
    t.ok(documents > 3, `${documents} documents`)
    t.ok(documents < 60, `${documents} documents`)
  },
)
