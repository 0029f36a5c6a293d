import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import t, { type Test } from 'tap'
import { type StreamOptions, streamEvents } from '../../src/routes/admin/events.ts'
import { Feed } from '../../src/world/feed.ts'
import { portOf } from '../listening.ts'

/** A server that streams one feed, and a reader of it. */
async function serve(t: Test, options: StreamOptions = {}) {
  const feed = new Feed('f', () => {})
  const sockets: { closed: Promise<unknown> }[] = []
  const server = createServer((incoming, response) => {
    sockets.push({ closed: once(response, 'close') })
    const lastEventId = incoming.headers['last-event-id'] as string | undefined
    streamEvents(feed, response, { lastEventId, ...options })
  })
  const port = await portOf(t, server)
  async function open(headers: Record<string, string> = {}) {
    const sent = request({ host: '127.0.0.1', port, headers, agent: false }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.on('error', () => {})
    t.teardown(() => answer.destroy())
    let text = ''
    answer.on('data', (chunk) => {
      text += String(chunk)
    })
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) {
        if (answer.destroyed) throw new Error(`closed before ${wanted}: ${text}`)
        await new Promise(setImmediate)
      }
      return text
    }
    return { response: answer, until }
  }
  return { feed, open, sockets }
}

const change = (n: number) => ({ type: 'kyc.success', resource_id: String(n), at: 'now' })

t.test('a reader continues after its last event, and learns about a gap', async (t) => {
  const { feed, open } = await serve(t)
  const first = await open()
  await first.until('connected')
  for (let n = 1; n <= 3; n++) feed.publish('change', change(n))
  const resumed = await open({ 'last-event-id': 'f-2' })
  const text = await resumed.until('f-3')
  t.notMatch(text, 'f-2')
  t.notMatch(text, 'gap')
  for (const strange of ['other-2', 'f-99', 'f-x', 'f-', 'f--1']) {
    const { until } = await open({ 'last-event-id': strange })
    const published = await until('f-3\n')
    t.match(published, /event: gap\ndata: \{"available_events":3\}\n\nid: f-1\n/, strange)
  }
  const current = await open({ 'last-event-id': 'f-3' })
  t.equal(await current.until('connected\n\n'), 'retry: 1000\nid: f-3\n: connected\n\n')
  for (let n = 4; n <= 1_005; n++) feed.publish('change', change(n))
  const late = await open({ 'last-event-id': 'f-4' })
  t.match(
    await late.until('f-1005\n'),
    /event: gap\ndata: \{"available_events":1000\}\n\nid: f-6\n/,
  )
  const just = await open({ 'last-event-id': 'f-5' })
  t.notMatch(await just.until('f-1005\n'), 'gap')
})

t.test('the buffer is also limited by its size', async (t) => {
  const feed = new Feed('f', () => {})
  feed.read({ onEvent() {}, onEnd() {} })
  for (let n = 0; n < 200; n++) feed.publish('reset', { parts: ['x'.repeat(10_000)] })
  const { events, missed } = feed.after('f-0')
  t.ok(events.length > 50 && events.length < 110, `${events.length}`)
  t.ok(missed)
})

t.test('a stream without events sends heartbeats', async (t) => {
  const { open } = await serve(t, { heartbeatMs: 5 })
  const { until } = await open()
  await until(': still here\n\n: still here\n\n')
})

t.test('a reader that does not read is disconnected, others are not', async (t) => {
  const { feed, open, sockets } = await serve(t, { maxUnread: 64 * 1024 })
  const slow = await open()
  await slow.until('connected')
  slow.response.pause()
  const quick = await open()
  await quick.until('connected')
  let seen = 0
  quick.response.on('data', (chunk) => {
    seen += String(chunk).length
  })
  let isCut = false
  const cut = sockets[0]!.closed.then(() => {
    isCut = true
  })
  let published = 0
  while (!isCut && published < 20_000) {
    feed.publish('reset', { parts: ['x'.repeat(5_000)] })
    published++
    // Both get what is in the buffers of the kernel.
    await new Promise(setImmediate)
  }
  await cut
  t.ok(published < 20_000, `cut off after ${published} events`)
  feed.publish('reset', { parts: ['last'] })
  await quick.until('last')
  t.ok(seen >= published * 5_000, 'the other has all of them')
})
