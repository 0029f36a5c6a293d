import t, { type Test } from 'tap'
import { AADHAAR, ASHA, KABIR, start } from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

type Box = Awaited<ReturnType<typeof start>>
const FIRST = 'a0000000-0000-4000-8000-000000000001'

const waitFor = ({ post }: Box, what: string, match: object, timeoutMs = 5_000, base = '') =>
  post(`${base}/__admin/wait`, { for: what, match, timeout_ms: timeoutMs })

/** Whether something is still open after all that is ready to run has run. */
async function isOpen(promise: Promise<unknown>) {
  let open = true
  promise.then(
    () => {
      open = false
    },
    () => {
      open = false
    },
  )
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  return open
}

/** Holds that a wait is open until something is done, and is answered then. */
async function opens(t: Test, waiting: ReturnType<typeof waitFor>, act: () => Promise<unknown>) {
  t.ok(await isOpen(waiting), 'it waits')
  await act()
  const { status, body } = await waiting
  t.equal(status, 200)
  return body
}

t.test('a request that was sent already is answered at once, the newest first', async (t) => {
  const box = await start(t)
  await box.get('/v1/users?page=1')
  await box.get('/v1/users?page=2')
  const { status, body } = await waitFor(box, 'request', { operation: 'listUsers' }, 0)
  t.equal(status, 200)
  t.match(body, { for: 'request', request: { request_id: 'req_2', query: { page: '2' } } })
})

t.test('a wait for a request is answered when it comes, and by no other', async (t) => {
  const box = await start(t)
  const waiting = waitFor(box, 'request', { operation: 'getUser', status: 200 })
  await box.get('/v1/users')
  await box.get('/v1/user/no-id')
  await box.get(`/@other/v1/user/${ASHA}`)
  const body = await opens(t, waiting, () => box.get(`/v1/user/${ASHA}`))
  t.match(body.request, { operation: 'getUser', path: `/v1/user/${ASHA}`, request_id: 'req_3' })
})

t.test('a wait ends by its deadline in real time, with what came nearest', async (t) => {
  const box = await start(t)
  await box.get('/v1/users?page=3')
  const match = { operation: 'listUsers', query: { page: 4 } }
  const { status, body } = await waitFor(box, 'request', match, 20)
  t.equal(status, 408)
  t.match(body, {
    error: 'wait_timeout',
    message:
      'No request matched within 20 ms. Closest: req_1 GET /v1/users: query.page: expected "4", found "3".',
    errors: [{ field: 'query.page', code: 'differs' }],
  })
  for (const what of ['transaction', 'kyc', 'delivery']) {
    const nobody = what === 'kyc' ? { user_id: 'nobody' } : { created_at: 'never' }
    const late = await waitFor(box, what, nobody, 0)
    t.strictSame([late.status, late.body.error], [408, 'wait_timeout'], what)
  }
})

t.test('a wait names an unknown field, and takes the newest where none is named', async (t) => {
  const box = await start(t)
  const { transaction_id } = (await box.pay()).body.data[0]
  const { body } = await waitFor(box, 'transaction', {}, 0)
  t.equal(body.transaction.transaction_id, transaction_id)
  for (const [what, field, meant] of [
    ['transaction', 'transaction_statu', 'transaction_status'],
    ['delivery', 'statsu', 'status'],
    ['kyc', 'kyc_i', 'kyc_id'],
  ] as const) {
    const { status, body } = await waitFor(box, what, { [field]: 'x' }, 1_000)
    t.match([status, body.errors], [400, [{ field, message: `did you mean "${meant}"` }]])
  }
})

t.test('a wait for a transaction is answered when its GET shows it so', async (t) => {
  const box = await start(t)
  const { body: paid } = await box.pay({ reference_id: 'W-1' })
  const { transaction_id } = paid.data[0]
  const byId = waitFor(box, 'transaction', { transaction_id, transaction_status: 'success' })
  const byField = waitFor(box, 'transaction', {
    reference_id: 'W-1',
    transaction_status: 'success',
    utr: { absent: false },
  })
  t.ok(await isOpen(byField))
  const body = await opens(t, byId, () => box.advance('3s'))
  const shown = (await box.get(`/v1/transaction/${transaction_id}`)).body.data[0]
  t.strictSame(body, { for: 'transaction', transaction: shown })
  t.strictSame((await byField).body, body)
  for (const which of [{ transaction_id }, { reference_id: 'RENT-2025-02' }]) {
    const match = { ...which, transaction_status: 'success' }
    t.equal((await waitFor(box, 'transaction', match, 0)).status, 200, 'at once when it is so')
  }
})

