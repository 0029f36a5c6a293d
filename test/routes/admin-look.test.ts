import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ASHA, libraryWith, pluck, ROHAN, start } from '../helper.ts'

t.test('users come with their KYC records and accounts, as the service shows them', async (t) => {
  const { get } = await start(t)
  const { body } = await get('/__admin/users?limit=100')
  const users = (await get('/v1/users?limit=100')).body.data
  t.equal(body.total, users.total_users)
  const [first] = body.users
  t.strictSame((await get(`/__admin/users/${first.user_id}`)).body, first)
  const { kyc, bank_accounts, ...user } = (await get(`/__admin/users/${ROHAN}`)).body
  t.strictSame(user, (await get(`/v1/user/${ROHAN}`)).body.data)
  t.strictSame(kyc, (await get(`/v1/kyc/${ROHAN}`)).body.data.response.data.kycData)
  t.strictSame(bank_accounts, (await get(`/v1/bank/${ROHAN}`)).body.data)
  const page = (await get('/__admin/users?page=2&limit=10')).body
  t.strictSame(page.users, body.users.slice(10, 20))
  t.equal(page.total_pages, Math.ceil(body.total / 10))
  t.equal((await get(`/__admin/users/ffffffff-0000-4000-8000-000000000001`)).status, 404)
})

t.test('a payment comes in both views, with its events and what is still to come', async (t) => {
  const { get, post, pay, advance } = await start(t)
  await post('/v1/clientWebhook', {
    url: 'http://127.0.0.1:9/',
    webhook_secret: 'a-secret-of-the-test',
  })
  const id = (await pay({ amount: 250, remark: 'looked at' })).body.data[0].transaction_id
  await advance('1s')
  const list = (await get('/__admin/transactions?limit=1')).body
  const { transaction, deliveries, timers } = (await get(`/__admin/transactions/${id}`)).body
  t.strictSame(list.transactions, [transaction])
  const { history, failure, outcome, payer: _payer, ...seen } = transaction
  t.same([failure, outcome], [null, 'in_flight'])
  t.strictSame(seen, (await get(`/v1/transaction/${id}`)).body.data[0])
  const records = (await get('/v1/transaction/history', { authorization: 'Bearer sbx_test_token' }))
    .body.data.transactions
  t.strictSame(history, records[0])
  t.same(pluck(deliveries, 'event'), ['transaction.processing', 'transaction.pending'])
  t.match(timers, [{ kind: 'transaction.step', resource_id: id, payload: { status: 'SUCCESS' } }])
  t.equal(timers.length, 1)
  t.equal((await get(`/__admin/transactions/${ASHA}`)).status, 404)
})

