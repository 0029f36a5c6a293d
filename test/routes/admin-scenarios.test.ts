import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FeedEvents } from '../../src/world/feed.ts'
import {
  AADHAAR,
  type Answer,
  ASHA,
  createLog,
  GUARDED,
  libraryWith,
  PAN,
  pluck,
  ROHAN,
  ROHANS_ACCOUNT,
  start,
  TOKEN,
  watchChanges,
} from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>

const idOf = ({ body }: Answer): string => body.data[0].transaction_id
const define = (box: Box, definition: object) => box.put('/__admin/scenario', { definition })
const respond = (status: number, more: object = {}) => ({
  when: { operation: 'listUsers' },
  then: { respond: { status } },
  ...more,
})
const users = async (box: Box, headers?: Record<string, string>) =>
  (await box.get('/v1/users', headers)).status
const totalUsers = async (box: Box) => (await box.get('/v1/users')).body.data.total_users

t.test('GET scenarios lists the shipped set and marks the active one', async (t) => {
  const box = await start(t)
  const { body } = await box.get('/__admin/scenarios')
  t.equal(body.scenarios.length, 22)
  const active = body.scenarios.filter((one: { active: boolean }) => one.active)
  t.match(active, [{ name: 'default', title: /./, file: /default\.yaml$/ }])
  await define(box, { rules: [respond(503)] })
  const { scenarios } = (await box.get('/__admin/scenarios')).body
  t.strictSame(new Set(pluck(scenarios, 'active')), new Set([false]), 'an inline one is not there')
})

t.test('PUT scenario by name and by definition; bad ones change nothing', async (t) => {
  const box = await start(t)
  t.equal((await box.get('/__admin/scenario')).body.name, 'default')
  const named = await box.put('/__admin/scenario', { name: 'rate-limited' })
  t.strictSame(named.body, {
    name: 'rate-limited',
    title: 'Every fifth call gets 429',
    rules: [{ name: 'every fifth call is one too many', hits: 0 }],
    webhooks: [],
    expect: [],
  })
  await users(box)
  t.equal((await box.get('/__admin/scenario')).body.rules[0].hits, 1)
  const again = await box.put('/__admin/scenario', { name: 'rate-limited' })
  t.equal(again.body.rules[0].hits, 0, 'its counters start anew')

  const bad: [unknown, number, RegExp][] = [
    [{ name: 'rate-limitd' }, 404, /rate-limitd.*rate-limited/],
    [{}, 400, /^The request body must have exactly one of "name" and "definition"\.$/],
    [{ name: 'slow', definition: {} }, 400, /exactly one of/],
    [{ definition: { rules: [{}] } }, 400, /invalid: /],
    [
      { definition: { rules: [{ when: { opration: 'listUsers' }, then: { delay: '1s' } }] } },
      400,
      /opration.*operation/,
    ],
    [{ definition: { extends: 'slwo' } }, 400, /slwo.*slow/],
    [{ definition: { timeline: [{ do: { use: 'nowhere' } }] } }, 400, /nowhere/],
    [{ definition: 'slow' }, 400, /definition/],
    [{ definition: 'rules:\n  - whn: {}\n' }, 400, /definition, line 2, column \d+: .*when/],
    [{ name: 'slow', more: 1 }, 400, /more/],
  ]
  for (const [body, status, message] of bad) {
    const answer = await box.put('/__admin/scenario', body)
    t.equal(answer.status, status, JSON.stringify(body))
    t.match(answer.body.message, message)
  }
  t.equal((await box.get('/__admin/scenario')).body.name, 'rate-limited')
  const text = 'title: Of a text\nrules: []\n'
  t.equal((await box.put('/__admin/scenario', { definition: text })).body.title, 'Of a text')

  const definition = { title: 'Down', rules: [{ name: 'down', ...respond(502) }] }
  const inline = await define(box, definition)
  t.strictSame(inline.body, {
    name: 'inline',
    title: 'Down',
    definition,
    rules: [{ name: 'down', hits: 0 }],
    webhooks: [],
    expect: [],
  })
  const { status, body } = await box.get('/v1/users')
  t.equal(status, 502)
  t.equal(body.error, 'bad_gateway')
  for (const _ of [1, 2]) {
    const { rules } = (await define(box, { extends: 'rate-limited' })).body
    t.match(rules, [{ scenario: 'rate-limited', hits: 0 }], 'what it extends counts anew too')
    await users(box)
  }
})

