import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { ADMIN_CALLS } from '../../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../../src/routes/v1/operations.ts'
import { HONOURED, start } from '../../helper.ts'
import { receiver } from '../../receiver.ts'
import { NOT_PLAYED } from './deck.ts'
import { play } from './play.ts'
import { startReceiver } from './receiver.ts'

type Box = Awaited<ReturnType<typeof start>>
type Receiver = Awaited<ReturnType<typeof startReceiver>>

// npm run repeat plays 5,000, with several versions of Node.
const CALLS = 700

const open = (t: Test, randomSeed: number) =>
  start(t, {
    sandbox: {
      start: { randomSeed, clock: 'frozen', clockSpeed: 1, scenario: 'default', ...HONOURED },
      webhooks: { allow: [], time: 'client', retries: 'fast' },
    },
  })

/** The run of `npm run repeat` in short, and what is stored after it. */
async function run(box: Box, webhooks: Receiver, calls: number) {
  await box.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = box.app.server.address() as AddressInfo
  const lines: string[] = []
  const statuses = new Set<number>()
  const done = new Set<string>()
  for await (const { call, status, line } of play(`http://127.0.0.1:${port}`, webhooks, {
    calls,
    seed: 13,
  })) {
    lines.push(line)
    statuses.add(status)
    if (call.id && status < 300 && status > 0) done.add(call.id)
  }
  const state = [...box.sandbox.clients.values()].map(({ tables }) => {
    const { payments, timers, counters, deliveries } = tables.tables
    const rows = [payments, timers, counters, deliveries].map((table) => [...table.rows()])
    return JSON.stringify(rows).replace(/"duration_ms":\d+/g, '')
  })
  await box.close()
  return { lines, statuses, done, state }
}

const digest = (lines: readonly string[]) =>
  createHash('sha256').update(lines.join('\n')).digest('hex')

/** Where two texts part, with what stands around it. */
function firstDifference(a: string, b: string): string {
  let at = 0
  while (a[at] === b[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 200), at + 100)
  return `${a.slice(0, 100)}\n…${around(a)}\n…${around(b)}`
}

function same(t: Test, one: Awaited<ReturnType<typeof run>>, two: typeof one) {
  const differs = one.lines.findIndex((line, i) => line !== two.lines[i])
  t.equal(differs, -1, differs < 0 ? '' : firstDifference(one.lines[differs]!, two.lines[differs]!))
  t.equal(digest(one.lines), digest(two.lines))
  t.strictSame(one.state, two.state, 'and so is what is stored')
}

async function receiverOf(t: Test) {
  const webhooks = await startReceiver()
  t.teardown(webhooks.close)
  return webhooks
}

t.test('a mixed script gives the same bytes for the same seed', async (t) => {
  const webhooks = await receiverOf(t)
  const one = await run(await open(t, 7), webhooks, CALLS)
  same(t, one, await run(await open(t, 7), webhooks, CALLS))
  t.equal(one.lines.length, CALLS)

  t.strictSame(
    [...OPERATIONS, ...ADMIN_CALLS].map(({ id }) => id).filter((id) => !one.done.has(id)),
    NOT_PLAYED,
    'every endpoint and admin call that can be repeated was carried out',
  )
  for (const status of [0, 200, 201, 401, 404, 408, 409, 422, 503])
    t.ok(one.statuses.has(status), `${status}`)
  const sent = one.lines.flatMap((line) => line.match(/^POST \/webhook /gm) ?? [])
  t.ok(sent.length > 100, `${sent.length} webhooks`)

  const other = await run(await open(t, 8), webhooks, 100)
  t.not(digest(other.lines), digest(one.lines.slice(0, 100)), 'another seed gives others')
})

t.test('a reset world gives the bytes of a new one', async (t) => {
  const webhooks = await receiverOf(t)
  const box = await open(t, 7)
  await box.put('/__admin/scenario', { name: 'live-demo' })
  await box.post('/__admin/rules', { when: { operation: '*' }, then: { respond: { status: 503 } } })
  await box.advance('5m')
  await box.pay()
  t.equal((await box.post('/__admin/reset')).status, 200)
  same(t, await run(box, webhooks, 150), await run(await open(t, 7), webhooks, 150))
})

/** What is to happen after two attempts at once were refused, the one that came first or last answered first. */
async function afterRefusals(t: Test, answersFirst: 0 | 1) {
  const held: (() => void)[] = []
  const { url } = await receiver(t, (_, response) => {
    held.push(() => response.writeHead(500).end())
    if (held.length < 2) return
    const [early, late] = answersFirst === 0 ? [held[0]!, held[1]!] : [held[1]!, held[0]!]
    early()
    setImmediate(late)
  })
  const box = await open(t, 7)
  await box.post('/v1/clientWebhook', { url, webhook_secret: 'secret' })
  await box.pay()
  await box.pay()
  await box.advance('0s')
  t.equal(held.length, 2, 'both were sent at once')
  const { body } = await box.get('/__admin/timers')
  return body.timers.filter(({ kind }: { kind: string }) => kind === 'webhook.attempt')
}

t.test('what follows from attempts does not hang on which answer came first', async (t) => {
  const one = await afterRefusals(t, 0)
  t.equal(one.length, 2, 'two retries')
  t.strictSame(await afterRefusals(t, 1), one)
})