t.test('a payment says who decided it, and has its calls', async (t) => {
  const { get, post, put, pay, advance } = await start(t, { assume: { reference_id: 'unique' } })
  const idOf = async (more: object) => (await pay(more)).body.data[0].transaction_id
  const shown = async (id: string) => (await get(`/__admin/transactions/${id}`)).body
  const decided = async (id: string) => (await shown(id)).decided_by
  const plain = await idOf({ amount: 10 })
  t.same(await decided(plain), { by: 'default', rule: null, request_id: 'req_1' })
  const magic = await idOf({ amount: 100.91 })
  t.match(await decided(magic), { by: 'magic_value', rule: /^default: / })
  await post(`/__admin/simulate/transactions/${magic}`, { status: 'FAILED' })
  t.match(await decided(magic), { by: 'call', rule: /^default: / })

  // The response is lost, and the retry is rejected: both belong to the payment.
  const rule = { name: 'lost', times: 1, then: { fault: 'reset', at: 'after' } }
  await post('/__admin/rules', { ...rule, when: { operation: 'createTransaction' } })
  await t.rejects(pay({ reference_id: 'order-7' }), /destroyed/)
  const again = await pay({ reference_id: 'order-7' })
  t.ok([201, 409].includes(again.status))
  const [lost] = (await get('/__admin/transactions?search=order-7')).body.transactions.slice(-1)
  const { requests, decided_by: by } = await shown(lost.transaction_id)
  // The rule lost the response, and did not choose the steps. The first of these calls created the payment.
  t.same(by, { by: 'default', rule: null, request_id: requests.at(-1).request_id })
  t.same(pluck(requests, 'status'), [again.status, null])
  t.same(pluck(requests, 'reference_id'), ['order-7', 'order-7'])
  // Without a reference, too: by what the call made, whatever was sent in its place.
  for (const then of [{ fault: 'reset' }, { respond: { status: 504 } }]) {
    const when = { operation: 'createTransaction' }
    await post('/__admin/rules', { when, times: 1, then: { ...then, at: 'after' } })
    await pay({ amount: 12 }).catch(() => {})
    const [silent] = (await get('/__admin/transactions')).body.transactions
    const [call] = (await get('/__admin/requests')).body.requests
    t.equal((await decided(silent.transaction_id)).request_id, call.request_id)
    const { made } = (await get(`/__admin/requests/${call.request_id}`)).body
    t.equal(made.data[0].transaction_id, silent.transaction_id)
  }
  const { timers } = (await get('/__admin/timers')).body
  t.match(timers.at(-1), { amount: '12.00', name: 'ROHAN MEHTA' })
  await get(`/v1/transaction/${plain}`)
  t.same(pluck((await shown(plain)).requests, 'method'), ['GET', 'POST'])

  const stuck = await idOf({ amount: 11 })
  const simulate = { transaction: 'latest', status: 'SUCCESS' }
  const timeline = [{ after: '1ms', do: { simulate } }]
  await put('/__admin/scenario', { definition: { timeline } })
  await advance('2ms')
  t.equal((await decided(stuck)).by, 'timeline')
  await post('/__admin/reset', { parts: ['requests'] })
  t.same(await decided(plain), { by: 'unknown', rule: null, request_id: null })
  const { body: state } = await get('/__admin/state')
  const other = await start(t)
  t.equal((await other.put('/__admin/state', state)).status, 200)
  t.equal((await other.get(`/__admin/transactions/${stuck}`)).body.decided_by.by, 'timeline')
})

t.test('lists are searched by all words, and paged', async (t) => {
  const { get, put, pay, advance } = await start(t)
  for (let i = 1; i <= 3; i++) await pay({ amount: i, reference_id: `searched-${i}` })
  await advance('1m')
  await pay({ amount: 9, reference_id: 'searched-4' })
  const list = async (query: string) => (await get(`/__admin/${query}`)).body
  t.match(await list('transactions?search=SEARCHED&limit=3'), { total: 4, total_pages: 2 })
  const second = await list('transactions?search=searched&limit=3&page=2')
  t.same(pluck(second.transactions, 'reference_id'), ['searched-1'])
  t.equal((await list('transactions?search=searched&status=PENDING')).total, 1)
  t.equal((await list('transactions?search=searched-2%202.00')).total, 1)
  t.equal((await list('transactions?search=searched-2%203.00')).total, 0)
  t.equal((await get('/__admin/transactions?status=success')).status, 400)
  const inOrder = async (sort: string) =>
    (await get(`/__admin/transactions?limit=100&sort=${sort}`)).body.transactions
  const [newest, oldest, largest] = await Promise.all(['newest', 'oldest', 'largest'].map(inOrder))
  t.strictSame(oldest.at(0).transaction_id, newest.at(-1).transaction_id)
  t.ok(Number(largest[0].amount) > Number(largest[1].amount))
  t.match(largest[0].payer, /@example/)
  t.equal((await get('/__admin/transactions?sort=smallest')).status, 400)
  const deliveries = await list('webhooks/deliveries?search=searched-2')
  t.equal(deliveries.total, 3)
  t.match(deliveries.deliveries[0], { amount: '2.00', reference_id: 'searched-2' })
  t.equal((await list('timers?search=success')).timers.length, 1)
  t.equal((await list('timers?search=success%20kyc')).timers.length, 0)
  const timeline = [{ after: '1h', do: { payout: { amount: 5, remark: 'rent' } } }]
  await put('/__admin/scenario', { definition: { timeline } })
  t.match((await list('timers?search=rent')).timers, [{ kind: 'timeline.entry' }])
  const all = (await list('users?limit=100')).users
  for (const kyc of ['pending', 'failed']) {
    const ofStatus = all.filter((user: { kyc: { kyc_status: string }[] }) =>
      user.kyc.some(({ kyc_status: status }) => status === kyc),
    )
    t.ok(ofStatus.length > 0)
    t.same((await list(`users?limit=100&kyc=${kyc}`)).users.slice(0, ofStatus.length), ofStatus)
  }
  const without = (await list('users?limit=100&kyc=none')).users
  t.ok(without.length > 0 && without.every(({ kyc }: { kyc: unknown[] }) => kyc.length === 0))
  const banksOf = async (bank: string): Promise<{ bank_status: string }[][]> =>
    pluck((await list(`users?limit=100&bank=${bank}`)).users, 'bank_accounts')
  const [some, none, failed] = [
    await banksOf('any'),
    await banksOf('none'),
    await banksOf('failed'),
  ]
  t.equal(some.length + none.length, (await list('users')).total)
  t.ok(some.every((accounts) => accounts.length > 0) && none.every(({ length }) => length === 0))
  t.ok(failed.length > 0 && failed.length < some.length)
  t.ok(failed.every((ones) => ones.some(({ bank_status: status }) => status === 'failed')))
  const { users } = await list('users?limit=1')
  t.match(await list(`users?search=${users[0].email.toUpperCase()}`), { total: 1, users })
  const { requests } = await list('requests?limit=1')
  t.match(requests, [{ amount: '9', reference_id: 'searched-4' }])
})