t.test('what is allowed but looks like a mistake returns a warning', async (t) => {
  const box = await start(t)
  const twice = [respond(502, { name: 'down' }), respond(503, { name: 'never' })]
  const set = await define(box, { rules: twice })
  t.equal(set.status, 200)
  t.match(set.body.warnings, [/^rules\[1\]: .*down/])
  t.notOk((await box.get('/__admin/scenario')).body.warnings, 'returned once')
  const matches = { when: { operation: 'listUsers', body: { name: 'x' } }, then: { delay: '1s' } }
  t.match((await box.post('/__admin/rules', matches)).body.warnings, [/body/])
})

t.test('rules are pushed, listed and taken away', async (t) => {
  const box = await start(t)
  const one = await box.post('/__admin/rules', respond(502, { name: 'one' }))
  const two = await box.post('/__admin/rules', respond(504, { times: 1 }))
  t.equal(one.status, 200)
  t.strictSame(one.body, {
    rule_id: one.body.rule_id,
    hits: 0,
    used_up: false,
    definition: respond(502, { name: 'one' }),
  })
  t.strictSame([await users(box), await users(box), await users(box)], [504, 502, 502])
  const { body } = await box.get('/__admin/rules')
  t.match(body.rules, [
    { rule_id: two.body.rule_id, hits: 1 },
    { rule_id: one.body.rule_id, hits: 2 },
  ])
  t.strictSame((await box.call('DELETE', `/__admin/rules/${one.body.rule_id}`)).body, {
    deleted: one.body.rule_id,
  })
  t.equal(await users(box), 200)
  t.equal((await box.call('DELETE', `/__admin/rules/${one.body.rule_id}`)).status, 404)
  const bad = await box.post('/__admin/rules', {
    when: { operation: 'listUser' },
    then: { delay: '1s' },
  })
  t.equal(bad.status, 400)
  t.match(bad.body.message, /listUsers/)
  t.equal((await box.post('/__admin/rules', {})).status, 400)
  t.equal((await box.get('/__admin/rules')).body.rules.length, 1)
})

t.test('header, pushed rules, active scenario, default: the first one decides', async (t) => {
  const box = await start(t)
  const paise = { from_user_id: ASHA, amount: '100.95' }
  const rule = (reason: string) => ({
    when: { operation: 'createTransaction' },
    then: { transaction: [{ status: 'PENDING' }, { status: 'FAILED', after: '1s', reason }] },
  })
  const outcome = async (headers?: Record<string, string>) => {
    const id = idOf(await box.pay(paise, headers))
    await box.advance('10s')
    const { status, failure } = box.sandbox.default.payouts.payments.get(id).row
    return failure?.reason ?? status
  }
  t.equal(await outcome(), 'PENDING', 'default')
  await define(box, { rules: [rule('gateway_down')] })
  t.equal(await outcome(), 'gateway_down', 'active')
  await box.post('/__admin/rules', rule('insufficient_funds'))
  t.equal(await outcome(), 'insufficient_funds', 'pushed')
  const header = { 'x-sandbox-scenario': 'stuck-transactions' }
  t.equal(await outcome(header), 'PROCESSING', 'header')
  t.equal(await outcome(), 'insufficient_funds', 'and for one call only')
  t.equal(await outcome({ 'x-sandbox-scenario': 'default' }), 'PENDING', 'its magic paise')
  // A header's scenario without a say leaves the call to what lies under it.
  t.equal(await outcome({ 'x-sandbox-scenario': 'kyc-review' }), 'insufficient_funds')
})

t.test('a header that names no scenario is refused', async (t) => {
  const box = await start(t)
  const { status, body } = await box.get('/v1/users', { 'x-sandbox-scenario': 'stuck' })
  t.equal(status, 404)
  t.equal(body.error, 'not_found')
  t.match(body.message, /stuck/)
  const paid = await box.pay({}, { 'x-sandbox-scenario': 'stuck-transaction' })
  t.equal(paid.status, 404)
  t.match(paid.body.message, /stuck-transactions/)
  t.equal((await box.get('/v1/users', { 'x-sandbox-scenario': '' })).status, 404)
})

