import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import t, { type Test } from 'tap'
import { SandboxError } from '../../src/model/errors.ts'
import { DamagedFile } from '../../src/storage/damaged-file.ts'
import { FileInUse } from '../../src/storage/lock.ts'
import { openStore, type StoreOptions } from '../../src/storage/store.ts'

type Note = { id: string; at: number; text: string; tag?: string }
type Rows = { notes: Note }
const SPECS: StoreOptions<Rows>['specs'] = {
  notes: {
    id: (row) => row.id,
    at: (row) => row.at,
    indexes: { all: () => 'all', tag: (row) => row.tag },
    uniques: { text: (row) => row.text },
  },
}

async function open(t: Test, file: string, more: Partial<StoreOptions<Rows>> = {}) {
  const lines: string[] = []
  const log = {
    info: (line: string) => void lines.push(line),
    warn: (line: string) => void lines.push(line),
    error: (line: string) => void lines.push(line),
  }
  const store = await openStore<Rows>({
    specs: SPECS,
    file,
    wall: () => 1_700_000_000_000,
    log,
    ...more,
  })
  t.teardown(() => store.close())
  const world =
    store.worlds.get('w') ?? store.addWorld('w', store.makeBase('base', { notes: [note(0)] }))
  return { store, world, lines }
}

const note = (n: number): Note => ({ id: `n${n}`, at: 1_000 + n, text: `text ${n} ünïcode` })
const filesOf = (dir: string) => readdirSync(dir).filter((name) => !name.endsWith('.lock'))
const rowsOf = (world: { tables: { notes: { rows(): Iterable<Note> } } }) =>
  [...world.tables.notes.rows()].sort((a, b) => a.at - b.at)

/** What kill -9 leaves: the files as they are now, in a folder of their own. */
function copyAside(from: string, to: string): string {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  try {
    for (const name of filesOf(from)) copyFileSync(join(from, name), join(to, name))
  } catch (error) {
    // The store renamed a file between the list and the copy, which no kill can see.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return copyAside(from, to)
    throw error
  }
  return join(to, 'db.json')
}

t.test('what was changed is there after a clean stop, and after a kill', async (t) => {
  const dir = t.testdir()
  const { store, world } = await open(t, join(dir, 'a/db.json'))
  for (let n = 1; n <= 20; n++) world.put('notes', note(n))
  world.put('notes', { ...note(3), text: 'three again' })
  world.remove('notes', 'n4')
  world.remove('notes', 'n0')
  world.random.counter = 7
  world.put('notes', note(21))
  const wanted = rowsOf(world)
  const killed = await open(t, copyAside(join(dir, 'a'), join(dir, 'b')))
  t.same(rowsOf(killed.world), wanted)
  t.equal(killed.world.random.counter, 7)
  await store.close()
  const stopped = await open(t, join(dir, 'a/db.json'))
  t.same(rowsOf(stopped.world), wanted)
  t.same(
    stopped.world.tables.notes.page('all', 'all', 0, 3).map(({ id }) => id),
    ['n21', 'n20', 'n19'],
  )
  t.equal(stopped.world.tables.notes.findUnique('text', 'three again')?.id, 'n3')
})

t.test('a refused change leaves no trace', async (t) => {
  const dir = t.testdir()
  const { world } = await open(t, join(dir, 'db.json'))
  world.put('notes', { ...note(1), tag: 'x' })
  const bytes = readFileSync(join(dir, 'db.json.journal.0'))
  const before = rowsOf(world)
  t.throws(() =>
    world.change(() => {
      world.random.counter += 5
      world.put('notes', { ...note(1), text: 'other' })
      world.put('notes', note(2))
      world.remove('notes', 'n0')
      world.change(() => world.put('notes', note(3)))
      throw new Error('refused')
    }),
  )
  t.same(rowsOf(world), before)
  t.equal(world.random.counter, 0)
  t.equal(world.tables.notes.count('tag', 'x'), 1)
  t.equal(world.tables.notes.count('all', 'all'), 2)
  t.ok(readFileSync(join(dir, 'db.json.journal.0')).equals(bytes))
})

