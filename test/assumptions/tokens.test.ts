import t from 'tap'
import { readOptions } from '../../src/config/options.ts'
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

t.test('token: a client of a new base path has the mode of the start', async (t) => {
  const { get, sandbox } = await start(t, { assume: { token: 'strict' } })
  t.equal((await get('/@new/v1/users')).status, 401)
  t.equal(sandbox.worlds.has('new'), false, 'a rejected call creates no client')
  t.equal((await get('/@new/v1/users', { authorization: 'Bearer sbx_new' })).status, 200)
})

t.test('token: the OpenAPI document requires a token where the client does', async (t) => {
  const { get, post } = await start(t)
  await post('/__admin/clients', { name: 'strict', assume: { token: 'strict' } })
  const securityOf = async (base: string) =>
    (await get(`${base}/openapi.json`)).body.paths['/users'].get.security
  t.strictSame(await securityOf(''), [{ accessToken: [] }, {}])
  t.strictSame(await securityOf('/@strict'), [{ accessToken: [] }])
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
