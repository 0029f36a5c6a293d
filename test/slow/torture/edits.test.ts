import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { UnreadableFile } from '../../../src/store/errors.ts'
import { createLog, start } from '../../helper.ts'
import { crashCopy } from '../../store/plain-store.ts'
import { figures, LONG, seeded } from './part.ts'
import { FIXTURES, PAYMENT } from './two-users.ts'

const EDITS = LONG ? 200 : 24
const BESIDE_A_JOURNAL = LONG ? 50 : 8

// biome-ignore lint/suspicious/noExplicitAny: a document in the hands of a user.
type Document = any
type Edit = {
  /** Whether a start takes it; otherwise it says what is wrong at a line that the edit touched. */
  isValid: boolean
  /** Changes the parsed document. */
  content?: (document: Document) => void
  /** Changes the text. */
  text?: (text: string) => string
}

const userRow = (n: number) => ({
  user_id: `f0000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  user_type: 'individual',
  email: `hand.${n}@example.com`,
  mobile: `+9197${String(n).padStart(8, '0')}`,
  pid: null,
  tid: null,
  bank_id: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
})

t.test('hand edits of the data file are taken, or refused with what is wrong', async (t) => {
  const dir = t.testdir({})
  const live = join(dir, 'live')
  const chance = seeded()
  const upTo = (n: number) => Math.floor(chance() * n)
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length)]!
  const box = await start(t, { fixtures: FIXTURES, sandbox: { file: join(live, 'db.json') } })
  for (let n = 0; n < 12; n++) {
    await box.post('/v1/user', { email: `u${n}@example.com`, mobile: `+91970000${1000 + n}` })
    await box.post('/v1/transaction', { ...PAYMENT, reference_id: `order ${n}` })
  }
  await box.post('/__admin/snapshots', { name: 'saved' })
  await box.get('/@other/v1/users')
  await box.sandbox.store.compact()
  crashCopy(live, join(dir, 'stopped'))
  for (let n = 0; n < 5; n++)
    await box.post('/v1/user', { email: `late${n}@example.com`, mobile: `+91980000${1000 + n}` })
  crashCopy(live, join(dir, 'killed'))
  await box.close()

  const tablesOf = ({ clients }: Document) => clients.default.tables
  const unused = (document: Document) => {
    const { users, payments } = tablesOf(document)
    const used = new Set(payments.flatMap((row: Document) => [row.from_user_id, row.to_user_id]))
    return users.filter(({ user_id }: Document) => !used.has(user_id))
  }
  const dropUser = (document: Document) => {
    const gone = pick(unused(document))
    const tables = tablesOf(document)
    tables.users = tables.users.filter((row: Document) => row !== gone)
    for (const name of ['events', 'deliveries']) tables[name] = []
  }
  let serial = 0
  const edits: Record<string, () => Edit> = {
    'a value': () => ({
      isValid: true,
      content: (document) => {
        pick<Document>(unused(document)).email = `changed.${++serial}@example.com`
      },
    }),
    'a wrong value': () => {
      const [field, value] = pick([
        ['email', 'nobody'],
        ['mobile', 5],
        ['user_type', 'robot'],
        ['created_at', 'yesterday'],
        ['user_id', null],
        ['more', true],
      ] as const)
      return {
        isValid: false,
        content: (document) => {
          pick<Document>(unused(document))[field] = value
        },
      }
    },
    'a row more': () => ({
      isValid: true,
      content: (document) => tablesOf(document).users.push(userRow(++serial)),
    }),
    'a row twice': () => ({
      isValid: false,
      content: (document) => tablesOf(document).users.push(pick(tablesOf(document).users)),
    }),
    'a row less': () => ({ isValid: true, content: dropUser }),
    'a row less that others need': () => ({
      isValid: false,
      content: (document) => tablesOf(document).users.splice(0, 1),
    }),
    'a table less': () => ({
      isValid: false,
      content: (document) => delete tablesOf(document)[pick(['users', 'kyc', 'timers'])],
    }),
    'a client less': () => ({
      isValid: true,
      content: (document) => {
        delete document.clients.other
      },
    }),
    'the clock': () => ({
      isValid: true,
      content: (document) => {
        document.clients.default.clock.now = '2027-01-01T00:00:00.000Z'
      },
    }),
    'a formatter': () => ({
      isValid: true,
      text: (text) => JSON.stringify(JSON.parse(text), null, pick([0, 2, 4, '\t'])),
    }),
    CRLF: () => ({ isValid: true, text: (text) => text.replaceAll('\n', '\r\n') }),
    BOM: () => ({ isValid: true, text: (text) => `\ufeff${text}` }),
    cut: () => ({
      isValid: false,
      text: (text) => text.slice(0, 1 + upTo(text.trimEnd().length - 1)),
    }),
    'a letter': () => ({
      isValid: false,
      text: (text) => {
        const at = text.indexOf('"user_id"', upTo(text.length / 3))
        return `${text.slice(0, at)}${pick(['x', '/', ',', '}'])}${text.slice(at)}`
      },
    }),
  }
  const counts = { edits: 0, taken: 0, refused: 0, 'wrong or silent': 0 }
  const wrong: string[] = []

  /** The rows of a state that an edit must not lose. */
  const idsOf = (users: { user_id: string }[]) => users.map(({ user_id }) => user_id).sort()

  for (let n = 0; n < EDITS; n++) {
    const isBeside = n < BESIDE_A_JOURNAL
    const folder = join(dir, 'edited')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    cpSync(join(dir, isBeside ? 'killed' : 'stopped'), folder, { recursive: true })
    const file = join(folder, 'db.json')
    const before = readFileSync(file, 'utf8')
    const name = Object.keys(edits)[n % Object.keys(edits).length]!
    const { isValid, content, text } = edits[name]!()
    let after = before
    if (content) {
      const document = JSON.parse(before)
      content(document)
      // As a program would write it, or one row a line as it was.
      after = JSON.stringify(document, null, pick([0, 1, 2]))
    }
    after = text?.(after) ?? after
    if (chance() < 0.5) writeFileSync(file, after)
    else {
      writeFileSync(`${file}.new`, after)
      renameSync(`${file}.new`, file)
    }
    const journalNow = () =>
      existsSync(`${file}.journal`) && readFileSync(`${file}.journal`, 'utf8')
    let journal = journalNow()
    const place = `edit ${n}, ${name}${isBeside ? ' beside a journal' : ''}`
    counts.edits++

    async function opened() {
      const log = createLog()
      try {
        const sandbox = { file, log }
        return { box: await start(t, { fixtures: FIXTURES, sandbox }), log }
      } catch (error) {
        if (!(error instanceof UnreadableFile)) throw error
        const isUntouched = readFileSync(file, 'utf8') === after && journalNow() === journal
        if (!isUntouched) wrong.push(`${place}: the files were changed`)
        return { error }
      }
    }
    let result = await opened()
    if (isBeside) {
      if (!/of a killed sandbox.* 5 changes/.test(result.error?.message ?? ''))
        wrong.push(`${place}: ${result.error?.message ?? 'taken without a question'}`)
      rmSync(`${file}.journal`)
      journal = false
      result = await opened()
    }
    const { error, box } = result
    if (box) {
      counts.taken++
      if (!isValid) wrong.push(`${place}: taken`)
      else {
        const { users } = tablesOf(JSON.parse(after.replace('\ufeff', '')))
        const state = (await box.get('/__admin/state')).body
        if (String(idsOf(state.tables.users)) !== String(idsOf(users)))
          wrong.push(`${place}: rows are lost`)
      }
      await box.close()
    } else {
      counts.refused++
      if (isValid) wrong.push(`${place}: refused, ${error!.message}`)
      else if (!/db\.json:\d+:\d+: ./.test(error!.message))
        wrong.push(`${place}: ${error!.message}`)
    }
  }
  counts['wrong or silent'] = wrong.length
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${counts.edits} edits went wrong`)
  t.ok(counts.taken > EDITS / 4 && counts.refused > EDITS / 5)
  figures({ ...counts, 'beside a journal': BESIDE_A_JOURNAL })
})
