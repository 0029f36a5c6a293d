import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { nodeDisk } from '../../src/storage/disk.ts'
import { openStore, type StoreOptions } from '../../src/storage/store.ts'

type Rows = { notes: { id: string } }

async function open(t: Test, file: string, more: Partial<StoreOptions<Rows>> = {}) {
  const lines: string[] = []
  const tell = (level: string) => (message: string) => void lines.push(`${level}: ${message}`)
  const store = await openStore<Rows>({
    specs: { notes: { id: (row) => row.id, at: () => 0, indexes: { all: () => 'all' } } },
    file,
    wall: () => 1_767_225_600_000,
    log: { info: tell('info'), warn: tell('warn'), error: tell('error') },
    ...more,
  })
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
const owner = { pid: 7, host: 'other', startedAt: '', nonce: '0123456789abcdef' }

const removals: Record<string, (file: string) => void> = {
  'another lock in the place of ours': (file) => {
    rmSync(`${file}.lock`)
    writeFileSync(`${file}.lock`, JSON.stringify(owner))
  },
  'another lock written into ours': (file) => writeFileSync(`${file}.lock`, JSON.stringify(owner)),
  'something else in our lock': (file) => writeFileSync(`${file}.lock`, ''),
  'no lock': (file) => rmSync(`${file}.lock`),
  'no journal': (file) => rmSync(`${file}.journal.1`),
  'no document': (file) => rmSync(file),
  'another document': (file) => {
    cpSync(file, `${file}.copy`)
    renameSync(`${file}.copy`, file)
  },
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

t.test('an owner keeps the document that it read, and finds one that appears', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const first = await open(t, file)
  first.put('a')
  await first.store.close()
  const second = await open(t, file)
  second.put('b')
  renameSync(file, `${file}.away`)
  t.throws(() => second.put('c'), LOST)
  renameSync(`${file}.away`, file)
  t.throws(() => second.put('d'), LOST, 'it stays lost')
  await second.store.close()
  rmSync(`${file}.lock`, { force: true })
  t.same((await open(t, file)).ids(), ['a', 'b'], 'what was acknowledged is there')

  const other = await open(t, join(dir, 'other/db.json'))
  other.put('a')
  cpSync(file, join(dir, 'other/db.json'))
  t.throws(() => other.put('b'), LOST)
})

t.test('a journal that waits for its document is kept, and one that is done is not', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const { disk, held } = heldDisk()
  const { store, put, ids } = await open(t, file, { disk })
  put('a')
  for (const id of ['b', 'c']) {
    const making = store.compact()
    while (held.length === 0) await new Promise(setImmediate)
    put(`${id} meanwhile`)
    held.pop()!()
    await making
    put(id)
  }
  t.equal(store.lostOwnership(), undefined, 'its own renames lose nothing')
  const making = store.compact()
  while (held.length === 0) await new Promise(setImmediate)
  rmSync(join(dir, 'db.json.journal.2'))
  t.throws(() => put('late'), LOST)
  held.pop()!()
  await making
  t.same(ids(), ['a', 'b meanwhile', 'b', 'c meanwhile', 'c'])
  t.match(store.lostOwnership(), /its file .*journal\.2 was removed or replaced/)
})

t.test('a start without the journal that must be there says so', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const missing = /warn: The journal .*db\.json\.journal\.\d is missing\. Changes .* lost/
  const first = await open(t, file)
  t.same(first.lines, [], 'a new data file has none')
  first.put('a')
  rmSync(`${file}.journal.0`)
  await first.store.close()
  const lock = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
  t.notOk(existsSync(file), 'nothing but the lock shows that it was used')
  // As a kill leaves it: nobody listens any more.
  writeFileSync(`${file}.lock`, JSON.stringify({ ...lock, listens: false }))
  const second = await open(t, file)
  t.match(second.lines, [missing])
  await second.store.close()
  const third = await open(t, file)
  t.same(third.lines, [], 'a clean stop leaves one')
  await third.store.close()
  rmSync(`${file}.journal.1`)
  const fourth = await open(t, file)
  t.match(fourth.lines, [missing])
})