t.test('a reset drops every change, and survives', async (t) => {
  const dir = t.testdir()
  const { store, world } = await open(t, join(dir, 'db.json'))
  for (let n = 1; n < 5; n++) world.put('notes', note(n))
  world.reset(store.makeBase('other', { notes: [note(50), note(51)] }))
  world.put('notes', note(60))
  await store.close()
  const again = await open(t, join(dir, 'db.json'))
  t.same(rowsOf(again.world), [note(50), note(51), note(60)])
  again.world.drop()
  t.equal(again.store.worlds.size, 0)
})

t.test('every cut of a journal gives what was whole before it', async (t) => {
  const dir = t.testdir()
  const { world } = await open(t, join(dir, 'a/db.json'))
  for (let n = 1; n <= 6; n++) world.put('notes', note(n))
  const whole = readFileSync(join(dir, 'a/db.json.journal.0'))
  const names = rowsOf(world).map(({ id }) => id)
  for (let cut = 0; cut <= whole.length; cut += 3) {
    const file = join(dir, `cut${cut}/db.json`)
    mkdirSync(join(dir, `cut${cut}`))
    writeFileSync(`${file}.journal.0`, whole.subarray(0, cut))
    const { world: found, store, lines } = await open(t, file)
    const ids = rowsOf(found).map(({ id }) => id)
    t.same(ids, names.slice(0, ids.length), `cut at ${cut}`)
    const torn =
      cut > 0 &&
      whole[cut - 1] !== 10 &&
      !whole
        .subarray(0, cut + 1)
        .toString()
        .endsWith('\n')
    if (torn) t.match(lines.join(), /incomplete write/)
    found.put('notes', note(99))
    await store.close()
  }
})

t.test('no flipped bit of a journal makes a wrong row', async (t) => {
  const dir = t.testdir()
  const { world } = await open(t, join(dir, 'a/db.json'))
  for (let n = 1; n <= 3; n++) world.put('notes', note(n))
  const whole = readFileSync(join(dir, 'a/db.json.journal.0'))
  const wanted = rowsOf(world)
  let refused = 0
  mkdirSync(join(dir, 'b'))
  const file = join(dir, 'b/db.json')
  for (let byte = 0; byte < whole.length; byte++) {
    const bent = Buffer.from(whole)
    bent[byte]! ^= 1 << (byte % 8)
    for (const name of filesOf(join(dir, 'b'))) writeFileSync(join(dir, 'b', name), '')
    writeFileSync(`${file}.journal.0`, bent)
    if (existsSync(file)) (await import('node:fs')).unlinkSync(file)
    try {
      const { store, world: found } = await open(t, file)
      t.same(rowsOf(found), wanted.slice(0, rowsOf(found).length), `byte ${byte}`)
      await store.close()
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error
      t.match(error.message, /db\.json\.journal\.0: line \d+, byte \d+: /)
      refused++
    }
  }
  t.equal(refused, whole.length, 'each is reported')
})

t.test('a document that is not as it was written is refused and left as it is', async (t) => {
  const dir = t.testdir()
  const { store, world } = await open(t, join(dir, 'db.json'))
  world.put('notes', note(1))
  await store.close()
  const good = readFileSync(join(dir, 'db.json'), 'utf8')
  const cases: [string, string][] = [
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a number', '5\n'],
    ['NULs', '\0'.repeat(100)],
    ['a mark of byte order', `\ufeff${good}`],
    ['cut in the middle', good.slice(0, good.length / 2)],
    ['without its end', good.split('\n').slice(0, -3).join('\n')],
    ['another text', good.replace('text 1', 'text 2')],
    ['a line too few', good.split('\n').toSpliced(2, 1).join('\n')],
    ['without its last line', good.split('\n').slice(0, -2).join('\n').concat('\n')],
    ['its last line twice', `${good}]}\n`],
    ['something behind', `${good}{}\n`],
  ]
  for (const [what, text] of cases) {
    const file = join(dir, `${what}/db.json`)
    mkdirSync(join(dir, what))
    writeFileSync(file, text)
    await t.rejects(open(t, file), { name: 'DamagedFile' }, what)
    t.equal(readFileSync(file, 'utf8'), text, 'left as it is')
    t.notOk(existsSync(`${file}.lock`), 'the lock is given back')
    const anew = await open(t, file, { onDamage: 'reset' })
    t.same(rowsOf(anew.world), [note(0)])
    t.ok(
      filesOf(join(dir, what)).some((name) => name.includes('damaged-')),
      'a copy is kept',
    )
    await anew.store.close()
  }
})

