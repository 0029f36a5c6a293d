import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { OPERATIONS } from '../src/app.ts'
import { type Answer, ASHA, KABIR, ROHAN, start, TOKEN } from './helper.ts'

type Box = Awaited<ReturnType<typeof start>>

const CALLS = 500
const SCENARIOS = ['live-demo', 'rate-limited', 'failed-payouts', 'slow', 'kyc-failures', 'default']
const PANS = ['ABCPX1234A', 'XXXPX0001A', 'XXXPX0008A', 'bad', '']
const PAISE = ['00', '91', '94', '96', '50']
const FLAKY = {
  extends: 'late-reversals',
  rules: [
    {
      name: 'one in three fails',
      when: { operation: '*' },
      chance: 0.33,
      then: { respond: { status: 503 } },
    },
  ],
  timeline: [{ after: '10s', every: '20s', do: { credit: { amount: '2500.00' } } }],
}

/** Number `i` of the script, the same for every run but for the ids that the run itself was told. */
function callOf(box: Box, i: number, made: string[]): Promise<Answer> {
  const user = made[i % made.length]!
  const who = [ASHA, ROHAN, KABIR, user][i % 4]!
  switch (i % 19) {
    case 0:
      return box.post('/v1/user', { email: `r${i}@example.com`, mobile: `+919${800000000 + i}` })
    case 1:
      return box.get(`/v1/user/${user}`)
    case 2:
      return box.get(`/v1/users?page=${1 + (i % 3)}&limit=7`)
    case 4:
      if (i % 3 === 0) return box.pay({ to_user_id: ASHA })
      return box.pay({ amount: i })
    case 3:
      return box.pay({ amount: `${100 + i}.${PAISE[i % 5]}` })
    case 5:
      return box.pay(
        { amount: i + 1, reference_id: `ref-${i % 50}` },
        { 'idempotency-key': `k${i % 40}` },
      )
    case 6:
      return box.get(`/v1/transaction?page=${1 + (i % 2)}`)
    case 7:
      return box.get(`/v1/transaction/${user}`)
    case 8:
      return box.get(`/v1/transaction/history?type=debit&limit=${5 + (i % 20)}`, TOKEN)
    case 9:
      return box.get(`/v1/transaction/history/user/${who}`, TOKEN)
    case 10:
      return box.post('/v1/kyc', {
        user_id: who,
        kyc: [0, 1].map((n) => ({
          document_type: n ? 'pid' : 'tid',
          document_name: n ? 'aadhar' : 'pan',
          document_number: n ? `9999999900${[19, 26, 35, 42][i % 4]}` : PANS[i % 5],
          dateOfBirth: '01-02-1990',
          Nationality: 'Indian',
          nameOnCard: `Name ${i}`,
        })),
      })
    case 11:
      return box.get(`/v1/kyc/${who}`)
    case 12:
      return box.post('/v1/bank', {
        user_id: who,
        account_number: i % 2 ? `99990000000${1 + (i % 7)}` : `1234567${10000 + i}`,
        ifsc_code: 'HDFC0001234',
      })
    case 13:
      return box.get(`/v1/bank/${who}`)
    case 14:
      return box.get('/v1/client/profile', TOKEN)
    case 15:
      return i % 2
        ? box.post('/v1/clientWebhook', { url: `http://169.254.0.9/${i}`, webhook_secret: 's' })
        : box.get('/v1/clientWebhook')
    case 16:
      return box.put('/v1/clientWebhook', { url: `http://169.254.0.9/put-${i}` })
    case 17:
      return box.advance(['1s', '2500ms', '30s', '5m', '20m'][i % 5]!)
    default: {
      const next = (i - 18) / 19
      return next % 7 === 3
        ? box.put('/__admin/scenario', { definition: FLAKY })
        : box.put('/__admin/scenario', { name: SCENARIOS[next % SCENARIOS.length] })
    }
  }
}

