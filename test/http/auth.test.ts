import t from 'tap'
import { ASHA, start, TOKEN } from '../helper.ts'

const NEEDED = [
  '/v1/client/profile',
  '/v1/transaction/history',
  `/v1/transaction/history/user/${ASHA}`,
]
const OPEN = [
  '/v1/users',
  `/v1/user/${ASHA}`,
  `/v1/kyc/${ASHA}`,
  `/v1/bank/${ASHA}`,
  '/v1/transaction',
]
const WRONG = [
  'Bearer nobody',
  'Bearer',
  'Bearer ',
  'Basic c2J4X3Rlc3RfdG9rZW46',
  'sbx_test_token',
  'Bearer sbx_test_token extra',
  'Bearer SBX_TEST_TOKEN',
  '',
]

const MODES: [mode: 'spec' | 'strict' | 'off', needed: number, open: number, wrong: number][] = [
  ['spec', 401, 200, 401],
  ['strict', 401, 401, 401],
  ['off', 200, 200, 200],
]

for (const [auth, needed, open, wrong] of MODES) {
  t.test(`mode ${auth}: who needs a token`, async (t) => {
    const { get, post } = await start(t, { assume: { token: auth } })
    const table: [string[], number][] = [
      [NEEDED, needed],
      [OPEN, open],
    ]
    for (const [paths, status] of table) {
      for (const path of paths) {
        const answer = await get(path)
        t.equal(answer.status, status, `${path} without a token`)
        if (status === 401) {
          t.equal(answer.body.error, 'unauthorized')
          t.equal(answer.headers['www-authenticate'], 'Bearer')
        }
        t.equal((await get(path, TOKEN)).status, 200, `${path} with a token`)
      }
    }
    for (const authorization of WRONG) {
      for (const path of ['/v1/users', NEEDED[0]!]) {
        const answer = await get(path, { authorization })
        t.equal(answer.status, wrong, `${path} with ${JSON.stringify(authorization)}`)
        if (wrong === 401) t.equal(answer.headers['www-authenticate'], 'Bearer')
      }
    }
    const body = { email: 'nila@example.com', mobile: '9876500001' }
    t.equal((await post('/v1/user', body)).status, open === 401 ? 401 : 201)
    const { paths } = (await get('/@second/openapi.json')).body
    for (const [path, status] of [
      ['/client/profile', needed],
      ['/users', open],
    ] as const)
      t.equal(paths[path].get.security.length, status === 401 ? 1 : 2, `${path} in the document`)
  })
}

t.test('a 401 says which token works, and shows none that can be a secret', async (t) => {
  const { get, post } = await start(t, { assume: { token: 'strict' } })
  const made = (await post('/__admin/clients', { name: 'made' })).body.access_token
  await post('/__admin/clients', { name: 'chosen', access_token: 'my-own-token' })
  await post('/__admin/clients', { name: 'named', access_token: 'sbx_named' })
  await get('/@used/v1/users', { authorization: 'Bearer sbx_used' })
  const inFixtures = /clients\.json of the fixtures, or in the response of POST \/__admin\/clients/
  const table: [name: string, said: RegExp, token: string][] = [
    ['default', /the token printed at start/, 'sbx_test_token'],
    ['new', /the token sbx_new\b/, 'sbx_new'],
    ['used', /the token sbx_used\b/, 'sbx_used'],
    ['named', /the token sbx_named\b/, 'sbx_named'],
    ['second', inFixtures, 'sbx_second_token'],
    ['made', inFixtures, made],
    ['chosen', inFixtures, 'my-own-token'],
  ]
  for (const [name, said, token] of table) {
    const others = name === 'default' ? 'sbx_second_token' : 'sbx_test_token'
    for (const sent of [undefined, 'unknown', others]) {
      const headers = sent === undefined ? {} : { authorization: `Bearer ${sent}` }
      const { status, body } = await get(`/@${name}/v1/client/profile`, headers)
      t.equal(status, 401, `${name} ${sent}`)
      t.match(body.message, said)
      if (said === inFixtures) t.notMatch(body.message, token)
    }
    const right = { authorization: `Bearer ${token}` }
    t.equal((await get(`/@${name}/v1/client/profile`, right)).status, 200, name)
  }
  const { body } = await get('/@second/v1/users', TOKEN)
  t.match(
    body.message,
    /^The access token belongs to the client default, not .*, or leave out the base path\.$/,
  )
  t.equal((await get('/v1/users', TOKEN)).status, 200, 'which works')
})