t.test('recovering keeps what stands before the damage', async (t) => {
  const dir = t.testdir()
  const { world } = await open(t, join(dir, 'a/db.json'))
  for (let n = 1; n <= 9; n++) world.put('notes', note(n))
  const file = copyAside(join(dir, 'a'), join(dir, 'b'))
  const journal = `${file}.journal.0`
  writeFileSync(journal, readFileSync(journal, 'utf8').replace('text 5', 'text X'))
  await t.rejects(open(t, file), { name: 'DamagedFile' })
  const { world: found, store, lines } = await open(t, file, { onDamage: 'recover' })
  t.same(rowsOf(found), [0, 1, 2, 3, 4].map(note))
  t.match(lines.join(), /checksum.*copied to/)
  t.notOk(existsSync(journal), 'the damaged journal is only in the copy')
  found.put('notes', note(77))
  await store.close()
  t.equal(rowsOf((await open(t, file)).world).length, 6)
})

t.test('a document with a changed value, still JSON, is kept up to that line', async (t) => {
  const dir = t.testdir()
  const { store, world } = await open(t, join(dir, 'a/db.json'))
  for (let n = 1; n <= 9; n++) world.put('notes', note(n))
  await store.close()
  const file = copyAside(join(dir, 'a'), join(dir, 'b'))
  const lines = readFileSync(file, 'utf8').split('\n')
  const line = lines.findIndex((text) => text.includes('text 5'))
  lines[line] = lines[line]!.replace('text 5', 'text 7')
  writeFileSync(file, lines.join('\n'))
  t.ok(JSON.parse(lines.join('\n')), 'it is JSON all the same')
  const byte = Buffer.byteLength(`${lines.slice(0, line).join('\n')}\n`)
  await t.rejects(open(t, file), {
    message: `${file}: line ${line + 1}, byte ${byte}: the checksum does not match the line`,
  })
  const recovered = await open(t, file, { onDamage: 'recover' })
  t.same(rowsOf(recovered.world), [0, 1, 2, 3, 4].map(note))
})

t.test('a document of another format is left alone, but for a reset', async (t) => {
  const dir = t.testdir()
  const { store, world } = await open(t, join(dir, 'db.json'))
  world.put('notes', note(1))
  await store.close()
  const file = join(dir, 'db.json')
  const older = readFileSync(file, 'utf8').replace('{"payoutSandbox":5,', '{"payoutSandbox":1,')
  writeFileSync(file, older)
  for (const onDamage of ['refuse', 'recover'] as const) {
    await t.rejects(open(t, file, { onDamage }), {
      name: 'OtherFormat',
      message: /it has format 1, but this version only reads format 5/,
    })
    t.equal(readFileSync(file, 'utf8'), older, 'left as it is')
  }
  t.same(rowsOf((await open(t, file, { onDamage: 'reset' })).world), [note(0)])
  t.ok(
    filesOf(dir).some((name) => name.startsWith('db.json.damaged-')),
    'a copy is kept',
  )
})

t.test('journals of an earlier format are not taken for an empty data file', async (t) => {
  for (const name of ['db.journal.jsonl', 'db.journal.previous.jsonl']) {
    const dir = t.testdir({ [name]: 'something' })
    const file = join(dir, 'db.json')
    for (const onDamage of ['refuse', 'recover'] as const) {
      await t.rejects(open(t, file, { onDamage }), {
        name: 'OtherFormat',
        message: `${join(dir, name)}: line 1, byte 0: it has format 3 or older, but this version only reads format 5`,
      })
      t.same(filesOf(dir), [name], 'left as it is')
    }
    const { store } = await open(t, file, { onDamage: 'reset' })
    const copy = filesOf(dir).find((one) => one.startsWith(`${name}.damaged-`))
    t.equal(readFileSync(join(dir, copy!), 'utf8'), 'something')
    t.notOk(existsSync(join(dir, name)))
    await store.close()
  }
})

