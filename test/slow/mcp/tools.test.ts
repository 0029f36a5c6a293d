import t from 'tap'
import { CALL_FAULTS } from '../../../src/tools/faults.ts'
import { TOOLS } from '../../../src/tools/mcp/server.ts'
import { GUARDED, KABIR, PAN, PAYMENT, TOKEN } from '../../helper.ts'
import { MODERN, startAgent, type ToolAnswer } from './agent.ts'
import { integratePayment, SECRET } from './script.ts'

const tried = new Set<string>()

/** An agent whose calls of tools are counted. */
async function agentOf(...given: Parameters<typeof startAgent>) {
  const agent = await startAgent(...given)
  return {
    ...agent,
    tool(name: string, args?: Record<string, unknown>): Promise<ToolAnswer> {
      tried.add(name)
      return agent.tool(name, args)
    },
  }
}

t.test('twenty calls integrate a payment from nothing', async (t) => {
  for (const [mode, version] of [
    ['legacy', '2025-11-25'],
    [MODERN, MODERN.pin],
  ] as const) {
    const { tool, client } = await agentOf(t, { mode })
    t.equal(client.getNegotiatedProtocolVersion(), version)
    await integratePayment(t, tool)
  }
})

t.test('look shows the address, the clock, the counts and what failed', async (t) => {
  const token = 'sbx_test_token'
  const { tool, origin, post, pay, advance } = await agentOf(t, { token })
  const { text } = await tool('look')
  t.match(text, `Service: ${origin}/v1 (Authorization: Bearer sbx_test_token)`)
  t.match(text, 'Clock: 2026-01-01T00:00:00.000Z, frozen')
  t.match(text, /Failed calls: none/)
  t.match(text, /^Counts: .*\btransactions 48\b/m)
  await post('/v1/user', { email: 'wrong' })
  const { body } = await pay({ amount: '100.92' })
  await advance('1h')
  await tool('make_call_fail', { how: 'reset' })
  await t.rejects(pay(), /destroyed/)
  const later = await tool('look')
  t.match(later.text, /Failed calls \(1\):\n- req_\d+ POST \/v1\/user: 400/)
  t.match(
    later.text,
    /Calls without a response \(1\):\n- req_\d+ .+ no response, rule .+ fault reset/,
  )
  t.match(later.text, /Failed payments \(\d+\):\n(?:- .+\n){5}- and \d+ more\n/)
  t.match(later.text, body.data[0].transaction_id, 'a magic value made it fail')
})

