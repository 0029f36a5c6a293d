import t from 'tap'
import { limitReached } from '../../src/active-scenario/timeline.ts'
import type { TimelineAction } from '../../src/scenarios/compiled.ts'
import { createCoverage } from '../../src/server.ts'
import { ASHA, createLog, pluck, start } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>
type Entry = { after?: string; every?: string; times?: number; do: object }
type Call = {
  at: string
  method: string
  path: string
  status: number | null
  operation: string
  reason: string | null
  amount: string | null
  reference_id: string | null
  rule: string | null
  fault: string | null
}

const play = async (box: Box, timeline: Entry[], more: object = {}, base = '') => {
  const { status, text } = await box.put(`${base}/__admin/scenario`, {
    definition: { timeline, ...more },
  })
  if (status !== 200) throw new Error(text)
}
/** The calls of a client, oldest first, without what depends on the machine. */
async function callsOf(box: Box, base = ''): Promise<Call[]> {
  const { requests } = (await box.get(`${base}/__admin/requests?limit=100`)).body
  return requests
    .map(({ duration_ms: _, wall_at: _at, ...call }: Call & Record<string, unknown>) => call)
    .reverse()
}
const detailsOf = async (box: Box, id: string) => (await box.get(`/__admin/requests/${id}`)).body
const inShort = ({ method, path, status }: Call) => `${method} ${path} ${status}`

t.test('somebody signs up, is verified, adds an account and pays, as the log shows', async (t) => {
  const coverage = await createCoverage()
  const box = await start(t, { fixtures: { users: [] }, sandbox: { coverage } })
  const expect = { requests: { createUser: { at_least: 1 } } }
  const timeline = [
    { do: { call: 'createUser' } },
    { do: { call: 'createUser', body: { email: 'mine@example.com' } } },
    { after: '1s', every: '1s', times: 2, do: { call: 'submitKyc' } },
    { after: '3s', every: '1s', times: 2, do: { call: 'addBankAccount' } },
    {
      after: '5s',
      do: { call: 'createTransaction', body: { amount: '649.00', remark: 'refund' } },
    },
    { after: '6s', do: { call: 'createTransaction' } },
    { after: '7s', do: { call: 'getTransaction' } },
    { after: '8s', do: { call: 'listUserTransactionHistory' } },
  ]
  await play(box, timeline, { expect })
  await box.advance('10s')
  const calls = await callsOf(box)
  t.strictSame(
    calls.map(({ operation, status }) => `${operation} ${status}`),
    [
      ...['createUser 201', 'createUser 201', 'submitKyc 201', 'submitKyc 201'],
      ...['addBankAccount 201', 'addBankAccount 201'],
      ...['createTransaction 200', 'createTransaction 200', 'getTransaction 200'],
      'listUserTransactionHistory 200',
    ],
  )
  const { groups } = (await box.get('/__admin/coverage')).body
  const { met, total } = groups.find(({ group }: { group: string }) => group === 'calls')
  t.ok(met === 0 && total > 100, 'but the code of the caller has met none of it')
  t.match((await box.get('/__admin/scenario')).body.expect, [{ met: false }])
  const users = (await box.get('/v1/users')).body.data.users
  t.equal(users[0].email, 'mine@example.com', 'what the action sets is sent')
  const [paid, other] = (await box.get('/v1/transaction')).body.data.transactions.reverse()
  t.equal(paid.amount, '649.00')
  t.match(other, { amount: /^\d{3,4}\.\d\d$/, reference_id: /^REF-\d+$/ })
  t.not(other.reference_id, paid.reference_id)
  const { body } = await box.get('/__admin/requests?operation=createTransaction')
  const { headers } = await detailsOf(box, body.requests[0].request_id)
  t.equal((await detailsOf(box, body.requests[1].request_id)).body.remark, 'refund')
  t.match(headers, { 'user-agent': 'payout-sandbox', 'content-type': 'application/json' })
})