t.test('a pushed rule that is used up stays listed with its hits, and says so', async (t) => {
  const box = await start(t)
  const down = { respond: { status: 503 } }
  const when = { operation: 'listUsers' }
  const rules: [rule: object, calls: number, hits: number, usedUp: boolean][] = [
    [{ when, then: down }, 3, 3, false],
    [{ when, times: 2, then: down }, 1, 1, false],
    [{ when, times: 2, then: down }, 3, 2, true],
    [{ when, times: 1, key: 'headers.x-caller', then: down }, 3, 1, false],
    [{ when, sequence: [down, down], then_on: 'pass' }, 3, 2, true],
    [{ when, sequence: [down, 'pass'], then_on: 'last' }, 3, 3, false],
  ]
  for (const [rule, calls, hits, used_up] of rules) {
    const pushed = await box.post('/__admin/rules', rule)
    t.match(pushed, { status: 200, body: { hits: 0, used_up: false } }, JSON.stringify(rule))
    for (let i = 0; i < calls; i++) await box.get('/v1/users')
    t.match((await box.get('/__admin/rules')).body.rules, [{ hits, used_up }], JSON.stringify(rule))
    await box.call('DELETE', `/__admin/rules/${pushed.body.rule_id}`)
  }
  const rule_id = (await box.post('/__admin/rules', { when, for: '30m', then: down })).body.rule_id
  for (const [by, used_up] of [
    ['1799s', false],
    ['1s', true],
  ]) {
    await box.post('/__admin/clock/advance', { by })
    t.match((await box.get('/__admin/rules')).body.rules, [{ rule_id, hits: 0, used_up }])
  }
})

t.test('--explain names the client on whatever is answered for it', async (t) => {
  const box = await start(t, { app: { explain: true }, assume: { token: 'strict' } })
  const token = (name: string) => ({ authorization: `Bearer sbx_${name}_token` })
  const cases: [string, number, string | undefined, Record<string, string>?][] = [
    ['/__admin/clock', 200, 'default'],
    ['/__admin/clock', 200, 'second', token('second')],
    ['/__admin/health', 200, 'default'],
    ['/__admin/timers?limit=0', 400, 'default'],
    ['/__admin/nope', 404, 'default'],
    ['/@worker-1/__admin/clock', 200, 'worker-1'],
    ['/@worker-1/__admin/snapshots/nope', 404, 'worker-1'],
    ['/v1/nope', 404, 'default'],
    ['/@worker-1/v1/nope', 404, 'worker-1'],
    ['/v1/users', 401, 'default'],
    ['/@worker-1/v1/users', 401, 'worker-1'],
    ['/v1/users', 403, 'inactive', token('inactive')],
    ['/v1/users?page=0', 400, 'second', token('second')],
    // Nobody's: no client has the token or the name, or the call came by a strange name or from another site.
    ['/v1/users', 401, undefined, token('nobody')],
    ['/@nobody/v1/nope', 404, undefined],
    ['/v1/users', 403, undefined, { host: 'rebound.example.com' }],
    ['/__admin/clock', 403, undefined, { origin: 'http://elsewhere.example' }],
    ['/nope', 404, undefined],
    ['/openapi.json', 200, undefined],
  ]
  for (const [url, status, name, headers] of cases) {
    const answer = await box.get(url, headers)
    t.same([answer.status, answer.headers['x-sandbox-client']], [status, name], url)
  }
  const quiet = await start(t)
  for (const url of ['/__admin/clock', '/v1/users', '/v1/nope'])
    t.notOk('x-sandbox-client' in (await quiet.get(url)).headers, url)
})

t.test('--explain names each rule that acted', async (t) => {
  const box = await start(t, { app: { explain: true } })
  t.equal((await box.get('/v1/users')).headers['x-sandbox-rule'], undefined)
  const paid = await box.pay({ amount: '100.95' })
  t.equal(paid.headers['x-sandbox-rule'], 'default: amount 100.95')
  const submit = (...numbers: string[]) => {
    const kyc = numbers.map((document_number) => ({ ...PAN, document_number }))
    return box.post('/v1/kyc', { user_id: ASHA, kyc })
  }
  const both = await submit('XXXPX0004A', 'XXXPX0001A', 'XXXPX0004A')
  t.equal(
    both.headers['x-sandbox-rule'],
    'default: PAN marked as fake, default: PAN with another name',
    'each rule that acted',
  )
  await box.post('/__admin/rules', respond(503, { name: 'नहीं' }))
  const down = await box.get('/v1/users')
  t.equal(down.status, 503)
  t.match(down.headers['x-sandbox-rule'], /^rule:rul_\d+: \?+$/)
  const keyed = await box.pay({ amount: '100.91' }, { 'idempotency-key': 'k' })
  t.equal(keyed.headers['x-sandbox-rule'], 'default: amount 100.91')
  const quiet = await start(t)
  t.equal((await quiet.pay({ amount: '100.95' })).headers['x-sandbox-rule'], undefined)
})

