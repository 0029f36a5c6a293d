import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PAYMENT } from '../helper.ts'
import { call, run, serve } from './program.ts'

const HEAD =
  'booked_at,partner_transaction_id,client_transaction_id,transaction_id,utr,direction,amount'

/** A sandbox in which three payments were made two days ago: one settled, one failed, and by default one came back. */
async function paid(t: Test, second = ['with, comma and "quotes"', 100.96]) {
  const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen'])
  for (const [reference_id, amount] of [['plain', 100], second, ['failed', 100.91]])
    await call(`${url}/transaction`, { ...PAYMENT, reference_id, amount })
  await run(['clock', 'advance', '2d', '--url', url])
  return { url, adminUrl }
}

t.test('a statement is a table with its sums, CSV by RFC 4180, or JSON', async (t) => {
  const cwd = t.testdir({})
  const { url, adminUrl } = await paid(t)
  const day = ['statement', '--date', '2026-01-01', '--url', url]
  const { stdout } = await run(day)
  t.match(stdout, /^booked_at .+ amount\n2026-01-01T00:00:03\.000Z .+ debit +100\.00\n/)
  t.match(stdout, /\n\n2 debits of 200\.96, 1 return of 100\.96, net 100\.00\n$/)
  t.match(
    (await run(['statement', '--from', '2026-02-01', '--url', url])).stdout,
    /^no money moved\n\n0 debits of 0\.00, 0 returns of 0\.00, net 0\.00\n$/,
  )
  const written = await run([...day, '--csv', '--out', 's.csv'], { cwd })
  t.strictSame(written, { code: 0, stdout: '', stderr: '' })
  const [head, first, second, third, ...rest] = readFileSync(join(cwd, 's.csv'), 'utf8').split(
    '\r\n',
  )
  t.equal(head, HEAD)
  t.match(first, /^2026-01-01T00:00:03\.000Z,PTX\d+,plain,[0-9a-f-]{36},\d{12},debit,100\.00$/)
  t.match(second, /,"with, comma and ""quotes""",.+,debit,100\.96$/)
  t.match(third, /,credit,100\.96$/)
  t.strictSame(rest, [''])
  t.equal(
    (await run(['statement', '--to', '2024-01-01', '--csv', '--url', url])).stdout,
    `${HEAD}\r\n`,
  )
  t.equal(JSON.parse((await run([...day, '--json'])).stdout).net, '100.00')
  t.match(await run(['statement', '--date', 'today', '--url', url]), { code: 2, stderr: /date/ })

  const definition = { statement: [{ when: { reference: 'plain' }, then: { omit: true } }] }
  await call(`${adminUrl}/scenario`, { definition }, {}, 'PUT')
  t.notMatch((await run([...day, '--csv'])).stdout, /,plain,/)
  t.match((await run([...day, '--csv', '--truth'])).stdout, /,plain,/)

  writeFileSync(join(cwd, 'books.csv'), 'reference,amount\nplain,100\n')
  const told = await run(['reconcile', 'books.csv', '--statement', 's.csv', '--url', url], { cwd })
  t.match(told, {
    code: 1,
    stdout: /^difference .+\n(?:missing_in_books .+"quotes".+\n){2}\n1 row matched/,
  })
})

const HEADS = 'reference,amount'
const GOOD = `${HEADS}\na,5\n`
const NAMED = ['--columns', 'reference=Ref, amount=Amt,status=State']
/** Books as people have them, and what comes of it: nothing differs, something does, or they can't be read. */
const FILES: [text: string, words: string[], code: number, printed: RegExp][] = [
  ['reference,amount\nplain,100\n', [], 0, /^no differences\n\n1 row matched, 0 differences\n/],
  [
    '\ufeffReference;Amount;UTR;Note\r\nplain;"₹100.00";;"two\r\nlines"\r\n\r\n',
    [],
    1,
    /\nutr +Payment plain: /,
  ],
  ['Ref\tAmt\tState\nplain\t100\tSUCCESS\nfailed\t100.91\tFAILED\n', NAMED, 0, /2 rows matched/],
  [
    'amount,partner_transaction_id\n5,PTX0\n',
    [],
    1,
    /^difference .+\nmissing_in_books .+\nmissing_in_statement +Transaction PTX0: /,
  ],
  ['reference,amount,direction\nplain,100,Debit\n', [], 0, /1 row matched/],
  [`${HEADS},booked_at\nplain,100,2026-01-02\n`, ['--date', '2026-01-02'], 1, /_in_statement/],
  [
    'reference,amount\nplain,"1,00\n',
    [],
    2,
    /^b\.csv:2:2: a quote opens here and never closes; .+\.\n/,
  ],
  [`${HEADS}\nplain,1x\n`, [], 2, /^b\.csv:2:2: amount "1x" isn't an amount; .+1500\.50\.\n/],
  ['reference,amount\n\nplain,\n', [], 2, /^b\.csv:3:2: amount "" isn't an amount/],
  [`${HEADS},status\na,5,done?\n`, [], 2, /^b\.csv:2:3: status "done\?" isn't a known status/],
  ['reference,amount,direction\na,5,out\n', [], 2, /^b\.csv:2:3: .+ must be debit or credit\.\n/],
  ['reference,amount,booked_at\na,5,soon\n', [], 2, /^b\.csv:2:3: .+ must be a date/],
  ['reference,amount\n,5\n', [], 2, /^b\.csv:2: has neither a reference nor a transaction_id\.\n/],
  [
    'reference,amount\na,5,6\n',
    [],
    2,
    /^b\.csv:2:\d+: has more or fewer values than the first line has names\.\n/,
  ],
  ['', [], 2, /^b\.csv: is empty\. The first line has/],
  [
    'ref,amount\na,5\n',
    [],
    2,
    /^b\.csv:1: has no column reference or transaction_id, only ref, amount\. .+--columns/,
  ],
  ['reference,amt\na,5\n', [], 2, /^b\.csv:1: has no column amount, only reference, amt\./],
  [GOOD, ['--columns', 'amount=amont'], 2, /no column "amont"; did you mean amount\?/],
  [GOOD, ['--columns', 'sum=amount'], 2, /--columns takes pairs such as/],
  [GOOD, ['--statement', 'b.csv'], 2, /^b\.csv:1: is no statement: .+ booked_at\./],
  [GOOD, ['--statement', 'none.csv'], 2, /^none\.csv cannot be read \(ENOENT\)\.\n/],
]

t.test('books are read as spreadsheets save them, or refused with line and column', async (t) => {
  const cwd = t.testdir({})
  const { url } = await paid(t, ['pending', 100.95])
  for (const [text, words, code, printed] of FILES) {
    writeFileSync(join(cwd, 'b.csv'), text)
    const ended = await run(['reconcile', 'b.csv', ...words, '--url', url], { cwd })
    t.equal(ended.code, code, text)
    t.match(
      code === 2 ? ended.stderr.replace(/^payout-sandbox: /, '') : ended.stdout,
      printed,
      text,
    )
  }
  const { stdout } = await run(['reconcile', 'b.csv', '--json', '--url', url], { cwd })
  t.match(JSON.parse(stdout), { matched: 0, differences: [{ kind: 'missing_in_books' }, {}] })
})
