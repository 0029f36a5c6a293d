import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { run, spawned } from '../cli/program.ts'

/** Calls of the service for the clients below. */
const CALLS = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_TOKEN: token } = process.env
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const AMOUNT = '4321.09'
const ORDER = {
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
  amount: Number(AMOUNT),
}
async function call(method, path, body, timeout = 7_000) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: 'Bearer ' + token, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    ...(timeout && { signal: AbortSignal.timeout(timeout) }),
  })
  if (!response.ok) throw Object.assign(new Error(method + ' ' + path + ' ' + response.status), { status: response.status })
  return (await response.json()).data
}
const isTemporary = ({ status }) => status === undefined || status === 429 || status >= 500
/** Tries again after a pause, three times. */
async function patiently(work, pause = 1_100, tries = 3) {
  for (let n = 1; ; n++)
    try {
      return await work()
    } catch (error) {
      if (!isTemporary(error) || n === tries) throw error
      await wait(pause)
    }
}
const pay = async () => (await call('POST', '/transaction', ORDER))[0]
const get = (id) => patiently(async () => (await call('GET', '/transaction/' + id))[0])
/** The payment in the list, if it was made. */
async function find() {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const list = await patiently(() => call('GET', '/transaction?limit=100&page=' + page))
    pages = list.total_pages
    const found = list.transactions.find(({ amount }) => amount === AMOUNT)
    if (found) return found
  }
}
`

const CAREFUL = `
let made
for (let n = 0; n < 3 && !made; n++)
  try {
    made = await pay()
  } catch (error) {
    if (!isTemporary(error)) throw error
    await wait(1_100)
    made = await find()
  }
let status
for (let n = 0; n < 10 && status !== 'success'; n++) {
  status = (await get(made.transaction_id)).transaction_status
  if (status === 'failed') throw new Error('the payment failed')
  if (status !== 'success') await wait(200)
}
if (status !== 'success') throw new Error('the payment has no result yet')
`
const PAYS_TWICE = `
const made = await patiently(pay)
await get(made.transaction_id)
`
// One call, so that a sweep of it is short.
const PAYS_ONCE = 'await pay()\n'

type Sweep = {
  runs: number
  verdicts: Record<string, number>
  findings: {
    id: string
    verdict: string
    level: string
    plan: { kind: string; name: string; operation: string | null; nth: number | null }[]
    happened: string
    reproduce: string
  }[]
}

/** A folder with a client, and the sweep of it. */
function client(t: Test, code: string) {
  const cwd = t.testdir({ 'client.mjs': `${CALLS}${code}` })
  const program = ['--', process.execPath, 'client.mjs']
  const start = (options: readonly string[], flags = ['--json', '--clock', 'frozen']) =>
    spawned(['sweep', ...flags, ...options, ...program], { cwd })
  return {
    cwd,
    program,
    start,
    async sweep(...options: string[]) {
      const clock = options.includes('--clock-speed') ? [] : ['--clock', 'frozen']
      const { code: exit, stdout, stderr } = await start(options, ['--json', ...clock]).ended
      return { exit, stderr, result: (stdout === '' ? undefined : JSON.parse(stdout)) as Sweep }
    },
    /** The file that the client has written. */
    read: (name: string) => readFileSync(join(cwd, name), 'utf8'),
  }
}

const short = ({ findings }: Sweep) =>
  findings.map(
    ({ verdict, level, plan }) =>
      `${level} ${verdict} ${plan.map(({ name, operation, nth }) => `${name} ${operation} ${nth}`).join(' + ')}`,
  )

t.test('nothing is found in a careful client', async (t) => {
  const { exit, result, stderr } = await client(t, CAREFUL).sweep(
    '--jobs',
    '2',
    '--clock-speed',
    '60',
  )
  t.equal(exit, 0, stderr)
  t.strictSame(result.findings, [])
  t.ok(result.runs > 30, String(result.runs))
  t.equal(result.verdicts['not_reached'], undefined, JSON.stringify(result.verdicts))
  t.ok(result.verdicts['passed']! > 25, JSON.stringify(result.verdicts))
})

t.test('a client that pays twice is found; the result is equal with one job and two', async (t) => {
  const { sweep, cwd, read, program } = client(t, PAYS_TWICE)
  const { exit, result } = await sweep('--report', 'report')
  t.equal(exit, 1)
  t.strictSame(short(result), [
    'error paid_twice answer_lost createTransaction 1',
    'error paid_twice truncated createTransaction 1',
    'error paid_twice no_answer createTransaction 1',
    'warning not_paid payment_failed createTransaction 1',
  ])
  t.match(result.findings[0], {
    id: 'finding-1',
    happened: 'a payment of 4321.09 was made twice; without the fault it is made once',
  })
  t.strictSame(JSON.parse(read('report/sweep.json')), result, '--report writes the same')

  const known = await sweep('--jobs', '2', '--baseline', 'report/sweep.json')
  t.equal(known.exit, 0, 'the findings of --baseline are known')
  t.strictSame(known.result, {
    ...result,
    findings: result.findings.map((one, i) => ({
      ...one,
      reproduce: known.result.findings[i]!.reproduce,
    })),
  })

  const { plan } = result.findings[0]!
  writeFileSync(join(cwd, 'other.json'), JSON.stringify({ findings: [{ verdict: 'hung', plan }] }))
  const other = await sweep('--baseline', 'other.json', '--max-runs', '26')
  t.equal(other.exit, 1, 'another verdict of the same plan is not known')

  t.match(
    result.findings[0]!.reproduce,
    /^payout-sandbox exec --clock frozen --scenarios report\/scenarios --scenario finding-1 -- /,
  )
  const again = await run(
    ['exec', '--scenarios', 'report/scenarios', '--scenario', 'finding-1', '--explain', ...program],
    { cwd },
  )
  t.equal(again.code, 0, again.stderr)
})

t.test('a client without a time limit hangs, and --timeout ends it', async (t) => {
  const { sweep } = client(t, "await call('POST', '/transaction', ORDER, 0)\n")
  const startedAt = Date.now()
  const { exit, result } = await sweep('--jobs', '2', '--timeout', '12s')
  t.equal(exit, 1)
  const hung = result.findings.filter(({ verdict }) => verdict === 'hung')
  t.strictSame(
    hung.map(({ plan, happened }) => [plan[0]!.name, happened]),
    [['no_answer', 'the command did not end within 12 s; its last call was POST /v1/transaction']],
  )
  t.ok(Date.now() - startedAt < 120_000)
})

const HAMMERS = (tries: number) => `await patiently(pay, 10, ${tries})\n`

t.test(
  'a client that hammers the service is found, by its number of calls and by its pauses',
  async (t) => {
    const storms = ({ findings }: Sweep) =>
      findings.filter(({ verdict }) => verdict === 'retry_storm').map(({ plan }) => plan[0]!.name)
    const many = await client(t, HAMMERS(30)).sweep('--jobs', '2')
    t.equal(many.exit, 1)
    t.strictSame(storms(many.result).sort(), ['outage', 'rate_limited', 'unavailable'])
    const few = client(t, `await patiently(pay, 1_100, 4)\n`)
    t.strictSame(storms((await few.sweep('--jobs', '2')).result), [])
    t.strictSame(
      storms((await few.sweep('--jobs', '2', '--max-retries', '2')).result),
      ['outage'],
      'with --max-retries 2, four failures are too many',
    )
  },
)

t.test('what the run did not meet again is not_reached', async (t) => {
  const { sweep } = client(
    t,
    `appendFileSync('runs', 'x')
