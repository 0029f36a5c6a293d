import t from 'tap'
import { MAX_SNAPSHOTS } from '../../src/content/snapshots.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import {
  AADHAAR,
  type Answer,
  ASHA,
  HONOURED,
  KABIR,
  pluck,
  ROHAN,
  start,
  TOKEN,
} from '../helper.ts'
import { manualTime } from '../manual-time.ts'
import { heldTimers } from '../manual-timers.ts'
import { receiver, SECRET } from '../receiver.ts'

type Box = Awaited<ReturnType<typeof start>>
const bad = 'ffffffff-0000-4000-8000-000000000000'
const SNAPSHOTS = '/__admin/snapshots'
const HOOK = { url: 'http://127.0.0.1:9/hook', webhook_secret: 'whsec_very-secret' }

/** All that can be seen of a client, one line for each path. */
async function seen({ get }: Box, base = '') {
  const lines: string[] = []
  for (const path of [
    '/v1/users?limit=100',
    '/v1/transaction?limit=100',
    `/v1/transaction/history?limit=100`,
    `/v1/kyc/${ASHA}`,
    `/v1/bank/${ROHAN}`,
    '/v1/clientWebhook',
    '/v1/client/profile',
    '/__admin/clock',
    '/__admin/timers',
    '/__admin/scenario',
    '/__admin/rules',
    '/__admin/state',
  ])
    lines.push(`${path} ${(await get(base + path, base ? {} : TOKEN)).text}`)
  return lines.join('\n')
}

/** A world in the midst of many things. */
async function busy({ post, put, pay }: Box) {
  const made = [
    await put('/__admin/scenario', { definition: { extends: 'default', rules: [COUNTED] } }),
    await post('/__admin/rules', { ...COUNTED, name: 'pushed' }),
  ]
  for (const { status, text } of made) if (status !== 200) throw new Error(text)
  await post('/__admin/clock/freeze', { at: '2026-02-03T04:05:06.789Z' })
  await post('/v1/user', { email: 'new@example.com', mobile: '9876500001' })
  await post('/v1/clientWebhook', HOOK)
  await pay({}, { 'idempotency-key': 'key' })
  await post('/v1/bank', {
    user_id: KABIR,
    account_number: '123456789012',
    ifsc_code: 'HDFC0000001',
  })
  await post('/v1/kyc', { user_id: KABIR, kyc: [{ ...AADHAAR, document_number: '123412341234' }] })
}
const COUNTED = {
  name: 'counted',
  when: { operation: 'createUser' },
  skip: 5,
  times: 1,
  then: { respond: { status: 503 } },
}

async function upset({ post, put, pay, call, get }: Box) {
  await put('/__admin/scenario', { name: 'late-reversals' })
  for (const { rule_id } of (await get('/__admin/rules')).body.rules)
    await call('DELETE', `/__admin/rules/${rule_id}`)
  await post('/__admin/clock/advance', { by: '3d' })
  await post('/__admin/clock/speed', { factor: 7 })
  await pay({ amount: 77 })
  await post('/v1/user', { email: 'other@example.com', mobile: '9876500002' })
  await put('/v1/clientWebhook', { url: 'http://127.0.0.1:9/other' })
}