t.test('simulate moves payments, KYC records and accounts; a forbidden move is 422', async (t) => {
  const box = await start(t, GUARDED)
  const move = (what: string, id: string, body: object) =>
    box.post(`/__admin/simulate/${what}/${id}`, body)
  const id = idOf(await box.pay())
  const failed = await move('transactions', id, { status: 'FAILED', reason: 'gateway_down' })
  t.strictSame(failed.body, { transaction_id: id, status: 'FAILED' })
  t.equal((await box.get('/__admin/clock')).body.pending_timers, 0, 'its steps are dropped')
  await box.advance('1m')
  t.equal(box.sandbox.default.payouts.payments.get(id).row.failure?.reason, 'gateway_down')
  const forbidden = await move('transactions', id, { status: 'SUCCESS' })
  t.equal(forbidden.status, 422)
  t.equal(forbidden.body.error, 'invalid_transition')
  const item = { ...AADHAAR, document_number: '999999990035' }
  const kyc = await box.post('/v1/kyc', { user_id: ASHA, kyc: [item] })
  const { kyc_id } = kyc.body.data[0].data
  t.strictSame((await move('kyc', kyc_id, { status: 'success' })).body, {
    kyc_id,
    kyc_status: 'success',
  })
  t.equal((await move('kyc', kyc_id, { status: 'failed' })).status, 422)
  t.equal((await box.get(`/v1/user/${ASHA}`)).body.data.pid, kyc_id)
  const bank = await box.post('/v1/bank', {
    user_id: ASHA,
    account_number: '999900000006',
    ifsc_code: 'HDFC0000001',
  })
  const { bank_id } = bank.body.data.data
  t.strictSame((await move('bank-accounts', bank_id, { status: 'failed' })).body, {
    bank_id,
    bank_status: 'failed',
  })
  await box.advance('1m')
  t.equal((await box.get(`/v1/bank/${ASHA}`)).body.data[0].bank_status, 'failed')
  t.equal((await move('bank-accounts', bank_id, { status: 'pending' })).status, 422)
  for (const what of ['transactions', 'kyc', 'bank-accounts']) {
    const status = what === 'transactions' ? 'SUCCESS' : 'success'
    t.equal((await move(what, ASHA, { status })).status, 404)
    t.equal((await move(what, 'x', { status })).status, 400)
    t.equal((await move(what, ASHA, { status: 'gone' })).status, 400)
  }
})

t.test('unmet expectations of a replaced scenario stay until it is active again', async (t) => {
  const box = await start(t)
  const previous = async () => (await box.get('/__admin/scenario')).body.previous
  const [one, two] = [1, 2].map((times) => ({ expect: { requests: { listUsers: times } } }))
  const put = (definition: object) => box.put('/__admin/scenario', { definition })
  const unmet = (atLeast: number, found: number) => ({
    name: 'inline',
    expect: [{ operation: 'listUsers', at_least: atLeast, at_most: atLeast, found, met: false }],
  })
  await put(one!)
  t.equal(await previous(), undefined)
  t.strictSame((await put(two!)).body.previous, [unmet(1, 0)])
  await users(box)
  await box.put('/__admin/scenario', { name: 'slow' })
  t.strictSame(await previous(), [unmet(1, 0), unmet(2, 1)])
  await put(one!)
  t.strictSame(await previous(), [unmet(2, 1)], 'a definition is known again')
  await users(box)
  await box.put('/__admin/scenario', { name: 'slow' })
  t.strictSame(await previous(), [unmet(2, 1)], 'met expectations are not returned')
  t.equal((await box.put('/__admin/scenario', { name: 'none' })).status, 404)
  t.strictSame(await previous(), [unmet(2, 1)], 'a refusal leaves nothing')
  for (let i = 10; i < 112; i++) await put({ expect: { requests: { listUsers: i } } })
  const all = await previous()
  t.equal(all.length, 100, 'the last ones')
  t.strictSame([all[0], all.at(-1)], [unmet(11, 0), unmet(110, 0)])
  await box.post('/__admin/reset', {})
  t.equal(await previous(), undefined)
})

