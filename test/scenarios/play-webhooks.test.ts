import t, { type Test } from 'tap'
import { ASHA, type StartOptions, start } from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'

const [PENDING, PROCESSING, SUCCESS, FAILED] = [
  'transaction.pending',
  'transaction.processing',
  'transaction.success',
  'transaction.failed',
]

/** A sandbox whose webhook leads to a receiver, with a shipped scenario or some webhook rules. */
async function play(
  t: Test,
  scenario: string | readonly object[] | object,
  sandbox: StartOptions['sandbox'] = {},
) {
  const hook = await receiver(t)
  const box = await start(t, { sandbox })
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  const given =
    typeof scenario === 'string'
      ? { name: scenario }
      : { definition: Array.isArray(scenario) ? { webhooks: scenario } : scenario }
  t.equal((await box.put('/__admin/scenario', given)).status, 200)
  const list = async (query = '') =>
    (await box.get(`/__admin/webhooks/deliveries${query}`)).body.deliveries
  return { hook, box, list }
}
const all = [PENDING, PROCESSING, SUCCESS]
type Box = Awaited<ReturnType<typeof play>>['box']

t.test('webhook-storm: every event comes twenty times under one id', async (t) => {
  const { hook, box } = await play(t, 'webhook-storm')
  await box.pay()
  await box.advance('1h')
  for (const event of all) {
    const same = hook.received.filter(({ type }) => type === event)
    t.equal(same.length, 20)
    t.equal(new Set(same.map(({ id, body }) => id + body)).size, 1)
    t.ok(same.every(({ verdict }) => verdict.ok))
  }
})

t.test('webhook-duplicates: every event comes twice, up to three seconds late', async (t) => {
  const { hook, box, list } = await play(t, 'webhook-duplicates')
  for (let i = 0; i < 10; i++) await box.pay()
  await box.advance('1h')
  t.equal(hook.received.length, 60)
  t.equal(new Set(hook.received.map(({ id }) => id)).size, 30)
  const lates = (await list('?limit=100')).map(
    (one: { created_at: string; attempts: { at: string }[] }) =>
      Date.parse(one.attempts[0]!.at) - Date.parse(one.created_at),
  )
  t.ok(lates.every((ms: number) => ms >= 0 && ms <= 3_000))
  t.ok(new Set(lates).size > 30, 'each copy draws its own delay')
})

t.test(
  'webhook-disorder: pending comes after processing, and after the success of a check',
  async (t) => {
    const { hook, box, list } = await play(t, 'webhook-disorder')
    await box.pay()
    await box.advance('0s')
    t.same(hook.types(), [])
    t.match(await list(), [{ event: PENDING, status: 'pending', hold_until: PROCESSING }])
    await box.advance('1s')
    t.same(hook.types(), [PROCESSING, PENDING])
    await box.advance('1h')
    t.same(hook.types(), [PROCESSING, PENDING, SUCCESS])

    hook.received.length = 0
    const item = {
      document_type: 'pid',
      document_name: 'aadhar',
      document_number: '999999990019',
      dateOfBirth: '01-02-1990',
      Nationality: 'IN',
      nameOnCard: 'Asha Nair',
    }
    await box.post('/v1/kyc', { user_id: ASHA, kyc: [item] })
    await box.advance('1m')
    await box.post('/v1/kyc', {
      user_id: ASHA,
      kyc: [{ ...item, document_number: '999999990026' }],
    })
    await box.advance('1h')
    t.same(
      hook.types(),
      ['kyc.success', 'kyc.pending', 'kyc.failed', 'kyc.pending'],
      'what can come no more is not waited for',
    )
    t.same(await list('?status=pending'), [])
  },
)

t.test('webhook-bad-signatures: each event of a payment is forged in its own way', async (t) => {
  const { hook, box, list } = await play(t, 'webhook-bad-signatures')
  await box.pay()
  await box.advance('1h')
  await box.pay({ amount: '100.91' })
  await box.advance('1h')
  const codeOf = (event: string) => {
    const found = hook.received.find(({ type }) => type === event)!.verdict
    return found.ok ? 'ok' : found.code
  }
  t.equal(codeOf(PENDING), 'no_match')
  t.equal(codeOf(PROCESSING), 'header_missing')
  t.equal(codeOf(SUCCESS), 'timestamp_too_old')
  const [failed] = await list(`?event=${FAILED}`)
  const { body } = (await box.get(`/__admin/webhooks/deliveries/${failed.delivery_id}`)).body
  const cut = hook.received.find(({ id }) => id === failed.event_id)!
  t.ok(body.startsWith(cut.body) && cut.body.length < body.length)
  t.match(cut.verdict, { ok: false, code: 'body_changed' })
  t.match(failed.rule, /webhook-bad-signatures: cut after signing/)
  await box.post('/__admin/webhooks/trigger', { event: 'user.created' })
  t.equal(codeOf('user.created'), 'ok', 'other events are as they should be')
})

