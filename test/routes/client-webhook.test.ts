import t from 'tap'
import { readTarget } from '../../src/webhooks/addresses.ts'
import { createLog, start } from '../helper.ts'

const URL_1 = 'http://127.0.0.1:3000/hook'
const SECRET = 'whsec_dGVzdA=='

t.test('the profile is that of the client of the token', async (t) => {
  const { get } = await start(t)
  for (const [token, profile] of [
    ['sbx_test_token', { name: 'Sandbox Payments', check_kyc: false }],
    ['sbx_kyc_token', { name: 'Careful Sandbox Finance', check_kyc: true }],
  ] as const) {
    const { body } = await get('/v1/client/profile', { authorization: `Bearer ${token}` })
    t.match(body.data, profile)
  }
})

t.test('a webhook is created once, read, and changed, and its secret is never shown', async (t) => {
  const { get, post, put } = await start(t)
  const none = await get('/v1/clientWebhook')
  t.equal(none.status, 404)
  t.equal(none.body.error, 'not_found')
  t.equal((await put('/v1/clientWebhook', { url: URL_1 })).body.error, 'not_found')

  const made = await post('/v1/clientWebhook', { url: URL_1, webhook_secret: SECRET })
  t.equal(made.status, 200)
  const { webhook_id } = made.body.updatedWebhook.response.data
  const data = { webhook_id, client_id: 'c0000000-0000-4000-8000-000000000001', url: URL_1 }
  const message = 'Webhook created successfully'
  t.strictSame(made.body, {
    message,
    updatedWebhook: { response: { status: true, message, data } },
  })
  t.strictSame((await get('/v1/clientWebhook')).body, {
    message: 'Webhook fetched successfully',
    data,
  })

  const again = await post('/v1/clientWebhook', { url: URL_1, webhook_secret: SECRET })
  t.equal(again.status, 409)
  t.equal(again.body.error, 'webhook_exists')

  const url = 'https://example.com/other'
  const changed = await put('/v1/clientWebhook', { url })
  const messageText = 'Webhook updated successfully'
  t.strictSame(changed.body, {
    message: messageText,
    updatedWebhook: { response: { status: true, message: messageText, data: { ...data, url } } },
  })
  t.equal((await put('/v1/clientWebhook', { webhook_secret: 'other' })).status, 200)
  const both = await put('/v1/clientWebhook', { url: URL_1, webhook_secret: 'third' })
  t.strictSame(both.body.updatedWebhook.response.data, data)
  for (const { text } of [made, changed, both, await get('/v1/clientWebhook')])
    t.notMatch(text, /secret|whsec/)
})

