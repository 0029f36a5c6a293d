import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'
import { PAYMENT } from '../helper.ts'
import { freePort } from '../listening.ts'

const VARIABLES = ['PAYOUT_SANDBOX_URL', 'PAYOUT_SANDBOX_ADMIN_TOKEN'] as const

/** Sets the variables of exec until the test ends. */
function setVariables(t: Test, url: string, adminToken?: string) {
  const remove = () => {
    for (const name of VARIABLES) delete process.env[name]
  }
  remove()
  process.env['PAYOUT_SANDBOX_URL'] = url
  if (adminToken !== undefined) process.env['PAYOUT_SANDBOX_ADMIN_TOKEN'] = adminToken
  t.teardown(remove)
}

/** A sandbox as exec starts it, whose variables are set. */
async function around(t: Test, options: SandboxOptions = {}) {
  const server = await startSandbox({ logLevel: 'silent', clock: 'frozen', ...options })
  t.teardown(server.close)
  setVariables(t, server.url, server.adminToken)
  return server
}

/** What startSandbox is refused with. */
const refusal = (options: SandboxOptions = {}) =>
  startSandbox(options).then(
    () => 'started',
    (error: Error) => error.message,
  )

const pay = ({ url, token }: { url: string; token: string }, more = {}) =>
  fetch(`${url}/transaction`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...PAYMENT, ...more }),
  })

t.test('each call is a client of its own in the sandbox of PAYOUT_SANDBOX_URL', async (t) => {
  const server = await around(t, { adminToken: 's3cret' })
  const [one, other] = await Promise.all([startSandbox(), startSandbox()])
  for (const { url, adminUrl, token, adminToken } of [one, other]) {
    t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/@test-[0-9a-f]{12}\/v1$/)
    t.equal(new URL(url).host, new URL(server.url).host)
    t.equal(adminUrl, url.replace(/v1$/, '__admin'))
    t.equal(token, `sbx_${/@([^/]+)/.exec(url)![1]}`)
    t.equal(adminToken, 's3cret')
  }
  t.not(one.url, other.url)
  t.equal((await pay(one)).status, 200)
  const calls = async ({ admin }: typeof one) => (await admin.requests.count({ match: {} })).count
  t.strictSame(await Promise.all([one, other, server].map(calls)), [1, 0, 0])
  t.match(await one.admin.clock.get(), { mode: 'frozen' }, 'the rest is as exec started it')

  await Promise.all([one.close(), one.close(), one[Symbol.asyncDispose]()])
  t.equal((await pay(one)).status, 200, 'the token is that of a new client now')
  await one.close()
  t.equal((await pay(other)).status, 200, 'the sandbox and other clients stay')
})

t.test('the options of a client apply to it, and a reset restores them', async (t) => {
  const folder = t.testdir({
    'mine.yaml': 'extends: late\nassume: { list_order: oldest_first }\n',
    'late.yaml':
      'rules:\n  - { when: { operation: createTransaction }, then: { respond: { status: 503 } } }\n',
    'other.yaml':
      'rules:\n  - { when: { operation: createTransaction }, then: { respond: { status: 502 } } }\n',
    more: { 'sub.yaml': 'extends: slow\n' },
  })
  await around(t)
  const sandbox = await startSandbox({
    scenarios: folder,
    scenario: 'mine',
    clock: '2027-03-04T05:06:07Z',
    clockSpeed: 60,
    randomSeed: 7,
    assume: { idempotency_key: 'honoured' },
    auth: 'off',
    logLevel: 'silent',
  })
  const { admin } = sandbox
  const look = async () => {
    const { assumptions } = await admin.assumptions.list()
    const chosen = assumptions.filter(({ source }) => source !== 'default')
    return {
      clock: await admin.clock.get(),
      scenario: (await admin.scenario.get()).name,
      assumed: Object.fromEntries(chosen.map(({ name, reading }) => [name, reading])),
      status: (await pay(sandbox)).status,
    }
  }
  const expected = {
    clock: { now: '2027-03-04T05:06:07.000Z', mode: 'frozen', speed: 60 },
    scenario: 'mine',
    assumed: { list_order: 'oldest_first', idempotency_key: 'honoured', token: 'off' },
    status: 503,
  }
  t.match(await look(), expected)
  const { scenarios } = await admin.scenario.list()
  for (const name of ['mine', 'late', 'other', 'sub', 'slow', 'default'])
    t.ok(
      scenarios.some((one) => one.name === name),
      name,
    )
  await admin.scenario.use('other')
  t.equal((await pay(sandbox)).status, 502)
  await admin.scenario.use('sub')
  await admin.reset()
  t.match(await look(), expected)
  t.match(await admin.scenario.source('late'), { changed: false, rules: [{ line: 3 }] })
  const other = await startSandbox()
  t.match(await other.admin.scenario.get(), { name: 'default' }, 'another client has none of this')
  await t.rejects(other.admin.scenario.use('mine'), { code: 'not_found' })
})