t.test('health finds out by itself, before a write does', async (t) => {
  const dir = t.testdir({ live: {} })
  const { store, put } = await open(t, join(dir, 'live/db.json'))
  put('a')
  t.equal(store.lostOwnership(), undefined)
  rmSync(join(dir, 'live'), { recursive: true })
  t.match(store.lostOwnership(), /its lock .* was removed/)
})

t.test('a disk that cannot tell loses no ownership', async (t) => {
  const dir = t.testdir({})
  let fails = false
  const statSync = ((path: string, options: object) => {
    if (fails && path.endsWith('.lock')) throw Object.assign(new Error('EIO'), { code: 'EIO' })
    return nodeDisk.statSync(path, options)
  }) as typeof nodeDisk.statSync
  const { store, put, ids } = await open(t, join(dir, 'db.json'), {
    disk: { ...nodeDisk, statSync },
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
  cpSync(dir, `${dir}-killed`, { recursive: true, filter: (name) => !/\.(lock|tmp)$/.test(name) })
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
  const [slow, other] = [heldDisk(), heldDisk()]
  const first = await open(t, file, { disk: slow.disk })
  first.put('a')
  const making = first.store.compact()
  while (slow.held.length === 0) await new Promise(setImmediate)
  rmSync(`${file}.lock`)
  const second = await open(t, file, { disk: other.disk })
  second.put('b')
  const next = second.store.compact()
  while (other.held.length === 0) await new Promise(setImmediate)
  slow.held.pop()!()
  await making
  t.notOk(existsSync(file), 'the draft that is there now is the one of the second')
  t.ok(existsSync(`${file}.tmp`), 'and it is left to the second')
  other.held.pop()!()
  await next
  t.ok(existsSync(file))
  await first.store.close()
  cpSync(dir, `${dir}-killed`, { recursive: true, filter: (name) => !/\.(lock|tmp)$/.test(name) })
  t.teardown(() => rmSync(`${dir}-killed`, { recursive: true }))
  t.same((await open(t, `${dir}-killed/db.json`)).ids(), ['a', 'b'])
  // Its own stop makes a document, too.
  setImmediate(function letGo() {
    if (other.held.length > 0) other.held.pop()!()
    else if (existsSync(`${file}.lock`)) setImmediate(letGo)
  })
  await second.store.close()
})

t.test('files are made anew, for their owner alone and through no link', async (t) => {
  const dir = t.testdir({ victim: 'precious', live: {} })
  const file = join(dir, 'live/db.json')
  const { store, put } = await open(t, file)
  for (const name of ['db.json.tmp', 'db.json.journal.1.tmp'])
    symlinkSync('../victim', join(dir, 'live', name))
  put('a')
  await store.compact()
  put('b')
  for (const name of ['db.json', 'db.json.lock', 'db.json.journal.1']) {
    const found = lstatSync(join(dir, 'live', name))
    t.ok(found.isFile(), name)
    t.equal(found.mode & 0o777, 0o600, name)
  }
  cpSync(join(dir, 'live'), join(dir, 'killed'), {
    recursive: true,
    filter: (name) => !/\.(lock|tmp)$/.test(name),
  })
  symlinkSync('../victim', join(dir, 'killed/db.json.journal.1.tmp'))
  await open(t, join(dir, 'killed/db.json'))
  t.ok(lstatSync(join(dir, 'killed/db.json.journal.1')).isFile())
  t.equal(readFileSync(join(dir, 'victim'), 'utf8'), 'precious')
})

t.test('what is no regular file is refused before anything is made beside it', async (t) => {
  const dir = t.testdir({ victim: '' })
  const places: Record<string, (path: string) => void> = {
    'a FIFO': (path) => void execFileSync('mkfifo', [path]),
    'a folder': (path) => void mkdirSync(path),
    'a link': (path) => symlinkSync(join(dir, 'victim'), path),
  }
  for (const [what, make] of Object.entries(places))
    for (const name of ['db.json', 'db.json.journal.0', 'db.journal.jsonl', 'db.json.lock']) {
      // The data file itself may be a link to where it is kept.
      if (what === 'a link' && name === 'db.json') continue
      if (what === 'a FIFO' && process.platform === 'win32') continue
      const folder = join(dir, `${what} ${name}`)
      mkdirSync(folder)
      make(join(folder, name))
      await t.rejects(open(t, join(folder, 'db.json')), {
        name: 'UnusableFile',
        message: new RegExp(`${name} is ${what}, but must be a regular file`),
      })
      t.same(readdirSync(folder), [name])
    }
})

/** A `later` that waits for nothing, and counts. */
function impatient(each: (waits: number) => void = () => {}) {
  const waited = { times: 0 }
  const later: StoreOptions<Rows>['later'] = (_, run) => {
    each(++waited.times)
    setImmediate(run)
    return () => {}
  }
  return { waited, later }
}

const elsewhere = { ...owner, boot: 'another', pidNamespace: 'pid:[1]', listens: true }
t.test('an owner that cannot be asked is waited for until it was silent long enough', async (t) => {
  const dir = t.testdir({ 'db.json.lock': JSON.stringify(elsewhere) })
  const { later, waited } = impatient()
  const { put, lines } = await open(t, join(dir, 'db.json'), { later })
  t.equal(waited.times, 48, '12 s in quarters of a second')
  t.match(
    lines[0],
    /info: .* locked by process 7 on other\. .* Waiting up to 12 s for it to update its lock/,
  )
  put('a')
  t.equal(JSON.parse(readFileSync(join(dir, 'db.json.lock'), 'utf8')).pid, process.pid)
})

t.test(
  'an owner that touches its lock meanwhile has the file, whatever its clock says',
  async (t) => {
    const dir = t.testdir({ 'db.json.lock': JSON.stringify(elsewhere) })
    const lock = join(dir, 'db.json.lock')
    const { later, waited } = impatient((waits) => {
      if (waits === 9) utimesSync(lock, new Date(0), new Date(0))
    })
    await t.rejects(open(t, join(dir, 'db.json'), { later }), {
      name: 'FileInUse',
      message: /process 7 on other/,
    })
    t.equal(waited.times, 9)
    t.same(readdirSync(dir), ['db.json.lock'], 'it leaves nothing')
  },
)

t.test('a lock that is given back while it is waited for is free', async (t) => {
  const dir = t.testdir({ 'db.json.lock': JSON.stringify(elsewhere) })
  const { later, waited } = impatient((waits) => {
    if (waits === 3) rmSync(join(dir, 'db.json.lock'))
  })
  await open(t, join(dir, 'db.json'), { later })
  t.ok(waited.times < 10)
})

t.test('the claim of a starter that died is removed, that of a live one is not', async (t) => {
  const dir = t.testdir({})
  const file = join(dir, 'db.json')
  const { store } = await open(t, file)
  const mine = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
  await store.close()
  const dead = { ...mine, nonce: 'f'.repeat(16), listens: false, startedAt: 'another start' }
  mkdirSync(`${file}.lock.claim`)
  writeFileSync(`${file}.lock`, JSON.stringify(dead))
  writeFileSync(`${file}.lock.claim/${'d'.repeat(12)}`, JSON.stringify(dead))
  writeFileSync(`${file}.lock.claim/${'e'.repeat(12)}`, '')
  await (await open(t, file)).store.close()
  t.same(readdirSync(dir).sort(), ['db.json', 'db.json.journal.1'])

  const alive = { ...dead, pid: process.ppid, startedAt: '' }
  mkdirSync(`${file}.lock.claim`)
  writeFileSync(`${file}.lock`, JSON.stringify(dead))
  writeFileSync(`${file}.lock.claim/${'a'.repeat(12)}`, JSON.stringify(alive))
  await t.rejects(open(t, file, { later: impatient().later }), {
    name: 'FileInUse',
    message: new RegExp(`process ${process.ppid} on ${hostname()}`),
  })
  t.ok(existsSync(`${file}.lock.claim/${'a'.repeat(12)}`))
})

t.test('a claim that we did not write costs nobody a file', async (t) => {
  const dead = { ...owner, host: hostname(), pid: 2 ** 30, nonce: undefined }
  const ours = 'd'.repeat(12)
  const text = JSON.stringify(dead)
  const dir = t.testdir({ victim: { 'precious.txt': 'precious', [ours]: text }, live: {} })
  const file = join(dir, 'live/db.json')
  const claim = `${file}.lock.claim`
  const leftByKill = () => writeFileSync(`${file}.lock`, text)
  const victims = () => filesIn(join(dir, 'victim'))
  const before = victims()

  for (const target of ['../victim', '../victim/precious.txt', '../nowhere']) {
    leftByKill()
    symlinkSync(target, claim)
    await (await open(t, file)).store.close()
    t.same(victims(), before, target)
    t.notOk(lstatSync(claim, { throwIfNoEntry: false }), 'the link is gone')
  }
  const foreign: Record<string, (entry: string) => void> = {
    'precious.txt': (entry) => writeFileSync(entry, 'precious'),
    named: (entry) => writeFileSync(entry, text),
    ['a'.repeat(12)]: (entry) => writeFileSync(entry, '{"precious":1}'),
    ['b'.repeat(12)]: (entry) => symlinkSync(`../../victim/${ours}`, entry),
    ['c'.repeat(12)]: (entry) => mkdirSync(entry),
  }
  for (const [name, make] of Object.entries(foreign)) {
    leftByKill()
    mkdirSync(claim)
    make(join(claim, name))
    await t.rejects(open(t, file), {
      name: 'UnusableFile',
      message: new RegExp(`claim/${name} is not a lock claim of payout-sandbox`),
    })
    t.same(readdirSync(claim), [name])
    t.equal(readFileSync(`${file}.lock`, 'utf8'), text, 'the lock is left as it was')
    rmSync(claim, { recursive: true })
  }
  t.same(victims(), before)
  leftByKill()
  writeFileSync(claim, 'an earlier version wrote a file')
  await (await open(t, file)).store.close()
  t.notOk(existsSync(claim))
})

t.test(
  'an owner of the same kernel is asked by its socket',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const dir = t.testdir({})
    const file = join(dir, 'db.json')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // Neither its host nor its number says anything here.
    const other = { ...elsewhere, boot }
    writeFileSync(`${file}.lock`, JSON.stringify(other))
    const socket = `${file}.${other.nonce}.lock`
    const server = createServer()
    // The whole path may be too long for a socket.
    const cwd = process.cwd()
    process.chdir(dir)
    server.listen(basename(socket))
    process.chdir(cwd)
    const { later, waited } = impatient()
    await t.rejects(open(t, file, { later }), { name: 'FileInUse' })
    await leaveDead(server, socket)
    const { store } = await open(t, file, { later })
    t.equal(waited.times, 0, 'nobody is waited for')
    t.notOk(existsSync(socket), 'what the dead owner left is removed')
    await store.close()
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
    const lock = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
    t.ok(lock.listens)
    // Were it asked by its number, it would not be found.
    writeFileSync(
      `${file}.lock`,
      JSON.stringify({ ...lock, host: 'other', pidNamespace: 'pid:[1]' }),
    )
    const { later, waited } = impatient()
    await t.rejects(open(t, file, { later }), { name: 'FileInUse' })
    t.equal(waited.times, 0)
    await store.close()
  },
)

t.test(
  'a socket that could not be removed is removed by the next try of the process',
  { skip: process.platform !== 'linux' },
  async (t) => {
    // Of a long path the kernel does not remove the file by itself.
    const dir = join(t.testdir({}), 'a'.repeat(100))
    const file = join(dir, 'db.json')
    const sockets = () =>
      readdirSync(dir).filter((name) => /^db\.json\.[0-9a-f]{16}\.lock$/.test(name))
    const broken = () => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    }
    const disk = { ...nodeDisk, chmodSync: broken, unlinkSync: broken }
    await t.rejects(open(t, file, { disk }))
    t.equal(sockets().length, 1)
    const { store } = await open(t, file)
    t.equal(sockets().length, 1, 'only that of the present owner')
    await store.close()
    t.strictSame(sockets(), [])
  },
)
