import t, { type Test } from 'tap'
import {
  type Answer,
  ASHA,
  GUARDED,
  pluck,
  ROHAN,
  type StartOptions,
  start,
  TOKEN,
} from '../helper.ts'
import { manualTime } from '../manual-time.ts'

type Box = Awaited<ReturnType<typeof start>>

const START = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(START + ms).toISOString()
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const times = <T>(count: number, run: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => run(i))

async function inTurn<T>(count: number, run: (i: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let i = 0; i < count; i++) done.push(await run(i))
  return done
}

/** A sandbox of its own with a shipped scenario active. */
async function play(t: Test, name: string, sandbox: StartOptions['sandbox'] = {}) {
  const box = await start(t, { ...GUARDED, sandbox })
  const { status, body } = await box.put('/__admin/scenario', { name })
  t.equal(status, 200)
  t.equal(body.name, name)
  return box
}

const idOf = ({ body }: Answer): string => body.data[0].transaction_id

/** The payout record of a payment, as the history shows it. */
async function record(box: Box, id: string) {
  const { body } = await box.get('/v1/transaction/history?limit=100', TOKEN)
  const shown = (await box.get(`/v1/transaction/${id}`)).body.data[0]
  const found = body.data.transactions.filter(
    (row: { updated_at: string; amount: string; created_at: string }) =>
      row.updated_at === shown.updated_at && row.amount === shown.amount,
  )
  return { ...found[0], transaction_status: shown.transaction_status, shownUtr: shown.utr }
}
const statusOf = async (box: Box, id: string) => (await record(box, id)).status
const outcomeOf = async (box: Box, id: string) => {
  const { status, metadata } = await record(box, id)
  return metadata ? `${status} ${metadata.reason}` : status
}

const item = (document_type: 'tid' | 'pid', document_number: string) => ({
  document_type,
  document_name: document_type === 'tid' ? 'pan' : 'aadhar',
  document_number,
  dateOfBirth: '01-02-1990',
  Nationality: 'IN',
  nameOnCard: 'Asha Nair',
})
const submit = (box: Box, ...items: object[]) => box.post('/v1/kyc', { user_id: ASHA, kyc: items })
/** The newest records of Asha, the newest first. */
const records = async (box: Box) =>
  (await box.get(`/v1/kyc/${ASHA}`)).body.data.response.data.kycData
const addAccount = (box: Box, account_number: string, user_id = ASHA) =>
  box.post('/v1/bank', { user_id, account_number, ifsc_code: 'HDFC0001234' })
const accounts = async (box: Box, user = ASHA) => (await box.get(`/v1/bank/${user}`)).body.data

/** What becomes of a payment in a scenario, by time. */
const LIVES: [scenario: string, ...[by: string, outcome: string][]][] = [
  ['pending-transactions', ['1499999ms', 'PENDING'], ['1ms', 'PROCESSING'], ['5s', 'SUCCESS']],
  ['stuck-transactions', ['30d', 'PROCESSING']],
  [
    'late-reversals',
    ['3s', 'SUCCESS'],
    ['86399999ms', 'SUCCESS'],
    ['1ms', 'FAILED beneficiary_bank_rejected'],
  ],
]
for (const [name, ...life] of LIVES)
  t.test(`${name}: the life of a payment`, async (t) => {
    const box = await play(t, name)
    const id = idOf(await box.pay())
    for (const [by, outcome] of life) {
      await box.advance(by)
      t.equal(await outcomeOf(box, id), outcome, by)
    }
    t.equal((await box.get('/__admin/clock')).body.pending_timers, 0, 'no more comes')
  })

t.test('kyc-failures: no check succeeds, each PAN fails for the next reason', async (t) => {
  const box = await play(t, 'kyc-failures')
  const answers = await inTurn(5, () => submit(box, item('tid', 'ABCPX1234A')))
  t.strictSame(
    answers.map(({ body }) => [body.data[0].status, body.data[0].message]),
    [
      [false, 'The name does not match'],
      [false, 'The date of birth does not match'],
      [false, 'The PAN is marked as fake'],
      [false, 'The PAN is deactivated'],
      [false, 'The name does not match'],
    ],
  )
  // Two documents in one call take a turn each.
  const two = await submit(box, item('tid', 'ABCPX1234A'), item('tid', 'ABCPX1234B'))
  t.strictSame(
    two.body.data.map(({ message }: { message: string }) => message),
    ['The date of birth does not match', 'The PAN is marked as fake'],
  )
  const aadhaar = await submit(box, item('pid', '123412341234'))
  t.equal(aadhaar.body.data[0].data.kyc_status, 'pending')
  await box.advance('4999ms')
  t.equal((await records(box))[0].kyc_status, 'pending')
  await box.advance('1ms')
  t.equal((await records(box))[0].kyc_status, 'failed')
  await box.advance('30d')
  // Magic numbers that would succeed fail as well.
  await submit(box, item('tid', 'XXXPX0007A'), item('pid', '999999990019'))
  await box.advance('1m')
  const later = (await records(box)).filter(
    ({ created_at }: { created_at: string }) => created_at >= at(0),
  )
  t.equal(later.length, 10)
  t.ok(later.every(({ kyc_status }: { kyc_status: string }) => kyc_status === 'failed'))
})