t.test('the states a payment came into outlive its events', async (t) => {
  const { get, post, pay, advance } = await start(t)
  const id = (await pay()).body.data[0].transaction_id
  const { created_at } = (await get(`/__admin/transactions/${id}`)).body.transaction
  const at = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString()
  await advance('10s')
  await post(`/__admin/simulate/transactions/${id}`, { status: 'FAILED' })
  await post('/__admin/reset', { parts: ['deliveries'] })
  const steps = [
    { status: 'PENDING', at: at(0) },
    { status: 'PROCESSING', at: at(1_000) },
    { status: 'SUCCESS', at: at(3_000) },
    { status: 'FAILED', at: at(10_000) },
  ]
  t.strictSame((await get(`/__admin/transactions/${id}`)).body.steps, steps)
  const { body: state } = await get('/__admin/state')
  t.equal((await start(t).then(({ put }) => put('/__admin/state', state))).status, 200)

  const next = (await pay()).body.data[0].transaction_id
  const stepsOf = async () => (await get(`/__admin/transactions/${next}`)).body.steps
  t.strictSame(await stepsOf(), [{ status: 'PENDING', at: at(10_000) }])
  await post(`/__admin/simulate/transactions/${next}`, { status: 'SUCCESS' })
  t.strictSame(await stepsOf(), [
    { status: 'PENDING', at: at(10_000) },
    { status: 'SUCCESS', at: at(10_000) },
  ])
})

t.test('looking spends no rule, meets no fault and is not in the log', async (t) => {
  const { get, post } = await start(t)
  const then = { respond: { status: 503 } }
  await post('/__admin/rules', { when: { operation: '*' }, times: 1, then })
  for (const url of ['client', 'users', `users/${ROHAN}`, 'transactions'])
    t.equal((await get(`/__admin/${url}`)).status, 200)
  t.equal((await get('/__admin/requests')).body.total, 0)
  t.equal((await get(`/v1/user/${ASHA}`)).status, 503)
})

t.test('the client in short', async (t) => {
  const { get, post, put, pay } = await start(t)
  const before = (await get('/__admin/client')).body
  t.match(before, { name: 'default', status: 'active', scenario: 'default', webhook_url: null })
  t.strictSame(before.clock, (await get('/__admin/clock')).body)
  await pay()
  await post('/v1/user', { email: 'short@example.com', mobile: '9812300009' })
  await post('/__admin/rules', { when: { operation: 'getKyc' }, then: { delay: '1s' } })
  await put('/__admin/scenario', { name: 'slow' })
  const { counts, scenario } = (await get('/__admin/client')).body
  t.strictSame(counts, {
    ...before.counts,
    users: before.counts.users + 1,
    transactions: before.counts.transactions + 1,
    // transaction.pending, recorded
    deliveries: before.counts.deliveries + 1,
    requests: 2,
    rules: 1,
  })
  t.equal(scenario, 'slow')
  t.equal((await get('/@other/__admin/client')).body.name, 'other')
})

