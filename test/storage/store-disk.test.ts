import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DamagedFile } from '../../src/storage/damaged-file.ts'
import { type Disk, nodeDisk } from '../../src/storage/disk.ts'
import { openStore } from '../../src/storage/store.ts'
import type { Specs } from '../../src/storage/world-tables.ts'
import { crashCopy } from '../torture/content.ts'

// What faults at every call of the file system found (`npm run torture -- --only faults`), one by one.

type Rows = { notes: { id: string } }
const SPECS: Specs<Rows> = {
  notes: { id: (row) => row.id, at: () => 0, indexes: { all: () => 'all' } },
}
const open = (file: string, disk: Partial<Disk> = {}) =>
  openStore<Rows>({
    specs: SPECS,
    file,
    wall: Date.now,
    log: { info() {}, warn() {}, error() {} },
    disk: { ...nodeDisk, ...disk },
  })
type Opened = Awaited<ReturnType<typeof open>>
const failed = (code: string) => Object.assign(new Error(code), { code })
const idsIn = ({ worlds }: Opened) => [...worlds.get('w')!.tables.notes.rows()].map(({ id }) => id)

t.test('a document that could not be begun once is made the next time', async (t) => {
  const dir = t.testdir({})
  let fails = false
  const store = await open(join(dir, 'db.json'), {
    openSync(path, flags, mode) {
      if (fails) throw failed('EIO')
      return nodeDisk.openSync(path, flags, mode)
    },
  })
  const world = store.addWorld('w', store.makeBase('base', {}))
  fails = true
  await store.compact()
  t.notOk(existsSync(join(dir, 'db.json')))
  fails = false
  world.put('notes', { id: 'a' })
  await store.compact()
  t.ok(existsSync(join(dir, 'db.json')))
  await store.close()
})

t.test('a journal that cannot be followed by another goes on, and loses nothing', async (t) => {
  const dir = t.testdir({ live: {} })
  const file = join(dir, 'live/db.json')
  let full = false
  let broken = false
  const store = await open(file, {
    openSync(path, flags, mode) {
      if (full) throw failed('EMFILE')
      return nodeDisk.openSync(path, flags, mode)
    },
    writeSync: ((fd: number, bytes: Buffer, ...more: number[]) => {
      // The first line of the next journal is cut short, and its file cannot be removed.
      const length = broken ? 10 : more[1]!
      if (broken && more[0]! > 0) throw failed('EIO')
      return nodeDisk.writeSync(fd, bytes, more[0]!, length, more[2]!)
    }) as Disk['writeSync'],
    unlinkSync(path) {
      if (broken) throw failed('EIO')
      nodeDisk.unlinkSync(path)
    },
  })
  const world = store.addWorld('w', store.makeBase('base', {}))
  world.put('notes', { id: 'before' })
  full = true
  await store.compact()
  full = false
  broken = true
  await store.compact()
  broken = false
  world.put('notes', { id: 'between' })
  const killed = await open(crashCopy(join(dir, 'live'), join(dir, 'killed')))
  t.same(idsIn(killed), ['before', 'between'])
  await killed.close()
  await store.compact()
  world.put('notes', { id: 'after' })
  const again = await open(crashCopy(join(dir, 'live'), join(dir, 'again')))
  t.same(idsIn(again), ['before', 'between', 'after'])
  await again.close()
  await store.close()
  t.same(readdirSync(join(dir, 'live')).sort(), ['db.json', 'db.json.journal.2'])
})

