import { createServer } from 'node:http'
import t from 'tap'
import { findingKey } from '../../../src/tools/sweep/findings.ts'
import { sweepJson } from '../../../src/tools/sweep/report/sweep-json.ts'
import { portOf } from '../../listening.ts'
import { faultsWith, short, smallClient } from './small-client.ts'

const CAREFUL = `
let made
for (let n = 0; n < 3 && !made; n++)
  try {
    made = await pay()
  } catch (error) {
    if (!isTemporary(error)) throw error
    await pass('1100ms')
    made = await find()
  }
let status
for (const pause of ['1s', '5s', '30m']) {
  await pass(pause)
  status = (await get(made.transaction_id)).transaction_status
  if (status === 'success' || status === 'failed') break
}
if (status !== 'success') throw new Error('the payment has no good result')
`
const PAYS_TWICE = `
const made = await patiently(pay)
await get(made.transaction_id)
`
// One call, so that a sweep of it is short.
const PAYS_ONCE = 'await pay()\n'

t.test('nothing is found in a careful client', async (t) => {
  const only = ['createTransaction', 'processing_status', 'reference_id', 'new_words']
  const result = await smallClient(t, CAREFUL).sweep({ jobs: 4, only })
  // How late an effect can be is a question to the provider.
  t.strictSame(short(result), ['ask paid_twice: effect_after_timeout createTransaction 1'])
  t.strictSame(faultsWith(result, 'failed_safely').sort(), [
    ...[
      'new_words=some',
      'outage',
      'payment_failed',
      'payment_failed_late',
      'payment_late_success',
    ],
    'payment_stuck',
    ...['processing_status=processing', 'rate_limit', 'token_expired', 'visible_after'],
  ])
  t.strictSame(faultsWith(result, 'not_reached'), ['payment_reversed'])
  const [reversed] = result.runs.filter(({ verdict }) => verdict === 'not_reached')
  t.match(reversed!.happened, /after the command had ended; .* advance the clock by 25h/)
})

t.test(
  'a client that pays twice is found; the result is equal with one job and three',
  async (t) => {
    const { sweep } = smallClient(t, PAYS_TWICE)
    const only = ['reset', 'reset_after', 'truncate_after', 'payment_failed']
    const one = await sweep({ jobs: 1, only })
    t.strictSame(short(one), ['error paid_twice: reset_after createTransaction 1'])
    t.strictSame(
      one.findings[0]!.same.map(({ plan }) => plan[0]!.name),
      ['truncate_after'],
    )
    t.equal(
      one.findings[0]!.happened,
      'a payment of 4321.09 was made twice, not once: 4321.09 too much',
    )
    const { plan, what } = one.findings[0]!
    const changed = sweepJson(one).findings[0]!.steps.flatMap(({ run }) => run?.changed ?? [])
    t.strictSame(changed, [what], 'a fault is named by what it does')
    const three = await sweep({ jobs: 3, only, known: new Set([findingKey(plan, 'paid_twice')]) })
    t.strictSame(short(three), short(one))
    t.strictSame(
      three.runs.map(({ id, verdict, happened }) => ({ id, verdict, happened })),
      one.runs.map(({ id, verdict, happened }) => ({ id, verdict, happened })),
    )
    t.strictSame(
      three.findings.map(({ isKnown }) => isKnown),
      [true],
    )
  },
)

t.test(
  'a client without a time limit hangs, and one with a short limit fails safely',
  async (t) => {
    const only = ['hang_after', 'delay']
    const patient = smallClient(t, 'await pay(0)\n')
    const { findings } = await patient.sweep({ only: ['hang_after'], timeoutMs: 3_000 })
    const happened =
      'the command did not end within 3 s (see --timeout); its last call was POST /v1/transaction'
    t.match(findings, [{ verdict: 'hung', happened }])
    const hasty = await smallClient(t, 'await pay(400)\n').sweep({ only })
    t.strictSame(faultsWith(hasty, 'failed_safely'), ['delay'])
    t.strictSame(short(hasty), ['warning not_recovered: hang_after createTransaction 1'])
  },
)