t.test('kyc-review: pending for a day, then success', async (t) => {
  const box = await play(t, 'kyc-review')
  const { body } = await submit(box, item('tid', 'ABCPX1234A'), item('pid', '123412341234'))
  t.strictSame(
    body.data.map((one: { data: { kyc_status: string } }) => one.data.kyc_status),
    ['pending', 'pending'],
  )
  t.equal(body.data[0].message, 'The document is being reviewed')
  const two = async () => pluck((await records(box)).slice(0, 2), 'kyc_status')
  await box.advance('86399999ms')
  t.strictSame(await two(), ['pending', 'pending'])
  await box.advance('1ms')
  t.strictSame(await two(), ['success', 'success'])
  t.equal((await records(box))[0].updated_at, at(24 * HOUR))
})

t.test('bank-verification-failures: no account can be verified', async (t) => {
  const box = await play(t, 'bank-verification-failures')
  const answers = await inTurn(5, (i) => addAccount(box, `12345678901${i}`))
  t.strictSame(
    answers.map(({ status, body: { data } }) => [
      status,
      data.status,
      data.data.bank_status,
      data.data.metadata.response.data.result.bankResponse,
    ]),
    [
      [201, false, 'failed', 'Invalid account number or IFSC provided'],
      [201, false, 'failed', 'Account is blocked'],
      [201, false, 'failed', 'Account closed'],
      [201, true, 'pending', 'NPCI Unavailable'],
      [201, false, 'failed', 'Invalid account number or IFSC provided'],
    ],
  )
  await box.advance('30s')
  const mine = (await accounts(box)).slice(0, 5)
  t.ok(mine.every(({ bank_status }: { bank_status: string }) => bank_status === 'failed'))
  const { bank_id } = answers[3]!.body.data.data
  const paid = await box.pay({ from_user_id: ROHAN, to_user_id: ASHA, benif_bank_id: bank_id })
  t.equal(paid.status, 422)
  t.equal(paid.body.error, 'bank_not_verified')
})

t.test('failed-payouts: every payment fails, each for the next reason', async (t) => {
  const box = await play(t, 'failed-payouts')
  const reasons: string[] = []
  for (let i = 0; i < 7; i++) {
    const id = idOf(await box.pay({ amount: 200 + i }))
    await box.advance('2999ms')
    t.equal(await statusOf(box, id), 'PROCESSING')
    await box.advance('1ms')
    reasons.push(await outcomeOf(box, id))
  }
  t.strictSame(reasons, [
    'FAILED beneficiary_bank_offline',
    'FAILED bank_account_closed',
    'FAILED imps_not_allowed',
    'FAILED insufficient_funds',
    'FAILED npci_beneficiary_timeout',
    'FAILED gateway_down',
    'FAILED beneficiary_bank_offline',
  ])
})

t.test('provider-outage: 503 for two minutes, then all is well', async (t) => {
  const box = await play(t, 'provider-outage')
  const calls = [
    () => box.pay(),
    () => box.get('/v1/users'),
    () => box.get('/v1/transaction/history', TOKEN),
    () => submit(box, item('tid', 'ABCPX1234A')),
    () => addAccount(box, '123456789012'),
    () => box.get('/v1/clientWebhook'),
  ]
  for (const call of calls) {
    const { status, body, headers } = await call()
    t.equal(status, 503)
    t.equal(body.error, 'service_unavailable')
    t.equal(headers['retry-after'], '120')
  }
  await box.advance('119999ms')
  t.equal((await box.get('/v1/users')).status, 503)
  await box.advance('1ms')
  t.equal((await box.get('/__admin/scenario')).body.name, 'default')
  t.equal((await box.get('/v1/users')).status, 200)
  const id = idOf(await box.pay())
  await box.advance('3s')
  t.equal(await statusOf(box, id), 'SUCCESS')
  const { body } = await box.get('/v1/transaction', TOKEN)
  t.equal(body.data.transactions[0].transaction_id, id)
  t.ok(body.data.transactions[1].created_at < at(0), 'nothing was paid in the outage')
})

