// When a rule applies, and what is said about one that never does.
import t from 'tap'
import { start } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>
const DOWN = { respond: { status: 503 } }
const users = async (box: Box) => (await box.get('/v1/users')).status
const define = (box: Box, definition: object) => box.put('/__admin/scenario', { definition })
const check = async (box: Box, rule: object) => {
  const { body, status } = await box.post('/__admin/rules', rule)
  return status === 200 || status === 201 ? (body.warnings ?? []) : (body.errors ?? [body])
}

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
  const [near] = await check(box, { when: { operation: 'POST /kycs' }, then: DOWN })
  t.match(near, { message: /unknown operation "POST \/kycs"; did you mean "POST \/kyc"\?/ })
})

t.test('a form that can never match is an error that says the right one', async (t) => {
  const box = await start(t)
  for (const [when, message] of [
    [
      { operation: 'submitKyc', body: { document_number: 'x' } },
      /write item: \{ document_number: … \}/,
    ],
    [
      { operation: 'submitKyc', item: { document_type: 'pan' } },
      /write document_type: tid, or document_name: pan/,
    ],
    [
      { operation: 'createTransaction', body: { amount: '> 50000' } },
      /write amount: \{ gt: 50000 \}/,
    ],
    [{ operation: 'createTransaction', body: { amount: '50,000' } }, /write amount: 50000/],
    [
      { operation: 'createTransaction', body: { amount: { eq: '50,000.50' } } },
      /write amount: 50000.50/,
    ],
    [{ operation: '*', time: { from: '25:00', to: '01:00' } }, /must be a time of day/],
    [{ operation: '*', time: { from: '01:00', to: '01:00' } }, /is empty/],
    [
      { operation: '*', time: { from: '01:00', to: '02:00', zone: 'Mars' } },
      /must be an IANA time zone/,
    ],
    [{ operation: '*', elapsed: { from: '2h', to: '1h' } }, /is empty/],
  ] as const)
    t.match((await check(box, { when, then: DOWN }))[0], { message }, JSON.stringify(when))
})

t.test('a condition that can never hold is a warning', async (t) => {
  const box = await start(t)
  const rule = (when: object) => ({ rules: [{ when, then: DOWN }] })
  for (const [definition, message] of [
    [
      rule({ operation: 'createTransaction', body: { mode: 'IMPS' } }),
      /the body of createTransaction has no "mode" in the contract/,
    ],
    [
      rule({ operation: 'submitKyc', item: { document_name: 'passport' } }),
      /`document_name` is aadhar or pan in the contract/,
    ],
    [
      {
        webhooks: [
          { when: { event: 'transaction.success' }, then: { hold_until: 'transaction.pending' } },
        ],
      },
      /transaction.pending never follows transaction.success, so nothing waits for it/,
    ],
  ] as const) {
    const { body } = await box.put('/__admin/scenario', { definition })
    t.match(body.warnings.join(), message)
  }
})
