import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type * as z from 'zod'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { readFixtures } from '../../src/content/fixture-files.ts'
import { fixturesOf } from '../../src/content/fixtures.ts'
import { FIXTURE_ROWS } from '../../src/model/fixtures.ts'
import type { Rows } from '../../src/tables/rows.ts'
import { GUARDED, pluck, start, TOKEN } from '../helper.ts'

const at = '2025-01-01T00:00:00.000Z'
const user = (n: number, more: object = {}) => ({
  user_id: `00000000-0000-4000-8000-00000000000${n}`,
  email: `u${n}@example.com`,
  mobile: `987650000${n}`,
  created_at: at,
  ...more,
})

const refusal = (path: string): string[] => {
  try {
    readFixtures(path)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

t.test('a misnamed file in a folder is rejected, with the intended name', async (t) => {
  const folder = t.testdir({
    'README.md': '# Who is who',
    'users.json': '[]',
    'banks.json': '[]',
    'bank_accounts.json': '[]',
    'user.json': '[]',
    'payments.json': '[]',
    alone: { 'transaction.json': '[]' },
    good: { 'README.md': '', 'users.json': '[]', 'kyc.json': 'null', 'data.csv': '' },
  })
  t.strictSame(refusal(folder), [
    `${folder}/bank_accounts.json: is not a fixture file; did you mean bank-accounts.json?`,
    `${folder}/banks.json: is not a fixture file; did you mean bank-accounts.json?`,
    `${folder}/payments.json: is not a fixture file; a fixture folder can contain clients.json, users.json, kyc.json, bank-accounts.json, transactions.json, webhooks.json`,
    `${folder}/user.json: is not a fixture file; did you mean users.json?`,
  ])
  t.match(refusal(join(folder, 'alone')), [/contains none of/, /did you mean transactions\.json/])
  t.strictSame(refusal(join(folder, 'good')), [])
})

t.test('a problem in a file is reported with its line and column', async (t) => {
  const row = (n: number, more: object = {}) => `  ${JSON.stringify(user(n, more))}`
  const client = JSON.stringify({
    client: 'default',
    client_id: 'c0000000-0000-4000-8000-000000000001',
    access_token: 'sbx_test_token',
    name: 'A',
    email: 'a@example.com',
    created_at: '2025-01-06T03:30:00.000Z',
  }).slice(1, -1)
  const folder = t.testdir({
    'users.json': `[\n${row(1)},\n${row(2, { user_id: user(1).user_id })}\n]\n`,
    'kyc.json': '[{\n  "kyc_id": 5\n}]\n',
    'one.json': `\ufeff{\n"users": [\n${row(1)},\n]}\n`,
    'set.json': `{\n"users": [\n${row(1, { client: 'nobody' })}\n],\n"people": []}\n`,
    'old.json': `{"clients": [{\n  ${client},\n  "checkKyc": true,\n  "frobnicate": 1\n}]}`,
    'twice.json': `{"users": [\n${row(1)},\n${row(2, { user_id: user(1).user_id })}]}`,
    unreadable: { 'users.json': {} },
  })
  t.match(refusal(folder), [
    /^.+kyc\.json:2:13: \[0\]\.kyc_id: /,
    /^.+kyc\.json:1:2: \[0\]\.user_id: /,
  ])
  t.strictSame(refusal(join(folder, 'one.json')), [
    `${folder}/one.json:4:1: is not JSON: Unexpected token ']'`,
  ])
  t.match(refusal(join(folder, 'set.json')), [
    /^.+set\.json:5:11: people: is unknown; must be one of clients, /,
  ])
  t.strictSame(refusal(join(folder, 'twice.json')), [
    `${folder}/twice.json:3:14: users[1].user_id: is the same as in an earlier row`,
  ])
  t.strictSame(refusal(join(folder, 'old.json')), [
    `${folder}/old.json:3:15: clients[0].checkKyc: is an unknown field; did you mean "check_kyc"?`,
    `${folder}/old.json:4:17: clients[0].frobnicate: is an unknown field`,
  ])
  t.strictSame(refusal(join(folder, 'unreadable')), [
    `${folder}/unreadable/users.json: the file cannot be read (EISDIR)`,
  ])
  t.strictSame(refusal(join(folder, 'gone')), [
    `${folder}/gone: there is no such file or folder; --fixtures takes a JSON file or a folder of JSON files`,
  ])
})

const idOf = (letter: string, n: number) => `${letter}0000000-0000-4000-8000-00000000000${n}`
const kyc = (n: number, more: object = {}) => ({
  kyc_id: idOf('d', n),
  user_id: user(1).user_id,
  document_type: 'tid',
  document_name: 'pan',
  document_number: `XXXPX000${n}A`,
  full_name: 'Nila Rao',
  dob: '1990-01-01',
  kyc_status: 'success',
  verified_by: 'system',
  created_at: at,
  ...more,
})
const aadhaar = { document_type: 'pid', document_name: 'aadhar', verified_by: 'client' }
const account = (n: number, more: object = {}) => ({
  bank_id: idOf('b', n),
  user_id: user(2).user_id,
  account_number: `99991234567${n}`,
  ifsc_code: 'HDFC0000001',
  bank_status: 'success',
  account_holder_name: 'OM RAO',
  created_at: at,
  ...more,
})
const payment = (n: number, more: object = {}) => ({
  transaction_id: idOf('a', n),
  id: idOf('e', n),
  partner_transaction_id: `P${n}`,
  from_user_id: user(1).user_id,
  to_user_id: user(2).user_id,
  benif_bank_id: account(1).bank_id,
  amount: '10.00',
  status: 'PENDING',
  created_at: at,
  ...more,
})
const SET = {
  users: [user(1), user(2)],
  kyc: [kyc(1)],
  bank_accounts: [account(1)],
  transactions: [payment(1)],
}

const NOBODY = user(9).user_id
const SAME = 'is the same as in an earlier row'
const CLIENT = {
  client: 'a',
  client_id: idOf('c', 1),
  access_token: 'x',
  name: 'A',
  created_at: at,
}
const ofNobody = account(2, { user_id: NOBODY })
const ofPayer = account(1, { user_id: user(1).user_id })
const short = account(1, { account_number: '123' })
const webhook = { webhook_id: idOf('f', 1), url: 'http://x/', webhook_secret: 's' }

const messageOf = (set: object): string => {
  try {
    fixturesOf(set, 'set.json')
    return 'nothing'
  } catch (error) {
    return (error as Error).message
  }
}

/** One row too many or a wrong one, where it is, and what is said. */
const BROKEN: [more: object, place: string, says: string][] = [
  [{ users: [user(1), user(1, { mobile: '9876500009' }), user(2)] }, 'users[1].user_id', SAME],
  [{ kyc: [kyc(1), kyc(1)] }, 'kyc[1].kyc_id', SAME],
  [{ kyc: [kyc(1, { user_id: NOBODY })] }, 'kyc[0].user_id', `there is no user ${NOBODY}`],
  [{ kyc: [kyc(1, { document_type: 'pid' })] }, 'kyc[0].document_name', 'must be aadhar with pid'],
  [{ kyc: [kyc(1, { dob: '1990-02-30' })] }, 'kyc[0].dob', 'must be a real date as YYYY-MM-DD; '],
  [{ bank_accounts: [account(1), ofNobody] }, 'bank_accounts[1].user_id', 'there is no '],
  [{ bank_accounts: [short] }, 'bank_accounts[0].account_number', 'must be 5 to 35 letters'],
  [
    { bank_accounts: [ofPayer] },
    'transactions[0].benif_bank_id',
    'does not belong to the receiver',
  ],
  [{ users: [user(1), { ...user(2), name: 'Om' }] }, 'users[1].name', 'is an unknown field'],
  [
    { users: [user(1, { created_at: 'noon' })] },
    'users[0].created_at',
    'must be an ISO 8601 instant',
  ],
  [{ webhooks: [{ ...webhook, client: 'nobody' }] }, 'webhooks[0].client', 'there is no client n'],
  [
    { webhooks: [{ ...webhook, url: 'ftp://x/' }] },
    'webhooks[0].url',
    'is not an absolute http or',
  ],
  [
    { clients: [CLIENT], users: [], kyc: [], bank_accounts: [], transactions: [] },
    'clients[0].client',
    'one client must have the name default',
  ],
]

/** Fields of the first payment or more rows, the field that is wrong, and what is said. */
const BROKEN_PAYMENTS: [rows: object[], place: string, says: string][] = [
  [[payment(1), payment(1, { id: idOf('e', 2) })], '[1].transaction_id', SAME],
  [[payment(1), payment(2, { id: idOf('e', 1) })], '[1].id', SAME],
  [[payment(1, { utr: '1' }), payment(2, { utr: '1' })], '[1].utr', SAME],
  [[payment(1, { from_user_id: NOBODY })], '[0].from_user_id', `there is no user ${NOBODY}`],
  [[payment(1, { to_user_id: NOBODY })], '[0].to_user_id', `there is no user ${NOBODY}`],
  [[payment(1, { from_user_id: user(2).user_id })], '[0].to_user_id', 'must not be the payer'],
  [[payment(1, { benif_bank_id: NOBODY })], '[0].benif_bank_id', 'there is no bank account'],
  [[payment(1, { status: 'FAILED' })], '[0].reason', 'is required for status FAILED'],
  [[payment(1, { amount: undefined })], '[0].amount', 'is required'],
  [[payment(1, { status: 'DONE' })], '[0].status', ''],
  ...[10.125, '10.125', -1, true, 1e10].map((amount): [object[], string, string] => [
    [payment(1, { amount })],
    '[0].amount',
    `must be rupees such as 250, 250.5 or "250.00"; found ${JSON.stringify(amount)}`,
  ]),
]

t.test('each broken relation of a set is reported with its path', async (t) => {
  t.equal(messageOf(SET), 'nothing', 'the set itself is good')
  const check = (more: object, place: string, says: string) => {
    const message = messageOf({ ...SET, ...more })
    t.ok(message.startsWith(`set.json: ${place}: ${says}`), `${place}: ${message}`)
  }
  for (const row of BROKEN) check(...row)
  for (const [transactions, place, says] of BROKEN_PAYMENTS)
    check({ transactions }, `transactions${place}`, says)
  const failed = payment(1, { status: 'FAILED', reason: 'insufficient_funds' })
  t.equal(messageOf({ ...SET, transactions: [failed] }), 'nothing')
})

/** The stored payments of a set. */
const paymentsOf = (transactions: object[], more: object = {}) =>
  fixturesOf({ ...SET, ...more, transactions }).get('default')!.rows.payments as Rows['payments'][]

t.test('an amount is a number or a text', async (t) => {
  const amounts = [250, 250.5, '250', '250.5', '250.50', 1.1, 9999999999.99]
  const rows = paymentsOf(amounts.map((amount, i) => payment(i + 1, { amount })))
  const paise = [25_000, 25_050, 25_000, 25_050, 25_050, 110, 999_999_999_999]
  t.strictSame(pluck(rows, 'paise'), paise)
})

t.test('ids and UTRs that transactions have not are derived', async (t) => {
  const none = { transaction_id: undefined, id: undefined, partner_transaction_id: undefined }
  const bare = (more: object = {}) => payment(1, { ...none, ...more })
  const success = { status: 'SUCCESS' }
  // Equal rows have ids of their own; 19:00 UTC is the next day in India.
  const set = [
    bare(success),
    bare(success),
    bare(),
    bare({ ...success, created_at: '2025-12-31T19:00:00Z' }),
    bare({ status: 'FAILED', reason: 'insufficient_funds' }),
  ]
  const rows = paymentsOf(set)
  t.strictSame(paymentsOf(set), rows, 'each start derives the same')
  const ids = rows.flatMap((row) => [row.transaction_id, row.id, row.partner_transaction_id])
  t.equal(new Set(ids).size, 15)
  for (const { id, transaction_id, partner_transaction_id, client_transaction_id } of rows) {
    for (const one of [id, transaction_id]) t.match(one, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    t.match(partner_transaction_id, /^PTX\d{15}$/)
    t.equal(client_transaction_id, id)
  }
  // Oldest first.
  const [first, second, pending, failed, later] = pluck(rows, 'utr')
  t.match(first, /^5001\d{8}$/)
  t.match(second, /^5001\d{8}$/)
  t.not(first, second)
  t.match(later, /^6001\d{8}$/)
  t.strictSame([pending, failed], [null, null])

  // The second of two equal rows derives the same again beside a row that has what the first one derived.
  const { transaction_id, id, partner_transaction_id, utr } = rows[0]!
  const given = { transaction_id, id, partner_transaction_id, utr, amount: 11, ...success }
  t.strictSame(paymentsOf([payment(1, given), ...set.slice(1)]).slice(1), rows.slice(1))
})

t.test(
  'a user needs an e-mail address and a mobile; what a set lacks is the same at each start',
  async (t) => {
    const users = ['payer', 'receiver', 'payer'].map((name, n) => ({
      email: `${name}@example.com`,
      mobile: `900000040${n % 2}`,
    }))
    const { get } = await start(t, { ...GUARDED, fixtures: { users } })
    const page = (await get('/v1/users', TOKEN)).body.data
    t.match(pluck(page.users, 'email'), [
      'payer@example.com',
      'receiver@example.com',
      users[0]!.email,
    ])
    t.equal(new Set(pluck(page.users, 'user_id')).size, 3, 'equal rows have ids of their own')
    t.same((await (await start(t, { fixtures: { users } })).get('/v1/users')).body.data, page)
    const [{ user_id }] = page.users
    const without = (row: object, ...names: string[]) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
    const set = {
      clients: [{ client: 'default' }, { client: 'other' }],
      users,
      kyc: [without(kyc(1, { user_id }), 'kyc_id', 'created_at')],
      bank_accounts: [without(account(1, { user_id }), 'bank_id', 'created_at')],
      webhooks: [{ url: 'http://127.0.0.1:1/', webhook_secret: 's' }],
    }
    const [first, again] = [fixturesOf(set), fixturesOf(set)]
    t.strictSame(first, again)
    const rows = first.get('default')!.rows
    t.match(rows, {
      users: [{}, {}, { tid: rows.kyc![0]!.kyc_id, bank_id: rows.bank_accounts![0]!.bank_id }],
    })
    t.match(rows.webhook, [{ webhook_id: /^[\da-f-]{36}$/ }])
    t.match(first.get('other')!.rows.client, [
      { access_token: 'sbx_other', name: 'Sandbox client other', email: 'other@example.com' },
    ])
  },
)

t.test('a PAN without a result has the five fields of the contract', async (t) => {
  const { get } = await start(t, {
    fixtures: {
      users: [user(1)],
      kyc: [kyc(1), kyc(2, { kyc_status: 'pending', statusCode: 503 })],
    },
  })
  const { kycData } = (await get(`/v1/kyc/${user(1).user_id}`)).body.data.response.data
  const resultOf = (n: number) =>
    kycData.find((row: { kyc_id: string }) => row.kyc_id === idOf('d', n)).metadata.response.data
      .result
  t.strictSame(resultOf(1), {
    pan: 'XXXXXX001A',
    panStatus: 'EXISTING AND VALID',
    name: 'MATCHING',
    dateOfBirth: 'MATCHING',
    aadhaarSeedingStatus: 'Y',
  })
  const none = { panStatus: 'NA', name: 'NA', dateOfBirth: 'NA', aadhaarSeedingStatus: 'NA' }
  t.strictSame(resultOf(2), { pan: 'XXXXXX002A', ...none })
})

t.test(
  'a user’s folder is served, with the default client and the ids that rows imply',
  async (t) => {
    const dir = t.testdir({
      'users.json': JSON.stringify(SET.users),
      'kyc.json': JSON.stringify([
        kyc(1, { kyc_status: 'failed' }),
        kyc(2),
        kyc(3, { ...aadhaar, document_number: '999999990019' }),
        kyc(4, { ...aadhaar, kyc_status: 'pending', created_at: '2025-01-02T00:00:00.000Z' }),
      ]),
      'bank-accounts.json': JSON.stringify([
        account(3, { bank_status: 'failed' }),
        account(1),
        account(2),
      ]),
      'transactions.json': JSON.stringify(SET.transactions),
      'webhooks.json': JSON.stringify([
        { webhook_id: idOf('f', 1), url: 'http://127.0.0.1:1/', webhook_secret: 's' },
      ]),
      'notes.txt': 'is left alone',
    })
    const { get } = await start(t, { ...GUARDED, sandbox: { fixtures: readFixtures(dir) } })
    t.match((await get('/v1/users')).body.data, { total_users: 2 })
    t.match((await get(`/v1/user/${user(1).user_id}`)).body.data, {
      pid: kyc(3).kyc_id,
      tid: kyc(2).kyc_id,
      bank_id: null,
      updated_at: at,
    })
    t.match((await get(`/v1/user/${user(2).user_id}`)).body.data, {
      pid: null,
      tid: null,
      bank_id: account(1).bank_id,
    })
    const { kycData } = (await get(`/v1/kyc/${user(1).user_id}`)).body.data.response.data
    t.equal(kycData.length, 4)
    t.match(kycData.find((row: { kyc_id: string }) => row.kyc_id === kyc(2).kyc_id).metadata, {
      statusCode: 200,
      response: { status: true },
    })
    t.equal((await get('/v1/transaction/history', TOKEN)).body.data.total_transactions, 1)
    t.match((await get('/v1/clientWebhook')).body.data, { webhook_id: idOf('f', 1) })
    t.match((await get('/v1/client/profile', TOKEN)).body.data, { name: 'Sandbox Payments' })
  },
)

t.test('the README documents every field of every file, and its set works', async (t) => {
  const readme = readFileSync(join(PACKAGE_ROOT, 'fixtures/README.md'), 'utf8')
  for (const [noun, { shape }] of Object.entries(FIXTURE_ROWS)) {
    const file = `${noun.replace('_', '-')}.json`
    const [, fields = ''] = readme.match(new RegExp(`^\\| \`${file}\` \\| (.*) \\|$`, 'm')) ?? []
    const documented = [...fields.replace(/\([^)]*\)/g, '').matchAll(/`(\w+\??)`/g)]
    const known = Object.entries(shape).map(([name, field]) =>
      (field as z.ZodType).safeParse(undefined).success ? `${name}?` : name,
    )
    t.strictSame(documented.map(([, name]) => name).sort(), known.sort(), file)
  }
  const { get } = await start(t, { fixtures: JSON.parse(readme.match(/```json\n(.*?)```/s)![1]!) })
  const { transactions } = (await get('/v1/transaction/history', TOKEN)).body.data
  t.match(transactions, [{ amount: '250.00', utr: /^5006\d{8}$/, status: 'SUCCESS' }])
})

t.test('the cast is what the first page of users begins with', async (t) => {
  const { get } = await start(t)
  const { users } = (await get('/v1/users')).body.data
  t.strictSame(
    users.slice(0, 15).map((row: { user_id: string }) => Number(row.user_id.slice(-3))),
    [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
  )
  const { created_at } = (await get('/v1/client/profile', TOKEN)).body.data
  const { users: last } = (await get('/v1/users?page=3')).body.data
  t.ok(created_at < last.at(-1).created_at, 'nobody signed up before the client was there')
})
