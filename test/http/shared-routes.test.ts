import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { ASHA, start } from '../helper.ts'
import { manualTime } from '../manual-time.ts'

t.test('sandboxes of one process share routes and nothing else', async (t) => {
  const plain = await start(t)
  const token = await start(t, { app: { adminToken: 'secret', allowHost: ['sandbox.test'] } })
  const closed = await start(t, { app: { admin: false } })
  const told = await start(t, { app: { explain: true } })
  const strict = await start(t, { assume: { token: 'strict' } })

  t.equal((await plain.get('/__admin/clock')).status, 200)
  t.equal((await token.get('/__admin/clock')).body.error, 'admin_token_required')
  t.equal((await token.get('/__admin/clock', { 'x-admin-token': 'secret' })).status, 200)
  t.equal((await closed.get('/__admin/clock')).status, 404)
  t.equal((await closed.get('/__admin/health')).status, 200)

  const foreign = { host: 'sandbox.test' }
  t.equal((await token.get('/v1/users', foreign)).status, 200)
  t.equal((await plain.get('/v1/users', foreign)).body.error, 'host_not_allowed')

  t.equal((await told.get('/v1/users')).headers['x-sandbox-client'], 'default')
  t.notOk('x-sandbox-client' in (await plain.get('/v1/users')).headers)

  t.equal((await strict.get('/v1/users')).status, 401)
  await plain.advance('1d')
  const now = async (box: typeof plain) => (await box.get('/__admin/clock')).body.now
  t.not(await now(plain), await now(told))
  await plain.pay()
  const total = async (box: typeof plain) => (await box.get('/__admin/requests')).body.total
  t.same([await total(plain), await total(told)], [2, 1], 'each has its own request log')

  await plain.close()
  t.equal((await told.get(`/v1/user/${ASHA}`)).status, 200, 'one that is closed closes no other')
})

t.test('a request that arrives while its sandbox closes is its connection’s last', async (t) => {
  const time = manualTime()
  const box = await start(t, { sandbox: { runtime: time.runtime } })
  const other = await start(t)
  await box.post('/__admin/rules', { when: { operation: 'getUser' }, then: { delay: '2s' } })
  const open = async ({ app }: typeof box) => {
    const { hostname, port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const socket = connect(Number(port), hostname)
    t.teardown(() => socket.destroy())
    return { socket, answers: text(socket) }
  }
  const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`
  const [mine, others] = [await open(box), await open(other)]
  mine.socket.write(ask(`/v1/user/${ASHA}`))
  await once(box.app.server, 'request')
  const closed = box.app.close()
  mine.socket.write(ask('/v1/users'))
  await once(box.app.server, 'request')
  await time.waiting()
  time.pass('2s')
  const [first, second] = (await mine.answers).split(/(?<!^)(?=HTTP\/1\.1 )/)
  t.match(first, /^HTTP\/1\.1 200/)
  t.notMatch(first, /^connection: close/im)
  t.match(second, /^HTTP\/1\.1 200/)
  t.match(second, /^connection: close/im)
  await closed
  others.socket.write(ask('/v1/users') + ask('/v1/users', 'connection: close\r\n'))
  t.equal((await others.answers).match(/HTTP\/1\.1 200/g)?.length, 2, 'the other one stays open')
})
