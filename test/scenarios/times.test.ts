// When a rule applies.
import t from 'tap'
import { pluck, start } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>
const DOWN = { respond: { status: 503 } }
const users = async (box: Box) => (await box.get('/v1/users')).status
const define = (box: Box, definition: object) => box.put('/__admin/scenario', { definition })

t.test('a window of time over midnight, in a zone', async (t) => {
  const box = await start(t)
  await define(box, {
    rules: [
      {
        when: { operation: 'GET /users', time: { from: '23:00', to: '01:00', zone: 'UTC' } },
        then: DOWN,
      },
    ],
  })
  const seen: number[] = []
  for (const at of ['22:59', '23:00', '00:59', '01:00']) {
    await box.post('/__admin/clock/freeze', { at: `2026-02-01T${at}:00.000Z` })
    seen.push(await users(box))
  }
  t.strictSame(seen, [200, 503, 503, 200])
})

t.test('elapsed counts since the activation, and for since a rule was pushed', async (t) => {
  const box = await start(t)
  await box.advance('1d')
  await define(box, {
    rules: [{ when: { operation: 'listUsers', elapsed: { from: '1h', to: '2h' } }, then: DOWN }],
  })
  const seen: number[] = []
  for (const by of ['59m', '1m', '59m', '1m']) {
    await box.advance(by)
    seen.push(await users(box))
  }
  t.strictSame(seen, [200, 503, 503, 200])
  await box.post('/__admin/rules', { when: { operation: 'listUsers' }, for: '10m', then: DOWN })
  const pushed = [await users(box)]
  await box.advance('10m')
  pushed.push(await users(box))
  t.strictSame(pushed, [503, 200])
})

t.test('for survives a restart and an import', async (t) => {
  const box = await start(t)
  await define(box, { rules: [{ when: { operation: 'listUsers' }, for: '1h', then: DOWN }] })
  await box.advance('50m')
  const { body: state } = await box.get('/__admin/state')
  t.match(state.scenario, { activated_at: '2026-01-01T00:00:00.000Z' })
  const other = await start(t)
  await other.put('/__admin/state', state)
  t.equal(await users(other), 503)
  await other.advance('10m')
  t.equal(await users(other), 200)
})

t.test('a webhook rule applies for a time', async (t) => {
  for (const [limits, dropped] of [
    [{ for: '30s' }, [true, false, false]],
    [{ when: { elapsed: { from: '20s', to: '1m' } } }, [false, true, false]],
    [{ when: { time: { from: '05:31', to: '05:32' } } }, [false, false, true]],
  ] as const) {
    const box = await start(t)
    await define(box, { webhooks: [{ when: { event: '*' }, ...limits, then: { drop: true } }] })
    await box.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    for (const by of ['0s', '40s', '40s']) await box.advance(by).then(() => box.pay())
    const { body } = await box.get('/__admin/webhooks/deliveries?event=transaction.pending')
    const found = body.deliveries.map(({ status }: { status: string }) => status === 'dropped')
    t.strictSame(found.reverse(), dropped, JSON.stringify(limits))
  }
})

t.test('an endpoint is the operation that it names, everywhere', async (t) => {
  const box = await start(t)
  await define(box, {
    rules: [{ when: { operation: { in: ['GET /users', 'GET /v1/user/{userId}'] } }, then: DOWN }],
    expect: { requests: { 'GET /users': 1 } },
  })
  t.equal(await users(box), 503)
  const { body } = await box.get('/__admin/scenario')
  t.match(body.expect, [{ operation: 'listUsers', found: 1, met: true }])
  const found = await box.post('/__admin/requests/verify', {
    match: { operation: 'GET /users' },
    exactly: 1,
  })
  t.equal(found.status, 200)
  t.equal((await box.get('/__admin/requests?operation=GET%20/users')).body.requests.length, 1)
})

t.test('an entry of a timeline comes at an instant', async (t) => {
  const use = async (entry: object) => {
    const box = await start(t)
    await define(box, { timeline: [{ ...entry, do: { create_users: 1 } }] })
    return box
  }
  const firesAt = async (entry: object) =>
    pluck((await (await use(entry)).advance('1d')).body.fired, 'at')
  t.strictSame(await firesAt({ at: '2026-01-01T10:00:00+05:30' }), ['2026-01-01T04:30:00.000Z'])
  t.strictSame(await firesAt({ at: '2026-01-01T23:00:00Z', every: '30m', times: 3 }), [
    ...['2026-01-01T23:00:00.000Z', '2026-01-01T23:30:00.000Z', '2026-01-02T00:00:00.000Z'],
  ])
  const { body } = await (await use({ at: '2020-01-01T00:00:00Z' })).get('/v1/users')
  t.equal(body.data.total_users, 111, 'one that has passed is at once')
})