t.test('timers, the first few', async (t) => {
  const { get, pay } = await start(t)
  await pay()
  await pay()
  const all = (await get('/__admin/timers')).body.timers
  t.ok(all.length >= 4)
  t.strictSame((await get('/__admin/timers?limit=2')).body.timers, all.slice(0, 2))
  t.strictSame((await get('/__admin/timers?limit=10000')).body.timers, all)
  for (const limit of ['0', '1e1', '0x2', '1.0', ' 1', '-1', '', '10001']) {
    const { status, body } = await get(`/__admin/timers?limit=${encodeURIComponent(limit)}`)
    t.match([status, body.message], [400, /limit must be a whole number from 1 to 10000; found "/])
  }
  t.equal((await get('/__admin/timers?limit=1&limit=2')).status, 400)
})

t.test('a scenario’s text, and where its rules stand in it', async (t) => {
  const folder = t.testdir({
    'mine.yaml': `# Mine
title: Mine
rules:
  - name: first
    when: { operation: getUser }
    times: 1
    then: { respond: { status: 500 } }

  - name: second
    when: { operation: getKyc }
    then: { respond: { status: 500 } }
`,
  })
  const { get, put } = await start(t, { sandbox: { library: libraryWith(folder) } })
  await put('/__admin/scenario', { name: 'mine' })
  await get(`/v1/user/${ASHA}`)
  const { body } = await get('/__admin/scenarios/mine')
  t.match(body.source, /^# Mine\n/)
  t.equal(body.file, join(folder, 'mine.yaml'))
  t.equal(body.changed, false)
  t.strictSame(body.rules, [
    { name: 'first', hits: 1, line: 4 },
    { name: 'second', hits: 0, line: 9 },
  ])
  writeFileSync(join(folder, 'mine.yaml'), 'rules: {')
  const broken = (await get('/__admin/scenarios/mine')).body
  t.equal(broken.changed, true)
  t.match(JSON.parse(broken.source), { title: 'Mine', rules: [{ name: 'first' }] })
  const lineOf = (text: string, part: string) =>
    text.split('\n').findIndex((line) => line.includes(part))
  t.strictSame(
    broken.rules,
    [
      { name: 'first', hits: 1, line: lineOf(broken.source, '"first"') },
      { name: 'second', hits: 0, line: lineOf(broken.source, '"second"') },
    ],
    'of a file that is another one meanwhile the text that decides is shown',
  )
  rmSync(join(folder, 'mine.yaml'))
  t.strictSame((await get('/__admin/scenarios/mine')).body, broken)
  await put('/__admin/scenario', {
    definition: {
      rules: [{ name: 'late', when: { operation: 'getUser' }, then: { delay: '0s' } }],
      webhooks: [{ name: 'lost', when: { event: 'user.created' }, then: { drop: true } }],
    },
  })
  await get(`/v1/user/${ASHA}`)
  const inline = (await get('/__admin/scenarios/inline')).body
  t.match(inline, { file: null, changed: false })
  t.match(JSON.parse(inline.source), { rules: [{ then: { delay: '0s' } }] })
  t.strictSame(inline.rules, [{ name: 'late', hits: 1, line: 3 }])
  t.strictSame(inline.webhooks, [{ name: 'lost', hits: 0, line: lineOf(inline.source, '"lost"') }])
  t.equal((await get('/__admin/scenarios/none-such')).status, 404)
})

t.test('the shipped scenarios are shown as they are written', async (t) => {
  const { get } = await start(t)
  const { scenarios } = (await get('/__admin/scenarios')).body
  for (const { name } of scenarios) {
    const { changed, rules, webhooks } = (await get(`/__admin/scenarios/${name}`)).body
    t.equal(changed, false, name)
    t.ok([...rules, ...webhooks].every(({ line }: { line: number | null }) => line !== null))
  }
})

t.test('the stream shows the clock and what decides', async (t) => {
  const { sandbox, post, put } = await start(t)
  const published: string[] = []
  sandbox.default.feed.read({
    onEvent: ({ kind, data }) => published.push(`${kind} ${data}`),
    onEnd() {},
  })
  await post('/__admin/clock/freeze', { at: '2026-02-01T00:00:00Z' })
  await post('/__admin/clock/speed', { factor: 60 })
  await put('/__admin/scenario', { name: 'slow' })
  await post('/__admin/rules', { when: { operation: 'getKyc' }, then: { delay: '1s' } })
  t.match(published, [
    'clock {"now":"2026-02-01T00:00:00.000Z","mode":"frozen","speed":1}',
    /^clock {"now":"2026-02-01T00:00:0.\.\d{3}Z","mode":"real","speed":60}$/,
    'scenario {"name":"slow"}',
    'scenario {"name":"slow"}',
  ])
  t.equal(published.length, 4)
})
