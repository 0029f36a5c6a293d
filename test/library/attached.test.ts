import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'
import { PAYMENT } from '../helper.ts'
import { freePort, portOf } from '../listening.ts'

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

/** The calls that startSandbox makes with these options, the name of its client as NAME. */
async function sentBy(t: Test, options: SandboxOptions): Promise<string[]> {
  const sent: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    sent.push(`${request.method} ${request.url} ${Buffer.concat(chunks)}`)
    response.end('{}')
  })
  setVariables(t, `http://127.0.0.1:${await portOf(t, server)}`)
  await startSandbox(options)
  return sent.map((call) => call.replace(/test-[0-9a-f]{12}/g, 'NAME'))
}

t.test('each option is sent as one of the new client, and a state after it', async (t) => {
  const first = await startSandbox({ clock: '2027-03-04T05:06:07Z' })
  const state = await first.admin.state.get()
  await first.close()
  const data = { format: 6, clients: { default: state } }
  const dir = t.testdir({
    'empty.json': '{"users": []}',
    'demo.json': JSON.stringify(state),
    own: { 'mine.yaml': 'extends: sub\n', more: { 'sub.yaml': 'extends: slow\n' } },
  })
  const scenarios = { mine: { extends: 'sub' }, sub: { extends: 'slow' } }
  const of = ({ clock, ...rest }: typeof state, speed: number) => ({
    ...rest,
    clock: { ...clock, speed },
  })
  const put = (body: object) => `PUT /@NAME/__admin/state ${JSON.stringify(body)}`
  const table: [options: SandboxOptions, body: object, ...then: string[]][] = [
    [{ logLevel: 'silent' }, {}],
    [
      { scenario: 'slow', randomSeed: 7 },
      { scenario: 'slow', random_seed: 7 },
    ],
    [
      { clock: 'frozen', clockSpeed: 60 },
      { clock: 'frozen', clock_speed: 60 },
    ],
    [
      { assume: { list_order: 'oldest_first' }, auth: 'off' },
      { assume: { list_order: 'oldest_first', token: 'off' } },
    ],
    [{ scenarios: join(dir, 'own') }, { scenarios }],
    [{ fixtures: join(dir, 'empty.json') }, { fixtures: { users: [] } }],
    [{ state }, {}, put(state)],
    [{ state: join(dir, 'demo.json') }, {}, put(state)],
    [{ state, clockSpeed: 60 }, { clock_speed: 60 }, put(of(state, 60))],
    [
      { state: data, clockSpeed: 60 },
      { clock_speed: 60 },
      put({ ...data, clients: { default: of(state, 60) } }),
    ],
    [
      { state, clock: 'frozen', scenario: 'slow' },
      { scenario: 'slow', clock: 'frozen' },
      put(state),
      'POST /@NAME/__admin/reset {"parts":["clock","scenario"]}',
    ],
  ]
  const parsed = (calls: readonly string[]) =>
    calls.map((call) => [call.split(' {')[0], JSON.parse(call.slice(call.indexOf('{')))])
  for (const [options, body, ...then] of table) {
    const client = { name: 'NAME', access_token: 'sbx_NAME', ...body }
    const wanted = [`POST /__admin/clients ${JSON.stringify(client)}`, ...then]
    t.same(parsed(await sentBy(t, options)), parsed(wanted), Object.keys(options).join())
  }
})

t.test('what cannot be read or is refused is said, and leaves no client', async (t) => {
  const server = await around(t)
  const dir = t.testdir({ none: {}, 'bad.json': '{"users": [{"user_id": 1}]}' })
  const state = await server.admin.state.get()
  const table: [options: object, says: RegExp][] = [
    [{ fixtures: join(dir, 'bad.json') }, /bad\.json:1:\d+: users\[0\]\.user_id/],
    [{ scenarios: join(dir, 'none'), scenario: 'mine' }, /there is no scenario "mine"/],
    [
      { scenario: 'slwo' },
      /^startSandbox cannot use .*There is no scenario "slwo"; did you mean "slow"\?$/,
    ],
    [{ state: { ...state, draws: -1 } }, /^state: draws: must be /],
    [{ state: 7 }, /^state takes FILE, not 7/],
    [{ state: { ...state, scenario: { name: 'none' } } }, /no scenario "?none/],
  ]
  const { length } = (await server.admin.clients.list()).clients
  for (const [options, says] of table) t.match(await refusal(options as SandboxOptions), says)
  t.equal((await server.admin.clients.list()).clients.length, length)
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
