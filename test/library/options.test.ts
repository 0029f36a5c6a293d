import { join } from 'node:path'
import t from 'tap'
import { readingsDocument } from '../../src/assumptions/readings.ts'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'

const MEASUREMENT = {
  against: 'https://test.example.com/v1',
  measured_at: '2026-01-01T00:00:00.000Z',
  readings: { idempotency_key: 'honoured', list_order: 'oldest_first', token: 'strict' },
}

/** What a start with these options is refused with; a start that is not refused is stopped. */
const refusal = (options: object) =>
  startSandbox(options as SandboxOptions).then(
    async (sandbox) => {
      await sandbox.close()
      return 'started'
    },
    (error: Error) => error.message,
  )

t.test('an invalid value is refused, with what the option takes', async (t) => {
  const cases: [options: object, message: string][] = [
    [{ port: Number.NaN }, 'port takes a whole number from 0 to 65535, not NaN'],
    [{ port: null }, 'port takes a whole number from 0 to 65535, not null'],
    [{ randomSeed: true }, 'randomSeed takes a whole number from 0 to 9007199254740991, not true'],
    [{ watch: 1 }, 'watch takes true or false, not 1'],
    [{ data: 7 }, 'data takes FILE, not 7'],
    [{ clock: new Date(0) }, 'clock takes real, frozen, or an ISO 8601 instant from 1970 to 9999'],
    [{ webhookAllow: [1] }, 'webhookAllow takes HOST, not [1]'],
    [{ adminToken: 7 }, 'adminToken takes T|none'],
    [{ noAdmin: 'sec' }, 'noAdmin takes true or false, not "sec"'],
    [{ clockSped: 2 }, 'unknown option clockSped (did you mean clockSpeed?)'],
    [{ assume: { list_order: 'random' } }, 'list_order takes newest_first or oldest_first'],
    [{ scenario: 'no-such' }, 'no-such'],
  ]
  for (const [options, message] of cases) t.match(await refusal(options), message)
})

t.test('state is the state to start from: an object or a file', async (t) => {
  const first = await startSandbox({ clock: '2027-03-04T05:06:07Z' })
  const state = await first.admin.state.get()
  await first.close()
  const users = state.tables.users.slice(0, 0)
  const empty = {
    ...state,
    tables: { ...state.tables, users, kyc: [], bank_accounts: [], payments: [] },
  }
  const file = join(t.testdir({ 'demo.json': JSON.stringify(empty) }), 'demo.json')
  for (const given of [empty, file, { format: 6, clients: { default: empty } }]) {
    const { admin, token, close } = await startSandbox({ state: given })
    t.strictSame((await admin.users.list()).users, [])
    t.equal((await admin.clock.get()).now, '2027-03-04T05:06:07.000Z')
    t.equal(token, 'sbx_test_token')
    await close()
  }
  t.match(await refusal({ state: { ...state, draws: 'many' } }), /^state: draws: must be /)
  t.match(await refusal({ state: { ...state, clock: 1 } }), /^state: clock: /)
})

t.test('an option that is undefined is one that is not given', async (t) => {
  const options = { port: undefined, memory: undefined, data: undefined, logLevel: undefined }
  const { url, close } = await startSandbox(options as unknown as SandboxOptions)
  await close()
  t.not(new URL(url).port, '4310', 'the default here is a free port')
})

t.test('assume chooses readings: a string or a number; undefined counts as missing', async (t) => {
  const assume = { list_order: 'oldest_first', largest_page: 20, utr_form: undefined } as never
  const { admin, close } = await startSandbox({ assume, clock: 'frozen' })
  t.teardown(close)
  const { assumptions } = await admin.assumptions.list()
  const chosen = assumptions.filter(({ source }) => source !== 'default')
  t.strictSame(chosen.map(({ name, reading, source }) => [name, reading, source]).sort(), [
    ['largest_page', '20', 'start'],
    ['list_order', 'oldest_first', 'start'],
  ])
})

t.test('assumeFile chooses readings, and assume has priority', async (t) => {
  const file = join(t.testdir({ 'r.json': readingsDocument(MEASUREMENT) }), 'r.json')
  const { admin, close } = await startSandbox({
    assumeFile: file,
    assume: { list_order: 'newest_first' },
    auth: 'off',
  })
  t.teardown(close)
  const { assumptions } = await admin.assumptions.list()
  t.match(Object.fromEntries(assumptions.map(({ name, reading }) => [name, reading])), {
    idempotency_key: 'honoured',
    list_order: 'newest_first',
    token: 'off',
  })
})

t.test('a file of readings that cannot be used is refused', async (t) => {
  const text = readingsDocument(MEASUREMENT)
  const folder = t.testdir({
    'text.json': 'list_order',
    'list.json': '[]',
    'new.json': text.replace('readings/1', 'readings/2'),
    'name.json': text.replace('list_order', 'list_oder'),
    'value.json': text.replace('oldest_first', 'random'),
  })
  const cases: [file: string, message: RegExp][] = [
    ['none.json', /^assumeFile: .*none\.json cannot be read \(ENOENT\); conform --save FILE/],
    ['', /^assumeFile: .* cannot be read \(EISDIR\); conform --save FILE writes/],
    ['text.json', /text\.json is not JSON at line 1, column .*; conform --save FILE writes such/],
    ['list.json', /list\.json has no object "readings"/],
    ['new.json', /has the format "payout-sandbox-readings\/2"; this version reads ".*\/1"/],
    ['name.json', /="oldest_first": list_oder is not an assumption \(did you mean list_order/],
    ['value.json', /list_order="random": list_order takes newest_first or oldest_first/],
  ]
  for (const [file, message] of cases)
    t.match(await refusal({ assumeFile: join(folder, file) }), message)
  t.equal(await refusal({ assumeFile: 7 }), 'assumeFile takes FILE, not 7')
})