t.test('expect is met by what was asked since the activation', async (t) => {
  const box = await start(t)
  await users(box)
  await define(box, {
    expect: {
      requests: { listUsers: 2, createTransaction: { at_least: 1 }, getUser: { at_most: 0 } },
    },
  })
  const shown = async () =>
    (await box.get('/__admin/scenario')).body.expect.map(
      ({ operation, found, met }: { operation: string; found: number; met: boolean }) =>
        `${operation} ${found} ${met}`,
    )
  t.strictSame(await shown(), ['listUsers 0 false', 'createTransaction 0 false', 'getUser 0 true'])
  await users(box)
  await users(box)
  await box.pay()
  t.strictSame(await shown(), ['listUsers 2 true', 'createTransaction 1 true', 'getUser 0 true'])
  await users(box)
  await box.get(`/v1/user/${ASHA}`)
  t.strictSame(await shown(), ['listUsers 3 false', 'createTransaction 1 true', 'getUser 1 false'])
})

async function watched(t: Test) {
  const log = createLog()
  const box = await start(t, { ...GUARDED, sandbox: { log } })
  const seen: FeedEvents['change'][] = []
  watchChanges(box.sandbox.default, (event) => void seen.push(event))
  return { box, seen, log }
}

t.test('timeline: trigger fires an event about the latest or a named resource', async (t) => {
  const { box, seen, log } = await watched(t)
  const id = idOf(await box.pay())
  await box.advance('1m')
  seen.length = 0
  const answer = await define(box, {
    timeline: [
      { after: '1s', every: '2s', times: 3, do: { trigger: 'transaction.failed' } },
      { after: '10s', do: { trigger: 'user.created', resource: ASHA } },
      { after: '11s', do: { trigger: 'webhook.test' } },
      { after: '12s', do: { trigger: 'bank.success', resource: ROHANS_ACCOUNT } },
      { after: '13s', do: { trigger: 'kyc.success', resource: 'latest' } },
    ],
  })
  t.equal(answer.status, 200)
  const { body } = await box.advance('1m')
  t.equal(body.fired.length, 7)
  t.strictSame(
    seen.slice(0, 4).map(({ type, resource_id }) => `${type} ${resource_id}`),
    [...Array(3).fill(`transaction.failed ${id}`), `user.created ${ASHA}`],
  )
  t.ok(
    seen.some(({ type, resource_id }) => type === 'bank.success' && resource_id === ROHANS_ACCOUNT),
  )
  t.equal(seen.at(-1)!.type, 'kyc.success')
  t.strictSame(
    log.lines.filter((line) => line.includes('timeline of inline: trigger')),
    [
      'client "default": timeline of inline: trigger: No webhook exists yet, so `latest` matches nothing.',
    ],
  )
  const { row } = box.sandbox.default.payouts.payments.get(id)
  t.equal(row.status, 'SUCCESS', 'nothing is changed by it')

  const hook = { url: 'http://127.0.0.1:9/x', webhook_secret: 's' }
  const made = (await box.post('/v1/clientWebhook', hook)).body.updatedWebhook.response.data
  await define(box, { timeline: [{ after: '1s', do: { trigger: 'webhook.test' } }] })
  await box.advance('1s')
  t.match(seen.at(-1), { type: 'webhook.test', resource_id: made.webhook_id })
  const sent = await box.get('/__admin/webhooks/deliveries?event=webhook.test')
  t.equal(sent.body.total, 1, 'it was asked for, so it is sent')
})