t.test('flaky-network: a tenth is lost before it is carried out, a fifth is slow', async (t) => {
  async function line() {
    const time = manualTime()
    const box = await play(t, 'flaky-network', { runtime: time.runtime })
    const met: string[] = []
    for (let i = 0; i < 150; i++) {
      let ended = false
      const user = { email: `f${i}@example.com`, mobile: `+91987654${1000 + i}` }
      const asked = box
        .post('/v1/user', user)
        .then(({ status }) => String(status))
        .catch(() => 'lost')
        .finally(() => {
          ended = true
        })
      // Looked at between two turns of the loop; an answer or a delay ends it.
      while (!ended && time.left().length === 0) await new Promise(setImmediate)
      if (!ended) {
        time.pass('3s')
        met.push(`slow ${await asked}`)
      } else met.push(await asked)
    }
    const count = (what: string) => met.filter((one) => one === what).length
    const { body } = await box.get('/__admin/scenario')
    const total = made(box)
    await box.close()
    return { met, count, hits: body.rules, total }
  }
  const made = ({ sandbox }: Box) =>
    [...sandbox.default.tables.tables.users.rows()].filter(({ email }) => /^f\d+@/.test(email))
      .length
  const one = await line()
  t.ok(one.count('lost') > 5 && one.count('lost') < 30, `lost ${one.count('lost')}`)
  t.ok(one.count('slow 201') > 15 && one.count('slow 201') < 50, `slow ${one.count('slow 201')}`)
  t.equal(one.count('lost') + one.count('slow 201') + one.count('201'), 150)
  t.equal(one.hits[0].hits, one.count('lost'))
  t.equal(one.hits[1].hits, one.count('slow 201'))
  t.equal(one.total, 150 - one.count('lost'), 'what was lost was not carried out')
  t.strictSame((await line()).met, one.met, 'the same seed loses the same calls')
})

t.test('slow: every answer takes two to four seconds', async (t) => {
  const time = manualTime()
  const box = await play(t, 'slow', { runtime: time.runtime })
  const seen: number[] = []
  for (let i = 0; i < 10; i++) {
    const asked = box.get('/v1/users')
    await time.waiting()
    seen.push(...time.left())
    time.pass('4s')
    t.equal((await asked).status, 200)
  }
  t.ok(seen.every((ms) => ms >= 2_000 && ms <= 4_000))
  t.ok(new Set(seen).size > 5)
  const asked = box.pay({ amount: '100.91' })
  await time.waiting()
  time.pass('4s')
  const id = idOf(await asked)
  await box.advance('3s')
  // Reads are late as well.
  t.equal(box.sandbox.default.payouts.payments.get(id).row.failure?.reason, 'bank_account_invalid')
})

t.test('rate-limited: every fifth call is answered 429', async (t) => {
  const box = await play(t, 'rate-limited')
  const answers = await inTurn(20, (i) => (i % 2 ? box.get('/v1/users') : box.pay()))
  t.strictSame(
    answers.map(({ status }) => status),
    times(20, (i) => (i % 5 === 4 ? 429 : 200)),
  )
  t.equal(answers[4]!.headers['retry-after'], '1')
  t.equal(answers[4]!.body.error, 'rate_limited')
})

t.test('lost-responses: every second answer is lost, no payment is', async (t) => {
  const box = await play(t, 'lost-responses')
  const met = await inTurn(6, (i) =>
    box.pay({ amount: 300 + i }).then(
      ({ status }) => status,
      () => 'lost',
    ),
  )
  t.strictSame(met, ['lost', 200, 'lost', 200, 'lost', 200])
  await box.advance('3s')
  const { body } = await box.get('/v1/transaction/history', TOKEN)
  const amounts = pluck(body.data.transactions.slice(0, 6), 'amount')
  t.strictSame(amounts, ['305.00', '304.00', '303.00', '302.00', '301.00', '300.00'])
  t.strictSame(new Set(pluck(body.data.transactions.slice(0, 6), 'status')), new Set(['SUCCESS']))
})

