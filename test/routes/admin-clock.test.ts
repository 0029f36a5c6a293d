import t from 'tap'
import { start } from '../helper.ts'

t.test('the clock is moved, and what is due runs in order', async (t) => {
  const { get, post, call, pay } = await start(t)
  await pay()
  t.match((await get('/__admin/clock')).body, {
    now: '2026-01-01T00:00:00.000Z',
    mode: 'frozen',
    nextTimerAt: '2026-01-01T00:00:01.000Z',
    pendingTimers: 2,
  })
  t.equal((await post('/__admin/clock/next')).body.now, '2026-01-01T00:00:01.000Z')
  const [timer] = (await get('/__admin/timers')).body.timers
  t.equal((await post(`/__admin/timers/${timer.timer_id}/fire`)).body.fired.length, 1)
  t.equal((await call('DELETE', `/__admin/timers/${timer.timer_id}`)).status, 404)
  const bad: [string, object, number][] = [
    ['advance', {}, 400],
    ['advance', { by: '5' }, 400],
    ['advance', { by: 5 }, 400],
    ['advance', { by: '1s', to: '2027-01-01T00:00:00Z' }, 400],
    ['advance', { to: '2025-01-01T00:00:00Z' }, 422],
    ['advance', { to: '9999-12-31T23:59:59-12:00' }, 400],
    ['freeze', { at: 'noon' }, 400],
    ['speed', { factor: 0 }, 400],
  ]
  const before = (await get('/__admin/clock')).text
  for (const [path, body, status] of bad)
    t.equal((await post(`/__admin/clock/${path}`, body)).status, status, JSON.stringify(body))
  t.equal((await get('/__admin/clock')).text, before)
  t.equal((await post('/__admin/clock/freeze', { at: '2025-01-01T00:00:00Z' })).status, 200)
})

t.test('reset goes back to the fixtures, and the same seed gives the same bytes', async (t) => {
  const { post, pay, get, advance } = await start(t)
  const before = (await get('/v1/transaction')).text
  const first = (await pay()).text
  await advance('1h')
  t.equal((await post('/__admin/reset')).status, 200)
  t.equal((await get('/v1/transaction')).text, before)
  t.equal((await get('/__admin/clock')).body.pendingTimers, 0)
  t.equal((await pay()).text, first)
  t.equal((await post('/__admin/reset', { parts: ['nothing'] })).status, 400)
})
