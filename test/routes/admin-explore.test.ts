import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { GUARDED, start } from '../helper.ts'
import { exampleHandler, SECRET } from '../receiver.ts'

const EXPLORE = '/__admin/webhooks/explore'

/** A sandbox with a settled payment whose events went to `base`. */
async function paid(t: Test, base: string, more: object = {}, assume = GUARDED.assume) {
  const box = await start(t, { assume })
  await box.post('/v1/clientWebhook', { url: `${base}/webhook`, webhook_secret: SECRET })
  const { body } = await box.pay(more)
  await box.advance('10s')
  const transaction_id: string = body.data[0].transaction_id
  const probe = `${base}/state/{transaction_id}`
  return { box, transaction_id, probe }
}

t.test('explore finds the planted bug by the shortest order that shows it', async (t) => {
  const { box, transaction_id, probe } = await paid(
    t,
    await exampleHandler(t, 'handler-with-bug.mjs'),
  )
  const { status, body } = await box.post(EXPLORE, { transaction_id, probe })
  t.equal(status, 200)
  t.match(body, {
    orders_tried: 1,
    in_order: { state: { status: 'success' } },
    found: {
      sequence: ['transaction.pending', 'transaction.success', 'transaction.processing'],
      copies: 0,
      state: { status: 'processing' },
      differs_at: ['/status'],
    },
    ignored: [],
  })
  const again = await box.post(EXPLORE, { transaction_id, probe })
  t.same(again.body.found.sequence, body.found.sequence, 'a second run finds it too')
})

t.test('explore finds nothing wrong with a correct handler', async (t) => {
  const { box, transaction_id, probe } = await paid(t, await exampleHandler(t, 'handler.mjs'))
  const { body } = await box.post(EXPLORE, { transaction_id, probe, max_orders: 120 })
  t.match(body, { orders_tried: 120, found: null, in_order: { state: { status: 'success' } } })
  t.equal(
    (await box.get('/__admin/webhooks/deliveries')).body.total,
    3,
    'replays are no deliveries',
  )
})

type Apply = (seen: string[], type: string) => { status: number }

