import { join } from 'node:path'
import t from 'tap'
import { readOptions } from '../../src/config/read-options.ts'
import { start, TOKEN } from '../helper.ts'

t.test('token: each client has its own mode, and a change is in force at once', async (t) => {
  const { get, put, post } = await start(t, { assume: { token: 'strict' } })
  await post('/__admin/clients', { name: 'open', assume: { token: 'off' } })
  await post('/__admin/clients', { name: 'spec', assume: { token: 'spec' } })
  const statuses = async (path: string, headers = {}) =>
    Promise.all(
      ['', '/@open', '/@spec'].map(async (base) => (await get(base + path, headers)).status),
    )
  t.strictSame(await statuses('/v1/users'), [401, 200, 200])
  t.strictSame(await statuses('/v1/client/profile'), [401, 200, 401])
  t.strictSame(await statuses('/v1/users', { authorization: 'Bearer x' }), [401, 200, 401])
  t.equal((await get('/v1/users', TOKEN)).status, 200)
  await put('/__admin/assumptions', { token: 'off' })
  t.strictSame(await statuses('/v1/client/profile'), [200, 200, 401])
})

t.test('--auth is a short form of --assume token', async (t) => {
  const source = (values: object) => ({
    values: values as Record<string, unknown>,
    label: (name: string) => `--${name}`,
    format: (name: string) => `--${name}`,
  })
  const tokenOf = (...sources: object[]) => readOptions(sources.map(source)).assume['token']
  t.equal(tokenOf({}), undefined)
  t.equal(tokenOf({ auth: 'strict' }), 'strict')
  t.equal(tokenOf({ auth: 'off', assume: ['token=off'] }), 'off')
  t.equal(tokenOf({ auth: 'off' }, { assume: ['token=strict'] }), 'off')
  t.equal(tokenOf({ assume: ['token=strict'] }, { auth: 'off' }), 'strict')
  t.equal(tokenOf({ assume: ['list_order=oldest_first'] }, { auth: 'off' }), 'off')
  t.throws(() => tokenOf({ auth: 'off', assume: ['token=strict'] }), {
    message: '--auth and --assume token exclude each other; use one of them',
  })
})

t.test('token_lifetime: a call with an expired token is 401 until a reset', async (t) => {
  const { get, post, advance } = await start(t, { assume: { token_lifetime: 'PT15M' } })
  await advance('899.999s')
  t.equal((await get('/v1/users', TOKEN)).status, 200)
  await advance('1ms')
  const { status, body, headers } = await get('/v1/users', TOKEN)
  t.equal(status, 401)
  t.equal(headers['www-authenticate'], 'Bearer error="invalid_token"')
  t.equal(
    body.message,
    "The access token expired at 2026-01-01T00:15:00.000Z: its lifetime is 15m of the client's time (token_lifetime). Reset the client with POST /__admin/reset to renew it.",
  )
  t.equal((await get('/v1/users')).status, 200, 'without a token')
  t.equal((await get('/__admin/clock', TOKEN)).status, 200, 'the admin API')
  await post('/__admin/reset', { parts: ['scenario', 'requests'] })
  t.equal((await get('/v1/users', TOKEN)).status, 401, 'not a reset of other parts')
  await post('/__admin/reset', { parts: ['data'] })
  t.equal((await get('/v1/users', TOKEN)).status, 200)
  await advance('15m')
  t.equal((await get('/v1/users', TOKEN)).status, 401)
  await post('/__admin/reset')
  t.equal((await get('/v1/users', TOKEN)).status, 200)
})

t.test('token_lifetime: a restart, a fork and a state keep the age of a token', async (t) => {
  const file = join(t.testdir({}), 'db.json')
  const options = { assume: { token_lifetime: '1h' }, sandbox: { file } }
  const first = await start(t, options)
  await first.advance('30m')
  const { body: state } = await first.get('/__admin/state')
  t.equal(state.token_issued_at, '2026-01-01T00:00:00.000Z')
  await first.post('/__admin/clients', {
    name: 'fork',
    access_token: 'sbx_fork',
    from: { client: 'default' },
  })
  await first.close()
  const { get, post, put, advance } = await start(t, options)
  await advance('30m')
  t.equal((await get('/v1/users', TOKEN)).status, 401)
  await post('/@fork/__admin/clock/advance', { by: '30m' })
  t.equal((await get('/v1/users', { authorization: 'Bearer sbx_fork' })).status, 401)
  t.equal((await put('/__admin/state', state)).status, 200)
  await advance('30m')
  t.equal((await get('/v1/users', TOKEN)).status, 401)
  const { token_issued_at: _, ...earlier } = state
  t.equal((await put('/__admin/state', earlier)).status, 200)
  await advance('30m')
  t.equal((await get('/v1/users', TOKEN)).status, 200, 'counted from the import')
})
