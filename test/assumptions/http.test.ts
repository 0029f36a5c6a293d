import t from 'tap'
import { start } from '../helper.ts'

t.test('rate_limit: a bucket on the client’s clock', async (t) => {
  const { get, post, advance } = await start(t, { assume: { rate_limit: '3/minute' } })
  const users = async (count: number, base = '') => {
    const statuses = []
    for (let i = 0; i < count; i++) statuses.push((await get(`${base}/v1/users`)).status)
    return statuses
  }
  t.strictSame(await users(4), [200, 200, 200, 429])
  const { body, headers } = await get('/v1/users')
  t.equal(body.error, 'rate_limited')
  t.equal(headers['retry-after'], '20')
  t.strictSame(await users(4, '/@other'), [200, 200, 200, 429], 'each client has its own')
  t.equal((await get('/__admin/clock')).status, 200, 'the admin API has no limit')
  await advance('19.5s')
  t.equal((await get('/v1/users')).headers['retry-after'], '1')
  await advance('500ms')
  t.strictSame(await users(2), [200, 429])
  await advance('1h')
  t.strictSame(await users(4), [200, 200, 200, 429], 'a full bucket has no more than N')
  await post('/__admin/clock/freeze', { at: '2025-01-01T00:00:00.000Z' })
  t.strictSame(await users(1), [429])
  await advance('20s')
  t.strictSame(await users(2), [200, 429], 'also after the clock was set back')
  await post('/__admin/reset', { parts: ['data'] })
  t.strictSame(await users(4), [200, 200, 200, 429], 'a reset fills it')
  const { body: log } = await get('/__admin/requests?limit=1')
  t.match(log.requests[0], { status: 429 }, 'rejected calls are in the log')
})