t.test('timeline: simulate, credit, create_users and rule', async (t) => {
  const { box, log } = await watched(t)
  await box.put('/__admin/scenario', { name: 'stuck-transactions' })
  const before = await totalUsers(box)
  await define(box, {
    extends: 'stuck-transactions',
    timeline: [
      {
        after: '5s',
        do: { simulate: { transaction: 'latest', status: 'FAILED', reason: 'gateway_down' } },
      },
      { after: '6s', do: { simulate: { transaction: 'latest', status: 'FAILED' } } },
      { after: '10s', every: '1s', times: 2, do: { create_users: 3 } },
      {
        after: '20s',
        do: { credit: { amount: 12.5, remark: 'in', reference_id: 'ref-1', to_user_id: ROHAN } },
      },
      { after: '21s', do: { credit: { amount: '12.50', reference_id: 'ref-1' } } },
      { after: '30s', do: { rule: respond(503, { times: 1 }) } },
    ],
  })
  const id = idOf(await box.pay())
  await box.advance('5s')
  t.equal(box.sandbox.default.payouts.payments.get(id).row.failure?.reason, 'gateway_down')
  await box.advance('15s')
  t.match(log.lines.join('\n'), /simulate: A FAILED transaction cannot become FAILED/)
  t.equal(await totalUsers(box), before + 6)
  const { body } = await box.get('/v1/transaction/history', TOKEN)
  const [newest] = body.data.transactions
  t.match(newest, { amount: '12.50', remark: 'in', client_transaction_id: 'ref-1', user_id: ROHAN })
  await box.advance('10s')
  t.match(log.lines.join('\n'), /credit: .*ref/)
  t.strictSame([await users(box), await users(box)], [503, 200])
  const list = await box.get('/v1/transaction')
  t.equal(list.body.data.transactions[0].transaction_type, 'credit')
})

t.test('timeline: use changes the scenario and drops what the former one had left', async (t) => {
  const { box } = await watched(t)
  const before = await totalUsers(box)
  await define(box, {
    timeline: [
      { after: '1m', do: { use: 'rate-limited' } },
      { after: '90s', do: { create_users: 5 } },
    ],
  })
  await box.advance('1h')
  t.equal((await box.get('/__admin/scenario')).body.name, 'rate-limited')
  t.equal(await totalUsers(box), before)
  t.equal((await box.get('/__admin/clock')).body.pending_timers, 0)
})

t.test('timeline: reset goes back to the fixtures and the start scenario', async (t) => {
  const { box } = await watched(t)
  const before = await totalUsers(box)
  await box.post('/v1/user', { email: 'n@example.com', mobile: '9876543210' })
  await box.post('/__admin/rules', respond(503, { when: { operation: 'getUser' } }))
  await define(box, {
    timeline: [
      { after: '1m', do: { reset: true } },
      { after: '2m', do: { create_users: 1 } },
    ],
  })
  await box.advance('59s')
  t.equal(await totalUsers(box), before + 1)
  t.equal((await box.advance('1s')).status, 200)
  t.equal(await totalUsers(box), before)
  t.equal((await box.get('/__admin/scenario')).body.name, 'default')
  t.strictSame((await box.get('/__admin/rules')).body.rules, [])
  t.equal((await box.get('/__admin/clock')).body.pending_timers, 0)
})

t.test('timeline: every without times has no end; without after it starts at once', async (t) => {
  const { box, seen } = await watched(t)
  const before = await totalUsers(box)
  await define(box, {
    timeline: [
      { every: '10s', do: { create_users: 1 } },
      { every: '10s', times: 2, do: { create_users: 1 } },
    ],
  })
  await box.advance('0s')
  t.equal(await totalUsers(box), before + 2)
  await box.advance('1h')
  t.equal(await totalUsers(box), before + 363)
  t.equal(seen.length, 363)
  t.equal((await box.get('/__admin/clock')).body.pending_timers, 1)
})

t.test('timeline: what it says for this instant is done as it is activated', async (t) => {
  const library = libraryWith(
    t.testdir({
      'two.yaml':
        'timeline: [{ do: { create_users: 2 } }, { after: 1h, do: { create_users: 1 } }]\n',
      'to-two.yaml':
        'timeline: [{ do: { create_users: 1 } }, { do: { use: two } }, { do: { create_users: 9 } }]\n',
      'in-a-minute.yaml': 'timeline: [{ after: 1m, do: { use: two } }]\n',
    }),
  )
  const box = await start(t, { sandbox: { library }, begin: { scenario: 'two' } })
  const plain = await totalUsers(await start(t))
  const state = async () => [
    (await box.get('/__admin/scenario')).body.name,
    (await totalUsers(box)) - plain,
    (await box.get('/__admin/clock')).body.pending_timers,
  ]
  t.strictSame(await state(), ['two', 2, 1], 'the start scenario')
  await box.put('/__admin/scenario', { name: 'to-two' })
  t.strictSame(await state(), ['two', 5, 1], 'a use puts other entries in place of the rest')
  await define(box, { timeline: [{ every: '1h', times: 2, do: { create_users: 1 } }] })
  t.strictSame(await state(), ['inline', 6, 1], 'the first of several')
  await box.put('/__admin/scenario', { name: 'in-a-minute' })
  const [timer] = (await box.get('/__admin/timers')).body.timers
  await box.post(`/__admin/timers/${timer.timer_id}/fire`)
  t.strictSame(await state(), ['two', 8, 1], 'a use that is fired by hand')
  await box.post('/__admin/reset')
  t.strictSame(await state(), ['two', 2, 1], 'a reset')
  await box.put('/__admin/scenario', { name: 'in-a-minute' })
  const { body } = await box.advance('1m')
  t.strictSame(
    pluck(body.fired, 'do'),
    [{ use: 'two' }, { create_users: 2 }],
    'advance tells all that it ran',
  )
  t.strictSame(await state(), ['two', 4, 1])
})