t.test('the authentication scheme is case-insensitive', async (t) => {
  const { get } = await start(t)
  for (const scheme of ['bearer', 'BEARER', 'Bearer', 'bEaReR']) {
    const { status } = await get(NEEDED[0]!, { authorization: `${scheme} sbx_test_token` })
    t.equal(status, 200, scheme)
  }
})

t.test('the token chooses the client, else the base path, else the default client', async (t) => {
  const { get } = await start(t)
  const second = { authorization: 'Bearer sbx_second_token' }
  const table: [path: string, headers: Record<string, string>, name: string][] = [
    ['/v1/client/profile', TOKEN, 'Sandbox Payments'],
    ['/v1/client/profile', second, 'Second Sandbox Traders'],
    ['/@second/v1/client/profile', second, 'Second Sandbox Traders'],
    ['/@default/v1/client/profile', TOKEN, 'Sandbox Payments'],
  ]
  for (const [path, headers, name] of table)
    t.equal((await get(path, headers)).body.data.name, name, path)
  t.equal((await get('/v1/users')).body.data.total_users, 110)
  t.equal((await get('/@second/v1/users')).body.data.total_users, 4)
  t.equal((await get('/v1/users', second)).body.data.total_users, 4)
})

t.test('a token of another client than the base path is refused', async (t) => {
  const { get, sandbox } = await start(t)
  const { size } = sandbox.clients
  const table: [string, string][] = [
    ['/@second/v1/users', 'sbx_test_token'],
    ['/@default/v1/users', 'sbx_second_token'],
    ['/@brand-new/v1/users', 'sbx_test_token'],
    ['/@brand-new/v1/users', 'sbx_another-new'],
    ['/@second/__admin/clock', 'sbx_test_token'],
  ]
  for (const [path, token] of table) {
    const answer = await get(path, { authorization: `Bearer ${token}` })
    t.equal(answer.status, 401, `${path} ${token}`)
    t.equal(answer.body.error, 'unauthorized')
    t.notMatch(answer.text, token)
  }
  t.equal(sandbox.clients.size, size)
})

t.test('a new name in a base path creates a client with the token sbx_<name>', async (t) => {
  const { get, sandbox } = await start(t)
  const users = await get('/@worker-3/v1/users')
  t.equal(users.body.data.total_users, 110)
  const known = { authorization: 'Bearer sbx_worker-3' }
  const profile = (await get('/v1/client/profile', known)).body.data
  t.match(profile, { name: 'Sandbox client worker-3', status: 'active' })
  t.equal(users.body.data.users[0].client_id, profile.client_id)

  const first = await get('/@worker-4/v1/client/profile', { authorization: 'Bearer sbx_worker-4' })
  t.equal(first.status, 200, 'its token works in the very first call')
  const { size } = sandbox.clients
  t.equal((await get('/v1/users', { authorization: 'Bearer sbx_worker-5' })).status, 401)
  t.equal((await get('/@worker-6/v1/client/profile')).status, 401)
  t.equal(sandbox.clients.size, size, 'a refused call makes none')
})

t.test('the service rejects an inactive client, the admin API does not', async (t) => {
  const { get, post } = await start(t)
  const headers = { authorization: 'Bearer sbx_inactive_token' }
  for (const path of [...NEEDED, ...OPEN]) {
    const answer = await get(path, headers)
    t.equal(answer.status, 403, path)
    t.equal(answer.body.error, 'client_inactive')
  }
  t.equal((await get('/@inactive/v1/users')).body.error, 'client_inactive')
  t.equal((await post('/v1/user', {}, headers)).body.error, 'client_inactive')
  t.equal((await get('/__admin/clock', headers)).status, 200)
})

t.test('--no-auto-clients creates none, --max-clients limits them', async (t) => {
  const none = await start(t, { sandbox: { autoClients: false } })
  for (const headers of [undefined, { authorization: 'Bearer sbx_new' }]) {
    const answer = await none.get('/@new/v1/users', headers)
    t.equal(answer.status, 404)
    t.match(answer.body.message, /--no-auto-clients/)
  }
  t.equal((await none.get('/@second/v1/users')).status, 200)

  const few = await start(t, { sandbox: { maxClients: 5 } })
  t.equal((await few.get('/@one/v1/users')).status, 200)
  const answer = await few.get('/@two/v1/users')
  t.equal(answer.status, 409)
  t.equal(answer.body.error, 'client_limit_reached')
  t.equal((await few.get('/@one/v1/users')).status, 200)
})