t.test(
  'what is there is not taken for absent, nor an owner for dead, by a disk that cannot tell',
  async (t) => {
    const dir = t.testdir({ live: {} })
    const file = join(dir, 'live/db.json')
    const store = await open(file)
    store.addWorld('w', store.makeBase('base', {})).put('notes', { id: 'a' })
    const copy = crashCopy(join(dir, 'live'), join(dir, 'copy'))
    await t.rejects(
      open(copy, {
        statSync: ((path: string, options: object) => {
          if (path.endsWith('journal.0')) throw failed('EIO')
          return nodeDisk.statSync(path, options)
        }) as Disk['statSync'],
      }),
      { code: 'EIO' },
    )
    const opened = await open(copy)
    t.same(idsIn(opened), ['a'], 'the journal was not started anew')
    await opened.close()
    await store.close()

    // Whoever started it is alive: this test's parent.
    const owner = { pid: process.ppid, host: hostname(), startedAt: '' }
    writeFileSync(`${file}.lock`, JSON.stringify(owner))
    for (const unreadable of ['db.json.lock', 'stat']) {
      if (unreadable === 'stat')
        writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, startedAt: 'then' }))
      const readFileSync = ((path: string, options: 'utf8') => {
        if (path.endsWith(unreadable) && path !== `/proc/${process.pid}/stat`)
          throw failed('EMFILE')
        return nodeDisk.readFileSync(path, options)
      }) as Disk['readFileSync']
      await t.rejects(open(file, { readFileSync }), { code: 'EMFILE' }, unreadable)
      t.ok(existsSync(`${file}.lock`), 'it still has it')
    }
  },
)

t.test('a start that fails on the way leaves no file open, and nothing beside', async (t) => {
  const dir = t.testdir({ live: {} })
  const store = await open(join(dir, 'live/db.json'))
  store.addWorld('w', store.makeBase('base', {})).put('notes', { id: 'a' })
  const file = crashCopy(join(dir, 'live'), join(dir, 'copy'))
  await store.close()
  const before = readdirSync(join(dir, 'copy'))
  const opened = new Set<number>()
  const failing = {
    openSync(path, flags, mode) {
      const fd = nodeDisk.openSync(path, flags, mode)
      opened.add(fd)
      return fd
    },
    closeSync(fd) {
      opened.delete(fd)
      nodeDisk.closeSync(fd)
    },
  } satisfies Partial<Disk>
  const refuse = () => {
    throw failed('EROFS')
  }
  for (const name of ['fdatasyncSync', 'renameSync', 'writeSync']) {
    await t.rejects(open(file, { ...failing, [name]: refuse }), { code: 'EROFS' }, name)
    t.equal(opened.size, 0)
    t.same(readdirSync(join(dir, 'copy')), before)
  }
  const again = await open(file)
  t.same(idsIn(again), ['a'])
  await again.close()
})

t.test('a journal knows how long the one before it was', async (t) => {
  const dir = t.testdir({ live: { 'db.json.tmp': {} } })
  const store = await open(join(dir, 'live/db.json'))
  const world = store.addWorld('w', store.makeBase('base', {}))
  for (const id of ['a', 'b', 'c']) world.put('notes', { id })
  await store.compact()
  world.put('notes', { id: 'd' })
  const copy = crashCopy(join(dir, 'live'), join(dir, 'copy'))
  const previous = `${copy}.journal.0`
  const lines = String(nodeDisk.readFileSync(previous)).split('\n')
  writeFileSync(previous, `${lines.slice(0, -2).join('\n')}\n`)
  await t.rejects(open(copy), {
    name: DamagedFile.name,
    message: /journal\.0: line 5, byte \d+: it ends here, but it had \d+ bytes when/,
  })
  await store.close()
})

t.test('a rejected change may be the first one with its columns', async (t) => {
  const dir = t.testdir({ live: {} })
  let isFull = false
  const store = await open(join(dir, 'live/db.json'), {
    writeSync: ((...all: Parameters<typeof nodeDisk.writeSync>) => {
      if (isFull) throw failed('ENOSPC')
      return nodeDisk.writeSync(...all)
    }) as typeof nodeDisk.writeSync,
  })
  const world = store.addWorld('w', store.makeBase('base', {}))
  isFull = true
  t.throws(() => world.put('notes', { id: 'a' }), { code: 'storage_unavailable' })
  isFull = false
  world.put('notes', { id: 'b' })
  const again = await open(crashCopy(join(dir, 'live'), join(dir, 'copy')))
  t.same(idsIn(again), ['b'])
  await Promise.all([store.close(), again.close()])
})