t.test('magic PANs and Aadhaars', async (t) => {
  const box = await start(t, GUARDED)
  const ok = { panStatus: 'EXISTING AND VALID', name: 'MATCHING', dateOfBirth: 'MATCHING' }
  const none = { panStatus: 'NA', name: 'NA', dateOfBirth: 'NA', aadhaarSeedingStatus: 'NA' }
  const pans: [n: number, status: string, code: number, result: object][] = [
    [1, 'failed', 200, { ...ok, name: 'NOT MATCHING', aadhaarSeedingStatus: 'Y' }],
    [2, 'failed', 200, { ...ok, dateOfBirth: 'NOT MATCHING', aadhaarSeedingStatus: 'Y' }],
    [3, 'failed', 404, { panStatus: /Not Found/ }],
    [4, 'failed', 200, { ...ok, panStatus: 'Marked as Fake' }],
    [5, 'failed', 200, { ...ok, panStatus: 'Marked as Deactivated' }],
    [6, 'failed', 200, { ...ok, panStatus: 'Deleted' }],
    [7, 'success', 200, { ...ok, aadhaarSeedingStatus: 'N' }],
    [8, 'pending', 503, none],
  ]
  for (const [n, kyc_status, statusCode, result] of pans) {
    const { data } = (await submit(box, item('tid', `XXXPX000${n}A`))).body.data[0]
    t.match(data, { kyc_status, metadata: { statusCode, response: { data: { result } } } }, `${n}`)
  }
  await box.advance('5s')
  const [source] = await records(box)
  t.match(source, { kyc_status: 'success', metadata: { statusCode: 200 } })
  t.match(source.metadata.response.data.result, ok)

  const aadhaars: [number: string, states: string[]][] = [
    ['999999990019', ['pending', 'success', 'success']],
    ['999999990026', ['pending', 'failed', 'failed']],
    ['999999990035', ['pending', 'pending', 'pending']],
    ['999999990042', ['failed', 'failed', 'failed']],
  ]
  for (const [number, states] of aadhaars) {
    const seen = [(await submit(box, item('pid', number))).body.data[0].data.kyc_status]
    for (const by of ['5s', '30d']) {
      await box.advance(by)
      seen.push((await records(box))[0].kyc_status)
    }
    t.strictSame(seen, states, number)
  }
})

t.test('magic accounts at POST /bank', async (t) => {
  const box = await start(t, GUARDED)
  const name = 'ASHA NAIR'
  const rows: [n: number, first: string, then: string, response: string, name: string][] = [
    [1, 'failed', 'failed', 'Invalid account number or IFSC provided', name],
    [2, 'failed', 'failed', 'Account is blocked', name],
    [3, 'failed', 'failed', 'Account closed', name],
    [4, 'success', 'success', 'NRE Account', name],
    [5, 'success', 'success', 'Transaction Successful', 'SOMEONE ELSE'],
    [6, 'pending', 'success', 'Beneficiary bank offline', ''],
    [7, 'pending', 'failed', 'NPCI Unavailable', ''],
  ]
  for (const [n, first, then, bankResponse, accountName] of rows) {
    const { data } = (await addAccount(box, `99990000000${n}`)).body.data
    const result = { bankResponse, accountName }
    t.match(data, { bank_status: first, metadata: { response: { data: { result } } } }, `${n}`)
    await box.advance('5s')
    t.equal((await accounts(box))[0].bank_status, then, `${n}`)
  }
})

t.test('magic payout accounts, and the paise of an amount', async (t) => {
  const box = await start(t, GUARDED)
  const account = async (number: string) => {
    const { body } = await addAccount(box, number, ROHAN)
    t.equal(body.data.data.bank_status, 'success', `${number} itself verifies`)
    return body.data.data.bank_id as string
  }
  /** What a payment is after 3 and after 6 seconds, and a month later. */
  const paid = async (more: object) => {
    const id = idOf(await box.pay(more))
    await box.advance('3s')
    const first = await outcomeOf(box, id)
    await box.advance('3s')
    const then = await outcomeOf(box, id)
    await box.advance('30d')
    t.equal(await outcomeOf(box, id), then)
    return first === then ? first : `${first}, ${then}`
  }
  const LIVES = {
    '999900000101': 'FAILED beneficiary_bank_offline',
    '999900000102': 'FAILED bank_account_closed',
    '999900000103': 'FAILED imps_not_allowed',
    '999900000104': 'PENDING',
    '999900000105': 'PROCESSING',
    '999900000106': 'SUCCESS, FAILED beneficiary_bank_rejected',
  }
  for (const [number, life] of Object.entries(LIVES)) {
    const benif_bank_id = await account(number)
    t.equal(await paid({ benif_bank_id }), life, number)
    t.equal(
      await paid({ benif_bank_id, amount: '100.93' }),
      life,
      `${number} comes before the amount`,
    )
  }
  const AMOUNTS = {
    '100.91': 'FAILED bank_account_invalid',
    '100.92': 'FAILED beneficiary_bank_offline',
    '100.93': 'FAILED insufficient_funds',
    '100.94': 'PROCESSING',
    '100.95': 'PENDING',
    '100.96': 'SUCCESS, FAILED beneficiary_bank_rejected',
    '100.90': 'SUCCESS',
    '100.97': 'SUCCESS',
    // A normal price.
    '249.95': 'SUCCESS',
  }
  for (const [amount, life] of Object.entries(AMOUNTS)) {
    t.equal(await paid({ amount }), life, amount)
    t.equal(await paid({ amount: Number(amount) }), life, `the number ${amount}`)
  }
})
