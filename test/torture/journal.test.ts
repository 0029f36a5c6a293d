import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DamagedFile } from '../../src/storage/damaged-file.ts'
import { type Disk, nodeDisk } from '../../src/storage/disk.ts'
import { openStore } from '../../src/storage/store.ts'
import { TABLES } from '../../src/tables/tables.ts'
import { start } from '../helper.ts'
import { contentOf, crashCopy } from './content.ts'
import { figures, LONG, SEED } from './part.ts'

const DOCUMENT = 'db.json'
const PREVIOUS = 'db.json.journal.1'
const CURRENT = 'db.json.journal.2'
// The short form takes every so-manieth byte; the seed says which.
const STRIDE = LONG ? 1 : 61
const BITS = [0, 1, 2, 3, 4, 5, 6, 7]

/** A store of a little of everything, killed while its document is made anew: a document and two journals. */
async function killed(t: Test) {
  const dir = t.testdir({ live: {} })
  const file = join(dir, 'live/db.json')
  const { post, call, sandbox } = await start(t, { fixtures: {}, sandbox: { file } })
  const { store } = sandbox
  const user = async (n: number, client = '') => {
    const { body } = await post(`${client}/v1/user`, {
      email: `u${n}@example.com`,
      mobile: `987650000${n}`,
    })
    return body.data.user_id as string
  }
  const [payer, payee] = [await user(1), await user(2)]
  const { body } = await post('/v1/bank', {
    user_id: payee,
    account_number: '123456789012',
    ifsc_code: 'HDFC0000001',
  })
  const pay = (amount: number) =>
    post('/v1/transaction', {
      from_user_id: payer,
      to_user_id: payee,
      benif_bank_id: body.data.data.bank_id,
      amount,
      remark: 'ünïcode',
    })
  await pay(1)
  await post('/__admin/snapshots', { name: 'first' })
  await post('/__admin/clients', { name: 'fork', from: { client: 'default' } })
  await post('/__admin/clock/advance', { by: '2s' })
  await store.compact()

  /** What was stored when a journal had this many bytes. */
  const known = new Map<number, string>()
  const remember = (name: string) =>
    known.set(statSync(join(dir, 'live', name)).size, contentOf(store))
  remember(PREVIOUS)
  const steps = [
    () => pay(2),
    () => post('/__admin/rules', { when: { operation: 'createUser' }, then: {}, times: 1 }),
    () => user(3, '/@fork'),
    () => post('/__admin/snapshots/first/restore'),
    () => call('DELETE', '/__admin/clients/fork'),
    () => user(4),
  ]
  for (const step of steps) {
    await step()
    remember(PREVIOUS)
  }
  const before = new Map(known)
  known.clear()
  // A folder stands where the draft goes: the journal is turned over, the document is not made anew.
  mkdirSync(join(dir, 'live/db.json.tmp'))
  await store.compact()
  rmdirSync(join(dir, 'live/db.json.tmp'))
  remember(CURRENT)
  for (const step of [() => pay(3), () => user(5), () => post('/__admin/reset'), () => user(6)]) {
    await step()
    remember(CURRENT)
  }
  crashCopy(join(dir, 'live'), join(dir, 'bent'))
  return { dir: join(dir, 'bent'), known, before, whole: contentOf(store) }
}

// No power is cut here: what need not be waited for is not.
const disk: Disk = {
  ...nodeDisk,
  fdatasyncSync() {},
  fsyncSync() {},
  fsync: Object.assign((_: number, done: (error: null) => void) => done(null), nodeDisk.fsync),
}

/** Opens the files of a folder: what they contain and what was logged about them, or the reported damage. */
async function opened(dir: string) {
  const actual: string[] = []
  const log = { info() {}, warn: (line: string) => void actual.push(line), error() {} }
  try {
    const store = await openStore({
      specs: TABLES,
      file: join(dir, DOCUMENT),
      wall: () => 0,
      log,
      disk,
    })
    const content = contentOf(store)
    return { content, actual, close: () => store.close() }
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
    return { damage: error.damage, actual }
  }
}

const LINE_FEED = 10
const linesBefore = (content: Buffer, end: number) => {
  let count = 0
  for (let i = 0; i < end; i++) if (content[i] === LINE_FEED) count++
  return count
}
const NAMES = [DOCUMENT, PREVIOUS, CURRENT] as const
const readAll = (dir: string) =>
  new Map(NAMES.map((name) => [name, readFileSync(join(dir, name))] as const))

