import t, { type Test } from 'tap'
import { ASHA, libraryWith, PAYMENT, type StartOptions, start as startWith } from '../helper.ts'

const ALL = '/__admin/requests?client=*'

async function start(t: Test, options?: StartOptions) {
  const box = await startWith(t, options)
  return {
    ...box,
    /** The calls of all clients, newest first. */
    async all(query = '') {
      const { requests } = (await box.get(`${ALL}${query}`)).body
      return requests.map((one: { client: string; path: string }) => `${one.client} ${one.path}`)
    },
    look: (name: string) => box.get(`/@${name}/v1/users`),
    remove: (name: string) => box.call('DELETE', `/__admin/clients/${name}`),
    ask: (what: string, body: object) => box.post(`/__admin/requests/${what}`, body),
  }
}

t.test('client=* lists the calls of all clients, deleted ones too', async (t) => {
  const box = await start(t)
  await box.get('/v1/users')
  await box.look('a')
  await box.post('/@b/v1/transaction', PAYMENT)
  await box.remove('b')
  await box.get('/@a/v1/none')
  const expected = ['a /v1/none', 'b /v1/transaction', 'a /v1/users', 'default /v1/users']
  t.strictSame(await box.all(), expected)
  t.strictSame(await box.all('&operation=listUsers'), ['a /v1/users', 'default /v1/users'])
  const { body } = await box.get(ALL)
  t.match(body, { total: 4, dropped: 0, next: null })
  t.match((await box.get(`/__admin/requests/${body.requests[1].request_id}?client=*`)).body, {
    client: 'b',
    operation: 'createTransaction',
  })
  const first = (await box.get(`${ALL}&limit=3`)).body
  t.strictSame(await box.all(`&cursor=${first.next}`), ['default /v1/users'])
  const one = (await box.get('/@a/__admin/requests')).body
  t.match(one.requests, [{ path: '/v1/none' }, { path: '/v1/users' }])
  t.notOk('client' in one.requests[0], 'the log of one client does not name it')
  const wrong = await box.get('/__admin/requests?client=a')
  t.match(wrong.body, { code: 400, message: 'client must be "*"; found "a"' })
})

t.test('find, count and verify take client * in their body', async (t) => {
  const box = await start(t)
  for (const name of ['a', 'b', 'b']) await box.post(`/@${name}/v1/transaction`, PAYMENT)
  const match = { operation: 'createTransaction' }
  const client = '*'
  t.strictSame((await box.ask('count', { client, match })).body, { count: 3 })
  t.strictSame((await box.ask('count', { match })).body, { count: 0 })
  const found = (await box.ask('find', { client, match, limit: 2 })).body
  t.match(found, { total: 3, requests: [{ client: 'b' }, { client: 'b' }] })
  t.equal((await box.ask('verify', { client, match, exactly: 3 })).status, 200)
  const sequence = [match, match, match]
  t.equal((await box.ask('verify', { client, sequence })).status, 200)

  const ofAsha = { ...match, user: { user_id: ASHA } }
  t.strictSame((await box.ask('count', { client, match: ofAsha })).body, { count: 3 })
  await box.remove('b')
  t.strictSame((await box.ask('count', { client, match: ofAsha })).body, { count: 1 })
  t.strictSame((await box.ask('count', { client, match })).body, { count: 3 })
})

t.test('a message about one client names it, and says where the calls were', async (t) => {
  const box = await start(t)
  const verify = async (base: string, body: object) =>
    (await box.post(`${base}/__admin/requests/verify`, body)).body.message
  const match = { operation: 'listUsers' }
  t.equal(
    await verify('', { match }),
    'Expected at least 1 matching call, found 0 (0 calls in the log of the default client). The log is empty.',
  )
  await box.look('pytest')
  const where = 'The default client had no calls; @pytest had 1.'
  t.match(await verify('', { match }), new RegExp(`The log is empty\\. ${where}$`))
  t.match(await verify('', { sequence: [match] }), new RegExp(`${where}$`))
  const wait = { for: 'request', match, timeout_ms: 0 }
  t.match((await box.post('/__admin/wait', wait)).body.message, where)
  for (const name of ['a', 'b', 'b', 'c', 'd']) await box.look(name)
  t.match(
    await verify('', { match }),
    /no calls; @b had 2, @d had 1, @c had 1, 2 more clients had others\.$/,
  )
  t.match(
    await verify('/@b', { match, exactly: 1 }),
    /found 2 \(2 calls in the log of @b\)\.$/,
    'its own calls are there',
  )
  t.match(
    await verify('', { client: '*', match, exactly: 1 }),
    /found 6 \(6 calls in the log of all clients\)\.$/,
  )
})

t.test('a reset forgets the calls of its client, and DELETE with client=* all', async (t) => {
  const box = await start(t)
  for (const name of ['a', 'b', 'gone', 'default']) await box.look(name)
  await box.remove('gone')
  await box.post('/@a/__admin/reset')
  await box.look('a')
  t.strictSame(
    await box.all(),
    ['a', 'default', 'gone', 'b'].map((name) => `${name} /v1/users`),
  )
  await box.call('DELETE', '/@b/__admin/requests')
  t.strictSame(
    await box.all(),
    ['a', 'default', 'gone'].map((name) => `${name} /v1/users`),
  )
  t.strictSame((await box.call('DELETE', ALL)).body, { deleted: 3 })
  t.strictSame(await box.all(), [])
  t.equal((await box.get('/@a/__admin/requests')).body.total, 0)
})

t.test('the log of all clients has the newest 1,000 calls', async (t) => {
  const box = await start(t)
  for (let i = 0; i < 505; i++) {
    await box.look('a')
    await box.look('b')
  }
  t.match((await box.get(`${ALL}&limit=1`)).body, { total: 1_000, dropped: 10 })
})

t.test('scenario?client=* is the start scenario, over all clients', async (t) => {
  const rule =
    '{ name: down, when: { operation: getClientProfile }, then: { respond: { status: 503 } } }'
  const files = {
    'mine.yaml': `title: Mine\nrules: [${rule}]\nexpect: { requests: { listUsers: 4 } }\n`,
  }
  const library = libraryWith(t.testdir(files))
  const box = await start(t, { sandbox: { library }, begin: { scenario: 'mine' } })
  for (const name of ['a', 'b', 'gone', 'other']) {
    if (name === 'other') await box.put('/@other/__admin/scenario', { name: 'default' })
    const authorization = `Bearer sbx_${name}`
    await box.get(`/@${name}/v1/client/profile`, { authorization })
    await box.look(name)
  }
  await box.remove('gone')
  await box.post('/@a/__admin/reset')
  const ofAll = async () => (await box.get('/__admin/scenario?client=*')).body
  t.strictSame(await ofAll(), {
    name: 'mine',
    title: 'Mine',
    rules: [{ name: 'down', hits: 3 }],
    webhooks: [],
    expect: [{ operation: 'listUsers', at_least: 4, at_most: 4, found: 3, met: false }],
  })
  await box.look('a')
  t.match(await ofAll(), { expect: [{ found: 4, met: true }] })
  t.match((await box.get('/@b/__admin/scenario')).body, {
    rules: [{ hits: 1 }],
    expect: [{ found: 1, met: false }],
  })
})