const open = (t: Test, randomSeed: number) =>
  start(t, {
    sandbox: { start: { randomSeed, clock: 'frozen', clockSpeed: 1, scenario: 'default' } },
  })

/** Every answer of the script, one line each: status, the headers that say something, the bytes of the body. */
async function run(t: Test, randomSeed: number, used?: Box) {
  const box = used ?? (await open(t, randomSeed))
  const operations = new Set<string>()
  const lines: string[] = []
  const made = [ASHA]
  const { scheduler, scenarios } = box.sandbox.default
  const called = scenarios.called
  scenarios.called = (operation) => {
    operations.add(operation)
    called(operation)
  }
  for (let i = 0; i < CALLS; i++) {
    let ended = false
    const asked = callOf(box, i, made).finally(() => {
      ended = true
    })
    asked.catch(() => {})
    while (!ended) {
      // What is delayed is waited for on the client's clock.
      if (scheduler.pending().some(({ kind }) => kind === 'answer.delay'))
        await box.post('/__admin/clock/next')
      await new Promise(setImmediate)
    }
    const { status, headers, text, body } = await asked
    const { 'retry-after': retry = '', 'idempotency-replayed': replayed = '' } = headers
    lines.push(`${i} ${status} ${retry} ${replayed} ${text}`)
    if (status === 201 && body?.data?.user_id && i % 19 === 0) made.push(body.data.user_id)
    if (status === 200 && i % 19 === 3) made.push(body.data[0].transaction_id)
  }
  const { payments, timers, counters } = box.sandbox.default.tables.tables
  const state = JSON.stringify([payments, timers, counters].map((table) => [...table.rows()]))
  const clock = (await box.get('/__admin/clock')).text
  await box.close()
  return { lines, operations, state, clock }
}

const digest = (lines: readonly string[]) =>
  createHash('sha256').update(lines.join('\n')).digest('hex')

t.test('a mixed script of 500 calls gives the same bytes for the same seed', async (t) => {
  const one = await run(t, 7)
  const two = await run(t, 7)
  t.equal(one.lines.length, CALLS)
  const differs = one.lines.findIndex((line, i) => line !== two.lines[i])
  t.equal(differs, -1, differs < 0 ? '' : `${one.lines[differs]}\n${two.lines[differs]}`)
  t.equal(digest(one.lines), digest(two.lines))
  t.equal(one.state, two.state, 'and so is what is stored')
  t.equal(one.clock, two.clock)

  t.strictSame(
    [...one.operations].sort(),
    OPERATIONS.map(({ id }) => id).sort(),
    'every endpoint was carried out',
  )
  const statuses = new Set(one.lines.map((line) => Number(line.split(' ')[1])))
  for (const status of [200, 201, 404, 409, 422, 429, 503]) t.ok(statuses.has(status), `${status}`)

  const other = await run(t, 8)
  t.not(digest(other.lines), digest(one.lines), 'another seed gives others')
  const injected = (lines: readonly string[]) =>
    lines.filter((line) => / 503 /.test(line)).map((line) => line.split(' ')[0])
  t.notSame(injected(other.lines), injected(one.lines), 'and other chances')
})

t.test('a reset world gives the bytes of a new one', async (t) => {
  const box = await open(t, 7)
  await box.put('/__admin/scenario', { name: 'live-demo' })
  await box.post('/__admin/rules', {
    when: { operation: '*' },
    then: { respond: { status: 503 } },
  })
  await box.advance('5m')
  await box.pay()
  t.equal((await box.post('/__admin/reset')).status, 200)
  const one = await run(t, 7, box)
  const two = await run(t, 7)
  const differs = one.lines.findIndex((line, i) => line !== two.lines[i])
  t.equal(differs, -1, differs < 0 ? '' : `${one.lines[differs]}\n${two.lines[differs]}`)
  t.equal(one.state, two.state)
  t.equal(one.clock, two.clock)
})