/** Makes these the only files of a folder; `undefined` leaves one out. */
function put(dir: string, files: ReadonlyMap<string, Buffer | undefined>) {
  for (const name of readdirSync(dir)) rmSync(join(dir, name))
  for (const [name, content] of files) if (content) writeFileSync(join(dir, name), content)
}

t.test('a flipped bit in any file is reported with its position and changes no row', async (t) => {
  const { dir, whole } = await killed(t)
  const files = readAll(dir)
  const good = await opened(dir)
  t.equal(good.content, whole, 'as they are the files hold all')
  await good.close?.()

  const wrong: string[] = []
  let flips = 0
  for (const [name, content] of files) {
    put(dir, files)
    for (let byte = SEED % STRIDE; byte < content.length; byte += STRIDE) {
      const line = linesBefore(content, byte) + 1
      for (const bit of LONG ? BITS : [byte % BITS.length]) {
        const bent = Buffer.from(content)
        bent[byte]! ^= 1 << bit
        writeFileSync(join(dir, name), bent)
        const { content: found, damage, close } = await opened(dir)
        await close?.()
        flips++
        const place = `bit ${bit} of byte ${byte}, line ${line} of ${name}`
        if (!damage) {
          wrong.push(`${place}: taken${found === whole ? '' : ', with wrong rows'}`)
          put(dir, files)
          continue
        }
        // What the head of a document says is guarded by the checksum of the line after it.
        const lines = name === DOCUMENT && line === 1 ? [1, 2] : [line]
        if (!damage.file.endsWith(name) || !lines.includes(damage.line))
          wrong.push(`${place}: reported as ${JSON.stringify(damage)}`)
        if (!readFileSync(join(dir, name)).equals(bent)) wrong.push(`${place}: rewritten`)
      }
    }
    writeFileSync(join(dir, name), content)
  }
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${flips} flips went wrong`)
  figures({ 'flipped bits': flips, 'not reported': wrong.length })
})

t.test('a journal cut anywhere holds what was whole before the cut', async (t) => {
  const { dir, known, before } = await killed(t)
  const all = readAll(dir)
  const wrong: string[] = []
  let cuts = 0
  let checked = 0
  const alone = new Map<string, Buffer | undefined>(all).set(CURRENT, undefined)
  const table = [
    { name: CURRENT, files: new Map<string, Buffer | undefined>(all), truth: known },
    { name: PREVIOUS, files: alone, truth: before },
  ] as const
  for (const { name, files, truth } of table) {
    const content = all.get(name)!
    let last: string | undefined
    for (let end = 0; end <= content.length; end++) {
      const isWhole = end === 0 || content[end - 1] === LINE_FEED
      if (!isWhole && (end + SEED) % STRIDE !== 0) continue
      put(dir, files)
      writeFileSync(join(dir, name), content.subarray(0, end))
      const { content: found, damage, actual, close } = await opened(dir)
      await close?.()
      cuts++
      const place = `${name} cut at ${end}`
      if (damage) wrong.push(`${place}: ${JSON.stringify(damage)}`)
      const torn = actual.some((line) => line.includes(`${name}: the last`))
      if (torn === isWhole) wrong.push(`${place}: ${isWhole ? 'reported as torn' : 'not reported'}`)
      const wanted = isWhole ? truth.get(end) : last
      if (wanted !== undefined) {
        checked++
        if (found !== wanted) wrong.push(`${place}: wrong rows`)
      }
      // Between two calls a line may stand that is half of what the second one did.
      if (isWhole) last = found
    }
  }
  t.ok(checked > 10)
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${cuts} cuts went wrong`)
  figures({ 'journal cuts': cuts, 'wrong after a cut': wrong.length })
})

t.test('a document, or a journal that another goes on from, is missed if it is cut', async (t) => {
  const { dir } = await killed(t)
  const files = readAll(dir)
  const wrong: string[] = []
  let cuts = 0
  for (const name of [DOCUMENT, PREVIOUS]) {
    const content = files.get(name as typeof DOCUMENT)!
    for (let end = SEED % STRIDE; end < content.length; end += STRIDE) {
      put(dir, files)
      writeFileSync(join(dir, name), content.subarray(0, end))
      const { damage, close } = await opened(dir)
      await close?.()
      cuts++
      const line = linesBefore(content, end) + 1
      const place = `${name} cut at ${end}`
      if (!damage) wrong.push(`${place}: taken`)
      else if (name === DOCUMENT && Math.abs(damage.line - line) > 1)
        wrong.push(`${place}: reported as ${JSON.stringify(damage)}`)
    }
  }
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${cuts} cuts went wrong`)
  figures({ 'cuts to report': cuts, 'cuts not reported': wrong.length })
})