t.test('a wait for a KYC record is answered when it is decided', async (t) => {
  const box = await start(t)
  const match = { user_id: KABIR, document_type: 'pid', kyc_status: 'success' }
  const waiting = waitFor(box, 'kyc', match)
  await box.post('/v1/kyc', { user_id: KABIR, kyc: [AADHAAR] })
  const body = await opens(t, waiting, () => box.advance('5s'))
  t.match(body.kyc, { user_id: KABIR, kyc_status: 'success', document_number: 'XXXXXXXX7777' })
  const { kyc_id } = body.kyc
  t.equal((await waitFor(box, 'kyc', { kyc_id }, 0)).body.kyc.kyc_id, kyc_id)
  const other = await waitFor(box, 'kyc', { user_id: ASHA, kyc_id }, 0)
  t.equal(other.status, 408, 'all of it must hold')
})

t.test('a wait for a delivery is answered when it is delivered', async (t) => {
  const box = await start(t)
  const { url } = await receiver(t)
  await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  const waiting = waitFor(box, 'delivery', { event: 'transaction.success', status: 'delivered' })
  const withBody = waitFor(box, 'delivery', {
    event: 'transaction.success',
    body: { contains: '"W-2"' },
  })
  await box.pay({ reference_id: 'W-2' })
  const body = await opens(t, waiting, () => box.advance('3s'))
  t.match(body.delivery, {
    event: 'transaction.success',
    status: 'delivered',
    attempts: [{ status: 204 }],
  })
  t.equal((await withBody).body.delivery.delivery_id, body.delivery.delivery_id)
  const again = await waitFor(box, 'delivery', { delivery_id: body.delivery.delivery_id }, 0)
  t.strictSame(again.body, body)
})

t.test('a reset during a wait is seen: what it brings back counts', async (t) => {
  const box = await start(t)
  await box.post(`/__admin/simulate/transactions/${FIRST}`, { status: 'FAILED' })
  const waiting = waitFor(box, 'transaction', {
    transaction_id: FIRST,
    transaction_status: 'success',
  })
  const body = await opens(t, waiting, () => box.post('/__admin/reset'))
  t.equal(body.transaction.transaction_id, FIRST)
})

t.test('a wait gets an error when its client is deleted or the sandbox stops', async (t) => {
  for (const end of [
    ({ close }: Box) => close(),
    ({ call }: Box) => call('DELETE', '/__admin/clients/gone'),
  ]) {
    const box = await start(t)
    const waiting = waitFor(box, 'request', { operation: 'getUser' }, 60_000, '/@gone')
    t.ok(await isOpen(waiting))
    await end(box)
    t.strictSame([(await waiting).status, (await waiting).body.error], [503, 'not_ready'])
  }
})

