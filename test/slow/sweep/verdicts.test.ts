// What a sweep concludes: each verdict with the smallest client that earns it.
import { createServer } from 'node:http'
import t from 'tap'
import { portOf } from '../../listening.ts'
import { faultsWith, short, smallClient } from './small-client.ts'

const CREATES_A_PAYEE = `
const item = { document_type: 'tid', document_name: 'pan', document_number: 'ABCPE1234F', dateOfBirth: '01-02-1990', Nationality: 'Indian', nameOnCard: 'A B' }
await call('POST', '/kyc', { user_id: ORDER.to_user_id, kyc: [item] })
`

/** Waits, and takes some words of the payment's status for a failure. */
const waits = (by: string, isBad: string) =>
  `const { transaction_id } = await pay()\nawait pass('${by}')\nif (/${isBad}/.test((await get(transaction_id)).transaction_status)) throw new Error('bad')\n`
const LATE = ['payment_failed_late', 'processing_status']

/** What a client does, and what is found with these faults. */
const FOUND: readonly [what: string, client: string, only: readonly string[], found: string[]][] = [
  [
    'money to a payee whose check failed in this run',
    `${CREATES_A_PAYEE}await pay()\n`,
    ['kyc_failed'],
    ['error paid_unverified: kyc_failed submitKyc 1'],
  ],
  [
    'no money to such a payee',
    `${CREATES_A_PAYEE.replace('await call', 'const [{ data }] = await call')}if (data.kyc_status === 'success') await pay()\n`,
    ['kyc_failed'],
    [],
  ],
  [
    'a payment that was never made, although the command passed, is an error',
    'await pay().catch(() => {})\n',
    ['respond_500'],
    ['error not_paid: respond_500 createTransaction 1'],
  ],
  [
    // It takes the newest payment of the list for its own.
    'a look-up that is made only after a lost response is swept with other readings',
    `let made = await pay().catch(() => undefined)
if (!made) [made] = (await call('GET', '/transaction')).transactions
if (made.amount !== AMOUNT) throw new Error('this is another payment: ' + made.amount)
`,
    ['reset_after', 'list_order'],
    ['error relies_on: reset_after createTransaction 1 + list_order=oldest_first'],
  ],
  [
    'what no client can guard against is a question, and fails no command',
    `const order = { ...ORDER, reference_id: 'wage-1' }
const mine = async () => (await call('GET', '/transaction')).transactions.find((one) => one.reference_id === 'wage-1')
let made
for (let n = 0; n < 3 && !made; n++)
  made = await call('POST', '/transaction', order).catch(() => pass('1100ms').then(mine))
`,
    ['reset_after', 'reference_id'],
    ['ask paid_twice: reference_id=ignored + reset_after createTransaction 1'],
  ],
  [
    'a failure that the command has not read is a warning',
    "await pay()\nawait pass('1h')\n",
    ['payment_failed'],
    ['warning not_paid: payment_failed createTransaction 1'],
  ],
  [
    'a word that it takes for no failure',
    waits('10s', 'failed|pending'),
    LATE,
    ['warning not_paid: processing_status=processing + payment_failed_late createTransaction 1'],
  ],
  [
    'a response of a gateway that is no JSON',
    "JSON.parse((await send('POST', url + '/transaction', ORDER)).text)\n",
    ['respond_504_after'],
    ['warning not_recovered: respond_504_after createTransaction 1'],
  ],
  [
    'who pays again after a failure must know that it is final',
    `const { transaction_id } = await pay()
await pass('3s')
if ((await get(transaction_id)).transaction_status === 'failed') await pay()
`,
    ['payment_failed', 'payment_late_success'],
    ['ask paid_twice: payment_late_success createTransaction 1'],
  ],
]
for (const [what, client, only, found] of FOUND)
  t.test(what, async (t) => {
    t.strictSame(short(await smallClient(t, client).sweep({ only })), found)
  })

