import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Fixtures } from '../../src/model/fixtures.ts'
import { isAadhaar } from '../../src/model/kyc.ts'
import { call, run, serve, spawned } from './program.ts'

const USERS = 400
const made = (...flags: string[]) => run(['generate', '--users', String(USERS), ...flags])
const first = await made()

t.test('the same seed gives the same bytes, another one others', async (t) => {
  const one = await made('--random-seed', '7')
  const two = await made('--random-seed', '7')
  const other = await made('--random-seed', '8')
  t.match(one, { code: 0, stderr: '' })
  t.ok(one.stdout === two.stdout)
  t.not(one.stdout, other.stdout)
  const nameIn = ({ stdout }: typeof one) =>
    JSON.parse(stdout).users[0].email.replace(/\W\d+@.*/, '')
  t.not(nameIn(one), nameIn(other), 'names too')
})

t.test('it starts a sandbox, whose own ids are others', async (t) => {
  const { stdout } = first
  const file = join(t.testdir({}), 'made.json')
  writeFileSync(file, stdout)
  t.match(await run(['validate', file]), { code: 0, stdout: /^No problem in 1 file/ })
  const set: Fixtures = JSON.parse(stdout)
  const { url } = await serve(t, ['--memory', '--clock', 'frozen', '--fixtures', file])
  const page = (await call(`${url}/users?limit=1`)).body.data
  t.equal(page.total_users, USERS)
  t.equal(page.users[0].user_id, set.users.at(-1)!.user_id, 'the last one is the newest')
  const [to] = set.bank_accounts.filter(({ bank_status }) => bank_status === 'success')
  const from = set.users.find(({ user_id }) => user_id !== to!.user_id)!
  const paid = await call(`${url}/transaction`, {
    from_user_id: from.user_id,
    to_user_id: to!.user_id,
    benif_bank_id: to!.bank_id,
    amount: 5,
  })
  t.equal(paid.status, 200)
  const user = { email: 'new@example.com', mobile: '8000000000' }
  const { user_id } = (await call(`${url}/user`, user)).body.data
  const ids = Object.values(set).flatMap((rows) => rows.map((row) => Object.values(row)[0]))
  t.equal(new Set(ids).size, ids.length)
  t.notOk(ids.includes(user_id))
  t.notOk(stdout.includes(paid.body.data[0].transaction_id))
})

t.test('the data are believable, and every number is plainly none', async (t) => {
  const { users, kyc, bank_accounts, transactions }: Fixtures = JSON.parse(first.stdout)
  const share = <R>(rows: R[], is: (row: R) => boolean) => rows.filter(is).length / rows.length
  const shares: [what: string, value: number, from: number, to: number][] = [
    ['businesses', share(users, (row) => row.user_type === 'business'), 0.08, 0.25],
    ['KYC that is through', share(kyc, (row) => row.kyc_status === 'success'), 0.75, 0.95],
    ['KYC records a user', kyc.length / users.length, 0.9, 1.5],
    ['accounts a user', bank_accounts.length / users.length, 0.7, 0.9],
    ['payments a user', transactions.length / users.length, 1, 2],
    ['paid', share(transactions, (row) => row.status === 'SUCCESS'), 0.8, 0.95],
  ]
  for (const [what, value, from, to] of shares)
    t.ok(value > from && value < to, `${what}: ${value}`)
  const found = {
    payments: new Set(transactions.map(({ status }) => status)),
    kyc: new Set(kyc.map(({ kyc_status }) => kyc_status)),
    accounts: new Set(bank_accounts.map(({ bank_status }) => bank_status)),
  }
  t.strictSame(found, {
    payments: new Set(['SUCCESS', 'FAILED', 'PENDING', 'PROCESSING']),
    kyc: new Set(['success', 'pending', 'failed']),
    accounts: new Set(['success', 'pending', 'failed']),
  })
  t.ok(new Set(kyc.map(({ full_name }) => full_name)).size > USERS / 3, 'names differ')
  t.ok(users.every(({ email }) => /^[a-z.]+\.\d+@example\.(com|org)$/.test(email)))
  t.ok(users.every(({ mobile }) => /^\+91900000\d{4}$/.test(mobile)))
  t.ok(bank_accounts.every(({ account_number }) => /^9999500000\d{4}$/.test(account_number)))
  const numbers = (type: string) =>
    kyc.filter((row) => row.document_type === type).map((row) => row.document_number)
  t.ok(numbers('tid').every((pan) => /^XXXPX[2-9]\d{3}A$/.test(pan)))
  t.ok(numbers('pid').every((aadhaar) => /^9999999[0-8]\d{4}$/.test(aadhaar)))
  t.notOk(numbers('pid').some(isAadhaar))
  const days = transactions.flatMap(({ utr, created_at }) => {
    if (utr === undefined) return []
    const [year, day] = [`202${utr[0]}`, Number(utr.slice(1, 4))]
    const output = new Date(Date.UTC(Number(year), 0, day)).toISOString().slice(0, 10)
    return [{ output, made: created_at.slice(0, 10) }]
  })
  t.ok(days.length > USERS / 2)
  t.strictSame(
    days.filter(({ output, made }) => output !== made),
    [],
    'a UTR names its day',
  )
  for (const rows of [users, kyc, bank_accounts, transactions]) {
    const times = rows.map(({ created_at }) => created_at)
    t.strictSame(times, [...times].sort(), 'times grow')
    t.ok(times.at(-1)! < '2026', 'before the start of a frozen clock')
  }
})

t.test('what is made is written as fast as it is read, and not kept', async (t) => {
  const { child, ended } = spawned(['generate', '--users', '20000'], { heapMb: 24 })
  t.teardown(() => child.kill('SIGKILL'))
  let size = 0
  child.stdout.removeAllListeners('data')
  child.stdout.on('data', (text: string) => {
    size += text.length
  })
  const { code, stderr } = await ended
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  t.ok(size > 30_000_000, `${size} characters`)
})

t.test('what it cannot make is refused', async (t) => {
  const cases: [string[], RegExp][] = [
    [[], /generate needs --users N/],
    [['--users', '0'], /--users takes a whole number from 1 to 10000000, not "0"/],
    [['--users', '1e3'], /not "1e3"/],
    [['--users', '5', '--random-seed', 'x'], /--random-seed takes a whole number/],
    [['--users', '5', 'more'], /unexpected argument "more" for generate/],
  ]
  for (const [args, message] of cases)
    t.match(await run(['generate', ...args]), { code: 2, stdout: '', stderr: message })
})