t.test('a restored snapshot is what was: rows, clock, timers, scenario, series', async (t) => {
  const dir = t.testdir({})
  const file = { sandbox: { file: `${dir}/db.json` } }
  let box = await start(t, { ...HONOURED, ...file })
  await busy(box)
  const saved = await box.post(SNAPSHOTS, { name: 'ready' })
  t.equal(saved.status, 201)
  t.same(saved.body, { name: 'ready', taken_at: '2026-02-03T04:05:06.789Z', replaced: false })
  const wanted = await seen(box)
  const user = { email: 'later@example.com', mobile: '9876500003' }
  const first = (await box.post('/v1/user', user)).text

  for (const how of ['at once', 'after a restart', 'after a rewrite and a restart']) {
    await upset(box)
    t.not(await seen(box), wanted)
    if (how.includes('rewrite')) await box.sandbox.store.compact()
    if (how !== 'at once') {
      await box.close()
      box = await start(t, { ...HONOURED, ...file })
    }
    t.same((await box.get(SNAPSHOTS)).body.snapshots, [
      { name: 'ready', taken_at: '2026-02-03T04:05:06.789Z' },
    ])
    const back = await box.post(`${SNAPSHOTS}/ready/restore`)
    t.same(back.body, { restored: 'ready', now: '2026-02-03T04:05:06.789Z' })
    t.equal(await seen(box), wanted, how)
    t.equal((await box.post('/v1/user', user)).text, first, 'the series goes on from there')
    const replayed = await box.pay({}, { 'idempotency-key': 'key' })
    t.equal(replayed.headers['idempotency-replayed'], 'true')
    await box.post(`${SNAPSHOTS}/ready/restore`)
  }
  const fired = (await box.advance('1h')).body.fired
  t.ok(fired.length >= 2, 'its timers run')
  t.equal((await box.post('/__admin/reset')).status, 200)
  t.equal((await box.get(SNAPSHOTS)).body.snapshots.length, 1, 'a reset keeps snapshots')
})

t.test('a ticking clock goes on from where a snapshot was made', async (t) => {
  let wall = Date.parse('2026-06-01T00:00:00.000Z')
  const box = await start(t, { sandbox: { wall: () => wall } })
  await box.post('/__admin/clock/resume')
  const timeOf = async (base = '') => (await box.get(`${base}/__admin/clock`)).body.now
  wall += 5_000
  await box.post(SNAPSHOTS, { name: 's' })
  wall += 3_600_000
  t.equal(await timeOf(), '2026-01-01T01:00:05.000Z')
  await box.post(`${SNAPSHOTS}/s/restore`)
  t.equal(await timeOf(), '2026-01-01T00:00:05.000Z')
  wall += 2_000
  t.equal(await timeOf(), '2026-01-01T00:00:07.000Z')
  await box.post('/__admin/clients', { name: 'f', from: { client: 'default' } })
  await box.post('/__admin/clients', { name: 'g', from: { client: 'default', snapshot: 's' } })
  wall += 1_000
  t.equal(await timeOf('/@f'), '2026-01-01T00:00:08.000Z')
  t.equal(await timeOf('/@g'), '2026-01-01T00:00:06.000Z')
})

t.test('a difference tells what came, went and changed, by table and id, masked', async (t) => {
  const box = await start(t, HONOURED)
  await busy(box)
  await box.post(SNAPSHOTS, { name: 's' })
  const diff = async () => (await box.get(`${SNAPSHOTS}/s/diff`)).body
  t.same(await diff(), { snapshot: 's', tables: {} })
  const account = { user_id: KABIR, account_number: '987654321098', ifsc_code: 'ICIC0000002' }
  const { bank_id } = (await box.post('/v1/bank', account)).body.data.data
  const { transaction_id } = (await box.pay({ amount: 3 })).body.data[0]
  await box.put('/v1/clientWebhook', { webhook_secret: 'whsec_another-secret' })
  await box.advance('1d')
  const { tables } = await diff()
  t.same(tables.bank_accounts.added, [bank_id])
  t.same(tables.payments.added, [transaction_id])
  const [changed] = tables.payments.changed
  t.match(changed.fields, {
    status: { before: 'PENDING', after: 'SUCCESS' },
    updated_at: { before: '2026-02-03T04:05:06.789Z' },
  })
  t.match(changed.fields.utr, { before: null, after: /^X+[A-Z0-9]{4}$/ })
  t.notOk('amount' in changed.fields || 'paise' in changed.fields)
  t.ok(tables.timers.removed.length >= 2)
  t.same(tables.webhook.changed[0].fields, { webhook_secret: { before: 'XXXX', after: 'XXXX' } })
  t.same(pluck(tables.settings.changed, 'id'), ['clock'])
  t.notMatch(
    JSON.stringify(tables),
    /very-secret|another-secret|987654321098|123412341234|sbx_test_token/,
  )
  await box.post(`${SNAPSHOTS}/s/restore`)
  t.same((await diff()).tables, {})
  await box.post('/__admin/reset')
  const away = (await diff()).tables
  t.equal(away.users.removed.length, 1)
  t.equal(away.webhook.removed.length, 1)
})