t.test('lost_attempts: the receiver sees the event with a retry', async (t) => {
  const { hook, box, list } = await play(t, [
    { name: 'weak line', when: { event: PENDING }, then: { lost_attempts: 2 } },
  ])
  await box.pay()
  await box.advance('1s')
  t.same(hook.types(), [PROCESSING])
  await box.advance('1h')
  const pending = hook.received.filter(({ type }) => type === PENDING)
  t.same(
    pending.map(({ headers }) => headers['x-webhook-attempt']),
    ['3'],
  )
  const [delivery] = await list(`?event=${PENDING}`)
  t.match(delivery, {
    status: 'delivered',
    rule: 'inline: weak line',
    fault: { lost_attempts: 2 },
    attempts: [
      { error: { code: 'lost' }, status: null },
      { error: { code: 'lost' } },
      { ok: true },
    ],
  })
})

t.test('drop: the event is recorded and never sent; the others come', async (t) => {
  const { hook, box, list } = await play(t, [
    { name: 'lost', when: { event: PROCESSING }, then: { drop: true } },
  ])
  await box.pay()
  await box.advance('1h')
  t.same(hook.types(), [PENDING, SUCCESS])
  const [dropped] = await list('?status=dropped')
  t.match(dropped, { event: PROCESSING, attempts: [], rule: 'inline: lost', next_attempt_at: null })
  await box.post(`/__admin/webhooks/deliveries/${dropped.delivery_id}/redeliver`)
  t.same(hook.types(), [PENDING, SUCCESS, PROCESSING], 'by hand it goes out')
})

t.test('delay: others overtake it; times, key and the first match hold', async (t) => {
  const { hook, box } = await play(t, [
    { when: { event: 'transaction.*' }, key: 'data.amount', times: 1, then: { delay: '10s' } },
    { when: { event: PENDING }, then: { copies: 2 } },
  ])
  await box.pay()
  await box.advance('9s')
  t.same(hook.types(), [PROCESSING, SUCCESS])
  await box.advance('1s')
  t.same(hook.types(), [PROCESSING, SUCCESS, PENDING])
  await box.pay()
  await box.advance('0s')
  t.same(hook.types().slice(3), [PENDING, PENDING])
  await box.pay({ amount: 7 })
  await box.advance('0s')
  t.equal(hook.received.length, 5, 'another amount is counted by itself')
})

t.test('rules look at data, user and account', async (t) => {
  const { hook, box } = await play(t, [
    { when: { event: 'transaction.*', data: { amount: { gte: 1000 } } }, then: { drop: true } },
    {
      when: { event: '*', user: { user_id: ASHA }, account: { account_number: { eq: 'none' } } },
      then: { drop: true },
    },
    { when: { event: PENDING, user: { user_id: ASHA } }, then: { copies: 3 } },
  ])
  await box.pay({ amount: 1000 })
  await box.pay({ amount: 999 })
  await box.advance('0s')
  t.same(hook.types(), [PENDING, PENDING, PENDING])
})

t.test('hold_until: an event that never comes holds nothing for ever', async (t) => {
  const stuck = await play(t, [{ when: { event: PENDING }, then: { hold_until: FAILED } }])
  await stuck.box.pay({ amount: '100.94' })
  await stuck.box.advance('59m')
  t.same(stuck.hook.types(), [PROCESSING], 'the payment stays in processing')
  await stuck.box.advance('1m')
  t.same(stuck.hook.types(), [PROCESSING, PENDING], 'after an hour it goes out all the same')

  const other = await play(t, [{ when: { event: PENDING }, then: { hold_until: FAILED } }])
  await other.box.pay()
  await other.box.advance('10s')
  t.same(other.hook.types(), [PROCESSING, SUCCESS, PENDING], 'nothing follows that success')
  other.hook.received.length = 0
  await other.box.pay({ amount: '100.96' })
  await other.box.advance('10s')
  t.same(other.hook.types(), [PROCESSING, SUCCESS, FAILED, PENDING], 'here a failure does')

  const past = await play(t, [{ when: { event: SUCCESS }, then: { hold_until: PENDING } }])
  await past.box.pay()
  await past.box.advance('10s')
  t.same(past.hook.types(), all, 'what came before is not waited for')

  const failing = await play(t, [{ when: { event: PENDING }, then: { hold_until: PROCESSING } }])
  failing.hook.respondWith((message, response) =>
    response.writeHead(message.type === PROCESSING ? 500 : 200).end(),
  )
  await failing.box.pay()
  await failing.box.advance('10m')
  t.same([...new Set(failing.hook.types())].sort(), [...all].sort(), 'nor what is given up')
})

/** How long after the success of the payment each copy of its first event was sent, in seconds. */
async function delaysOf({ call, get }: Box, base = '') {
  await call('POST', `${base}/__admin/clock/advance`, { by: '1m' })
  const sentAt = async (event: string): Promise<number[]> =>
    (await get(`${base}/__admin/webhooks/deliveries?event=${event}`)).body.deliveries.map(
      (one: { attempts: { at: string }[] }) => Date.parse(one.attempts[0]!.at) / 1_000,
    )
  const [success] = await sentAt(SUCCESS)
  return (await sentAt(PENDING)).map((at) => at - success!)
}
const heldCopies = (delay: string) => [
  { when: { event: PENDING }, then: { copies: 2, delay, hold_until: SUCCESS } },
]

