import t from 'tap'
import { ASHA, pluck, start } from '../helper.ts'

const HOUR_MS = 3_600_000
const BOUNDS_MS = [1, 10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600].map(
  (seconds) => seconds * 1_000,
)
BOUNDS_MS.push(12 * HOUR_MS, 24 * HOUR_MS, 168 * HOUR_MS)
/** The counts of some spans, by the bound above them in ms. */
const perSpan = (counts: Record<number, number>) =>
  [...BOUNDS_MS, Number.POSITIVE_INFINITY].map((bound) => counts[bound] ?? 0)
const EMPTY = { count: 0, rupees: '0.00' }

/** Steps of a payment: its status after each time. */
const stepsOf = (steps: Record<string, string>, reason?: string) =>
  Object.entries(steps).map(([status, after]) => ({
    status,
    ...(after !== '' && { after }),
    ...(status === 'FAILED' && reason && { reason }),
  }))

t.test('a new client: the payments of its fixtures do not count', async (t) => {
  const { get } = await start(t)
  t.strictSame((await get('/__admin/summary')).body, {
    settled: EMPTY,
    in_flight: EMPTY,
    failed: { ...EMPTY, reasons: {} },
    came_back: { ...EMPTY, reasons: {} },
    success_rate: null,
    median_to_success_ms: null,
    series: null,
    spans: {
      bounds_ms: BOUNDS_MS,
      settled: null,
      failed: null,
      came_back: null,
      to_come: { rupees: BOUNDS_MS.map(() => '0.00').concat('0.00'), counts: perSpan({}) },
    },
    stuck: { ...EMPTY, payments: [] },
    deliveries: { first_attempt: 0, with_retry: 0, waiting: 0, failed: 0, not_sent: 0, tries: [] },
    calls: { all: 0, refused: 0, by_rule: 0, by_class: {}, dropped: 0 },
  })
  t.equal((await get('/__admin/transactions?outcome=any')).body.total, 0)
})

t.test('the outcomes of payments, their times, and what is stuck', async (t) => {
  const { call, get, post, put, pay, advance } = await start(t)
  const rules = Object.entries({
    11: stepsOf({ PENDING: '', SUCCESS: '1m' }),
    12: stepsOf({ PENDING: '', SUCCESS: '3m' }),
    20: stepsOf({ PENDING: '', FAILED: '2m' }, 'bank_account_closed'),
    30: stepsOf({ PENDING: '', SUCCESS: '5m', FAILED: '1h' }, 'beneficiary_bank_rejected'),
    40: stepsOf({ PENDING: '' }),
    50: stepsOf({ PENDING: '', SUCCESS: '1d' }),
  }).map(([amount, transaction]) => ({
    when: { operation: 'createTransaction', body: { amount: Number(amount) } },
    then: { transaction },
  }))
  const timeline = [{ after: '1m', do: { credit: { amount: '99.00' } } }]
  await put('/__admin/scenario', { definition: { rules, timeline } })
  for (const amount of [11, 12, 20, 20, 30, 40, 50]) t.equal((await pay({ amount })).status, 200)
  const summary = async (query = '') => (await get(`/__admin/summary${query}`)).body
  t.match(await summary(), {
    in_flight: { count: 7, rupees: '183.00' },
    success_rate: null,
    series: { bucket_ms: 1_000, settled: ['0.00'], failed: ['0.00'] },
    stuck: { count: 1, rupees: '40.00', payments: [{ status: 'PENDING', overdue: false }] },
  })

  await advance('2h')
  const { body: rows } = await get('/__admin/transactions?outcome=in_flight')
  const at = rows.transactions[1].created_at
  const later = await summary()
  t.match(later, {
    settled: { count: 2, rupees: '23.00' },
    in_flight: { count: 2, rupees: '90.00' },
    failed: { count: 2, rupees: '40.00', reasons: { bank_account_closed: 2 } },
    came_back: { count: 1, rupees: '30.00', reasons: { beneficiary_bank_rejected: 1 } },
    success_rate: 0.4,
    // Of 1, 3 and 5 minutes: what came back had its success before.
    median_to_success_ms: 180_000,
    series: { from: at, bucket_ms: 300_000 },
    spans: {
      settled: { p50_ms: 60_000, p95_ms: 180_000, counts: perSpan({ 120000: 1, 300000: 1 }) },
      failed: { p50_ms: 120_000, p95_ms: 120_000, counts: perSpan({ 300000: 2 }) },
      came_back: { counts: perSpan({ 7200000: 1 }) },
      to_come: { counts: perSpan({ [24 * HOUR_MS]: 1 }) },
    },
    stuck: { payments: [{ transaction_id: rows.transactions[1].transaction_id, since: at }] },
  })
  const { settled, failed, counts } = later.series
  t.same([counts.settled[0], counts.failed[0], counts.came_back[13]], [2, 2, 1])
  t.equal(later.spans.to_come.rupees.at(-3), '50.00')
  t.equal(settled.length, 25)
  t.same([settled[0], failed[0]], ['23.00', '40.00'])
  t.equal(failed[13], '30.00', 'when it came back, not when it was made')
  t.equal(failed.filter((one: string) => one !== '0.00').length, 2)
  for (const [outcome, total] of [
    ['settled', 2],
    ['failed', 2],
    ['came_back', 1],
    ['done', 5],
    ['any', 7],
    ['done&took=60000-60001', 1],
    ['done&took=60001-180001', 3],
    ['done&took=180001-', 1],
  ])
    t.equal((await get(`/__admin/transactions?outcome=${outcome}`)).body.total, total, `${outcome}`)

  await t.test('between two instants', async (t) => {
    const later = (ms: number) => new Date(Date.parse(at) + ms).toISOString()
    const cameBack = { came_back: { count: 1 }, settled: EMPTY, calls: { all: 0 } }
    t.match(await summary(`?since=${later(HOUR_MS)}`), cameBack, 'by the last status')
    t.match(await summary(`?until=${later(HOUR_MS)}`), { settled: { count: 2 }, came_back: EMPTY })
    const between = `since=${later(90_000)}&until=${later(170_000)}`
    t.match(await summary(`?${between}`), { failed: { count: 2 }, settled: EMPTY })
    const { body } = await get(`/__admin/transactions?${between}`)
    t.same(pluck(body.transactions, 'outcome'), ['failed', 'failed'])
    const { total } = (await get(`/__admin/webhooks/deliveries?${between}`)).body
    t.equal(total, (await summary(`?${between}`)).deliveries.not_sent)
    for (const list of ['summary', 'transactions', 'webhooks/deliveries'])
      t.equal((await get(`/__admin/${list}?since=yesterday`)).status, 400)
  })

  await t.test('at most 60 spans', async (t) => {
    for (const by of ['1s', '59m', '9h', '3d', '300d', '3000d', '3650d']) {
      await advance(by)
      const { length } = (await summary()).series.settled
      t.ok(length > 1 && length <= 60, `${by}: ${length}`)
    }
  })

  await t.test('a step that was cancelled leaves the payment stuck', async (t) => {
    await post('/__admin/reset', {})
    await pay()
    t.equal((await summary()).stuck.count, 0)
    for (const { timer_id: id } of (await get('/__admin/timers')).body.timers)
      await call('DELETE', `/__admin/timers/${id}`)
    t.equal((await summary()).stuck.count, 1)
  })
})

