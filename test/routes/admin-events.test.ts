import t, { type Test } from 'tap'
import { optionsOf, startServer } from '../../src/server.ts'
import { ASHA, createLog, PAYMENT } from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

async function serve(t: Test, options: Record<string, unknown> = {}) {
  const server = await startServer(
    optionsOf({ port: 0, memory: true, clock: 'frozen', ...options }),
    createLog(),
  )
  t.teardown(server.close)
  const origin = server.url.slice(0, -'/v1'.length)
  const send = (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) =>
    fetch(origin + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  return { ...server, origin, send }
}

/** Reads a stream; `until` waits for a text, `ended` for a clean end. */
async function read(
  t: Test,
  origin: string,
  path = '/__admin/events',
  headers: Record<string, string> = {},
) {
  const given = new AbortController()
  t.teardown(() => given.abort())
  const answer = await fetch(origin + path, { headers, signal: given.signal })
  let text = ''
  const ended = (async () => {
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) text += chunk
    return text
  })()
  ended.catch(() => {})
  async function until(wanted: string | RegExp) {
    while (!(typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)))
      await Promise.race([new Promise((resolve) => setTimeout(resolve, 2)), ended])
    return text
  }
  await until('connected')
  return { response: answer, until, ended, leave: () => given.abort() }
}

/** The events of a stream: kind and data of each. */
const eventsOf = (text: string) =>
  [...text.matchAll(/(?:id: (\S+)\n)?event: (\w+)\ndata: (.*)\n\n/g)].map(([, id, kind, data]) => ({
    id,
    kind,
    data: JSON.parse(data!),
  }))

t.test('requests, changes, timers, deliveries and resets are sent once and in order', async (t) => {
  const { origin, send } = await serve(t)
  const { url } = await receiver(t)
  await send('POST', '/v1/clientWebhook', { url, webhook_secret: SECRET })
  const stream = await read(t, origin)
  t.equal(stream.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.equal(stream.response.headers.get('cache-control'), 'no-store')
  await send('POST', '/v1/transaction', PAYMENT)
  await send('POST', '/__admin/clock/advance', { by: '3s' })
  await send('POST', '/__admin/reset', { parts: ['data'] })
  const events = eventsOf(await stream.until('event: reset'))
  const of = (kind: string) => events.filter((event) => event.kind === kind).map(({ data }) => data)
  t.match(of('request'), [
    {
      method: 'POST',
      path: '/v1/transaction',
      operation: 'createTransaction',
      status: 200,
      request_id: 'req_2',
    },
  ])
  t.strictSame(
    of('change').map(({ type }) => type),
    ['transaction.pending', 'transaction.processing', 'transaction.success'],
  )
  const id = of('change')[0].resource_id
  t.match(of('change')[2], { resource_id: id, at: '2026-01-01T00:00:03.000Z' })
  t.strictSame(
    of('timer')
      .filter(({ kind }) => kind === 'transaction.step')
      .map(({ at, resource_id }) => [at, resource_id]),
    [
      ['2026-01-01T00:00:01.000Z', id],
      ['2026-01-01T00:00:03.000Z', id],
    ],
  )
  const delivered = of('delivery').filter(({ status }) => status === 'delivered')
  t.strictSame(
    delivered.map(({ event }) => event),
    ['transaction.pending', 'transaction.processing', 'transaction.success'],
  )
  t.match(delivered[0], { resource_id: id, attempts: 1, response_status: 204, error: null })
  t.strictSame(of('reset'), [{ parts: ['data'] }])
  t.strictSame(of('scenario'), [], 'a reset of the data leaves the scenario')
  await send('POST', '/__admin/reset')
  const all = eventsOf(await stream.until(/event: reset.*event: reset\ndata: [^\n]*\n\n/s))
  t.equal(all.filter(({ kind }) => kind === 'scenario').length, 1, 'and a reset activates it once')
  const numbers = events.map((event) => Number(event.id!.split('-')[1]))
  t.strictSame(
    numbers,
    numbers.map((_, i) => i + 1),
    'no id is missing',
  )
})

t.test('a stream goes on after the last event, and shows its own client alone', async (t) => {
  const { origin, send } = await serve(t)
  t.equal((await send('HEAD', '/__admin/events')).status, 405)
  const first = await read(t, origin)
  await send('GET', '/v1/users?page=1')
  const [{ id } = { id: '' }] = eventsOf(await first.until('req_1'))
  first.leave()
  await send('GET', `/v1/user/${ASHA}`)
  const again = await read(t, origin, '/__admin/events', { 'last-event-id': id! })
  const received = eventsOf(await again.until('req_2'))
  t.strictSame(
    received.map(({ data }) => data.request_id),
    ['req_2'],
  )
  const gap = await read(t, origin, '/__admin/events', { 'last-event-id': 'of-another-life-7' })
  t.strictSame(
    eventsOf(await gap.until('req_2')).map(({ kind }) => kind),
    ['gap', 'request', 'request'],
  )
  const other = await read(t, origin, '/@other/__admin/events')
  await send('GET', '/v1/users?page=2')
  await send('GET', '/@other/v1/users?page=9')
  t.strictSame(
    eventsOf(await other.until('event: request')).map(({ data }) => [data.request_id, data.path]),
    [['req_1', '/v1/users']],
  )
  t.notMatch(await again.until('req_3'), 'page=9')
})

t.test('restores and imports are sent, and the stream of a deleted client ends', async (t) => {
  const { origin, send } = await serve(t)
  const stream = await read(t, origin, '/@gone/__admin/events')
  await send('POST', '/@gone/__admin/snapshots', { name: 'before' })
  await send('POST', '/@gone/__admin/snapshots/before/restore')
  const state = (await (await send('GET', '/@gone/__admin/state')).json()) as object
  t.equal((await send('PUT', '/@gone/__admin/state', state)).status, 200)
  const received = eventsOf(await stream.until(/state/))
  t.strictSame(
    received.filter(({ kind }) => kind === 'restore').map(({ kind, data }) => [kind, data]),
    [
      ['restore', { from: 'snapshot' }],
      ['restore', { from: 'state' }],
    ],
  )
  t.equal((await send('DELETE', '/__admin/clients/gone')).status, 200)
  t.match(await stream.ended, 'restore', 'ended, not broken off')
})

t.test('a stop ends streams cleanly and waits for none of them', async (t) => {
  const { origin, send, close } = await serve(t)
  const streams = [await read(t, origin), await read(t, origin, '/@other/__admin/events')]
  const waiting = send('POST', '/__admin/wait', { for: 'request', timeout_ms: 60_000 })
  await send('GET', '/v1/nothing')
  t.equal((await waiting).status, 200, 'a wait without a match is for any request')
  const stuck = send('POST', '/__admin/wait', {
    for: 'request',
    match: { path: '/never' },
    timeout_ms: 60_000,
  })
  const listed = (await (await send('GET', '/__admin/requests')).json()) as { total: number }
  t.equal(listed.total, 1)
  const began = performance.now()
  await close()
  for (const { ended } of streams) t.match(await ended, 'connected', 'not broken off')
  t.equal((await stuck).status, 503)
  t.ok(performance.now() - began < 10_000, 'none of them is waited for')
})

t.test('--explain names the client of a stream', async (t) => {
  for (const explain of [true, false]) {
    const { origin } = await serve(t, { explain })
    const stop = new AbortController()
    const { headers } = await fetch(`${origin}/@worker-1/__admin/events`, { signal: stop.signal })
    t.equal(headers.get('x-sandbox-client'), explain ? 'worker-1' : null)
    stop.abort()
  }
})