t.test('delay with hold_until: it starts at the release, for each copy on its own', async (t) => {
  const { hook, box } = await play(t, heldCopies('10s'))
  await box.pay()
  t.same(await delaysOf(box), [10, 10])
  t.same(hook.types(), [PROCESSING, SUCCESS, PENDING, PENDING])
  const ranged = await play(t, heldCopies('5s..30s'))
  await ranged.box.pay()
  const drawn = await delaysOf(ranged.box)
  t.ok(drawn.every((s) => s >= 5 && s <= 30) && drawn[0] !== drawn[1], `${drawn}`)
})

t.test('copies: a list has the delay of each, also after a hold', async (t) => {
  const { hook, box } = await play(t, [
    { when: { event: PENDING }, then: { copies: ['4s', '0s', '2s..2s'] } },
  ])
  await box.pay()
  await box.advance('10s')
  t.same(hook.types(), [PENDING, PROCESSING, PENDING, SUCCESS, PENDING])
  const held = await play(t, [
    { when: { event: PENDING }, then: { copies: ['0s', '10s'], hold_until: SUCCESS } },
  ])
  await held.box.pay()
  t.same((await delaysOf(held.box)).sort(), [0, 10])
})

t.test('delay with hold_until: without that event it starts after an hour', async (t) => {
  const { hook, box } = await play(t, [
    { when: { event: PENDING }, then: { delay: '10m', hold_until: FAILED } },
  ])
  const { body } = await box.pay({ amount: '100.94' })
  await box.advance('65m')
  t.same(hook.types(), [PROCESSING])
  await box.post(`/__admin/simulate/transactions/${body.data[0].transaction_id}`, {
    status: 'FAILED',
  })
  await box.advance('5m')
  t.same(hook.types(), [PROCESSING, FAILED, PENDING], 'a late release does not start it again')
})

t.test('a receiver that fails meets the same scenario again by the retries', async (t) => {
  const { hook, box } = await play(t, [{ when: { event: PENDING }, then: { signature: 'wrong' } }])
  hook.respondWith(status(401))
  await box.pay()
  await box.advance('5s')
  const pending = hook.received.filter(({ type }) => type === PENDING)
  t.equal(pending.length, 3)
  t.ok(pending.every(({ verdict }) => !verdict.ok))
  const { deliveries } = (await box.get('/__admin/webhooks/deliveries')).body
  t.same(
    deliveries.map(({ fault }: { fault: object | null }) => fault),
    [null, null, { signature: 'wrong' }],
    'the forged ones are reported',
  )
})

t.test(
  'together: an event is sent at the same instant as the next one of its resource',
  async (t) => {
    const { hook, box, list } = await play(t, [
      { when: { event: PROCESSING }, then: { together: true } },
    ])
    const waiting: (() => void)[] = []
    // Each of the two is answered when both are there.
    hook.respondWith((message, response) => {
      waiting.push(() => response.writeHead(204).end())
      if (message.type === PENDING || waiting.length === 2)
        for (const answer of waiting.splice(0)) answer()
    })
    await box.pay()
    await box.advance('1s')
    t.same(hook.types(), [PENDING])
    t.match(await list(), [{ event: PROCESSING, status: 'pending', hold_until: 'next' }])
    await box.advance('1h')
    t.strictSame(hook.types().slice(1).sort(), [PROCESSING, SUCCESS])
    const at = (await list()).map((one: { attempts: { at: string }[] }) => one.attempts[0]!.at)
    t.equal(at[0], at[1])
    t.match(await list(), [{ attempts: { length: 1 } }, { attempts: { length: 1 } }])

    const last = await play(t, [{ when: { event: SUCCESS }, then: { together: true } }])
    await last.box.pay()
    await last.box.advance('10s')
    t.same(last.hook.types(), all, 'no event can follow, so it is not held')
  },
)

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

t.test('the trace of a call goes on with the webhooks that it causes', async (t) => {
  const { hook, box, list } = await play(t, [])
  const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
  await box.pay({}, { traceparent })
  await box.pay({}, { traceparent: `${traceparent}-more` })
  await box.advance('1h')
  const sent = hook.received.map(({ headers }) => headers['traceparent'])
  t.strictSame(
    sent.map((one) => one !== undefined),
    [true, false, true, false, true, false],
    'of one payment, at each status',
  )
  const parents = sent.flatMap((one) => (one ? [String(one)] : []))
  for (const one of parents) t.match(one, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
  t.equal(new Set([traceparent, ...parents]).size, 4, 'each attempt has a parent id of its own')
  const { attempts } = (await list())[1]
  t.equal(attempts[0].headers.traceparent, parents[2], 'the delivery shows what was sent')
  const [, first] = (await box.get('/__admin/requests?operation=createTransaction')).body.requests
  t.equal(first.traceparent, traceparent)
  const { log } = (await box.get('/__admin/requests?format=har&operation=createTransaction')).body
  t.strictSame(
    log.entries.map((one: { _traceparent?: string }) => one._traceparent),
    [traceparent, undefined],
  )
})