t.test('a difference shows references whole, and masks other texts', async (t) => {
  const box = await start(t)
  await box.pay({ reference_id: '123456789012' })
  await box.post(SNAPSHOTS, { name: 's' })
  const { body: state } = await box.get('/__admin/state')
  const references = { reference_id: '123456789013', client_transaction_id: 'ABCPX1234Z' }
  const changed = { ...references, remark: 'to 999912345678' }
  Object.assign(state.tables.payments.at(-1), changed)
  t.equal((await box.put('/__admin/state', state)).status, 200)
  const [{ fields }] = (await box.get(`${SNAPSHOTS}/s/diff`)).body.tables.payments.changed
  t.strictSame(fields, {
    reference_id: { before: '123456789012', after: '123456789013' },
    client_transaction_id: { before: '123456789012', after: 'ABCPX1234Z' },
    remark: { before: '', after: 'to XXXXXXXX5678' },
  })
})

t.test('a snapshot is replaced, forgotten, and one of many', async (t) => {
  const box = await start(t, HONOURED)
  await box.post(SNAPSHOTS, { name: 'a' })
  await box.pay()
  t.equal((await box.post(SNAPSHOTS, { name: 'a' })).body.replaced, true)
  t.same((await box.get(`${SNAPSHOTS}/a/diff`)).body.tables, {})
  const nobodys: [method: 'GET' | 'POST' | 'DELETE', path: string][] = [
    ['GET', 'none'],
    ['GET', 'none/diff'],
    ['POST', 'none/restore'],
    ['DELETE', 'none'],
  ]
  for (const [method, path] of nobodys) {
    const answer = await box.call(method, `${SNAPSHOTS}/${path}`)
    t.match(answer.body, { error: 'not_found', message: /snapshot none of client default/ })
    t.equal((await box.call(method, `/@w${SNAPSHOTS}/${path.replace('none', 'a')}`)).status, 404)
  }
  for (let i = 1; i < MAX_SNAPSHOTS; i++) await box.post(SNAPSHOTS, { name: `s${i}` })
  t.equal((await box.post(SNAPSHOTS, { name: 'more' })).body.error, 'snapshot_limit_reached')
  t.equal((await box.post(SNAPSHOTS, { name: 'a' })).status, 201)
  t.same((await box.call('DELETE', `${SNAPSHOTS}/a`)).body, { deleted: 'a' })
  t.equal((await box.post(SNAPSHOTS, { name: 'more' })).status, 201)
  t.equal((await box.get(SNAPSHOTS)).body.snapshots.length, MAX_SNAPSHOTS)
})

t.test('a state goes out and comes back in, here and elsewhere', async (t) => {
  const box = await start(t, HONOURED)
  const fresh = await seen(box)
  await busy(box)
  await box.post(SNAPSHOTS, { name: 's' })
  const wanted = await seen(box)
  const state = await box.get('/__admin/state')
  t.equal(state.text, (await box.get(`${SNAPSHOTS}/s`)).text, 'a download has the same form')
  t.notMatch(state.text, /very-secret|sbx_test_token|access_token|webhook_secret/)
  await upset(box)
  await box.post('/__admin/reset')
  const taken = await box.put('/__admin/state', state.body)
  t.equal(taken.status, 200, taken.text)
  t.match(taken.body, { now: '2026-02-03T04:05:06.789Z', rows: { users: 111, webhook: 1 } })
  t.equal(await seen(box), wanted)
  t.equal(box.sandbox.default.webhooks.current()?.webhook_secret, HOOK.webhook_secret)
  t.ok((await box.advance('1h')).body.fired.length >= 2)
  await box.post('/__admin/reset')
  t.equal(await seen(box), fresh, 'a reset leads away from it')

  // Elsewhere nobody knows the secret: it is a fixed one, unless the document brings it or a webhook is there already.
  const other = await start(t)
  t.equal((await other.put('/@new/__admin/state', state.body)).status, 200)
  const secretOf = (name: string) =>
    other.sandbox.clients.get(name)!.webhooks.current()?.webhook_secret
  t.equal(secretOf('new'), 'whsec_new')
  await other.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 'kept' })
  t.equal((await other.put('/__admin/state', state.body)).status, 200)
  t.equal(await seen(other), wanted)
  t.equal(other.sandbox.default.webhooks.current()?.webhook_secret, 'kept')
  const [webhook] = state.body.tables.webhook
  const brought = structuredClone(state.body)
  brought.tables.webhook = [{ ...webhook, webhook_secret: 'brought' }]
  t.equal((await other.put('/@w/__admin/state', brought)).status, 200)
  const world = other.sandbox.clients.get('w')!
  t.equal(world.webhooks.current()?.webhook_secret, 'brought')
  t.match(world.payouts.profile(), {
    client: 'w',
    access_token: 'sbx_w',
    email: 'payments@example.com',
  })
  t.equal((await other.get('/v1/client/profile', { authorization: 'Bearer sbx_w' })).status, 200)
})

