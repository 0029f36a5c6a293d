import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAdminClient } from '../src/admin/admin-client.ts'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { serve } from './cli/program.ts'

// `npm run languages` runs the files of clients/; this file compares the pages with them.
const CLIENTS = join(PACKAGE_ROOT, 'clients')
const read = (page: string) => readFileSync(join(PACKAGE_ROOT, page), 'utf8')
const PAGE = read('docs/languages.md')
const LANGUAGES = ['python', 'java', 'go', 'php'] as const
type Language = (typeof LANGUAGES)[number]

/** All code of a client: its own files and its example. */
const codeOf = (language: Language) =>
  readdirSync(join(CLIENTS, language), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(py|java|go|php)$/.test(name))
    .map((name) => readFileSync(join(CLIENTS, language, name), 'utf8'))
    .join('\n')

const blocksOf = (page: string, language: Language) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , block]) => block!.trimEnd())

t.test('each block of code of the pages is in a file that npm run languages runs', async (t) => {
  for (const language of LANGUAGES) {
    const code = codeOf(language)
    const inReadme = blocksOf(read(`clients/${language}/README.md`), language)
    t.strictSame(blocksOf(PAGE, language), [], 'the README of a client shows its code')
    t.ok(inReadme.length >= 1, `the README of ${language} shows code`)
    for (const block of inReadme)
      for (const part of block.split(/\n{2,}/)) t.ok(code.includes(part), `${language}: ${part}`)
  }
  t.match(PAGE, '](../clients/any-language.sh)')
})

t.test('each call in the table of the page is a method of that client', async (t) => {
  const rows = [...PAGE.matchAll(/^\| (.+ \|)$/gm)].map(([, row]) => row!.split('|'))
  const head = rows.findIndex(([first]) => first!.trim() === 'to')
  const calls = rows.slice(head + 1).slice(0, 15)
  const columns = rows[head]!.map((cell) => cell.trim())
  t.strictSame(columns.slice(0, 5), ['to', 'Python', 'Java', 'Go', 'PHP'])
  for (const [index, language] of LANGUAGES.entries()) {
    const code = codeOf(language)
    const names = calls.flatMap((cells) =>
      [...cells[index + 1]!.matchAll(/`(\w+)[`(]/g)].map(([, name]) => name!),
    )
    t.ok(names.length >= 10, `${language}: ${names}`)
    for (const name of names) {
      const declared = new RegExp(
        `(?:def |function |\\) |> |World |void |Receiver |Instant )${name}\\(`,
      )
      t.ok(declared.test(code), `${language}: ${name}`)
    }
  }
})

/** What a row of the table of faults says of each fault. */
function faultsOf(client: string): Record<string, string> {
  const [, section = ''] = PAGE.split('\n## What a broken response looks like\n')
  const rows = [...section.matchAll(/^\| (.+) \|$/gm)].map(([, row]) => row!.split(' | '))
  const found = rows.find(([name]) => name === client)
  if (!found) throw new Error(`the table has no ${client}`)
  return Object.fromEntries(rows[0]!.map((fault, i) => [fault.replaceAll('`', ''), found[i]!]))
}
const FAULTS = ['reset', 'empty', 'truncate', 'malformed', 'hang'] as const
const wordsOf = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)

t.test('the table of faults has the words that the examples expect', async (t) => {
  const rows: [string, Language][] = [
    ['Python `urllib`', 'python'],
    ['Java `HttpClient`', 'java'],
    ['Go `net/http`', 'go'],
    ['PHP streams', 'php'],
  ]
  for (const [row, language] of rows) {
    const faults = faultsOf(row)
    // A call of the library is described, and is in no test.
    const prose = ['json_decode']
    for (const fault of FAULTS)
      for (const word of wordsOf(faults[fault]!).filter((one) => !prose.includes(one)))
        t.ok(codeOf(language).includes(word), `${row}, ${fault}: ${word}`)
  }
})

t.test('the table of faults says what fetch and curl report', async (t) => {
  const hasCurl = spawnSync('curl', ['--version']).status === 0
  const { url, adminUrl, token } = await serve(t, ['--memory', '--clock', 'frozen'])
  const admin = createAdminClient({ url: adminUrl })
  const expected = faultsOf('Node `fetch`')
  for (const fault of FAULTS) {
    await admin.rules.push({ when: { operation: 'getClientProfile' }, then: { fault }, times: 1 })
    const failure = await fetch(`${url}/client/profile`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(fault === 'hang' ? 500 : 10_000),
    })
      .then((response) => response.json())
      .then(
        () => undefined,
        (error: Error & { cause?: { code: string } }) => error,
      )
    const [name, code] = wordsOf(expected[fault]!)
    t.equal(failure?.name, name, fault)
    if (failure?.cause) t.equal(failure.cause.code, code, fault)
    if (!hasCurl) continue
    await admin.rules.push({ when: { operation: 'getClientProfile' }, then: { fault }, times: 1 })
    const words = ['-sS', '--max-time', '1', '-H', `Authorization: Bearer ${token}`]
    const [ended] = await once(spawn('curl', [...words, `${url}/client/profile`]), 'exit')
    t.match(faultsOf('curl')[fault]!, new RegExp(`^exit code ${ended}\\b`), fault)
  }
})