t.test('the deliveries and the calls', async (t) => {
  const { get, post, put, pay, advance, listen } = await start(t)
  await pay()
  t.match((await get('/__admin/summary')).body.deliveries, { not_sent: 1 })
  const { url } = await listen()
  const inbox = `${url}/__admin/webhooks/inbox`
  await post('/v1/clientWebhook', { url: inbox, webhook_secret: 'a-secret-of-the-test' })
  await put('/__admin/scenario', {
    definition: {
      webhooks: [
        { when: { event: 'transaction.success' }, then: { lost_attempts: 1 } },
        { when: { event: 'transaction.pending' }, then: { drop: true } },
      ],
      rules: [{ when: { operation: 'getUser' }, then: { respond: { status: 503 } } }],
    },
  })
  await advance('1m')
  await put('/v1/clientWebhook', { url: 'http://127.0.0.1:1/' })
  await pay()
  await advance('2s')
  await pay({ to_user_id: ASHA })
  await get(`/v1/user/${ASHA}`)
  const { deliveries, calls } = (await get('/__admin/summary')).body
  t.same(deliveries, {
    first_attempt: 1,
    with_retry: 1,
    waiting: 1,
    failed: 0,
    not_sent: 2,
    tries: [1, 1],
  })
  t.same(calls, {
    all: 6,
    refused: 1,
    by_rule: 1,
    by_class: { '2xx': 4, '4xx': 1, '5xx': 1 },
    dropped: 0,
  })
  await advance('2d')
  t.match((await get('/__admin/summary')).body.deliveries, { waiting: 0, failed: 2 })
})

t.test('a status that was set after the clock was set back has a series, too', async (t) => {
  const { get, post, pay } = await start(t)
  const { body } = await pay({ amount: 11 })
  await post('/__admin/clock/freeze', { at: '2025-12-31T00:00:00Z' })
  const path = `/__admin/simulate/transactions/${body.data[0].transaction_id}`
  for (const status of ['PROCESSING', 'SUCCESS'])
    t.equal((await post(path, { status })).status, 200)
  const summary = await get('/__admin/summary')
  t.equal(summary.status, 200)
  t.equal(summary.body.series.settled.filter((one: string) => one === '11.00').length, 1)
})

t.test('events that were not sent are counted beyond the 1,000 that are kept', async (t) => {
  const { pay, advance, get } = await start(t)
  for (let i = 0; i < 400; i++) await pay()
  await advance('1m')
  t.equal((await get('/__admin/webhooks/deliveries')).body.total, 1_000)
  t.equal((await get('/__admin/summary')).body.deliveries.not_sent, 1_200)
})
