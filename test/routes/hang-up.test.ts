import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { HONOURED, PAYMENT, type StartOptions, start, until } from '../helper.ts'
import { manualTime } from '../manual-time.ts'
import { heldTimers } from '../manual-timers.ts'
import { receiver, SECRET } from '../receiver.ts'

// Some of these tests wait for real time, each with its own sandbox.
t.jobs = 8

/** A sandbox behind a port, and a caller that sends a request and may hang up. */
async function served(
  t: Test,
  clock: 'real' | 'frozen' = 'frozen',
  sandbox: StartOptions['sandbox'] = {},
) {
  const box = await start(t, { ...HONOURED, sandbox, begin: { clock } })
  const { url, port } = await box.listen()
  async function calling(method: string, path: string, body?: object) {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    const text = body ? JSON.stringify(body) : ''
    const headers = ['Host: 127.0.0.1', 'Content-Type: application/json']
    if (body) headers.push(`Content-Length: ${text.length}`)
    socket.write(`${[`${method} ${path} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n${text}`)
    return { hangUp: () => socket.destroy() }
  }
  return { ...box, url, calling }
}

t.test('a wait ends when its caller hangs up, and frees its watcher at once', async (t) => {
  const { calling, sandbox } = await served(t)
  const { feed } = sandbox.default
  const body = { for: 'request', match: { operation: 'getUser' }, timeout_ms: 60_000 }
  const callers = await Promise.all([1, 2, 3].map(() => calling('POST', '/__admin/wait', body)))
  await until(() => feed.isWanted)
  for (const { hangUp } of callers) hangUp()
  await until(() => !feed.isWanted)
  t.pass('nobody watches any more')
})

t.test('a delayed call ends when its caller hangs up: it is not carried out', async (t) => {
  const time = manualTime()
  const more = { runtime: time.runtime }
  const { calling, get, post, sandbox } = await served(t, 'frozen', more)
  await post('/__admin/rules', { when: { operation: 'createUser' }, then: { delay: '30s' } })
  const user = { email: 'gone@example.com', mobile: '9876500001', user_type: 'individual' }
  const total = async () => (await get('/v1/users')).body.data.total_users
  const before = await total()
  const caller = await calling('POST', '/v1/user', user)
  const { requests } = sandbox.default
  await time.waiting()
  const seen = requests.count
  caller.hangUp()
  await until(() => time.left().length === 0)
  t.equal(await total(), before)
  await until(() => requests.count > seen)
  const [call] = (await get('/__admin/requests?operation=createUser')).body.requests
  t.match(call, { path: '/v1/user', status: null }, 'the log has it, without a response')
})

t.test('a delayed call frees its Idempotency-Key when its caller hangs up', async (t) => {
  const time = manualTime()
  const more = { runtime: time.runtime }
  const { url: origin, pay, post } = await served(t, 'frozen', more)
  const when = { operation: 'createTransaction' }
  await post('/__admin/rules', { when, times: 1, then: { delay: '30s' } })
  const gone = new AbortController()
  const url = `${origin}/v1/transaction`
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
  const body = JSON.stringify(PAYMENT)
  const sent = fetch(url, { method: 'POST', headers, body, signal: gone.signal })
  await time.waiting()
  t.equal((await pay({}, { 'idempotency-key': 'k' })).body.error, 'idempotency_in_flight')
  gone.abort()
  await t.rejects(sent)
  await until(() => time.left().length === 0)
  const again = await fetch(url, { method: 'POST', headers, body })
  t.strictSame([again.status, again.headers.get('idempotency-replayed')], [200, null])
})

t.test('an advance ends when its caller hangs up: time stands where it was', async (t) => {
  const { calling, get, advance, sandbox } = await served(t)
  const { clock } = sandbox.default
  const timers = heldTimers(sandbox.default)
  const caller = await calling('POST', '/__admin/clock/advance', { by: '1h' })
  await timers.running()
  caller.hangUp()
  // What is under way is not broken off; nothing new begins.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
  timers.settle()
  await until(() => !clock.isStopped)
  t.match((await get('/__admin/clock')).body, {
    now: '2026-01-01T00:00:01.000Z',
    pending_timers: 1,
  })
  const next = advance('10ms')
  t.equal((await next).body.now, '2026-01-01T00:00:01.010Z')
})

type Box = Awaited<ReturnType<typeof served>>

/** What makes an attempt. */
const ATTEMPTS: Readonly<Record<string, (box: Box) => Promise<unknown>>> = {
  'an advance': ({ pay, advance }) => pay().then(() => advance('0s')),
  'a delivery on a ticking clock': async ({ post, pay }) => {
    await post('/__admin/clock/resume')
    await pay()
  },
  'a trigger': ({ post }) => post('/__admin/webhooks/trigger', { event: 'webhook.test' }),
  async 'a redelivery'({ get, post, pay }) {
    await pay()
    const [row] = (await get('/__admin/webhooks/deliveries')).body.deliveries
    await post(`/__admin/webhooks/deliveries/${row.delivery_id}/redeliver`)
  },
  async 'a timer that is fired'({ get, post, pay }) {
    await pay()
    const { timers } = (await get('/__admin/timers')).body
    const { timer_id } = timers.find(({ kind }: { kind: string }) => kind === 'webhook.attempt')
    await post(`/__admin/timers/${timer_id}/fire`)
  },
}

for (const [what, make] of Object.entries(ATTEMPTS))
  t.test(
    `an advance out of the handler of ${what} is refused soon, and moves nothing`,
    async (t) => {
      const box = await served(t)
      const { clock } = box.sandbox.default
      const asked: { status: number; body: object; moved: boolean }[] = []
      const { url } = await receiver(t, async (_, response) => {
        if (asked.length === 0) {
          const before = clock.now()
          const { status, body } = await box.advance('10h')
          asked.push({ status, body, moved: clock.now() - before > 3_600_000 })
        }
        response.writeHead(204).end()
      })
      await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
      await make(box)
      const deliveries = async () => (await box.get('/__admin/webhooks/deliveries')).body.deliveries
      await until(async () => (await deliveries()).some((row: Row) => row.status === 'delivered'))
      t.match(asked, [
        {
          status: 409,
          body: {
            error: 'receiver_busy',
            message: what.includes('advance')
              ? /A webhook handler must respond before it advances the clock/
              : /still waiting for the response of your receiver/,
          },
          moved: false,
        },
      ])
      const attempts = (await deliveries()).flatMap((row: Row) => row.attempts)
      t.ok(
        attempts.every(({ ok }: { ok: boolean }) => ok),
        'no attempt ran into its time limit',
      )
    },
  )

type Row = { status: string; attempts: { ok: boolean }[] }

t.test('an advance out of a handler is refused where the first caller hung up', async (t) => {
  const box = await served(t)
  let hangUp = () => {}
  const asked: object[] = []
  const { url } = await receiver(t, async (_, response) => {
    hangUp()
    await until(() => isGone())
    const { status, body } = await box.advance('1m')
    asked.push({ status, error: body.error })
    response.writeHead(204).end()
  })
  const gone = new AbortController()
  hangUp = () => gone.abort()
  const isGone = () => gone.signal.aborted
  await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  await box.pay()
  const { clock } = box.sandbox.default
  const { now } = await clock.timers.advanceBy(600_000, { signal: gone.signal })
  t.strictSame(asked, [{ status: 409, error: 'receiver_busy' }])
  t.equal(now, clock.iso())
  t.equal(now, '2026-01-01T00:00:00.000Z')
})

t.test('an advance waits for an attempt that is answered soon, and then moves time', async (t) => {
  const box = await served(t, 'real')
  let answer = () => {}
  const { url, received } = await receiver(t, (_, response) => {
    answer = () => void response.writeHead(204).end()
    if (received.length > 1) answer()
  })
  await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  await box.pay()
  await until(() => received.length > 0)
  const moving = box.advance('3s')
  await box.get('/__admin/clock')
  const second = box.advance('3s')
  await box.get('/__admin/clock')
  answer()
  const { status, body } = await moving
  t.equal(status, 200)
  t.ok(body.fired.length > 0)
  t.equal((await second).status, 200, 'a second one waits too, and takes its turn')
})