t.test('a lease that ends before a slow call does', async (t) => {
  // Another worker looks for the payment after a third of the time that the first one waits.
  const { sweep } = smallClient(
    t,
    `const first = pay(1_500).catch(find)
await new Promise((resolve) => setTimeout(resolve, 500))
if (!(await find())) await pay()
await first
`,
  )
  const result = await sweep({ only: ['slow', 'slow_after'] })
  t.strictSame(short(result), ['error paid_twice: slow createTransaction 1'])
  const [passed] = result.runs.filter(({ plan }) => plan[0]!.name === 'slow_after')
  const slow = passed!.observation.calls.find(({ operation }) => operation === 'createTransaction')!
  t.ok(slow.status === 200 && slow.atMs - slow.beganMs > 1_100, JSON.stringify(slow))
})

t.test('a finding that does not come again is flaky', async (t) => {
  // It fails once, in its fourth run.
  const { sweep } = smallClient(
    t,
    `appendFileSync(here + '/ran', 'x')
await call('GET', '/users')
if (readFileSync(here + '/ran', 'utf8').length === 4) throw new Error('bad luck')
`,
  )
  const result = await sweep({ only: ['assumption'], jobs: 1, maxRuns: 4 })
  t.strictSame(short(result), [])
  t.match(result.flaky, [{ verdict: 'relies_on', happened: /: Error: bad luck/ }])
  t.equal(result.flaky.length, 1)
})

t.test('money that moved twice only once is a warning, by chance', async (t) => {
  const { sweep } = smallClient(
    t,
    `appendFileSync(here + '/ran', 'x')
await pay()
if (readFileSync(here + '/ran', 'utf8').length === 4) await pay()
`,
  )
  const result = await sweep({ only: ['assumption'], jobs: 1, maxRuns: 2 })
  t.match(result.findings, [{ verdict: 'paid_twice', level: 'warning', isByChance: true }])
  t.match(result.findings[0]!.happened, / \(by chance: 5 reruns did not show it\)$/)
  t.strictSame(result.flaky, [])
  t.match(result.runs.map(({ level }) => level).sort(), ['none', 'warning'])
})

t.test('a fault counts once a run: over resets and new clients', async (t) => {
  const { sweep } = smallClient(
    t,
    `const root = url.replace('/v1', '')
let failures = 0
const look = (at) => send('GET', at + '/v1/users').catch(() => failures++)
await look(root)
await send('POST', admin + '/reset', {})
await look(root)
token = 'sbx_other'
await look(root + '/@other')
if (failures > 1) throw new Error('it failed ' + failures + ' times')
`,
  )
  const result = await sweep({ only: ['reset'], points: 'all' })
  t.strictSame(faultsWith(result, 'passed'), ['reset', 'reset', 'reset'])
})

t.test('an event whose handler fails once must not be lost', async (t) => {
  const handler = (onError: string) => `
let status = 'none'
const take = async ({ data }, response) => {
  try {
    status = (await call('GET', '/transaction/' + data.transaction_id))[0].transaction_status
  } catch {
    ${onError}
  }
  response.end()
}
await receiving(take, async () => {
  await pay()
  for (const by of ['5s', '1h']) await pass(by)
  if (status !== 'success') throw new Error('the payment is ' + status)
}, 'secret')
`
  const only = ['respond_500 & getTransaction']
  const loses = await smallClient(t, handler('')).sweep({ only, points: 'all' })
  t.match(short(loses), [/^error lost_event: respond_500 getTransaction 3$/])
  t.match(
    loses.findings[0]!.happened,
    /the receiver accepted transaction.success although its GET .* had failed/,
  )
  const repeats = handler('return response.writeHead(500).end()')
  t.strictSame(short(await smallClient(t, repeats).sweep({ only, points: 'all' })), [])
})

t.test('an event that comes before the response of its call must not be lost', async (t) => {
  const client = (onUnknown: string) => `
const stored = new Map()
const take = ({ data }, response) => {
  const known = stored.get(data.transaction_id)
  if (known) known.seen = true
  else {
    ${onUnknown}
  }
  response.end()
}
await receiving(take, async () => {
  const { transaction_id: id } = await pay()
  stored.set(id, { seen: false })
  await pass('0s')
  await pass('1s')
  if (!stored.get(id).seen) throw new Error('no event of the payment came')
}, 'secret')
`
  const only = ['late_response']
  const { sweep } = smallClient(t, client(''))
  t.strictSame(short(await sweep({ only })), [])
  const dropping = client('').replace("await pass('1s')\n", '')
  const loses = await smallClient(t, dropping).sweep({ only })
  t.match(short(loses), [/^error lost_event: late_response createTransaction 1$/])
  t.match(loses.findings[0]!.happened, /transaction.pending before the POST .* had its response/)
  const retried = client('return response.writeHead(409).end()').replace("'1s'", "'1m'")
  t.strictSame(short(await smallClient(t, retried).sweep({ only })), [])
})