await call('GET', '/users')
if (readFileSync('runs', 'utf8').length < 3) await call('GET', '/clientProfile').catch(() => {})
await call('GET', '/users')
if (readFileSync('runs', 'utf8').length < 3) await call('GET', '/users')
`,
  )
  const { result, exit } = await sweep('--points', 'first-last')
  t.equal(exit, 0, JSON.stringify(result.findings))
  t.ok(result.verdicts['not_reached']! >= 8, JSON.stringify(result.verdicts))
  t.strictSame(
    result.findings.filter(({ plan }) => plan[0]!.nth === 3),
    [],
  )
})

t.test('two runs without faults that differ stop the sweep, unless --unstable', async (t) => {
  const { sweep } = client(
    t,
    `if (existsSync('ran')) await pay()
writeFileSync('ran', '')
await call('GET', '/users')
`,
  )
  const stopped = await sweep()
  t.equal(stopped.exit, 2)
  t.match(stopped.stderr, /createTransaction with 201|createTransaction with 200/)
  t.match(stopped.stderr, /0 in the first run, 1 in the second[\s\S]*--unstable/)
  const other = client(
    t,
    `const n = existsSync('ran') ? readFileSync('ran', 'utf8').length : 0
writeFileSync('ran', 'x'.repeat(n + 1))
if (n > 0) await pay()
await call('GET', '/users')
`,
  )
  const went = await other.sweep('--unstable', '--max-runs', '1')
  t.equal(went.exit, 0, went.stderr)
  t.equal(went.result.runs, 1)
})

t.test('--probe finds a state that differs, with a URL and with a command', async (t) => {
  const answers = { status: 'SUCCESS' }
  const asked: string[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url!)
    response.end(JSON.stringify(answers))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/payments/{transaction_id}`
  const { sweep } = client(t, PAYS_ONCE)
  const wrong = ({ findings }: Sweep) =>
    findings.filter(({ verdict }) => verdict === 'wrong_state').map(({ plan }) => plan[0]!.name)
  // The program believes each payment.
  const byUrl = await sweep('--jobs', '2', '--probe', url)
  t.equal(byUrl.exit, 1, byUrl.stderr)
  t.strictSame(wrong(byUrl.result), ['payment_failed', 'payment_stuck', 'payment_reversed'])
  t.match(asked[0], /^\/payments\/[0-9a-f-]{36}$/)
  const byCommand = await sweep(
    '--jobs',
    '2',
    '--probe',
    'echo success {transaction_id} | cut -c 1-7',
  )
  t.strictSame(wrong(byCommand.result), wrong(byUrl.result))
  answers.status = 'FAILED'
  const failing = await sweep('--probe', url)
  t.equal(failing.exit, 2)
  t.match(failing.stderr, /the probe differs from the sandbox without any fault/)
})