t.test('what can’t be waited for is refused', async (t) => {
  const box = await start(t)
  const cases: [object, string][] = [
    [{ for: 'nothing' }, 'for'],
    [{ for: 'request', timeout_ms: 60_001 }, 'timeout_ms'],
    [{ for: 'request', timeout_ms: -1 }, 'timeout_ms'],
    [{ for: 'request', timeout: 1 }, 'timeout'],
    [{ for: 'request', match: { opration: 'getUser' } }, 'match.opration'],
    [
      { for: 'transaction', match: { transaction_status: { matches: '(' } } },
      'match.transaction_status.matches',
    ],
    [{ for: 'kyc', match: { kyc_status: {} } }, 'match.kyc_status'],
    [{ for: 'delivery', match: { eq: 'x' } }, 'match.eq'],
  ]
  for (const [body, field] of cases) {
    const answer = await box.post('/__admin/wait', body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.match(answer.body.errors, [{ field }], JSON.stringify(body))
  }
})

t.test('on a ticking clock a wait that is too late says when the next timer is due', async (t) => {
  const box = await start(t)
  await box.post('/__admin/clock/resume')
  const late = async () =>
    (await waitFor(box, 'transaction', { transaction_status: 'nearly' }, 0)).body.message
  t.match(await late(), / No timer is pending\.$/)
  await box.pay()
  t.match(await late(), / The next timer is due in \d+m?s of the client's time\.$/)
})

t.test('a wait that is too late says what was nearest, and what holds it up', async (t) => {
  const box = await start(t)
  const { transaction_id } = (await box.pay({ reference_id: 'W-9' })).body.data[0]
  const late = async (what: string, match: object, base = '') => {
    const { status, body } = await waitFor(box, what, match, 0, base)
    t.equal(status, 408)
    return body
  }
  const body = await late('transaction', { reference_id: 'W-9', transaction_status: 'success' })
  t.equal(
    body.message,
    `No transaction matched within 0 ms. Closest: transaction ${transaction_id}: transaction_status: expected "success", found "pending". The client's clock is frozen at 2026-01-01T00:00:00.000Z; the next timer is due in 1s: POST /__admin/clock/advance {"by":"1s"}.`,
  )
  t.match(body.errors[0], {
    field: 'transaction_status',
    code: 'differs',
    message: `transaction ${transaction_id}: expected "success", found "pending"`,
  })
  const misspelt = await late('transaction', { transaction_status: 'SUCCESS' })
  t.match(misspelt.message, ' transaction_status is never "SUCCESS": write "success".')
  const other = await late('kyc', { kyc_status: 'done' })
  t.match(
    other.message,
    ' kyc_status is never "done": use one of pending, success, failed, verified.',
  )
  t.match(
    other.message,
    /Closest: KYC record [0-9a-f-]{36}: kyc_status: expected "done", found "\w+"/,
  )
  t.match(
    (await late('delivery', { event: 'transaction.success' })).message,
    'No delivery exists yet. This client has no webhook, so nothing is sent: create one with POST /v1/clientWebhook.',
  )
  const { url } = await receiver(t)
  await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  await box.advance('10s')
  const delivery = await late('delivery', { event: 'transaction.success', status: 'failed' })
  t.match(
    delivery.message,
    /Closest: delivery dlv_\w+: status: expected "failed", found "delivered"/,
  )
  t.notMatch(delivery.message, 'no webhook')
  t.match(delivery.message, 'and no timer is pending.')
  await box.post('/__admin/clock/resume')
  t.notMatch((await late('request', { operation: 'getUser' })).message, 'frozen')
  const unknown = await late('transaction', { transaction_id: 'none' })
  t.match(unknown.message, 'No such transaction exists yet.')
})

t.test(
  'a wait advances a frozen clock from timer to timer until it has what it waits for',
  async (t) => {
    const box = await start(t)
    const { transaction_id } = (await box.pay({ amount: 100.96 })).body.data[0]
    const waits = (match: object, more: object) =>
      box.post('/__admin/wait', {
        for: 'transaction',
        match: { transaction_id, ...match },
        ...more,
      })
    const { status, body } = await waits({ transaction_status: 'success' }, { advance: '2d' })
    t.equal(status, 200)
    t.match(body, {
      transaction: { transaction_status: 'success' },
      advanced: {
        from: '2026-01-01T00:00:00.000Z',
        now: '2026-01-01T00:00:03.000Z',
        fired: [{ at: '2026-01-01T00:00:01.000Z' }, { at: '2026-01-01T00:00:03.000Z' }],
      },
    })
    const there = await waits({ transaction_status: 'success' }, { advance: '2d' })
    t.match(there.body.advanced, { now: '2026-01-01T00:00:03.000Z', fired: [] }, 'it is there')
    const never = await waits({ amount: '1.00' }, { advance: '10s', timeout_ms: 300 })
    t.equal(never.status, 408)
    t.match(
      never.body.message,
      ' The wait moved the clock from 2026-01-01T00:00:03.000Z to 2026-01-01T00:00:13.000Z, the limit of `advance`, and ran 1 timer.',
    )
    t.match((await box.get('/__admin/clock')).body.now, '2026-01-01T00:00:13.000Z')
    t.equal((await waits({}, { advance: 'soon' })).status, 400)
    await box.post('/__admin/clock/resume')
    const running = await waits({}, { advance: '1d' })
    t.match(running, { status: 409, body: { error: 'clock_running', message: /clock\/freeze/ } })
  },
)

t.test('a wait that advances gets what receivers and callers do on the way', async (t) => {
  const box = await start(t)
  const hook = await receiver(t, (message, response) => {
    response.writeHead(204).end()
    if (message.type === 'transaction.success') void box.get(`/v1/transaction/${message.resource}`)
  })
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  await box.pay()
  const match = { operation: 'getTransaction' }
  const { status, body } = await box.post('/__admin/wait', { for: 'request', match, advance: '1h' })
  t.equal(status, 200)
  t.match(body.request, { operation: 'getTransaction', status: 200 })
  t.strictSame(hook.types(), [
    'transaction.pending',
    'transaction.processing',
    'transaction.success',
  ])
})

t.test('a wait that a receiver holds up says so', async (t) => {
  const box = await start(t)
  const hook = await receiver(t, () => {})
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  await box.pay()
  const match = { status: 'delivered' }
  const body = { for: 'delivery', match, advance: '1h', timeout_ms: 500 }
  const late = await box.post('/__admin/wait', body)
  t.equal(late.status, 408)
  t.match(
    late.body.message,
    /, where your receiver has not responded to a webhook, and ran \d timer/,
  )
  hook.server.closeAllConnections()
})