t.test('takes and refuses URLs and secrets', async (t) => {
  const { post, put, call } = await start(t)
  const urls = [
    ...['', '/hook', '//127.0.0.1/x', 'ftp://example.com', 'file:///etc/passwd'],
    ...['javascript:alert(1)', 'http:/example.com/', 'http:127.0.0.1', 'http:\\\\example.com'],
    ...['http://', 'http://me:pass@example.com/', 'http://me@example.com/', 'http://@example.com/'],
    ...['http://example.com/\u0000', 'http://example.com/a b', ' http://example.com/'],
    ...['http://example.com/ ', 'http://127.0.0.1\n/', 'http://good.example\\@127.0.0.1/'],
    ...['http://256.256.256.256/', 'http://[::1/', 'http://[fe80::1%25eth0]/', 'http://x:99999/'],
    ...['http://example.com:0/', `http://example.com/${'a'.repeat(2030)}`],
  ]
  const table: [object, number, string?][] = [
    ...urls.map((url): [object, number, string] => [{ url, webhook_secret: SECRET }, 400, 'url']),
    [{ url: URL_1 }, 400, 'webhook_secret'],
    [{ webhook_secret: SECRET }, 400, 'url'],
    [{ url: URL_1, webhook_secret: '' }, 400, 'webhook_secret'],
    [{ url: URL_1, webhook_secret: 'x'.repeat(257) }, 400, 'webhook_secret'],
    [{ url: URL_1, webhook_secret: 17 }, 400, 'webhook_secret'],
    [{ url: `http://example.com/${'a'.repeat(2029)}`, webhook_secret: 'x'.repeat(256) }, 200],
  ]
  for (const [body, status, field] of table) {
    const answer = await post('/v1/clientWebhook', body)
    t.equal(answer.status, status, JSON.stringify(body).slice(0, 80))
    if (field) t.equal(answer.body.errors[0].field, field)
    if (field === 'url' && 'url' in body) {
      const changed = await put('/v1/clientWebhook', { url: body.url })
      t.equal(changed.status, 400, 'a change is held to the same rule')
      t.equal('target' in readTarget(body.url as string), false, 'and so is what sends')
    }
    t.notMatch(answer.text, /xxxx|whsec_|:pass@/)
  }
  for (const url of ['http://localhost', 'https://10.0.0.1:8443/x?y', 'http://[::1]:3000/hook'])
    t.equal((await put('/v1/clientWebhook', { url })).status, 200, `local is fine: ${url}`)
  for (const [url, message] of [
    ['ftp://a.example', /url is not an absolute http or https URL/],
    ['http://user@127.0.0.1/', /user info/],
    ['http://127.0.0.1:0/', /port 0/],
    [`http://127.0.0.1/${'x'.repeat(2048)}`, /2048/],
  ] as const)
    t.match((await put('/v1/clientWebhook', { url })).body.message, message)
  t.equal((await put('/v1/clientWebhook', {})).body.error, 'validation_failed')
  t.equal((await put('/v1/clientWebhook', { url: 7 })).body.errors[0].field, 'url')
  const deleted = await call('DELETE', '/v1/clientWebhook')
  t.equal(deleted.status, 405)
  t.match(deleted.headers['allow'], /GET, HEAD, POST, PUT/)
})

t.test('a URL to which nothing is sent is accepted, with a warning in the log', async (t) => {
  const log = createLog()
  const webhooks = { allow: ['hooks.example.com'], time: 'wall', retries: 'fast' } as const
  const { post, put } = await start(t, { sandbox: { log, webhooks } })
  const fine = [
    URL_1,
    'http://localhost:3000/hook',
    'http://receiver:3000/hook',
    'http://api.localhost/hook',
    'http://host.docker.internal:3000/hook',
    'http://10.1.2.3/hook',
    'http://[::1]/hook',
    'https://hooks.example.com/hook',
  ]
  t.equal((await post('/@w/v1/clientWebhook', { url: URL_1, webhook_secret: SECRET })).status, 200)
  log.lines.length = 0
  for (const url of fine) t.equal((await put('/@w/v1/clientWebhook', { url })).status, 200)
  t.equal((await put('/@w/v1/clientWebhook', { webhook_secret: 'x' })).status, 200)
  t.strictSame(log.lines, [])
  const pay = 'https://Pay.Example.com:8443/hook?token=abc'
  const warned: [url: string, line: RegExp][] = [
    [
      'http://8.8.8.8/hook',
      /: 8\.8\.8\.8 is a public address; start with --webhook-allow 8\.8\.8\.8/,
    ],
    [pay, /: webhooks go to pay\.example\.com only if it resolves to a local address; .*allow pay/],
    [
      'http://169.254.169.254/',
      /: 169\.254\.169\.254 is a cloud metadata address; webhooks are never/,
    ],
    [
      'http://metadata.google.internal/',
      /: metadata\.google\.internal names a cloud metadata service/,
    ],
  ]
  for (const [url, line] of warned) {
    log.lines.length = 0
    const { status, body } = await put('/@w/v1/clientWebhook', { url })
    t.match([status, body.updatedWebhook.response.data], [200, { url }])
    t.match(log.lines, [line])
    t.match(log.lines, [/^The webhook of client "w": /])
  }
  log.lines.length = 0
  await post('/@other/v1/clientWebhook', { url: pay, webhook_secret: SECRET })
  t.match(log.lines.at(-1), 'The webhook of client "other"')
})
