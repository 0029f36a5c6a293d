import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { UnreadableFile } from '../../../src/store/errors.ts'
import { start } from '../../helper.ts'
import { crashCopy, UNSYNCED } from '../../store/plain-store.ts'
import { contentOf, openFiles } from './content.ts'
import { figures, LONG, SEED } from './part.ts'
import { FIXTURES, PAYMENT } from './two-users.ts'

// The short form takes every so-manieth byte; the seed says which.
const STRIDE = LONG ? 1 : 53
const BITS = [0, 1, 2, 3, 4, 5, 6, 7]
const LINE_FEED = 10

/** The files of a killed sandbox, and what it held after each line of its journal, by the size of the journal. */
async function killed(t: Test) {
  const dir = t.testdir({ bent: {} })
  const file = join(dir, 'live/db.json')
  const { sandbox, call, post } = await start(t, { fixtures: FIXTURES, sandbox: { file } })
  const { store } = sandbox
  const user = (n: number, base = '') =>
    post(`${base}/v1/user`, { email: `u${n}@example.com`, mobile: `+91970000000${n}` })
  const pay = (n: number) => post('/v1/transaction', { ...PAYMENT, reference_id: `order ${n} ₹` })
  await user(1)
  await pay(1)
  await post('/__admin/snapshots', { name: 'first' })
  await store.compact()
  /** What was stored when the journal had this many bytes. */
  const known = new Map<number, string>()
  const steps = [
    () => pay(2),
    () => post('/__admin/clients', { name: 'fork', from: { client: 'default' } }),
    () => post('/__admin/rules', { when: { operation: 'createUser' }, then: {}, times: 1 }),
    () => user(3, '/@fork'),
    () => post('/__admin/clock/advance', { by: '2s' }),
    () => post('/__admin/snapshots/first/restore'),
    () => user(4),
    () => call('DELETE', '/__admin/clients/fork'),
    () => post('/__admin/reset'),
    () => user(5),
  ]
  for (const step of steps) {
    await step()
    known.set(readFileSync(`${file}.journal`).length, contentOf(store))
  }
  crashCopy(join(dir, 'live'), join(dir, 'files'))
  const [document, journal] = ['db.json', 'db.json.journal'].map((name) =>
    readFileSync(join(dir, 'files', name)),
  )
  return { dir, document: document!, journal: journal!, known, whole: contentOf(store) }
}

/** Opens a document with a journal: what they contain and what was logged, or the error. */
async function opened(dir: string, document: Buffer, journal: Buffer) {
  const file = join(dir, 'bent/db.json')
  rmSync(join(dir, 'bent'), { recursive: true })
  mkdirSync(join(dir, 'bent'))
  writeFileSync(file, document)
  writeFileSync(`${file}.journal`, journal)
  const lines: string[] = []
  try {
    const store = await openFiles(file, UNSYNCED, (line) => void lines.push(line))
    const content = contentOf(store)
    await store.close()
    return { content, lines }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    const isUntouched =
      readFileSync(file).equals(document) && readFileSync(`${file}.journal`).equals(journal)
    return { error, isUntouched, lines }
  }
}

t.test('a flipped bit of a journal is reported with its line, and changes no row', async (t) => {
  const { dir, document, journal, whole } = await killed(t)
  t.equal((await opened(dir, document, journal)).content, whole, 'as they are the files hold all')
  const wrong: string[] = []
  let flips = 0
  for (let byte = SEED % STRIDE; byte < journal.length; byte += STRIDE)
    for (const bit of LONG ? BITS : [byte % BITS.length]) {
      const bent = Buffer.from(journal)
      bent[byte]! ^= 1 << bit
      const line = journal.subarray(0, byte).filter((one) => one === LINE_FEED).length + 1
      const place = `bit ${bit} of byte ${byte}, line ${line}`
      const { error, content, isUntouched } = await opened(dir, document, bent)
      flips++
      if (!error) wrong.push(`${place}: taken${content === whole ? '' : ', with wrong rows'}`)
      else if (!isUntouched) wrong.push(`${place}: the files were changed`)
      else if (!error.message.includes(`line ${line} `)) wrong.push(`${place}: ${error.message}`)
    }
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${flips} flips went wrong`)
  figures({ 'flipped bits': flips, 'not reported': wrong.length })
})

t.test('a journal cut anywhere holds what was whole before the cut', async (t) => {
  const { dir, document, journal, known } = await killed(t)
  const wrong: string[] = []
  let [cuts, checked] = [0, 0]
  let last: string | undefined
  for (let end = 0; end <= journal.length; end++) {
    // A line that lacks only its end is whole.
    const isWhole = journal[end - 1] === LINE_FEED || journal[end] === LINE_FEED
    if (!isWhole && (end + SEED) % STRIDE !== 0) continue
    const place = `cut at ${end}`
    const { content, error, lines } = await opened(dir, document, journal.subarray(0, end))
    cuts++
    if (end < journal.indexOf(LINE_FEED)) {
      // It is put in place as a whole, so its first line is never torn.
      if (!error) wrong.push(`${place}: taken`)
      continue
    }
    if (error) wrong.push(`${place}: ${error.message}`)
    if (lines.some((line) => line.includes('incomplete write')) === isWhole)
      wrong.push(`${place}: ${isWhole ? 'reported as torn' : 'not reported'}`)
    const wanted = isWhole ? known.get(journal[end] === LINE_FEED ? end + 1 : end) : last
    if (wanted !== undefined) {
      checked++
      if (content !== wanted) wrong.push(`${place}: wrong rows`)
    }
    if (isWhole) last = content
  }
  t.ok(checked > 10)
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${cuts} cuts went wrong`)
  figures({ 'journal cuts': cuts, 'wrong after a cut': wrong.length })
})