t.test('a state with anything wrong is refused, and nothing changes', async (t) => {
  const box = await start(t, HONOURED)
  await busy(box)
  const good = (await box.get('/__admin/state')).body
  const wanted = await seen(box)
  const { tables } = good
  const success = { status: 'SUCCESS', utr: 'U1', failure: null }
  const [payer] = tables.payments
  const wrong: [path: string, value: unknown][] = [
    ['format', 2],
    ['extra', 1],
    ['tables.ghosts', []],
    ['tables.kyc', undefined],
    ['clock', undefined],
    ['clock.now', 'noon'],
    ['clock.speed', 0],
    ['clock.mode', 'slow'],
    ['assumptions.processing_status', 'x'],
    ['draws', -1],
    ['draws', Number.MAX_SAFE_INTEGER],
    ['scenario', { name: 'inline', definition: { rules: 5 } }],
    ['profile.status', 'gone'],
    ['tables.users[3].user_id', undefined],
    ['tables.users[0].email', 'nope'],
    ['tables.users[0].mobile', '12'],
    ['tables.users[1]', tables.users[0]],
    ['tables.payments[0].paise', '1'],
    ['tables.payments[0].paise', -5],
    ['tables.payments[0].paise', 10 ** 12],
    ['tables.payments[0]', { ...payer, ...success, utr: null }],
    ['tables.payments[0]', { ...payer, status: 'PENDING', utr: 'U1' }],
    ['tables.payments', tables.payments.map((row: object) => ({ ...row, ...success }))],
    ['tables.payments[0].to_user_id', payer.from_user_id],
    ['tables.payments[0].from_user_id', bad],
    ['tables.payments[0].to_user_id', bad],
    ['tables.payments[0].benif_bank_id', bad],
    ['tables.bank_accounts[0].account_number', '12'],
    ['tables.bank_accounts[0].ifsc_code', '12'],
    ['tables.bank_accounts[0].user_id', bad],
    ['tables.kyc[0].user_id', bad],
    ['tables.kyc[0].user_id', undefined],
    ['tables.timers[1]', tables.timers[0]],
    ['tables.webhook[0].url', 'file:///etc/passwd'],
    ['tables.webhook[1]', { webhook_id: bad, url: 'http://x' }],
    ['tables.rules[0].definition', { when: 5 }],
    ['tables.counters[0].hits', 'many'],
    ['tables.idempotency[0].status', '200'],
  ]
  const put = (path: string, value: unknown) => {
    const state = structuredClone(good)
    const names = path.match(/\w+/g)!
    const last = names.pop()!
    names.reduce((part: Answer['body'], name) => part[name], state)[last] = value
    return box.put('/__admin/state', state)
  }
  for (const [path, value] of wrong) {
    const { status, body } = await put(path, value)
    t.equal(status, 400, path)
    t.ok(body.errors[0].field.startsWith(path), `${path}: ${body.message}`)
  }
  t.match((await put('draws', 1)).body.errors[0], { field: 'tables.timers[0].seq' })
  t.equal((await put('scenario', { name: 'no-such' })).body.error, 'not_found')
  for (const body of [5, [], {}]) t.equal((await box.put('/__admin/state', body)).status, 400)
  t.equal(await seen(box), wanted)
  t.equal((await box.put('/__admin/state', good)).status, 200)
  t.equal(await seen(box), wanted)
})