t.test('randomSeed and fixtures apply to the client', async (t) => {
  await around(t)
  const idOf = async (options: SandboxOptions) => {
    const response = await pay(await startSandbox(options))
    return ((await response.json()) as { data: { transaction_id: string }[] }).data[0]!
      .transaction_id
  }
  const [first, again, other] = [
    await idOf({ randomSeed: 5 }),
    await idOf({ randomSeed: 5 }),
    await idOf({ randomSeed: 6 }),
  ]
  t.equal(first, again)
  t.not(first, other)

  const dir = t.testdir({
    none: {},
    'empty.json': '{"users": []}',
    'bad.json': '{"users": [{"user_id": 1}]}',
  })
  const { admin } = await startSandbox({ fixtures: join(dir, 'empty.json') })
  t.equal((await admin.client()).counts['users'], 0)
  t.match(
    await refusal({ fixtures: join(dir, 'bad.json') }),
    /bad\.json:1:\d+: users\[0\]\.user_id/,
  )
  t.match(
    await refusal({ scenarios: join(dir, 'none'), scenario: 'mine' }),
    /there is no scenario "mine"/,
  )
  t.match(
    await refusal({ scenario: 'slwo' }),
    /^startSandbox cannot use .*There is no scenario "slwo"; did you mean "slow"\?$/,
  )
})

t.test('state applies to the client, and its options replace what the state says', async (t) => {
  await around(t)
  const source = await startSandbox({ clock: '2027-03-04T05:06:07Z' })
  t.equal((await pay(source)).status, 200)
  const state = await source.admin.state.get()
  const payments = async ({ admin }: typeof source) =>
    (await admin.transactions.list({ limit: 1 })).transactions[0]!.transaction_id
  const id = await payments(source)
  const file = join(t.testdir({ 'demo.json': JSON.stringify(state) }), 'demo.json')
  const data = { format: 6, clients: { default: state } }
  for (const given of [state, file, data]) {
    const one = await startSandbox({ state: given })
    t.equal(await payments(one), id)
    t.equal((await one.admin.clock.get()).now, '2027-03-04T05:06:07.000Z')
    t.match(one.token, /^sbx_test-/)
    await one.close()
    const fast = await startSandbox({ state: given, clockSpeed: 60 })
    const frozen = { now: '2027-03-04T05:06:07.000Z', mode: 'frozen', speed: 60 }
    t.match(await fast.admin.clock.get(), frozen, 'another speed resumes no frozen clock')
    await fast.close()
  }
  const own = await startSandbox({ state: file, clock: '2028-01-01T00:00:00Z', scenario: 'slow' })
  t.equal((await own.admin.clock.get()).now, '2028-01-01T00:00:00.000Z')
  t.equal((await own.admin.scenario.get()).name, 'slow')
  t.equal(await payments(own), id)
  t.match(await refusal({ state: { ...state, draws: -1 } }), /^state: draws: must be /)
  t.match(await refusal({ state: 7 } as never), /^state takes FILE, not 7/)
  const { clients } = await source.admin.clients.list()
  const unknown = { ...state, scenario: { name: 'none' } }
  t.match(await refusal({ state: unknown }), /no scenario "?none/)
  t.equal((await source.admin.clients.list()).clients.length, clients.length, 'no client is left')
})

t.test('an option that a client cannot have is an error that says so', async (t) => {
  const { url } = await around(t)
  const { origin } = new URL(url)
  t.equal(
    await refusal({ data: 'db.json', port: 4310, clock: 'frozen' }),
    `startSandbox uses the sandbox of PAYOUT_SANDBOX_URL, ${origin}, so it cannot apply data, port. Give such options to the command that starts that sandbox, or unset the variable.`,
  )
  t.match(await refusal({ host: '::1' }), /cannot apply host\./)
  t.match(await refusal({ clokc: 'frozen' } as never), /unknown option clokc/)
  t.equal(await refusal({ data: undefined, unref: true } as never), 'started')
})

t.test('a sandbox that cannot be used is an error that names the variable', async (t) => {
  const port = await freePort()
  setVariables(t, `http://127.0.0.1:${port}/v1`)
  t.equal(
    await refusal(),
    `startSandbox cannot use the sandbox of PAYOUT_SANDBOX_URL: No sandbox responds at http://127.0.0.1:${port}/__admin (ECONNREFUSED). Start it, or unset the variable to start one here.`,
  )
  for (const text of ['localhost:4310', 'ftp://127.0.0.1', 'http://127.0.0.1/other/v1']) {
    setVariables(t, text)
    t.equal(
      await refusal(),
      `PAYOUT_SANDBOX_URL takes the URL of a sandbox such as http://127.0.0.1:4310, not "${text}"`,
    )
  }
  delete process.env['PAYOUT_SANDBOX_URL']
  const { url } = await around(t, { adminToken: 's3cret' })
  setVariables(t, url.replace(/v1$/, '@worker-1/v1'))
  t.match(await refusal(), /The admin API needs its token\..* Set PAYOUT_SANDBOX_ADMIN_TOKEN\.$/)
})
