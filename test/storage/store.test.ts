import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DamagedFile } from '../../src/storage/damaged-file.ts'
import { type Disk, nodeDisk } from '../../src/storage/disk.ts'
import { FileInUse } from '../../src/storage/lock.ts'
import { openStore, type StoreOptions } from '../../src/storage/store.ts'
import type { Specs } from '../../src/storage/world-tables.ts'

type Rows = { notes: { id: string; at: number; text: string } }

const SPECS: Specs<Rows> = {
  notes: { id: (row) => row.id, at: (row) => row.at, indexes: { all: () => 'all' } },
}
const note = (id: string, text = id, at = 0) => ({ id, at, text })

function start(file: string, more: Partial<StoreOptions<Rows>> = {}) {
  const received: string[] = []
  const tell = (message: string) => void received.push(message)
  const log = { info: tell, warn: tell, error: tell }
  const opened = openStore<Rows>({
    specs: SPECS,
    file,
    wall: () => 1_767_225_600_000,
    log,
    ...more,
  })
  return opened.then((store) => ({ store, received }))
}
type Opened = Awaited<ReturnType<typeof start>>['store']

// A test that opens a store thousands of times cuts no power: nothing is waited for.
const UNSYNCED: Disk = {
  ...nodeDisk,
  fdatasyncSync() {},
  fsyncSync() {},
  fsync: Object.assign((_: number, done: (error: null) => void) => done(null), nodeDisk.fsync),
}

/** Every world's base, counter and rows in order, as text. */
const contentOf = (store: Opened) =>
  JSON.stringify(
    [...store.worlds.values()].map((world) => [
      world.name,
      world.base.key,
      world.random.counter,
      world.tables.notes.page('all', 'all', 0, 1_000).map((entry) => entry.row),
    ]),
  )

/** The data files as a killed process leaves them, in a folder of their own. */
function crashCopy(from: string, to: string): string {
  // The draft of a document is gone at any moment, and is read by nobody.
  cpSync(from, to, { recursive: true, filter: (name) => !/\.(lock|tmp)$/.test(name) })
  return join(to, 'db.json')
}

t.test('what was changed is there after a stop, and after a kill', async (t) => {
  const dir = t.testdir({ live: {} })
  const { store } = await start(`${dir}/live/db.json`)
  const base = store.makeBase('base', { notes: [note('old')] })
  const one = store.addWorld('one', base)
  store.addWorld('gone', base)
  store.change(() => {
    one.random.counter++
    one.put('notes', note('new'))
    one.put('notes', note('old', 'changed'))
    store.addWorld('two', base).remove('notes', 'old')
  })
  store.worlds.get('gone')!.drop()
  const content = contentOf(store)
  const killed = await start(crashCopy(`${dir}/live`, `${dir}/killed`))
  t.equal(contentOf(killed.store), content)
  t.same(killed.received, [])
  await killed.store.close()
  await store.close()
  await store.close()
  const again = await start(`${dir}/live/db.json`)
  t.equal(contentOf(again.store), content)
  const changed = again.store.makeBase('changed', { notes: [note('fresh')] })
  again.store.worlds.get('one')!.reset(changed)
  t.same(again.store.worlds.get('one')!.tables.notes.get('fresh'), note('fresh'))
  t.equal(again.store.worlds.get('two')!.tables.notes.get('fresh'), undefined)
  const last = contentOf(again.store)
  const reset = await start(crashCopy(`${dir}/live`, `${dir}/reset`))
  t.equal(contentOf(reset.store), last)
  await reset.store.close()
  await again.store.close()
})

t.test('a refused change leaves no trace', async (t) => {
  const dir = t.testdir({ live: {} })
  const { store } = await start(`${dir}/live/db.json`)
  const world = store.addWorld('one', store.makeBase('base', { notes: [note('a'), note('b')] }))
  const other = store.addWorld('other', world.base)
  const content = contentOf(store)
  const received: string[] = []
  const journal = readFileSync(`${dir}/live/db.json.journal.0`, 'utf8')
  const refused = () =>
    world.change(() => {
      world.random.counter += 3
      world.remove('notes', 'a')
      world.put('notes', note('c'))
      store.afterCommit(() => received.push('after'))
      other.change(() => {
        other.random.counter++
        other.put('notes', note('d'))
      })
      world.reset(store.makeBase('another', {}))
      throw new Error('refused')
    })
  t.throws(refused, { message: 'refused' })
  t.equal(contentOf(store), content)
  t.same(received, [])
  t.equal(readFileSync(`${dir}/live/db.json.journal.0`, 'utf8'), journal)
  await store.close()
})

/** A journal of some lines and what the store holds after each of them. */
async function someLines(dir: string) {
  const { store } = await start(`${dir}/live/db.json`)
  const contents = ['[]', contentOf(store)]
  const world = store.addWorld('one', store.makeBase('base', { notes: [note('a')] }))
  contents.push(contentOf(store))
  for (let i = 0; i < 8; i++) {
    world.change(() => {
      world.random.counter++
      if (i % 4 === 3) world.remove('notes', `n${i - 1}`)
      else world.put('notes', note(`n${i}`, `text ₹${i}`))
    })
    contents.push(contentOf(store))
  }
  const bytes = readFileSync(`${dir}/live/db.json.journal.0`)
  return { store, contents, bytes }
}