t.test('--depth 2 finds what needs two faults, and --max-runs ends the sweep', async (t) => {
  // It looks the payment up, but takes a look-up that fails for a payment that was not made.
  const { sweep } = client(
    t,
    `const look = async () => (await call('GET', '/transaction?limit=100')).transactions.find(({ amount }) => amount === AMOUNT)
await look()
let made
for (let n = 0; n < 2 && !made; n++)
  made = await pay().catch(() => wait(1_100).then(look).catch(() => undefined))
if (!made) throw new Error('not paid')
`,
  )
  const twice = ({ findings }: Sweep) =>
    findings.filter(({ verdict }) => verdict === 'paid_twice').map(({ plan }) => plan.length)
  const one = await sweep('--jobs', '2')
  const two = await sweep('--jobs', '2', '--depth', '2', '--max-runs', String(one.result.runs + 20))
  t.strictSame(twice(one.result), [])
  t.equal(two.result.runs, one.result.runs + 20)
  t.strictSame([...new Set(twice(two.result))], [2])
})

t.test('--points all takes every call, and --budget ends the sweep', async (t) => {
  const { sweep, start } = client(
    t,
    "for (let i = 0; i < 4; i++) await call('GET', '/users').catch(() => {})\n",
  )
  const names = ({ findings, verdicts }: Sweep) => JSON.stringify({ findings, verdicts })
  const three = await sweep('--jobs', '2')
  const four = await sweep('--jobs', '2', '--points', 'all')
  t.equal(four.result.runs - three.result.runs, 8, names(four.result))
  const none = await start(['--budget', '1ms'], ['--clock', 'frozen']).ended
  t.equal(none.code, 0)
  t.match(none.stdout, /\n0 runs: none\n\d+ of \d+ planned runs were not made\n/)
})

t.test('Ctrl-C reports what is known, and ends the program', async (t) => {
  const { cwd, start, read } = client(
    t,
    `appendFileSync('runs', process.pid + '\\n')
await call('GET', '/users')
if (readFileSync('runs', 'utf8').split('\\n').length === 5) await wait(60_000)
`,
  )
  const running = start([])
  const runs = () => (existsSync(join(cwd, 'runs')) ? read('runs').trim().split('\n') : [])
  for (let n = 0; n < 600 && runs().length < 4; n++) await wait(50)
  running.child.kill('SIGINT')
  const { code, stdout } = await running.ended
  t.equal(code, 130)
  t.equal((JSON.parse(stdout) as Sweep).runs, 1)
  t.throws(() => process.kill(Number(runs()[3]), 0), 'the program that ran is gone')
})

t.test('a sweep says what is wrong, and what to do', async (t) => {
  const failing = await client(t, "throw new Error('no luck')\n").sweep()
  t.equal(failing.exit, 2)
  t.match(failing.stderr, /fails without any fault \(exit code 1\)[\s\S]*no luck/)
  const silent = await client(t, '').sweep()
  t.equal(silent.exit, 2)
  t.match(silent.stderr, /made no call; let it use the address in the variable PAYOUT_SANDBOX_URL/)
  for (const [args, message] of [
    [[], /sweep needs a program after --/],
    [['--points', 'some', '--', 'true'], /--points takes first-last or all, not "some"/],
    [['--depth', '3', '--', 'true'], /--depth takes 1 or 2, not "3"/],
    [['--budget', 'soon', '--', 'true'], /--budget takes a duration/],
    [['--jobs', '0', '--', 'true'], /--jobs takes a whole number from 1 to 64/],
    [['--probe', 'http://localhost', '--', 'true'], /--probe takes a URL or a command with/],
    [
      ['--baseline', 'missing.json', '--', 'true'],
      /--baseline missing.json cannot be read \(ENOENT\)/,
    ],
    [['--data', 'x.json', '--', 'true'], /sweep does not take --data/],
    [['--scenario', 'nothing', '--', 'true'], /there is no scenario "nothing"/],
    [['--', 'no-such-program'], /program "no-such-program" not found/],
  ] as const) {
    const { code, stderr } = await run(['sweep', ...args])
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
  }
})
