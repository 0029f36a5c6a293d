import {
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { nodeDisk } from '../../src/store/disk.ts'
import { start } from '../helper.ts'
import { openPlain, type PlainOptions } from './plain-store.ts'

type Rows = { notes: { id: string } }

const SPECS = {
  notes: { id: (row: { id: string }) => row.id, at: () => 0, indexes: { all: () => 'all' } },
}

async function open(t: Test, file: string, more: PlainOptions = {}) {
  const { store, lines } = await openPlain<Rows>(SPECS, file, more)
  t.teardown(() => store.close())
  const world = store.worlds.get('w') ?? store.addWorld('w', store.makeBase('', {}))
  const put = (id: string) => void world.put('notes', { id })
  const ids = () => [...world.tables.notes.rows()].map(({ id }) => id)
  return { store, put, ids, lines }
}

/** All files of a folder and what is in them, its sockets left out. */
const filesIn = (dir: string) =>
  existsSync(dir) &&
  readdirSync(dir)
    .filter((name) => lstatSync(join(dir, name)).isFile())
    .map((name) => [name, readFileSync(join(dir, name), 'utf8')])

const LOST = { code: 'storage_unavailable', message: /no longer owns the data file .* Restart it/ }
const owner = { pid: 7, host: 'other', startedAt: '' }

const removals: Record<string, (file: string) => void> = {
  'another lock in the place of ours': (file) => {
    rmSync(`${file}.lock`)
    writeFileSync(`${file}.lock`, JSON.stringify(owner))
  },
  'no lock': (file) => rmSync(`${file}.lock`),
  'no journal': (file) => rmSync(`${file}.journal`),
  'another journal': (file) => {
    cpSync(`${file}.journal`, `${file}.copy`)
    renameSync(`${file}.copy`, `${file}.journal`)
  },
  'a journal that was emptied': (file) => truncateSync(`${file}.journal`),
  'a journal that was cut': (file) => truncateSync(`${file}.journal`, 20),
  'no folder': (file) => rmSync(join(file, '..'), { recursive: true }),
  'a folder that was moved': (file) => renameSync(join(file, '..'), join(file, '../../moved')),
}
for (const [what, remove] of Object.entries(removals)) {
  t.test(`an owner that finds ${what} refuses changes and writes nothing more`, async (t) => {
    const dir = t.testdir({ live: {} })
    const file = join(dir, 'live/db.json')
    const { store, put, ids, lines } = await open(t, file)
    await store.compact()
    put('before')
    remove(file)
    const left = filesIn(join(dir, 'live'))
    t.throws(() => put('after'), LOST)
    await store.compact()
    t.throws(() => put('again'), LOST)
    t.same(ids(), ['before'], 'reads go on')
    t.match(store.lostOwnership(), LOST.message)
    await store.close()
    t.same(filesIn(join(dir, 'live')), left)
    t.equal(lines.filter((line) => line.startsWith('error')).length, 1)
    t.equal(lines.length, 1, 'it is said once')
  })
}

t.test('a start without the journal of a killed owner says so', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const missing =
    /warn: The journal .*db\.json\.journal of a killed .* is missing\. Changes .* lost/
  const first = await open(t, file)
  t.same(first.lines, [], 'a new data file has none')
  first.put('a')
  await first.store.close()
  rmSync(`${file}.journal`)
  // A document that was committed has no journal.
  const second = await open(t, file)
  t.same(second.lines, [])
  await second.store.close()
  rmSync(`${file}.journal`)
  writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, host: hostname(), pid: 2 ** 30 }))
  t.match((await open(t, file)).lines, [missing])
})

t.test('health finds out by itself; changes are refused, and reads go on', async (t) => {
  const dir = t.testdir({ live: {} })
  const box = await start(t, { sandbox: { file: join(dir, 'live/db.json') } })
  t.match((await box.get('/__admin/health')).body, { status: 'healthy' })
  rmSync(join(dir, 'live'), { recursive: true })
  t.match((await box.get('/__admin/health')).body, {
    status: 'degraded',
    message: /its lock .* was removed.* Restart it/,
  })
  t.match(await box.pay(), { status: 503, body: { error: 'storage_unavailable' } })
  t.equal((await box.get('/v1/users')).status, 200)
})

t.test('a disk that cannot tell loses no ownership', async (t) => {
  const dir = t.testdir({})
  let fails = false
  const lstatSync = ((path: string, options: object) => {
    if (fails && path.endsWith('.lock')) throw Object.assign(new Error('EIO'), { code: 'EIO' })
    return nodeDisk.lstatSync(path, options)
  }) as typeof nodeDisk.lstatSync
  const { store, put, ids } = await open(t, join(dir, 'db.json'), {
    disk: { ...nodeDisk, lstatSync },
  })
  put('a')
  fails = true
  t.throws(() => put('b'), { code: 'storage_unavailable', message: /EIO/ })
  t.equal(store.lostOwnership(), undefined)
  fails = false
  put('c')
  t.same(ids(), ['a', 'c'])
  await store.close()
  t.same((await open(t, join(dir, 'db.json'))).ids(), ['a', 'c'], 'what was refused is not there')
})

t.test('what an owner of before writes late does not hurt the next', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const first = await open(t, file)
  first.put('a')
  rmSync(`${file}.lock`)
  const second = await open(t, file)
  second.put('b')
  t.throws(() => first.put('x'.repeat(500)), LOST)
  second.put('c')
  cpSync(dir, `${dir}-killed`, { recursive: true, filter: (name) => !name.includes('.lock') })
  t.teardown(() => rmSync(`${dir}-killed`, { recursive: true }))
  t.same((await open(t, `${dir}-killed/db.json`)).ids(), ['a', 'b', 'c'])
  await first.store.close()
  t.ok(existsSync(`${file}.lock`), 'it leaves the lock of the second')
  second.put('d')
  t.same(second.ids(), ['a', 'b', 'c', 'd'])
})