t.test('a journal cut anywhere gives exactly the changes before the cut', async (t) => {
  const dir = t.testdir({ live: {}, cut: {} })
  const { store, contents, bytes } = await someLines(dir)
  await store.close()
  const wrong: number[] = []
  // At each byte near the end of a line, and at every fifth elsewhere.
  const isNearEnd = (length: number) =>
    length < 8 || bytes.subarray(length - 8, length + 8).includes(10)
  for (let length = 0; length <= bytes.length; length++) {
    if (length % 5 > 0 && !isNearEnd(length)) continue
    const part = bytes.subarray(0, length)
    for (const old of readdirSync(`${dir}/cut`)) rmSync(`${dir}/cut/${old}`)
    writeFileSync(`${dir}/cut/db.json.journal.0`, part)
    const cut = await start(`${dir}/cut/db.json`, { disk: UNSYNCED })
    const lines = part.toString('latin1').split('\n').length - 1
    const torn = length > 0 && part[length - 1] !== 10
    if (contentOf(cut.store) !== contents[lines]) wrong.push(length)
    if (cut.received.some((line) => line.includes('incomplete write')) !== torn) wrong.push(length)
    await cut.store.close()
  }
  t.same(wrong, [])
})

t.test(
  'a flipped bit in either file is refused by name and place, and nothing is rewritten',
  async (t) => {
    const dir = t.testdir({ live: {}, flip: {} })
    const { store, contents, bytes } = await someLines(dir)
    await store.close()
    const content = contents.at(-1)
    const files: [string, Buffer][] = [
      ['db.json.journal.0', bytes],
      ['db.json', readFileSync(`${dir}/live/db.json`)],
    ]
    const wrong: string[] = []
    for (const [name, good] of files) {
      for (const old of readdirSync(`${dir}/flip`)) rmSync(`${dir}/flip/${old}`)
      for (let bit = 0; bit < good.length * 8; bit += 27) {
        const bad = Buffer.from(good)
        bad[bit >> 3]! ^= 1 << (bit & 7)
        writeFileSync(`${dir}/flip/${name}`, bad)
        try {
          const opened = await start(`${dir}/flip/db.json`, { disk: UNSYNCED })
          if (contentOf(opened.store) !== content) wrong.push(`${name} bit ${bit}: other rows`)
          await opened.store.close()
        } catch (error) {
          if (!(error instanceof DamagedFile) || error.damage.file !== `${dir}/flip/${name}`)
            wrong.push(`${name} bit ${bit}: ${error}`)
          if (!readFileSync(`${dir}/flip/${name}`).equals(bad))
            wrong.push(`${name} ${bit}: rewritten`)
        }
      }
    }
    t.same(wrong, [])
  },
)

for (const text of [
  '',
  'null',
  '[]',
  '5',
  '{}',
  '\ufeff{"payoutSandbox":1',
  '\0\0\0\0',
  '{"x":1}\n',
]) {
  t.test(`a document that is ${JSON.stringify(text)} is refused and left as it is`, async (t) => {
    const dir = t.testdir({ 'db.json': text })
    await t.rejects(start(`${dir}/db.json`), DamagedFile)
    t.equal(readFileSync(`${dir}/db.json`, 'utf8'), text)
    t.notOk(existsSync(`${dir}/db.json.lock`))
    const { store } = await start(`${dir}/db.json`, { onDamage: 'reset' })
    t.equal(store.worlds.size, 0)
    t.ok(readdirSync(dir).some((name) => name.startsWith('db.json.damaged-')))
    await store.close()
  })
}

t.test(
  'of a damaged journal the good part is kept when asked, and the rest never returns',
  async (t) => {
    const dir = t.testdir({ live: {}, bad: {} })
    const { store, contents, bytes } = await someLines(dir)
    await store.close()
    const lines = bytes.toString('utf8').split('\n')
    lines[6] = lines[6]!.replace('text', 'tixt')
    writeFileSync(`${dir}/bad/db.json.journal.0`, lines.join('\n'))
    for (const received of [true, false]) {
      const opened = await start(`${dir}/bad/db.json`, { onDamage: 'recover' })
      t.equal(contentOf(opened.store), contents[6])
      t.equal(opened.received.length > 0, received)
      await opened.store.close()
    }
    t.ok(readdirSync(`${dir}/bad`).some((name) => name.includes('.damaged-')))
  },
)