t.test('rules choose the steps and the responses; what is invalid is rejected', async (t) => {
  const box = await start(t)
  const rules = [
    {
      name: 'returned',
      when: { operation: 'createTransaction', body: { remark: 'deposit' } },
      then: {
        transaction: [{ status: 'PENDING' }, { status: 'FAILED', reason: 'bank_account_closed' }],
      },
    },
    {
      name: 'outage',
      when: { operation: 'createTransaction', elapsed: { from: '10s', to: '20s' } },
      then: { respond: { status: 503 } },
    },
  ]
  const unknown = '00000000-0000-4000-8000-00000000dead'
  await play(
    box,
    [
      { after: '1s', do: { call: 'createTransaction', body: { remark: 'deposit' } } },
      { after: '2s', do: { call: 'createTransaction', body: { amount: '0.50' } } },
      { after: '3s', do: { call: 'getTransaction', params: { transaction_id: unknown } } },
      { after: '4s', do: { call: 'getUser', params: { userId: 'a b/c' } } },
      { after: '5s', do: { call: 'submitKyc', body: { user_id: unknown } } },
      {
        after: '6s',
        do: {
          call: 'createTransaction',
          body: { from_user_id: ASHA, to_user_id: ASHA, benif_bank_id: unknown },
        },
      },
      { after: '15s', every: '10s', times: 2, do: { call: 'createTransaction' } },
    ],
    { rules },
  )
  await box.advance('1m')
  const calls = await callsOf(box)
  t.strictSame(
    calls.map(({ rule, status }) => [status, rule]),
    [
      [200, 'inline: returned'],
      ...[400, 404, 400, 404, 404].map((status) => [status, null]),
      [503, 'inline: outage'],
      [200, null],
    ],
  )
  t.match(calls[1]!.reason, /amount must be/)
  t.match(calls[2]!.path, `/v1/transaction/${unknown}`)
  t.equal(calls[3]!.path, '/v1/user/a%20b%2Fc')
  const { transactions } = (await box.get('/__admin/transactions')).body
  t.strictSame(pluck(transactions.slice(0, 2), 'failure'), [
    null,
    { ...transactions[1].failure, reason: 'bank_account_closed' },
  ])
})

for (const then of [
  { delay: '60s' },
  { delay: '60s', fault: 'reset' },
  { fault: 'reset' },
  { fault: 'hang' },
  { fault: 'hang', at: 'after' },
  { fault: 'empty' },
  { fault: 'truncate' },
  { fault: 'malformed' },
  { fault: 'hang', effect: 'after_timeout', after: '5s' },
])
  t.test(`an advance waits for no response: ${JSON.stringify(then)}`, async (t) => {
    const box = await start(t)
    const rules = [{ when: { operation: 'createTransaction' }, then }]
    const timeline = [
      { every: '1s', times: 3, do: { call: 'createTransaction' } },
      { after: '5s', do: { call: 'getTransaction' } },
    ]
    await play(box, timeline, { rules })
    const { status, body } = await box.advance('10s')
    t.equal(status, 200)
    t.equal(body.now, '2026-01-01T00:00:10.000Z')
    const calls = await callsOf(box)
    if ('delay' in then) {
      t.strictSame(calls.map(inShort).length, 1, 'only the read has its response')
      t.equal(box.sandbox.default.requests.delayed.count, 3)
      return
    }
    t.strictSame(pluck(calls, 'fault'), [then.fault, then.fault, then.fault, null])
  })

t.test('a run with the same seed has the same calls, also after a reset', async (t) => {
  const run = async (randomSeed: number) => {
    const box = await start(t, { begin: { randomSeed, scenario: 'live-demo' } })
    await box.advance('20m')
    const calls = await callsOf(box)
    await box.post('/__admin/reset')
    await box.advance('20m')
    return [calls, await callsOf(box)]
  }
  const [first, again] = await run(7)
  t.ok(first!.length > 30, `${first!.length} calls`)
  t.strictSame(again, first)
  t.strictSame((await run(7))[0], first)
  t.notSame((await run(8))[0], first)
})