t.test('a client that hammers is found, by its number of calls and by its pauses', async (t) => {
  const only = ['respond_429', 'respond_503', 'outage']
  const quick = await smallClient(t, "await patiently(pay, '10ms', 4)\n").sweep({ only })
  t.strictSame(faultsWith(quick, 'retry_storm').sort(), [...only].sort())
  t.match(quick.findings[0]!.happened, /was repeated too early: the response had asked to wait 1 s/)
  const { sweep } = smallClient(t, "await patiently(pay, '1100ms', 4)\n")
  t.strictSame(short(await sweep({ only: ['outage'] })), [])
  const hammer = smallClient(
    t,
    'for (let made; !made; ) made = await pay().catch(() => undefined)\n',
  )
  const strict = await hammer.sweep({ only: ['rate_limit'], maxRetries: 2 })
  t.match(
    strict.findings[0]!.happened,
    /POST \S+ was (?:sent \d+ times within a second|repeated too early)/,
  )
})

t.test('a fault lies above the scenarios that the command activates, in each client', async (t) => {
  const activate = "await send('PUT', admin + '/scenario', { name: 'no-webhooks' })\n"
  const own = `
const root = url.replace('/v1', '')
await send('POST', admin + '/clients', { name: 'own', access_token: 'sbx_own', scenario: 'no-webhooks' })
url = root + '/@own/v1'
token = 'sbx_own'
`
  for (const code of [activate, own]) {
    const { sweep } = smallClient(t, `${code}${PAYS_ONCE}`)
    const only = ['respond_500', 'payment_failed']
    const { runs } = await sweep({ only })
    t.strictSame(
      runs.map(({ plan, verdict }) => `${plan[0]!.name} ${verdict}`),
      ['payment_failed not_reached', 'respond_500 failed_safely'],
    )
  }
})

t.test('a command that fails before its fault is run again, and then not_reached', async (t) => {
  const failsIn = (runs: string) => `appendFileSync(here + '/ran', 'x')
if ('${runs}'.includes(readFileSync(here + '/ran', 'utf8').length)) throw new Error('bad luck')
await patiently(() => call('GET', '/users'))
`
  const swept = async (runs: string) =>
    (await smallClient(t, failsIn(runs)).sweep({ only: ['reset'], jobs: 1 })).runs
  t.match(await swept('3'), [{ verdict: 'passed' }])
  const { flakyTests } = await smallClient(t, failsIn('2')).sweep({ only: ['reset'], jobs: 1 })
  t.match(flakyTests, [/bad luck/])
  t.match(await swept('34'), [{ verdict: 'not_reached', happened: /to this point: .* bad luck/ }])
})

t.test('the probe finds a state that differs, with a URL and with a command', async (t) => {
  const answers = { status: 'SUCCESS' }
  const asked: string[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url!)
    response.end(JSON.stringify(answers))
  })
  const probe = `http://127.0.0.1:${await portOf(t, server)}/payments/{transaction_id}`
  const { sweep } = smallClient(t, PAYS_ONCE)
  const only = ['lifecycle']
  // The program believes each payment.
  const byUrl = await sweep({ probe, only })
  const wrong = ['payment_failed', 'payment_failed_late', 'payment_reversed']
  t.strictSame(faultsWith(byUrl, 'wrong_state'), wrong)
  t.match(asked[0], /^\/payments\/[0-9a-f-]{36}$/)
  const byCommand = await sweep({
    probe: 'echo success {transaction_id} | cut -c 1-7',
    only: ['payment_failed'],
  })
  t.strictSame(faultsWith(byCommand, 'wrong_state'), ['payment_failed'])
  answers.status = 'FAILED'
  await t.rejects(sweep({ probe }), /the probe differs from the sandbox without any fault/)
})

t.test('two faults together are a finding only if neither of them is one alone', async (t) => {
  // It looks the payment up, but takes a look-up that fails for a payment that was not made.
  const { sweep } = smallClient(
    t,
    `const look = async () => (await call('GET', '/transaction?limit=100')).transactions.find(({ amount }) => amount === AMOUNT)
await look()
let made
for (let n = 0; n < 2 && !made; n++)
  made = await pay().catch(() => pass('1100ms').then(look).catch(() => undefined))
if (!made) throw new Error('not paid')
`,
  )
  const only = ['reset_after', 'respond_500', 'payment_failed']
  const result = await sweep({ only, depth: 2, points: 'first-last' })
  t.strictSame(short(result), [
    'error paid_twice: reset_after createTransaction 1 + respond_500 listTransactions 2',
  ])
  const pairs = result.runs.filter(({ plan }) => plan.length === 2)
  t.ok(pairs.length > 3)
})