t.test('a kill at any stage of making the document anew loses nothing', async (t) => {
  const dir = t.testdir({ live: {} })
  const { store } = await start(`${dir}/live/db.json`)
  const base = store.makeBase('base', { notes: [note('a')] })
  const world = store.addWorld('one', base)
  for (let i = 0; i < 8_000; i++) world.put('notes', note(`n${i}`, 'x'.repeat(80)))
  let done = false
  const compaction = store.compact().then(() => {
    done = true
  })
  for (let stage = 0; !done || stage < 4; stage++) {
    world.put('notes', note(`n${stage}`, `stage ${stage}`))
    if (stage === 1) store.addWorld('late', store.makeBase('late', { notes: [note('l')] }))
    if (stage === 2) world.reset(store.makeBase('other', { notes: [note('o')] }))
    if (stage < 12) {
      const copy = await start(crashCopy(`${dir}/live`, `${dir}/stage${stage}`))
      t.equal(contentOf(copy.store) === contentOf(store), true, `stage ${stage}`)
      await copy.store.close()
    } else await new Promise(setImmediate)
  }
  await compaction
  const content = contentOf(store)
  await store.close()
  const again = await start(`${dir}/live/db.json`)
  t.equal(contentOf(again.store), content)
  await again.store.close()
})

t.test('one process has the file; a dead one does not', async (t) => {
  const dir = t.testdir({})
  const file = `${dir}/db.json`
  const { store } = await start(file)
  const lock = readFileSync(`${file}.lock`, 'utf8')
  await t.rejects(start(file), { name: 'FileInUse', owner: { pid: process.pid } })
  await store.close()
  t.notOk(existsSync(`${file}.lock`))
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  const stale = [
    { pid: dead, host: hostname(), startedAt: '' },
    { ...JSON.parse(lock), startedAt: 'another boot:1' },
  ]
  for (const owner of stale) {
    writeFileSync(`${file}.lock`, JSON.stringify(owner))
    const taken = await start(file)
    t.equal(JSON.parse(readFileSync(`${file}.lock`, 'utf8')).pid, process.pid)
    await taken.store.close()
  }
  writeFileSync(
    `${file}.lock`,
    JSON.stringify({ pid: process.ppid, host: hostname(), startedAt: '' }),
  )
  await t.rejects(start(file), FileInUse)
})

t.test('a folder that cannot be is an error with its errno', async (t) => {
  const dir = t.testdir({ file: '' })
  await t.rejects(start(`${dir}/file/sub/db.json`), { code: 'ENOTDIR' })
})

/** A store whose documents wait until the test says that all is quiet. */
function waitsByHand() {
  const waits: (() => void)[] = []
  const how: Partial<StoreOptions<Rows>> = {
    compactFrom: 1_000,
    later: (_, run) => {
      waits.push(run)
      return () => {}
    },
  }
  return { waits, how }
}

t.test(
  'the document is rewritten automatically in an idle moment, with all changes until then',
  async (t) => {
    const dir = t.testdir({ live: {}, killed: {} })
    const { waits, how } = waitsByHand()
    const { store } = await start(`${dir}/live/db.json`, how)
    const world = store.addWorld('w', store.makeBase('base', {}))
    for (let i = 0; i < 40; i++) world.put('notes', note('a', `${i}`))
    t.equal(waits.length, 1)
    t.notOk(existsSync(`${dir}/live/db.json.journal.1`), 'not at once')
    const killed = crashCopy(`${dir}/live`, `${dir}/killed`)
    waits.pop()!()
    t.equal(waits.length, 1, 'nor while there are writes')
    waits.pop()!()
    t.ok(existsSync(`${dir}/live/db.json.journal.1`))
    await store.compact()
    t.ok(existsSync(`${dir}/live/db.json`))
    for (let i = 0; i < 20; i++) world.put('notes', note(`${i}`, 'a long text'.repeat(5)))
    t.equal(waits.length, 0, 'what the last one left out does not count for the next')
    await store.close()

    const { store: later } = await start(killed, how)
    later.worlds.get('w')!.put('notes', note('a', 'again'))
    t.equal(waits.length, 1, 'what was read at the start counts')
    await later.close()
  },
)

t.test('a document after a kill contains both journals', async (t) => {
  const dir = t.testdir({ live: {} })
  const { waits, how } = waitsByHand()
  const { store } = await start(`${dir}/live/db.json`, how)
  const world = store.addWorld('w', store.makeBase('base', {}))
  for (const id of 'abcdefghij') world.put('notes', note(id))
  const making = store.compact()
  const killed = crashCopy(`${dir}/live`, `${dir}/killed`)
  await making
  await store.close()
  t.ok(existsSync(`${dir}/killed/db.json.journal.0`))

  waits.length = 0
  const { store: later } = await start(killed, how)
  const same = later.worlds.get('w')!
  for (let i = 0; i < 40; i++) same.put('notes', note('a', `${i}`))
  t.equal(waits.length, 1)
  await later.compact()
  t.notOk(existsSync(`${dir}/killed/db.json.journal.0`))
  waits.length = 0
  same.put('notes', note('a', 'once more'))
  t.equal(waits.length, 0, 'and the next one is short')
  t.notOk(existsSync(`${dir}/killed/db.json.journal.1`))
  await later.close()
})