t.test('each client calls by its own base path and token', async (t) => {
  const box = await start(t, { assume: { token: 'strict' } })
  for (const at of ['/@second', '/@one-more', '/@inactive'])
    await play(box, [{ after: '1s', do: { call: 'listUsers' } }], {}, at)
  for (const [at, status] of [
    ['/@second', 200],
    ['/@one-more', 200],
    ['/@inactive', 403],
  ] as const) {
    await box.post(`${at}/__admin/clock/advance`, { by: '5s' })
    t.strictSame((await callsOf(box, at)).map(inShort), [`GET /v1/users ${status}`], at)
  }
  t.strictSame(await callsOf(box), [])
})

t.test('a call that has nothing to be about waits, and is said once', async (t) => {
  const log = createLog()
  const box = await start(t, { fixtures: { users: [] }, sandbox: { log } })
  await play(box, [
    { every: '1s', do: { call: 'submitKyc' } },
    { every: '1s', do: { call: 'createTransaction' } },
    { after: '5s', do: { call: 'createUser' } },
  ])
  await box.advance('10s')
  t.strictSame(pluck(await callsOf(box), 'operation'), ['createUser', 'submitKyc'])
  const of = 'client "default": timeline of inline: '
  t.strictSame(
    log.lines.filter((line) => line.startsWith(of)),
    [
      `${of}submitKyc every 1s: it waits until there is a row that it can be about`,
      `${of}createTransaction every 1s: No user with a verified bank account can receive this payment. Add a bank account, or change to_user_id or benif_bank_id.`,
    ],
  )
})

t.test('without an HTTP interface no call is made, and that is said once', async (t) => {
  const log = createLog()
  const box = await start(t, { sandbox: { log, callService: undefined } })
  await play(box, [{ every: '1s', do: { call: 'createUser' } }])
  t.equal((await box.advance('10s')).status, 200)
  t.strictSame(await callsOf(box), [])
  t.strictSame(
    log.lines.filter((line) => line.includes('createUser')),
    [
      'client "default": timeline of inline: createUser every 1s: there is no HTTP interface to call',
    ],
  )
})

t.test('while rules delay a thousand calls, no further ones are made', async (t) => {
  const log = createLog()
  const box = await start(t, { sandbox: { log } })
  const rules = [{ when: { operation: 'listUsers' }, then: { delay: '60s' } }]
  await play(box, [{ every: '100ms', do: { call: 'listUsers' } }], { rules })
  await box.advance('110s')
  t.equal(box.sandbox.default.requests.delayed.count, 1_000)
  t.equal(log.lines.filter((line) => line.includes('skips calls')).length, 1)
})

t.test('a timeline does not add calls to a table that is full', (t) => {
  const full = { users: 250_000, kyc: 250_000, bank_accounts: 250_000, payments: 250_000 }
  const tablesWith = (sizes: Record<string, number>) => {
    const names = [...Object.keys(full), 'deliveries']
    const tables = Object.fromEntries(names.map((name) => [name, { size: sizes[name] ?? 0 }]))
    return { tables } as unknown as Parameters<typeof limitReached>[1]
  }
  for (const [call, table] of [
    ['createUser', 'users'],
    ['submitKyc', 'kyc'],
    ['addBankAccount', 'bank_accounts'],
    ['createTransaction', 'payments'],
  ] as const) {
    const action: TimelineAction = { call }
    t.match(limitReached(action, tablesWith({ [table]: full[table] })), `250,000 ${table}`)
    t.match(limitReached(action, tablesWith({ deliveries: 50_000 })), '50,000 deliveries')
    t.equal(limitReached(action, tablesWith({})), undefined)
  }
  t.equal(limitReached({ call: 'listUsers' }, tablesWith({ ...full })), undefined)
  t.end()
})