t.test('a response that is held back is no part of a snapshot or a fork', async (t) => {
  const time = manualTime()
  const box = await start(t, { ...HONOURED, sandbox: { runtime: time.runtime } })
  await box.put('/__admin/scenario', { name: 'slow' })
  const waiting = box.get('/v1/users?limit=1')
  await time.waiting()
  await box.post(SNAPSHOTS, { name: 's' })
  await box.post('/__admin/clients', { name: 'f', from: { client: 'default' } })
  await box.post('/@f/__admin/reset')
  t.equal(
    time.left().length,
    1,
    'nobody waits in a fork, and its reset ends no response of its source',
  )
  time.pass('4s')
  t.equal((await waiting).status, 200)
  await box.post(`${SNAPSHOTS}/s/restore`)
  t.strictSame(time.left(), [], 'what was answered is answered')
})

t.test('a large body is taken for a state and for books alone', async (t) => {
  const box = await start(t)
  const text = 'x'.repeat(1_100_000)
  t.equal((await box.post('/v1/user', { email: text })).status, 413)
  t.equal((await box.post(SNAPSHOTS, { name: text })).status, 413)
  for (const { id, large } of ADMIN_CALLS)
    t.equal(large ?? false, id === 'putState' || id === 'reconcile', id)
})

/** A data file with the states of these clients; the users of the first are shared rows. */
async function dataFile(box: Box, names: readonly [string, ...string[]]) {
  const clients: Record<string, { tables: Record<string, unknown> }> = {}
  for (const name of names) clients[name] = (await box.get(`/@${name}/__admin/state`)).body
  const { tables } = clients[names[0]]!
  const shared = { 'users-1': tables['users'] }
  tables['users'] = 'users-1'
  return { format: 6, clients, shared }
}

t.test('a whole data file is taken: the state of the client, else that of default', async (t) => {
  const source = await start(t)
  await source.post('/@w1/v1/user', { email: 'one@example.com', mobile: '9876500001' })
  await source.post('/v1/user', { email: 'default@example.com', mobile: '9876500002' })
  const data = await dataFile(source, ['w1', 'default'])
  const box = await start(t)
  const newest = async (name: string) =>
    (await box.get(`/@${name}/__admin/users?limit=1`)).body.users[0].email
  for (const [name, email] of [
    ['w1', 'one@example.com'],
    ['w2', 'default@example.com'],
  ] as const) {
    t.equal((await box.put(`/@${name}/__admin/state`, data)).status, 200)
    t.equal(await newest(name), email)
  }
  // Over 1 MiB, the limit of all other bodies.
  const large = { padding: ' '.repeat(1024 * 1024), ...data }
  t.equal((await box.put('/@w3/__admin/state', large)).status, 200)
  t.equal(await newest('w3'), 'default@example.com')
  const { default: _, ...others } = data.clients
  t.match(await box.put('/__admin/state', { ...data, clients: others }), {
    status: 400,
    body: { errors: [{ field: 'clients', message: 'must have a state of default' }] },
  })
})

t.test('a restore and an import wait for a call that moves time', async (t) => {
  const box = await start(t, HONOURED)
  await box.post(SNAPSHOTS, { name: 's' })
  const state = (await box.get('/__admin/state')).body
  for (const come of [
    () => box.post(`${SNAPSHOTS}/s/restore`),
    () => box.put('/__admin/state', state),
  ]) {
    const timers = heldTimers(box.sandbox.default)
    const moving = box.advance('1500ms')
    await timers.running()
    let back = false
    const coming = come().finally(() => {
      back = true
    })
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    t.notOk(back, 'time is on its way')
    timers.settle()
    t.equal((await moving).body.now, '2026-01-01T00:00:01.500Z')
    t.equal((await coming).body.now, '2026-01-01T00:00:00.000Z')
    t.equal((await box.get('/__admin/clock')).body.now, '2026-01-01T00:00:00.000Z')
  }
})

