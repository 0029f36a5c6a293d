import t from 'tap'
import { createSendLimit, type SendLane } from '../../src/webhooks/send-limit.ts'
import { start } from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

/** Runs the pending promise callbacks. */
const settled = () => new Promise(setImmediate)

t.test('clients take turns, and the attempts of each client stay in order', async (t) => {
  const room = createSendLimit({ maxConcurrent: 4, onSaturated() {} })
  const came: string[] = []
  const lanes: Record<string, SendLane> = { a: room.lane(), b: room.lane(), c: room.lane() }
  async function attempt(name: string, nth: number) {
    await lanes[name]!.enter()
    came.push(`${name}${nth}`)
  }
  for (let i = 1; i <= 8; i++) void attempt('a', i)
  for (let i = 1; i <= 3; i++) void attempt('b', i)
  void attempt('c', 1)
  await settled()
  t.same(came, ['a1', 'a2', 'a3', 'a4'], 'the maximum at once')
  for (const [leaver, next] of [
    ['a', 'a5'],
    ['a', 'b1'],
    ['a', 'c1'],
    ['b', 'a6'],
    ['c', 'b2'],
    ['a', 'a7'],
    ['a', 'b3'],
    ['a', 'a8'],
  ]) {
    lanes[leaver!]!.leave()
    await settled()
    t.equal(came.at(-1), next)
  }
  t.equal(came.length, 12)
})

t.test('one client has at most 64 concurrent attempts, even if more slots are free', async (t) => {
  const room = createSendLimit({ onSaturated: () => t.fail('there is room') })
  const [busy, other] = [room.lane(), room.lane()]
  let inside = 0
  for (let i = 0; i < 5_000; i++)
    void Promise.resolve(busy.enter()).then(() => {
      inside++
    })
  await settled()
  t.equal(inside, 64)
  t.equal(other.enter(), undefined, 'another one does not wait')
  for (let i = 0; i < 5_000; i++) {
    busy.leave()
    if (i % 500 === 0) await settled()
  }
  await settled()
  t.equal(inside, 5_000)
  for (let i = 0; i < 64; i++) t.equal(busy.enter(), undefined)
})

t.test('a long saturation is reported, a short one is not', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  let warnings = 0
  const room = createSendLimit({ maxConcurrent: 1, onSaturated: () => warnings++ })
  const [a, b] = [room.lane(), room.lane()]
  a.enter()
  void b.enter()
  now = 9_000
  a.leave()
  t.equal(warnings, 0)
  void a.enter()
  now = 18_000
  b.leave()
  void b.enter()
  now = 27_000
  a.leave()
  t.equal(warnings, 0, 'each waited for 9 s')
  void a.enter()
  now = 40_000
  void a.enter()
  t.equal(warnings, 1)
})

t.test('an advance ends, although receivers hang and all clients share few slots', async (t) => {
  let most = 0
  let open = 0
  const hanging = await receiver(t, (_, response) => {
    open++
    most = Math.max(most, open)
    response.on('close', () => open--)
  })
  const webhooks = { allow: [], time: 'wall', retries: 'fast', deadlineMs: 100 } as const
  const box = await start(t, { sandbox: { webhooks, maxAttempts: 4 } })
  const definition = { title: 'x', webhooks: [{ when: { event: '*' }, then: { copies: 10 } }] }
  const clients = ['a', 'b', 'c']
  await Promise.all(
    clients.map(async (name) => {
      const base = `/@${name}`
      await box.put(`${base}/__admin/scenario`, { definition })
      await box.post(`${base}/v1/clientWebhook`, { url: hanging.url, webhook_secret: SECRET })
      const body = { email: `${name}@example.com`, mobile: '9876500001' }
      await box.post(`${base}/v1/user`, body)
      await box.post(`${base}/__admin/webhooks/trigger`, { event: 'user.created' })
      t.equal((await box.post(`${base}/__admin/clock/advance`, { by: '1s' })).status, 200)
      const { deliveries } = (await box.get(`${base}/__admin/webhooks/deliveries`)).body
      t.equal(deliveries.length, 10)
      for (const { attempts } of deliveries)
        t.equal(attempts.length, 2, 'tried at once, and after 1 s')
    }),
  )
  // The receiver sees the end of one a little after the sandbox does; without the limit, it would see 30 at once.
  t.ok(most >= 4 && most <= 15, `${most} at once`)
})