const ONE = { name: 'one' }
const PAY = { method: 'POST', path: '/v1/transaction', body: PAYMENT }
/** What an agent does, one after the other, and what it is shown. */
const SHOWN: readonly [tool: string, args: object | undefined, text: RegExp | string][] = [
  ['snapshot', { do: 'save', ...ONE }, /one/],
  ['call_service', PAY, /^POST \/v1\/transaction: 200\n/],
  [
    'advance_clock',
    { next: true },
    /^It is 2026-01-01T00:00:01\.000Z\.\nRan \(1\):\n- .+ PROCESSING\n/,
  ],
  ['advance_clock', { to: '2026-01-02T00:00:00Z' }, 'It is 2026-01-02T00:00:00.000Z.'],
  ['advance_clock', { by: '1h' }, 'It is 2026-01-02T01:00:00.000Z.'],
  ['snapshot', { do: 'changes', ...ONE }, /payments: 1 added, .+\n {2}added [\da-f-]{36}\n/],
  ['snapshot', { do: 'list' }, /- one, taken at/],
  ['reset', { parts: ['clock'] }, /^Reset: clock/],
  ['look', undefined, /Clock: 2026-01-01T00:00:00\.000Z[\s\S]*\btransactions 49\b/],
  ['snapshot', { do: 'restore', ...ONE }, /one/],
  ['look', undefined, /\btransactions 48\b/],
  ['snapshot', { do: 'delete', ...ONE }, /one/],
  ['snapshot', { do: 'list' }, /Snapshots: none/],
  ['list_scenarios', undefined, /- default \(active\)[\s\S]*- slow: /],
  ['list_scenarios', { name: 'lost-responses' }, /rules:\n/],
  ['use_scenario', { name: 'provider-outage' }, /^Active: provider-out/],
  ['call_service', PAY, /^POST \/v1\/transaction: 503\n/],
  ['assumptions', undefined, /- idempotency_key = ignored \(/],
  ['assumptions', { name: 'idempotency_key' }, /\n {2}honoured: /],
  [
    'assumptions',
    { choose: { idempotency_key: 'honoured' } },
    /^Assumptions \(1\):\n- idempotency_key = honoured \(call\)/,
  ],
  ['reset', undefined, /^Reset: data, clock/],
  ['assumptions', undefined, /- idempotency_key = ignored \(/],
]

t.test('what an agent does, and what it is shown', async (t) => {
  const { tool } = await agentOf(t)
  for (const [name, args, text] of SHOWN) {
    const shown = await tool(name, args as Record<string, unknown>)
    t.match(shown, { isError: false, text }, name)
  }
})

t.test('call_service sends the token, and shows a rejection', async (t) => {
  const { tool } = await agentOf(t, { token: 'sbx_test_token' })
  const profile = { method: 'GET', path: '/v1/client/profile' }
  t.match((await tool('call_service', profile)).text, /profile: 200\n/)
  const { tool: without } = await agentOf(t)
  t.match((await without('call_service', profile)).text, /profile: 401\n/)
  const withToken = { ...profile, headers: TOKEN }
  t.match((await without('call_service', withToken)).text, /profile: 200\n/)
  const wrong = await tool('call_service', { method: 'POST', path: '/v1/user', body: {} })
  t.match(wrong.text, /^POST \/v1\/user: 400\n[\s\S]*email[\s\S]*Next: read message and errors/)
})

t.test(
  'call_service waits for a bounded time, and says which rule left it without a response',
  async (t) => {
    const { tool } = await agentOf(t)
    await tool('make_call_fail', { how: 'hang', operation: 'listUsers' })
    const users = { method: 'GET', path: '/v1/users', headers: TOKEN, timeout_ms: 300 }
    t.match(await tool('call_service', users), {
      isError: true,
      text: /^GET \/v1\/users: no response after 0\.3 s\. The log has it: req_1 .+, rule ".+", fault hang\./,
    })
  },
)

t.test('call_service shows each broken response as such', async (t) => {
  const { tool, post } = await agentOf(t)
  const list = { method: 'GET', path: '/v1/users', headers: TOKEN }
  for (const fault of ['reset', 'empty', 'truncate']) {
    const rule = { when: { operation: 'listUsers' }, times: 1, then: { fault, at: 'after' } }
    await post('/__admin/rules', rule)
    const { text } = await tool('call_service', list)
    t.match(text, /GET \/v1\/users: no response \(/, fault)
    // The log has a truncated response as a sent one.
    if (fault !== 'truncate') t.match(text, `fault ${fault}.`)
  }
})

t.test('call_service says what fits the response', async (t) => {
  const { tool } = await agentOf(t)
  const next = async (args: object) =>
    /\n\nNext: (.+)$/.exec((await tool('call_service', { method: 'POST', ...args })).text)![1]!
  const create = { path: '/v1/user', body: { email: 'a@example.com', mobile: '+919812345670' } }
  t.match(await next(create), /^use the ids/)
  t.match(await next({ method: 'GET', path: '/v1/client/profile' }), /PAYOUT_SANDBOX_TOKEN/)
  for (const how of ['respond_500', 'respond_429']) {
    await tool('make_call_fail', { how, operation: 'createUser' })
    t.match(await next(create), /^the fault is not in what you sent: find_requests/)
  }
  t.match(await next({ path: '/v1/transaction', body: PAYMENT }), /^the payment changes with time/)
})

const CALL = { method: 'GET', path: '/v1/users' }
// Of the fixtures.
const FAILED = 'a0000000-0000-4000-8000-000000000008'
const RESPOND = { how: 'respond_500' }
/** What a tool says of arguments that it or the sandbox rejects. */
const REJECTED: readonly [tool: string, args: Record<string, unknown> | undefined, text: RegExp][] =
  [
    [
      'advance_clock',
      { by: 'soon' },
      /Rejected \(validation_failed\).*by.*"soon"[\s\S]*Next: correct/,
    ],
    ['advance_clock', {}, /takes exactly one of by, to and next; found 0/],
    ['advance_clock', { by: '1h', next: true }, /takes exactly one .+; found 2/],
    ['advance_clock', { to: '2020-01-01' }, /such as 20\d\d-\d\d-\d\dT/],
    ['snapshot', { do: 'save' }, /needs a name/],
    ['snapshot', { do: 'delete', name: '..' }, /- name must be a name or an id; found "\.\."\n/],
    ['snapshot', { do: 'restore', name: 'one' }, /Rejected \(not_found\)/],
    [
      'reset',
      { parts: ['time'] },
      /arguments of reset are invalid:\n- parts\[0\] must be .+found "time"/,
    ],
    ['call_service', { ...CALL, path: '/__admin/state' }, /path must be a path such as/],
    ['call_service', { ...CALL, path: '/v1/../__admin/state' }, /path must be a path such as/],
    ['call_service', { ...CALL, path: '/v1/%2e%2e/__admin/state' }, /path must be a path such as/],
    [
      'call_service',
      { ...CALL, headers: { 'a b': '1' } },
      /^Rejected: Header name must be .+"a b"/,
    ],
    [
      'call_service',
      { ...CALL, body: { limit: 5 } },
      /GET \/v1\/users takes no body; found \{"limit":5\}/,
    ],
    [
      'make_call_fail',
      { how: 'delay', status: 500 },
      /^status has no effect with how: delay; found 500\.\n\nNext: omit status, or .+ respond_500/,
    ],
    ['make_call_fail', { ...RESPOND, delay: '5s' }, /^delay has no effect .+"5s"/],
    ['make_call_fail', { ...RESPOND, reason: 'x' }, /^reason has no effect .+"x"/],
    ['make_call_fail', { ...RESPOND, remove: 'rul_1' }, /takes how or remove/],
    ['make_call_fail', undefined, /needs how/],
    [
      'set_status',
      { kind: 'payment', id: FAILED, status: 'pending' },
      /Rejected \(invalid_transition\)/,
    ],
    [
      'explain_payment',
      { reference_id: 'none such' },
      /No payment has the reference "none such"\.\n\nNext: find_requests/,
    ],
    ['send_webhook', undefined, /exactly one of.+found none/],
    ['use_scenario', { name: 'slwo' }, /did you mean "slow"\?/],
    ['assumptions', { choose: { idempotency_key: 'perhaps' } }, /Rejected \(validation_failed\)/],
    ['assumptions', { name: 'none' }, /no assumption/],
  ]

t.test('what is rejected says why, and what to do', async (t) => {
  const { tool } = await agentOf(t)
  for (const [name, args, text] of REJECTED)
    t.match(await tool(name, args), { isError: true, text }, `${name} ${JSON.stringify(args)}`)
  t.match((await tool('look')).text, /\brequests 0, waiting 0, rules 0$/m, 'no rule was pushed')
})

t.test('find_requests shows what was sent, and verify_requests the closest calls', async (t) => {
  const { tool, pay } = await agentOf(t)
  t.match((await tool('find_requests')).text, /Calls: none\n\nNext: nothing matches/)
  await pay({ reference_id: 'A' })
  await pay({ reference_id: 'B' })
  const found = await tool('find_requests', { match: { body: { reference_id: 'B' } } })
  t.match(
    found.text,
    /^Calls \(1\):\n[\s\S]*sent: .*"reference_id":"B"[\s\S]*response: \{"status":true/,
  )
  await pay({ reference_id: '123456789012' })
  t.match((await tool('find_requests')).text, '"reference_id":"123456789012"')
  const match = { operation: 'createTransaction' }
  t.match((await tool('verify_requests', { match, exactly: 3 })).text, /^Verified: 3 calls match/)
  const inOrder = (...references: string[]) => ({
    sequence: references.map((reference_id) => ({ body: { reference_id } })),
  })
  t.match(
    (await tool('verify_requests', inOrder('A', 'B'))).text,
    /^Verified: the calls came in this order \(2 steps\)/,
  )
  t.match(await tool('verify_requests', inOrder('B', 'A')), {
    isError: true,
    text: /Step 2 of 2.+ did not come after/,
  })
  t.match(await tool('verify_requests', { match: { ...match, body: { reference_id: 'C' } } }), {
    isError: true,
    text: /Rejected \(verification_failed\)[\s\S]*"C"[\s\S]*Next: read the closest calls/,
  })
})

t.test('wait_for resolves with what matches, or says that the clock stands still', async (t) => {
  const { tool, pay } = await agentOf(t)
  const waiting = tool('wait_for', { for: 'request', match: { operation: 'createTransaction' } })
  await pay({ reference_id: 'awaited' })
  t.match((await waiting).text, /^Found: .*createTransaction/)
  const never = {
    for: 'transaction',
    match: { reference_id: 'awaited', transaction_status: 'success' },
  }
  t.match(await tool('wait_for', { ...never, timeout_ms: 0 }), {
    isError: true,
    text: /Rejected \(wait_timeout\)[\s\S]*frozen[\s\S]*Next: look whether the clock/,
  })
})

const PENDING = [{ status: 'PENDING' }]
const TIMES_5 = { times: 5, when: { operation: 'createTransaction', body: { amount: 7 } } }
/** What an agent chooses, and the outcome of the rule that is pushed. */
const FAILING: readonly [
  args: { how: string; [field: string]: unknown },
  then: object,
  more?: object,
][] = [
  [{ how: 'reset' }, { fault: 'reset' }],
  [{ how: 'reset_after' }, { fault: 'reset', at: 'after' }],
  [{ how: 'hang' }, { fault: 'hang' }],
  [{ how: 'malformed' }, { fault: 'malformed' }],
  [
    { how: 'effect_after_timeout', delay: '1m' },
    { fault: 'hang', effect: 'after_timeout', after: '1m' },
  ],
  [{ how: 'delay', delay: '10m' }, { delay: '10m' }],
  [{ how: 'visible_after' }, { visible_after: '5s' }],
  [{ how: 'respond_500', status: 503 }, { respond: { status: 503 } }],
  [{ how: 'respond_429' }, { respond: { status: 429, headers: { 'retry-after': '1' } } }],
  [{ how: 'respond_504_after' }, CALL_FAULTS.respond_504_after.then()],
  [
    { how: 'payment_failed', reason: 'gateway_down' },
    { transaction: [...PENDING, { status: 'FAILED', after: '2s', reason: 'gateway_down' }] },
  ],
  [{ how: 'payment_pending' }, { transaction: PENDING }],
  [
    { how: 'respond_500', times: 5, when: { body: { amount: 7 } } },
    { respond: { status: 500 } },
    TIMES_5,
  ],
]

t.test('make_call_fail pushes the rule of each way of failing, and removes it', async (t) => {
  const { tool, get, pay } = await agentOf(t)
  const rules = async () => (await get('/__admin/rules')).body.rules
  for (const [args, then, more] of FAILING) {
    const { text } = await tool('make_call_fail', args)
    const usual = { when: { operation: 'createTransaction' }, times: 1 }
    const [{ rule_id, definition }] = await rules()
    t.strictSame(definition, { ...usual, then, ...more }, args.how)
    t.match(text, `Pushed ${rule_id}: `)
    await tool('make_call_fail', { remove: rule_id })
    t.strictSame(await rules(), [])
  }
  await tool('make_call_fail', { how: 'payment_pending' })
  await pay()
  t.match(
    (await tool('explain_payment')).text,
    /: PENDING,[\s\S]*Will happen: none[\s\S]*until set_status decides it/,
  )
})

t.test('set_status decides payments, KYC records and bank accounts', async (t) => {
  const { tool, pay, post, get } = await agentOf(t)
  const id = (await pay()).body.data[0].transaction_id
  const failed = { kind: 'payment', id, status: 'failed', reason: 'gateway_down' }
  t.match((await tool('set_status', failed)).text, /is FAILED/)
  t.equal((await get(`/v1/transaction/${id}`)).body.data[0].transaction_status, 'failed')
  const pending = [{ status: 'pending' }]
  await post('/__admin/rules', { when: { operation: 'addBankAccount' }, then: { bank: pending } })
  await post('/__admin/rules', { when: { operation: 'submitKyc' }, then: { kyc: pending } })
  const account = { user_id: KABIR, account_number: '999912345678', ifsc_code: 'HDFC0000001' }
  const { bank_id } = (await post('/v1/bank', account)).body.data.data
  await tool('set_status', { kind: 'bank_account', id: bank_id, status: 'failed' })
  const { kyc_id } = (await post('/v1/kyc', { user_id: KABIR, kyc: [PAN] })).body.data[0].data
  await tool('set_status', { kind: 'kyc', id: kyc_id, status: 'SUCCESS' })
  t.match((await get(`/__admin/users/${KABIR}`)).body, {
    bank_accounts: [{ bank_id, bank_status: 'failed' }],
    kyc: [{ kyc_id, kyc_status: 'success' }],
  })
})

t.test('explain_payment names the magic value, the reason and what follows', async (t) => {
  const { tool, pay } = await agentOf(t, GUARDED)
  await pay({ amount: '100.92', reference_id: 'magic' })
  const pending = await tool('explain_payment')
  t.match(pending.text, /Decided by: rule .+, a magic value: amount 100\.92/)
  t.match(pending.text, /Next: advance_clock with to: 2026/)
  await tool('advance_clock', { by: '1h' })
  const { text } = await tool('explain_payment', { reference_id: 'magic' })
  t.match(text, /Course: PENDING .+ -> FAILED/)
  t.match(text, /Failed because: [a-z_]+: .+/)
  t.match(text, /Made by: req_\d+ POST \/v1\/transaction: 200/)
  t.match(text, /Next: your code must show this reason/)
  const old = await tool('explain_payment', { transaction_id: FAILED })
  t.match(old.text, /Decided by: unknown; .+: it is from the fixtures/)
})

t.test('explain_payment names the call that made it, and who decided it', async (t) => {
  const { tool, pay, put, advance } = await agentOf(t, GUARDED)
  const explained = async (reference_id: string) =>
    (await tool('explain_payment', { reference_id })).text
  await pay({ reference_id: 'dup' })
  t.equal((await pay({ reference_id: 'dup' })).status, 409)
  t.match(await explained('dup'), /Made by: req_1 POST \/v1\/transaction: 200\n/)
  t.match(await explained('dup'), /Other calls that tried to make it \(1\):\n- req_2 .+: 409/)
  t.match(await explained('dup'), 'Decided by: no rule, so the standard course\n')
  const { text } = await tool('explain_payment', { reference_id: 'dup' })
  const [, id] = /^Payment (\S+):/.exec(text)!
  await tool('set_status', { kind: 'payment', id, status: 'success' })
  t.match(await explained('dup'), 'Decided by: set_status, or another admin call\n')

  const credit = { amount: 5, reference_id: 'by-timeline' }
  await put('/__admin/scenario', { definition: { timeline: [{ after: '1ms', do: { credit } }] } })
  await advance('2ms')
  t.match(await explained('by-timeline'), 'Decided by: the timeline of the scenario\n')
})

t.test('send_webhook sends and sends again; read_webhooks shows both ends', async (t) => {
  const { tool, origin, post } = await agentOf(t)
  const none = await tool('read_webhooks')
  t.match(none.text, /Webhook: none[\s\S]*Next: register one/)
  const url = `${origin}/__admin/webhooks/inbox`
  await post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  const sent = await tool('send_webhook', { event: 'webhook.test' })
  t.match(sent.text, /webhook\.test for .+: delivered \(200\)/)
  await tool('send_webhook', { delivery_id: /^- (\S+)/m.exec(sent.text)![1] })
  const { text } = await tool('read_webhooks')
  t.match(text, /Inbox \(2\):\n- webhook\.test: signature verified/)
  t.match(text, /webhook\.test \S+: delivered \(200\), 2 attempts\n/)
})

t.test('write_scenario names each problem with its line, and activates a valid one', async (t) => {
  const { tool, get } = await agentOf(t)
  const yaml = (status: number) =>
    `title: Down\nrules:\n  - when: { operation: listUsers }\n    then: { respond: { status: ${status} } }\n`
  t.match(await tool('write_scenario', { yaml: yaml(99) }), {
    isError: true,
    text: /The scenario is invalid:\n- scenario\.yaml:4:\d+: .+\n\nNext: correct these lines/,
  })
  t.match((await tool('write_scenario', { yaml: yaml(502) })).text, /^Valid\./)
  t.equal((await get('/v1/users')).status, 200, 'it was only checked')
  t.match((await tool('write_scenario', { yaml: yaml(502), use: true })).text, /active now/)
  t.equal((await get('/v1/users')).status, 502)
})

t.test('a result is short, and says how much of it is left out', async (t) => {
  const { tool, pay } = await agentOf(t)
  const path = '/v1/users?limit=100'
  const list = await tool('call_service', { method: 'GET', path, headers: TOKEN })
  t.match(list.text, /… \(\d+ of \d+ characters left out\)\n\nNext: ask for less/)
  t.ok(list.text.length < 5_000)
  for (let i = 0; i < 20; i++) await pay({ remark: `${i} ${'long '.repeat(100)}` })
  const found = await tool('find_requests', { limit: 50 })
  t.match(found.text, /^Calls \(21\):\n[\s\S]+ characters left out\)\n\nNext: /)
  t.ok(found.text.length < 13_000, `${found.text.length}`)
})

t.test('every tool has a test, a schema and a description', async (t) => {
  const { client } = await startAgent(t)
  const { tools } = await client.listTools()
  t.strictSame(
    tools.map(({ name }) => name),
    TOOLS.map(({ name }) => name),
  )
  t.strictSame([...tried].sort(), tools.map(({ name }) => name).sort())
  for (const { name, description, inputSchema } of tools) {
    t.match(name, /^[a-z]+(?:_[a-z]+)*$/)
    t.match(description, /^[A-Z].+\.$/)
    t.equal(inputSchema.type, 'object')
  }
})