/** A handler in this process: `apply` answers an event, `state` returns the state of a payment. */
async function mine(t: Test, apply: Apply, state: (seen: string[]) => unknown) {
  const seen = new Map<string, string[]>()
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    if (request.method === 'GET') {
      const id = request.url!.split('/').pop()!
      return response.end(JSON.stringify(state(seen.get(id) ?? [])))
    }
    bodies.push(text)
    // Under webhook_body=resource the header has the type, and the body is the resource.
    const event = JSON.parse(text)
    const type: string = request.headers['x-webhook-event'] ?? event.type
    const data = event.data ?? event
    const known = seen.get(data.transaction_id) ?? []
    seen.set(data.transaction_id, known)
    return response.writeHead(apply(known, type).status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

const keep: Apply = (seen, type) => {
  seen.push(type)
  return { status: 200 }
}

t.test('each replay is a payment of its own, known by no id of another', async (t) => {
  const { base, bodies } = await mine(t, keep, () => 'same')
  const { box, transaction_id, probe } = await paid(t, base, { reference_id: 'order-1' })
  bodies.length = 0
  await box.post(EXPLORE, { transaction_id, probe, max_orders: 2 })
  const events = bodies.map((text) => JSON.parse(text))
  const ids = [...new Set(events.map(({ data }) => data.transaction_id))]
  const runs = ids.map((id) => events.filter(({ data }) => data.transaction_id === id))
  t.same(
    runs.map(({ length }) => length),
    [3, 3, 3, 4],
  )
  for (const path of [
    ['transaction_id'],
    ['reference_id'],
    ['history', 'id'],
    ['history', 'client_transaction_id'],
    ['history', 'partner_transaction_id'],
  ]) {
    const values = runs.map(
      (run) => new Set(run.map(({ data }) => path.reduce((v, p) => v[p], data))),
    )
    t.ok(
      values.every(({ size }) => size === 1),
      `${path}: one in a replay`,
    )
    t.equal(new Set(values.flatMap((set) => [...set])).size, 4, `${path}: another in each`)
  }
  t.equal(new Set(events.map(({ id }) => id)).size, 12)
  const last = runs.map((run) => run.find(({ type }) => type === 'transaction.success').data)
  t.equal(new Set(last.map(({ history }) => history.utr)).size, 4)
  t.ok(last.every(({ utr, history }) => utr === `XXXXXXXX${history.utr.slice(-4)}`))
  t.notOk(bodies.some((text) => text.includes(transaction_id) || text.includes('order-1')))
})

t.test('a handler that remembers every id is right after a reset too', async (t) => {
  const { base, bodies } = await mine(t, keep, () => 'same')
  const idsOf = async () => {
    const { box, transaction_id, probe } = await paid(t, base)
    bodies.length = 0
    await box.post(EXPLORE, { transaction_id, probe, max_orders: 1 })
    return bodies.map((text) => JSON.parse(text).id)
  }
  const [first, second] = [await idsOf(), await idsOf()]
  t.ok(first.length > 0)
  t.same(
    first.filter((id) => second.includes(id)),
    [],
    'the same seed gives no id twice',
  )
})

t.test('a handler that counts repeats twice is found by a repeat', async (t) => {
  const { base } = await mine(t, keep, (seen) => ({
    at: Math.random(),
    successes: seen.filter((type) => type === 'transaction.success').length,
  }))
  const { box, transaction_id, probe } = await paid(t, base)
  const { body } = await box.post(EXPLORE, { transaction_id, probe })
  t.match(body, { ignored: ['/at'], found: { copies: 1, differs_at: ['/successes'] } })
  t.equal(body.found.sequence.length, 4)
})

t.test('what a receiver refuses comes again behind the others, as a retry does', async (t) => {
  const order = ['transaction.pending', 'transaction.processing', 'transaction.success']
  const strict: Apply = (seen, type) => {
    if (seen.includes(type)) return { status: 200 }
    if (order.indexOf(type) !== seen.length) return { status: 409 }
    return keep(seen, type)
  }
  const { base } = await mine(t, strict, (seen) => seen.at(-1) ?? null)
  const { box, transaction_id, probe } = await paid(t, base)
  const { body } = await box.post(EXPLORE, { transaction_id, probe, max_orders: 40 })
  t.match(body, { orders_tried: 40, found: null })
})

t.test('explore sends bodies without an envelope where the service has none', async (t) => {
  const { base, bodies } = await mine(t, keep, (seen) => ({ last: seen.at(-1) }))
  const bare = { ...GUARDED.assume, webhook_body: 'resource' }
  const { box, transaction_id, probe } = await paid(t, base, {}, bare)
  const { body } = await box.post(EXPLORE, { transaction_id, probe })
  t.match(body, { in_order: { state: { last: 'transaction.success' } }, found: { copies: 0 } })
  t.ok(bodies.length > 3)
  for (const sent of bodies)
    t.match(JSON.parse(sent), { transaction_id: /^.{36}$/, type: undefined })
})

t.test('what cannot be explored is refused with what to do', async (t) => {
  const { base } = await mine(t, keep, (seen) => seen)
  const { box, transaction_id, probe } = await paid(t, base)
  const ask = (more: object) => box.post(EXPLORE, { transaction_id, probe, ...more })
  for (const [more, status, message] of [
    [{ probe: `${base}/state` }, 400, /probe .*\{transaction_id\}/],
    [{ probe: 'ftp://x/{transaction_id}' }, 400, /probe/],
    [{ max_orders: 0 }, 400, /max_orders/],
    [{ transaction_id: '00000000-0000-4000-8000-00000000dead' }, 404, /No transaction/],
    [{ probe: 'http://169.254.169.254/{transaction_id}' }, 422, /probe .*never sent there/],
    [{ probe: 'http://192.0.2.9/{transaction_id}' }, 422, /--webhook-allow/],
    [{ probe: `http://127.0.0.1:1/{transaction_id}` }, 422, /probe .*refused/],
  ] as const) {
    const answer = await ask(more)
    t.equal(answer.status, status, JSON.stringify(more))
    t.match(answer.body.message, message)
  }
  const fresh = (await box.pay()).body.data[0].transaction_id
  const early = await ask({ transaction_id: fresh })
  t.match(early.body, {
    error: 'explore_failed',
    message: /has 1 stored event; explore needs at least 2\..*advance the clock/,
  })
  await box.put('/v1/clientWebhook', { url: 'http://127.0.0.1:1/' })
  t.match((await ask({})).body.message, /The receiver did not respond: nothing listens/)
  const bare = await start(t)
  t.equal((await bare.post(EXPLORE, { transaction_id, probe })).status, 404)
})
