import t, { type Test } from 'tap'
import { signWebhook } from '../../src/webhooks/signatures.ts'
import { type StartOptions, start } from '../helper.ts'
import { SECRET } from '../receiver.ts'

const INBOX = '/__admin/webhooks/inbox'

/** A sandbox that listens and sends to its own inbox. */
async function looped(t: Test, options: StartOptions = {}, base = '') {
  const box = await start(t, options)
  const { port } = await box.listen()
  const url = `http://127.0.0.1:${port}${base}${INBOX}`
  await box.post(`${base}/v1/clientWebhook`, { url, webhook_secret: SECRET })
  return { box, url }
}

t.test('the inbox shows what reached it, newest first, and that it verifies', async (t) => {
  const { box } = await looped(t)
  await box.pay()
  await box.advance('10s')
  const { body } = await box.get(INBOX)
  t.match(body, { total: 3, page: 1, limit: 50, total_pages: 1 })
  t.match(body.messages, [
    { type: 'transaction.success', verified: true, code: null, reason: null, repeated: false },
    { type: 'transaction.processing', verified: true, attempt: 1 },
    { type: 'transaction.pending', verified: true, received_at: '2026-01-01T00:00:00.000Z' },
  ])
  t.notMatch(JSON.stringify(body.messages[0].headers), /v1,[^X]/)
  t.equal((await box.get(`${INBOX}?limit=2&page=2`)).body.messages.length, 1)
  t.strictSame((await box.call('DELETE', INBOX)).body, { deleted: 3 })
  t.equal((await box.get(INBOX)).body.total, 0)
})

t.test('it knows the type of an event without an envelope by its header', async (t) => {
  const { box } = await looped(t, { assume: { webhook_body: 'resource' } })
  await box.pay()
  await box.advance('500ms')
  const [message] = (await box.get(INBOX)).body.messages
  t.match(message, { type: 'transaction.pending', verified: true })
  t.match(JSON.parse(message.body), { transaction_id: /^.{36}$/, data: undefined })
})

t.test('it says of each forged message why it does not verify', async (t) => {
  const { box } = await looped(t)
  await box.put('/__admin/scenario', { name: 'webhook-bad-signatures' })
  await box.pay()
  await box.advance('10s')
  await box.pay({ amount: '100.91' })
  await box.advance('10s')
  const codes = (await box.get(INBOX)).body.messages.map(
    ({ type, code }: Record<string, string>) => `${type} ${code}`,
  )
  t.same(
    new Set(codes),
    new Set([
      'transaction.pending other_secret',
      'transaction.processing header_missing',
      'transaction.success timestamp_too_old',
      'null body_changed',
    ]),
  )
})

t.test('it takes anything, without the admin token, and keeps the newest 100', async (t) => {
  const { box, url } = await looped(t, { app: { adminToken: 'hush' } })
  const send = (body: string | undefined, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', ...(body !== undefined && { body }), headers })
  for (const [body, headers] of [
    ['{"cut', { 'content-type': 'application/json' }],
    ['a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['of no type', { 'content-type': '' }],
    ['of none either', { 'content-type': 'text' }],
    [undefined, {}],
  ] as const)
    t.equal((await send(body, headers)).status, 200)
  const seen = async () => {
    const { body } = await box.get(`${INBOX}?limit=100`, { 'x-admin-token': 'hush' })
    return body
  }
  t.match((await seen()).messages, [
    { body: '', verified: false, code: 'header_missing' },
    { body: 'of none either' },
    { body: 'of no type' },
    { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { body: '{"cut', type: null },
  ])
  t.equal((await box.get(INBOX)).status, 401, 'reading needs the token')
  t.equal((await box.call('DELETE', INBOX)).status, 401)
  t.equal((await send('{}', { origin: 'http://evil.example' })).status, 403)

  const body = '{"type":"webhook.test"}'
  const now = Math.floor(Date.now() / 1_000)
  const headers = signWebhook({ id: 'evt_mine', timestamp: now, body, secret: SECRET })
  await send(body, headers)
  await send(body, headers)
  const [again, first] = (await seen()).messages
  t.match(
    [first, again],
    [
      { verified: true, repeated: false, webhook_id: 'evt_mine' },
      { verified: true, repeated: true },
    ],
  )
  for (let i = 0; i < 110; i++)
    await box.call('POST', INBOX, `{"n":${i}}`, { 'content-type': 'application/json' })
  const { total, messages } = await seen()
  t.equal(total, 100)
  t.equal(messages[0].body, '{"n":109}')
  await send('x'.repeat(70_000))
  t.match((await seen()).messages[0], { truncated: true, body: /^x{4096}$/ })
})

t.test('each client has its own inbox, and one without a webhook has no secret', async (t) => {
  const { box } = await looped(t, {}, '/@other')
  await box.call('POST', '/@other/__admin/webhooks/trigger', { event: 'webhook.test' })
  t.match((await box.get(`/@other${INBOX}`)).body.messages, [
    { type: 'webhook.test', verified: true },
  ])
  t.equal((await box.get(INBOX)).body.total, 0)
  await box.post(INBOX, {})
  t.match((await box.get(INBOX)).body.messages, [{ verified: false, code: 'no_secret' }])
})