t.test('pending webhooks go along with a state, a snapshot and a fork', async (t) => {
  const hook = await receiver(t)
  const box = await start(t, HONOURED)
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  await box.pay()
  await box.post(SNAPSHOTS, { name: 's' })
  const state = (await box.get('/__admin/state')).body
  const receivedValues = async (base = '') => {
    hook.received.length = 0
    await box.post(`${base}/__admin/clock/advance`, { by: '1h' })
    const { total } = (await box.get(`${base}/__admin/webhooks/deliveries?status=delivered`)).body
    t.equal(total, 3)
    return hook.received.map(({ type, id, attempt, verdict }) => [type, id, attempt, verdict.ok])
  }
  await box.post('/__admin/clients', { name: 'f', from: { client: 'default' } })
  const wanted = await receivedValues()
  t.equal(wanted.length, 3)
  t.ok(wanted.every(([, , attempt, ok]) => attempt === 1 && ok === true))
  t.same(await receivedValues(), [], 'all are sent')
  t.same(await receivedValues('/@f'), wanted, 'a fork sends its own')
  await box.post(`${SNAPSHOTS}/s/restore`)
  t.same(await receivedValues(), wanted, 'after a restore they are sent again')
  await box.post('/__admin/reset')
  await box.put('/__admin/state', state)
  t.same(await receivedValues(), wanted, 'and after an import')
})

t.test('an exported state is one of a data file', async (t) => {
  const source = await start(t, HONOURED)
  await busy(source)
  await source.advance('90s')
  const { body: state, text } = await source.get('/__admin/state')
  const file = `${t.testdir({ 'db.json': JSON.stringify({ format: 6, clients: { default: state, w1: state } }) })}/db.json`
  const box = await start(t, { ...HONOURED, sandbox: { file } })
  for (const [name, token] of [
    ['default', 'sbx_test_token'],
    ['w1', 'sbx_w1'],
  ] as const) {
    t.equal((await box.get(`/@${name}/__admin/state`)).text, text, name)
    const { payouts, webhooks } = box.sandbox.clients.get(name)!
    t.equal(payouts.profile().access_token, token)
    t.equal(webhooks.current()?.webhook_secret, `whsec_${name}`)
  }
})

/** Every id and UTR of a state, by the field that has it. */
function idsOf({ tables }: { tables: Record<string, Record<string, string>[]> }) {
  const fields: Record<string, string[]> = {
    users: ['user_id'],
    kyc: ['kyc_id'],
    bank_accounts: ['bank_id'],
    payments: ['transaction_id', 'id', 'client_transaction_id', 'partner_transaction_id', 'utr'],
    events: ['event_id'],
    deliveries: ['delivery_id'],
    inbox: ['message_id'],
    timers: ['timer_id'],
  }
  return Object.entries(fields).flatMap(([table, names]) =>
    names.flatMap((name) =>
      tables[table]!.flatMap((row) => (row[name] ? [`${table}.${name} ${row[name]}`] : [])),
    ),
  )
}

t.test('no id comes again where a state says too little of the series', async (t) => {
  const box = await start(t, HONOURED)
  let users = 0
  async function play() {
    users++
    await box.post('/v1/user', { email: `n${users}@example.com`, mobile: `987650010${users}` })
    await box.pay()
    await box.pay({ reference_id: `mine${users}` })
    await box.advance('1h')
    await box.post('/__admin/webhooks/inbox', {})
    await box.pay({ amount: 7 })
  }
  await box.post('/v1/clientWebhook', HOOK)
  await play()
  const { body: state } = await box.get('/__admin/state')
  // A pending timer says how much was drawn at least.
  const least = Math.max(...pluck(state.tables.timers, 'seq'))
  for (const [draws, timers] of [
    [least, state.tables.timers],
    ...Array.from({ length: 16 }, (_, draws) => [draws, []]),
  ]) {
    const tables = { ...state.tables, timers }
    t.equal((await box.put('/__admin/state', { ...state, draws, tables })).status, 200)
    await play()
    await play()
    const ids = idsOf((await box.get('/__admin/state')).body)
    t.equal(new Set(ids).size, ids.length, `from draw ${draws}`)
    t.ok(ids.length > idsOf({ tables }).length + 20)
  }
})

