import { request } from 'node:http'
import t, { type Test } from 'tap'
import { adoptState, exportState } from '../../../src/world/world-state.ts'
import { start } from '../../helper.ts'

const HOST = '127.0.0.1'
type Box = Awaited<ReturnType<typeof start>>
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a state.
type State = any

async function listening(t: Test, options: Parameters<typeof start>[1] = {}) {
  const box = await start(t, options)
  const { port } = await box.listen()
  return { box, port, url: `http://${HOST}:${port}` }
}

const putState = (url: string, body: string | Uint8Array<ArrayBuffer>, base = '') =>
  fetch(`${url}${base}/__admin/state`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body,
  })

/** Announces a body of 17 MiB, and sends none of it. */
const announceTooLarge = (port: number) =>
  new Promise<State>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': 65 * 1024 * 1024 }
    const sent = request({ host: HOST, port, method: 'PUT', path: '/__admin/state', headers })
    sent.on('error', reject).on('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      sent.destroy()
      resolve(JSON.parse(Buffer.concat(chunks).toString()))
    })
    sent.flushHeaders()
  })

/** The state as text: a large one is held against its schema elsewhere. */
async function text(box: Box) {
  const headers = { host: `${HOST}:4310` }
  return (await box.app.inject({ method: 'GET', url: '/__admin/state', headers })).body
}

t.test('JSON that is nested too deep is rejected before it is parsed, on every call', async (t) => {
  const box = await start(t)
  await box.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 'whsec_abcd' })
  const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}[]${'}'.repeat(depth - 1)}`
  const json = { 'content-type': 'application/json' }
  const calls: ['POST' | 'PUT', string, (inner: string) => string, number][] = [
    ['POST', '/v1/user', (inner) => inner, 32],
    ['PUT', '/__admin/scenario', (inner) => inner, 32],
    ['POST', '/__admin/clients', (inner) => inner, 32],
    [
      'POST',
      '/__admin/webhooks/trigger',
      (inner) => `{"event":"webhook.test","override":${inner}}`,
      31,
    ],
    ['PUT', '/__admin/state', (inner) => `{"tables":{"timers":[{"payload":${inner}}]}}`, 36],
  ]
  for (const [method, url, body, most] of calls) {
    for (const depth of [most + 1, 9_000, 100_000]) {
      const answer = await box.call(method, url, body(nested(depth)), json)
      t.match(answer, { status: 400, body: { error: 'json_too_deep' } }, `${url} ${depth}`)
      t.match(
        answer.body.message,
        depth - most === 1
          ? `nested ${url.endsWith('state') ? 41 : 33} levels deep`
          : /the maximum is (?:32|40)/,
      )
    }
    const { body: fits } = await box.call(method, url, body(nested(most)), json)
    t.not(fits.error, 'json_too_deep', url)
    t.not(fits.error, 'internal_error', url)
  }
  const quoted = await box.post('/v1/user', { email: '['.repeat(5_000), mobile: '{"\\"[[' })
  t.equal(quoted.body.error, 'validation_failed', 'brackets in a text are no depth')
  const names = Array.from({ length: 10_000 }, (_, i) => `"${i}":1`)
  for (const [body, message] of [
    [`{"x":[${'{},'.repeat(60_000)}{}]}`, /120004 values/],
    [`{"x":1,${names}}`, /more than 10000 different names/],
  ] as const)
    t.match(await box.call('POST', '/__admin/clients', body, json), {
      status: 413,
      body: { error: 'payload_too_large', message },
    })
  const { status } = await box.call('POST', '/__admin/clients', `{${names},"0":1}`, json)
  t.equal(status, 400)
})

t.test('no large body breaks the server, and a rejected one changes nothing', async (t) => {
  const { box, port, url } = await listening(t)
  const before = await text(box)
  const fields = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`)
  const fieldsRow = `{${fields(40_000)}}`
  const fill = (piece: string) => piece.repeat(Math.ceil(1_100_000 / piece.length))
  const bodies: [what: string, body: string | Uint8Array<ArrayBuffer>, word: string][] = [
    ['lists', `{"x":[${fill('[],')}[]]}`, 'validation_failed'],
    ['objects', `{"x":[${fill('{},')}{}]}`, 'validation_failed'],
    ['rows that are none', `{"tables":{"users":[${fill('{},')}{}]}}`, 'validation_failed'],
    ['rows of another kind', `{"tables":{"users":[${fill('1,')}1]}}`, 'validation_failed'],
    [
      'rows of many fields',
      `{"tables":{"users":[${fieldsRow},${fieldsRow}]}}`,
      'validation_failed',
    ],
    ['fields', `{"format":1,${fields(50_000)}}`, 'payload_too_large'],
    ['clients', `{"format":6,"clients":{${fields(50_000)}}}`, 'payload_too_large'],
    ['objects of different fields', `[{${fields(50_001).join('},{')}}]`, 'payload_too_large'],
    ['fields with the maximum of names', `{${fields(50_000)}}`, 'validation_failed'],
    ['depth', fill('['), 'json_too_deep'],
    ['numbers', `[${fill('1,')}1]`, 'validation_failed'],
    ['a text', `{"x":"${fill('a')}"}`, 'validation_failed'],
    ['no object', `"${fill('a')}"`, 'validation_failed'],
    ['a cut text', `${before.slice(0, -2)}${fill(' ')}`, 'malformed_json'],
    ['no UTF-8', Buffer.from(`{"x":"${fill('\xff')}"}`, 'latin1'), 'malformed_json'],
  ]
  for (const [what, body, word] of bodies) {
    const answer = await putState(url, body)
    t.equal(((await answer.json()) as State).error, word, what)
    t.equal(await text(box), before, what)
  }
  t.match(await announceTooLarge(port), { error: 'payload_too_large' })
})

t.test('what an export writes can be imported, up to 100,000 rows', async (t) => {
  const json = { 'content-type': 'application/json' }
  const source = await start(t)
  const { body } = await source.get('/__admin/state')
  const [user] = body.tables.users
  const ROWS = 100_000
  for (let i = body.tables.users.length; i < ROWS; i++)
    body.tables.users.push({
      ...user,
      user_id: `10000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      email: `many.${i}@example.com`,
      mobile: `+9170${String(i).padStart(8, '0')}`,
    })
  // Without the helper's own check of each response, which takes longer than the sandbox.
  const textOf = ({ sandbox }: Box) => exportState(sandbox.default)
  await adoptState(source.sandbox.default, body)
  const text = textOf(source)
  const other = await start(t)
  t.equal((await other.put('/__admin/state', text, json)).body.rows?.users, ROWS)
  t.ok(textOf(other) === text, 'the same bytes')
  t.match(await other.put('/__admin/state', text.padEnd(64 * 1024 * 1024 + 1), json), {
    status: 413,
    body: { error: 'payload_too_large', message: /32 MiB for a whole state/ },
  })
})