t.test('the active scenario, counters, rules and timeline survive a restart', async (t) => {
  const file = join(t.testdir(), 'db.json')
  const one = await start(t, { sandbox: { file } })
  await define(one, {
    rules: [
      {
        name: 'third',
        when: { operation: 'listUsers' },
        skip: 2,
        times: 1,
        then: { respond: { status: 503 } },
      },
    ],
    timeline: [
      { after: '1m', do: { create_users: 1 } },
      { after: '10s', every: '10s', times: 3, do: { create_users: 1 } },
    ],
  })
  await one.post('/__admin/rules', {
    when: { operation: 'getUser' },
    times: 2,
    then: { respond: { status: 502 } },
  })
  await users(one)
  await users(one)
  await one.get(`/v1/user/${ASHA}`)
  await one.advance('15s')
  const before = [...one.sandbox.default.tables.tables.users.rows()].length
  await one.close()
  const two = await start(t, { sandbox: { file } })
  const { body } = await two.get('/__admin/scenario')
  t.equal(body.name, 'inline')
  t.strictSame(body.rules, [{ name: 'third', hits: 0 }])
  t.equal(await users(two), 503)
  t.equal(await users(two), 200)
  t.equal((await two.get(`/v1/user/${ASHA}`)).status, 502)
  t.equal((await two.get(`/v1/user/${ASHA}`)).status, 200)
  await two.advance('1h')
  t.equal(await totalUsers(two), before + 3)
})

t.test('a reset of the data keeps the scenario, its rules, counters and timeline', async (t) => {
  const box = await start(t)
  const first = await box.post('/__admin/rules', respond(502, { times: 2 }))
  await box.put('/__admin/scenario', { name: 'provider-outage' })
  t.equal(await users(box), 502)
  await box.advance('1m')
  t.equal((await box.post('/__admin/reset', { parts: ['data'] })).status, 200)
  t.equal(await users(box), 502)
  t.equal(await users(box), 503)
  // Rules that are pushed now do not take the place of those that were kept.
  const ids = new Set([first.body.rule_id])
  for (let i = 0; i < 5; i++) ids.add((await box.post('/__admin/rules', respond(504))).body.rule_id)
  t.equal(ids.size, 6)
  t.equal((await box.get('/__admin/rules')).body.rules.at(-1).rule_id, first.body.rule_id)
  for (const id of ids) await box.call('DELETE', `/__admin/rules/${id}`)
  await box.advance('59s')
  t.equal(await users(box), 503)
  await box.advance('1s')
  t.equal((await box.get('/__admin/scenario')).body.name, 'default')
  t.equal(await users(box), 200)
})

t.test('hits of webhook rules and of extended scenarios are returned too', async (t) => {
  const box = await start(t)
  const definition = {
    extends: 'kyc-failures',
    rules: [{ name: 'mine', when: { operation: 'listUsers' }, then: { respond: { status: 502 } } }],
    webhooks: [{ name: 'none of users', when: { event: 'user.created' }, then: { drop: true } }],
  }
  t.equal((await box.call('PUT', '/__admin/scenario', { definition })).status, 200)
  const url = 'http://127.0.0.1:9/hook'
  await box.post('/v1/clientWebhook', { url, webhook_secret: 'whsec_c2VjcmV0' })
  await box.get('/v1/users')
  await box.post('/__admin/webhooks/trigger', { event: 'user.created' })
  const { rules, webhooks } = (await box.get('/__admin/scenario')).body
  t.strictSame(rules[0], { name: 'mine', hits: 1 })
  t.match(rules[1], { scenario: 'kyc-failures', hits: 0 })
  t.strictSame(webhooks, [{ name: 'none of users', hits: 1 }])
})