t.test('a timer of a state is checked by its kind', async (t) => {
  const box = await start(t, HONOURED)
  const failed = { status: 'FAILED', after: '1m', reason: 'gateway_down' }
  const transaction = [{ status: 'PENDING' }, failed]
  await box.put('/__admin/scenario', {
    definition: {
      title: 'all kinds',
      timeline: [
        { after: '1h', every: '1m', times: 3, do: { create_users: 1 } },
        { after: '1h', do: { trigger: 'webhook.test' } },
        { after: '1h', do: { simulate: { kyc: 'latest', status: 'failed', reason: 'x' } } },
        { after: '1h', do: { simulate: { transaction: 'latest', status: 'FAILED' } } },
        { after: '1h', do: { credit: { amount: 5, remark: 'r' } } },
        { after: '1h', do: { payout: { amount: 5, transaction } } },
        { after: '1h', do: { use: 'slow' } },
        { after: '1h', do: { call: 'createTransaction', body: { remark: 'r', deep: [1, null] } } },
        { after: '1h', do: { rule: { when: { operation: 'listUsers' }, then: { delay: '1s' } } } },
        { after: '1h', do: { reset: true } },
      ],
    },
  })
  await box.pay({ amount: '100.91' })
  await box.post('/v1/bank', {
    user_id: ASHA,
    account_number: '999900000006',
    ifsc_code: 'HDFC0000001',
  })
  await box.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 'secret' })
  await box.pay()
  const state = (await box.get('/__admin/state')).body
  const kinds = new Set(pluck(state.tables.timers, 'kind'))
  t.strictSame([...kinds].sort(), [
    'bank.step',
    'timeline.entry',
    'transaction.step',
    'webhook.attempt',
  ])
  t.equal((await box.put('/__admin/state', state)).status, 200, 'its own are taken')
  const before = (await box.get('/__admin/state')).text
  const entry = (more: object, rest: object = { create_users: 1 }) => ({
    kind: 'timeline.entry',
    payload: { do: rest, ...more },
  })
  const step = { resource_id: 'x', payload: { status: 'success' } }
  const simulate = { kind: 'kyc', resource: 'latest', status: 'SUCCESS' }
  const payout = { amount: '5.00', transaction: [{ status: 'PENDING' }] }
  const attempt = { resource_id: 'x', payload: { event: 'a', event_id: 'b' } }
  const bad: [string, object][] = [
    ['payload.every_ms', entry({ every_ms: 0 })],
    ['payload.every_ms', entry({ every_ms: -1_000 })],
    ['payload.remaining', entry({ remaining: 0 })],
    ['payload.do.create_users', entry({}, { create_users: 1e9 })],
    ['payload.do', entry({}, { creat_users: 1 })],
    ['payload.do', entry({}, { constructor: 1 })],
    ['payload.do.call', entry({}, { call: 'payAll' })],
    ['payload.do.body', entry({}, { call: 'getUser', body: 1 })],
    ['payload.do', entry({}, { body: {} })],
    ['payload.do.credit.amount', entry({}, { credit: { amount: 'x' } })],
    ['payload.do.payout.transaction[0].after_ms', entry({}, { payout })],
    ['payload.do.simulate.status', entry({}, { simulate })],
    ['payload.status', { kind: 'transaction.step', ...step }],
    ['payload.after_ms', { kind: 'kyc.step', ...step }],
    ['payload.attempt', { kind: 'webhook.attempt', ...attempt }],
    ['resource_id', { kind: 'bank.step', payload: { status: 'success', after_ms: 0 } }],
    ['kind', { kind: 'bank.stop', payload: {} }],
  ]
  const put = (timer: object) => {
    const timers = [{ timer_id: 'tmr_1', due_at: 1e12, seq: 1, ...timer }]
    return box.put('/__admin/state', { ...state, tables: { ...state.tables, timers } })
  }
  for (const [place, timer] of bad) {
    const { status, body } = await put(timer)
    const field = `tables.timers[0].${place}`
    t.match([status, body.errors[0]?.field], [400, field], JSON.stringify(timer))
  }
  t.equal((await put(entry({}, { use: 'nothing' }))).status, 404)
  t.equal((await box.get('/__admin/state')).text, before)
})