t.test('a probe that does not answer stops the sweep', async (t) => {
  const { sweep } = smallClient(t, 'await pay()\n')
  await t.rejects(
    sweep({ probe: 'exit 3 # {transaction_id}' }),
    /the probe gave no answer for payment .* exited with 3\. /,
  )
  const server = createServer((_, response) => response.writeHead(500).end())
  const port = await portOf(t, server)
  await t.rejects(
    sweep({ probe: `http://127.0.0.1:${port}/{transaction_id}` }),
    /responded with 500 .*\. Let a URL respond with 2xx or 404/,
  )
})

t.test('what the command leaves running answers the probe', async (t) => {
  const { program, sweep, cwd } = smallClient(t, 'await pay()\n')
  const app = `require('node:http').createServer((_, r) => r.end('{"status":"SUCCESS"}')).listen(0, '127.0.0.1', function () { require('node:fs').writeFileSync('${cwd}/port', String(this.address().port)) })`
  const script = `rm -f port; node -e "$1" & while ! [ -s port ]; do sleep 0.05; done; exec "$2" "$3"`
  const command = ['sh', '-c', `cd ${cwd}; ${script}`, 'x', app, ...program]
  const probe = `curl -s "http://127.0.0.1:$(cat ${cwd}/port)/{transaction_id}"`
  const result = await sweep({ command, probe, only: ['payment_failed'], jobs: 1 })
  t.strictSame(short(result), ['error wrong_state: payment_failed createTransaction 1'])
})

t.test('a payment of an amount that no run without faults pays', async (t) => {
  const { sweep } = smallClient(
    t,
    "await pay().catch(() => call('POST', '/transaction', { ...ORDER, amount: 432_109 }))\n",
  )
  const [finding] = (await sweep({ only: ['reset'] })).findings
  t.match(finding, {
    verdict: 'wrong_amount',
    level: 'error',
    happened: 'a payment of 432109.00 was made; without the fault no payment has this amount',
  })
})

t.test('a timeout is no refusal for who looks the payment up after other losses', async (t) => {
  const client = (failure: string) =>
    `let made = await pay(300).catch((error) => {
  if (${failure}) throw error
  return find()
})
if (!made) throw new Error('it was not made')
`
  const only = ['createTransaction & hang_after', 'createTransaction & reset_after']
  const careless = await smallClient(t, client("error.message === 'no answer'")).sweep({ only })
  t.strictSame(short(careless), ['error relies_on: hang_after createTransaction 1'])
  t.match(
    careless.findings[0]!.happened,
    /; it passes if the call gets no response in another way$/,
  )
  t.strictSame(short(await smallClient(t, client('false')).sweep({ only })), [])
  const stops = await smallClient(t, client('true')).sweep({ only })
  t.strictSame(faultsWith(stops, 'not_recovered').sort(), ['hang_after', 'reset_after'])
  const limited = `const limit = Date.now() + 1_500
const made = await pay(2_000).catch(find)
if (!made || Date.now() > limit) throw new Error('the test took too long')
`
  const slow = await smallClient(t, limited).sweep({ only })
  t.strictSame(faultsWith(slow, 'not_recovered'), ['hang_after'])
})

t.test(
  'a failure that the command has read is no warning, and only a probe can say more',
  async (t) => {
    const { sweep } = smallClient(
      t,
      "const { transaction_id } = await pay()\nawait pass('1h')\nawait get(transaction_id)\n",
    )
    const result = await sweep({ only: ['payment_failed'] })
    t.strictSame(short(result), [])
    t.match(result.runs, [
      {
        verdict: 'not_paid',
        level: 'information',
        happened: 'the command passed, but a payment of 4321.09 failed, as it read',
      },
    ])
    // It waits too short a time.
    const [late] = short(await smallClient(t, waits('10s', 'failed')).sweep({ only: LATE }))
    t.equal(late, 'warning not_paid: payment_failed_late createTransaction 1')
  },
)