/** A disk whose syncs wait until they are let go. */
function heldDisk() {
  const held: (() => void)[] = []
  const fsync = Object.assign((fd: number, done: (error: Error | null) => void) => {
    held.push(() => nodeDisk.fsync(fd, done))
  }, nodeDisk.fsync)
  return { disk: { ...nodeDisk, fsync }, held }
}

t.test('a document that is being made when another takes over is never put in place', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const slow = heldDisk()
  const first = await open(t, file, { disk: slow.disk })
  first.put('a')
  const making = first.store.compact()
  while (slow.held.length === 0) await new Promise(setImmediate)
  rmSync(`${file}.lock`)
  const second = await open(t, file)
  second.put('b')
  const [document, journal] = [readFileSync(file), readFileSync(`${file}.journal`)]
  slow.held.pop()!()
  await making
  t.ok(readFileSync(file).equals(document))
  t.ok(readFileSync(`${file}.journal`).equals(journal))
  t.throws(() => first.put('c'), LOST)
  await first.store.close()
  await second.store.close()
  t.same((await open(t, file)).ids(), ['a', 'b'])
})

t.test('files are made anew, for their owner alone and through no link', async (t) => {
  const dir = t.testdir({ victim: 'precious', live: {} })
  const file = join(dir, 'live/db.json')
  const { store, put } = await open(t, file)
  for (const name of ['db.json.tmp', 'db.json.journal.tmp'])
    symlinkSync('../victim', join(dir, 'live', name))
  put('a')
  await store.compact()
  put('b')
  for (const name of ['db.json', 'db.json.lock', 'db.json.journal']) {
    const found = lstatSync(join(dir, 'live', name))
    t.notOk(found.isSymbolicLink(), name)
    t.equal(found.mode & 0o777, 0o600, name)
  }
  cpSync(join(dir, 'live'), join(dir, 'killed'), {
    recursive: true,
    filter: (name) => !name.includes('.lock'),
  })
  symlinkSync('../victim', join(dir, 'killed/db.json.journal.tmp'))
  await open(t, join(dir, 'killed/db.json'))
  t.ok(lstatSync(join(dir, 'killed/db.json.journal')).isFile())
  t.equal(readFileSync(join(dir, 'victim'), 'utf8'), 'precious')
})

t.test('a lock file names a process; it is another machine that says nothing of it', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const lock = (more: object) =>
    writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, ...more }))
  const inUse = (message: RegExp) => t.rejects(open(t, file), { name: 'FileInUse', message })
  lock({})
  await inUse(/process 7 on other; if that process no longer runs, remove .*db\.json\.lock/)
  lock({ host: hostname(), pid: process.ppid })
  await inUse(new RegExp(`process ${process.ppid} on ${hostname()}`))
  const dead = [{ pid: 2 ** 30 }, { pid: process.pid }, { pid: process.ppid, startedAt: '1' }]
  for (const one of process.platform === 'linux' ? dead : dead.slice(0, 2)) {
    lock({ host: hostname(), ...one })
    await (await open(t, file)).store.close()
  }
  writeFileSync(`${file}.lock`, 'garbage')
  await (await open(t, file)).store.close()
  t.notOk(existsSync(`${file}.lock`))
})

t.test('where there are no sockets, or no links to them, the lock is a file', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const linkSync: typeof nodeDisk.linkSync = (from, to) => {
    if (lstatSync(from).isSocket()) throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    nodeDisk.linkSync(from, to)
  }
  const disk = { ...nodeDisk, linkSync }
  const first = await open(t, file, { disk })
  t.ok(lstatSync(`${file}.lock`).isFile())
  t.match(JSON.parse(readFileSync(`${file}.lock`, 'utf8')), { pid: process.pid, host: hostname() })
  for (const other of [disk, nodeDisk])
    await t.rejects(open(t, file, { disk: other }), { name: 'FileInUse' })
  first.put('a')
  rmSync(`${file}.lock`)
  t.throws(() => first.put('b'), LOST)
})

t.test(
  'an owner of the same kernel is asked by its socket, and a dead one is replaced at once',
  { skip: process.platform === 'win32' },
  async (t) => {
    const dir = t.testdir({})
    const file = join(dir, 'db.json')
    const socket = `${file}.lock`
    // It says nothing, as if it were paused.
    const server = createServer()
    // The whole path may be too long for a socket.
    const cwd = process.cwd()
    process.chdir(dir)
    server.listen(basename(socket))
    process.chdir(cwd)
    await t.rejects(open(t, file), { name: 'FileInUse', message: /in use by another process/ })
    await leaveDead(server, socket)
    const { store, put } = await open(t, file)
    put('a')
    await t.rejects(open(t, file), { message: new RegExp(`process ${process.pid} on`) })
    await store.close()
    t.same(readdirSync(dir).sort(), ['db.json', 'db.json.journal'])
  },
)

/** What kill -9 leaves of a socket: its file. */
async function leaveDead(server: Server, socket: string) {
  renameSync(socket, `${socket}.kept`)
  await new Promise((resolve) => server.close(resolve))
  renameSync(`${socket}.kept`, socket)
}

t.test(
  'a data file with a long path has a socket too',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const dir = t.testdir({})
    const file = join(dir, 'a'.repeat(100), 'b'.repeat(100), 'db.json')
    const { store } = await open(t, file)
    t.ok(lstatSync(`${file}.lock`).isSocket())
    await t.rejects(open(t, file), { name: 'FileInUse' })
    await store.close()
    t.same(readdirSync(join(file, '..')).sort(), ['db.json', 'db.json.journal'])
  },
)