t.test('nothing is lost while the document is made anew', async (t) => {
  const dir = t.testdir()
  const { store, world } = await open(t, join(dir, 'a/db.json'))
  for (let n = 1; n <= 3_000; n++) world.put('notes', note(n))
  const done = store.compact()
  let running = true
  void done.then(() => {
    running = false
  })
  for (let n = 5_000, copy = 0; running; n++) {
    world.put('notes', note(n))
    world.put('notes', { ...note(5), text: `five ${n}` })
    await new Promise(setImmediate)
    if (copy++ % 5) continue
    const killed = await open(t, copyAside(join(dir, 'a'), join(dir, `c${copy}`)))
    t.same(rowsOf(killed.world), rowsOf(world))
    await killed.store.close()
  }
  await done
  t.same(rowsOf((await open(t, copyAside(join(dir, 'a'), join(dir, 'z')))).world), rowsOf(world))
})

t.test('one process has a file; a dead one does not hold it', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'db.json')
  const { store } = await open(t, file)
  await t.rejects(open(t, file), {
    name: 'FileInUse',
    message: new RegExp(`process ${process.pid} on `),
  })
  const mine = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
  await store.close()
  t.notOk(existsSync(`${file}.lock`))
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  for (const owner of [
    { ...mine, pid: dead },
    { ...mine, startedAt: 'another start' },
    'garbage',
  ]) {
    writeFileSync(`${file}.lock`, JSON.stringify(owner))
    await (await open(t, file)).store.close()
  }
  t.ok(new FileInUse(file, mine) instanceof Error)
})

t.test('a full disk refuses the change, keeps the rest, and heals', async (t) => {
  // A limit on file sizes is a full disk for one process: the write is cut short, then refused.
  const dir = t.testdir({
    'child.mjs': `
      import { openStore } from '${join(import.meta.dirname, '../../src/storage/store.ts')}'
      import { SandboxError } from '${join(import.meta.dirname, '../../src/model/errors.ts')}'
      const lines = []
      const log = { info: (line) => lines.push(line), warn: (line) => lines.push(line) }
      const specs = { notes: { id: (row) => row.id, at: () => 0, indexes: { all: () => 'all' } } }
      const store = await openStore({ specs, file: process.argv[2], wall: Date.now, log })
      const world = store.addWorld('w', store.makeBase('base', {}))
      let n = 0
      let word
      while (!word && n < 5000) {
        try { world.put('notes', { id: 'n' + n, at: 0, text: 'x'.repeat(300) }); n++ } catch (error) {
          if (!(error instanceof SandboxError)) throw error
          word = error.code
        }
      }
      const failed = store.failure
      let small = 0
      try { while (small < 300) { world.put('notes', { id: 's' + small, at: 0, text: '' }); small++ } } catch {}
      console.log(JSON.stringify({ n, word, failed, healed: small > 0, count: world.tables.notes.count('all', 'all'), small, lines: lines.length }))
      process.kill(process.pid, 'SIGKILL')
    `,
  })
  const child = join(dir, 'bundled.mjs')
  await build({
    entryPoints: [join(dir, 'child.mjs')],
    outfile: child,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  const file = join(dir, 'data/db.json')
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', `trap '' XFSZ; ulimit -f 64; exec "$0" "$1" "$2"`, process.execPath, child, file],
    { encoding: 'utf8' },
  )
  const received = JSON.parse(stdout || JSON.stringify({ stderr }))
  t.match(received, { word: 'storage_unavailable', failed: 'EFBIG', healed: true })
  t.equal(
    received.count,
    received.n + received.small,
    'memory holds what was acknowledged and no more',
  )
  const { world } = await open(t, file)
  t.equal([...world.tables.notes.rows()].length, received.count, 'and so does the disk')
  t.ok(new SandboxError('storage_unavailable', '').status === 503)
})

t.test('a file that cannot be written is reported immediately', async (t) => {
  const dir = t.testdir({ file: '' })
  await t.rejects(open(t, join(dir, 'file/db.json')), { code: /ENOTDIR|EEXIST/ })
})
