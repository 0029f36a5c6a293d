import t, { type Test } from 'tap'
import { VERSION } from '../../src/config/package.ts'
import { createAdminClient } from '../../src/index.ts'
import { PAN, PAYMENT, pluck, start, TOKEN } from '../helper.ts'

/** The fields that HAR 1.2 requires of each object, and those that it permits, each with its type. */
const FIELDS = {
  log: ['version creator:object entries:array', 'pages:array browser:object comment'],
  creator: ['name version', 'comment'],
  entry: [
    'startedDateTime time:number request:object response:object cache:object timings:object',
    'pageref serverIPAddress connection comment',
  ],
  request: [
    'method url httpVersion cookies:array headers:array queryString:array headersSize:number bodySize:number',
    'postData:object comment',
  ],
  postData: ['mimeType', 'params:array text comment'],
  response: [
    'status:number statusText httpVersion cookies:array headers:array content:object redirectURL headersSize:number bodySize:number',
    'comment',
  ],
  content: ['size:number mimeType', 'compression:number text encoding comment'],
  timings: [
    'send:number wait:number receive:number',
    'blocked:number dns:number connect:number ssl:number comment',
  ],
  pair: ['name value', 'comment'],
} as const

// biome-ignore lint/suspicious/noExplicitAny: any JSON.
type Json = any

const fieldsOf = (text: string) => text.split(' ').map((one) => one.split(':'))
const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value)

function checkFields(t: Test, kind: keyof typeof FIELDS, value: Json) {
  const [required, permitted] = FIELDS[kind].map(fieldsOf) as [string[][], string[][]]
  for (const [name, type = 'string'] of required)
    t.equal(typeOf(value[name!]), type, `${kind} ${name}`)
  for (const name of Object.keys(value).filter((one) => !one.startsWith('_'))) {
    const known = [...required, ...permitted].find(([one]) => one === name)
    t.equal(typeOf(value[name]), known && (known[1] ?? 'string'), `${kind} ${name}`)
  }
}

/** Checks an archive against HAR 1.2 and returns its entries. */
function entriesOf(t: Test, { log }: Json): Json[] {
  checkFields(t, 'log', log)
  checkFields(t, 'creator', log.creator)
  for (const entry of log.entries) {
    checkFields(t, 'entry', entry)
    const { request, response, timings, startedDateTime, time } = entry
    t.equal(new Date(startedDateTime).toISOString(), startedDateTime)
    checkFields(t, 'request', request)
    checkFields(t, 'response', response)
    checkFields(t, 'content', response.content)
    checkFields(t, 'timings', timings)
    t.equal(timings.send + timings.wait + timings.receive, time)
    if (request.postData) checkFields(t, 'postData', request.postData)
    for (const one of [...request.headers, ...request.queryString]) checkFields(t, 'pair', one)
  }
  return log.entries
}

const ARCHIVE = '/__admin/requests?format=har'

t.test('the log as HAR: oldest first, masked, with the rule and what it replaced', async (t) => {
  const box = await start(t)
  const { app, get, post } = box
  await get('/v1/users?limit=1&a=1&a=2%26', { ...TOKEN, 'x-test': 'yes' })
  const { status, text } = await post('/v1/kyc', { ...PAN, document_number: 'ABCPK1234F' })
  await post('/v1/user', '{"email": ', { 'content-type': 'application/json' })
  const html = { status: 502, headers: { 'content-type': 'text/html' }, body: '<b>down</b>' }
  const when = { operation: 'createTransaction' }
  await post('/__admin/rules', { name: 'down', when, then: { respond: html }, times: 1 })
  await app.inject({
    method: 'POST',
    url: '/v1/transaction',
    headers: { host: 'localhost', 'content-type': 'application/json' },
    payload: JSON.stringify(PAYMENT),
  })
  await get('/v1/users')
  const { body } = await get(ARCHIVE)
  t.match(body.log, { version: '1.2', creator: { name: 'payout-sandbox', version: VERSION } })
  const entries = entriesOf(t, body)
  const [users, kyc, malformed, down, long] = entries
  t.strictSame(pluck(entries, '_request_id'), ['req_1', 'req_2', 'req_3', 'req_4', 'req_5'])

  t.match(users.request, {
    method: 'GET',
    url: 'http://127.0.0.1:4310/v1/users?limit=1&a=1&a=2%26',
    queryString: [
      { name: 'limit', value: '1' },
      { name: 'a', value: '1' },
      { name: 'a', value: '2&' },
    ],
    bodySize: 0,
  })
  t.notOk('postData' in users.request)
  const headers = Object.fromEntries(
    users.request.headers.map((one: Json) => [one.name, one.value]),
  )
  t.match(headers, { 'x-test': 'yes', authorization: 'XXXX' })
  t.match(users, { _rule: null, _fault: null, _at: '2026-01-01T00:00:00.000Z' })
  t.notOk('_made' in users || '_client' in users)
  t.ok(Math.abs(Date.parse(users.startedDateTime) - Date.now()) < 60_000, 'in real time')

  t.equal(kyc.response.status, status)
  t.equal(JSON.parse(kyc.request.postData.text).document_number, 'XXXXXX234F')
  t.equal(kyc.request.postData.mimeType, 'application/json')
  t.match(kyc.response.content, { mimeType: 'application/json', size: text.length })

  t.match(malformed.request, { bodySize: 10, postData: { comment: /keeps no text/ } })
  t.notOk('text' in malformed.request.postData)

  t.match(down, { _rule: /: down$/, _made: {} })
  t.match(down.response, {
    status: 502,
    statusText: 'Bad Gateway',
    content: { mimeType: 'text/plain', text: '<b>down</b>', size: 11 },
  })
  t.match(long.response.content, { comment: /keeps no text/ })
  t.ok(long.response.content.size > 4_096)
})

t.test('a call without a response has the status 0, and its fault', async (t) => {
  const box = await start(t)
  const { port } = new URL(await box.app.listen({ port: 0, host: '127.0.0.1' }))
  const when = { operation: 'createTransaction' }
  await box.post('/__admin/rules', {
    name: 'lost',
    when,
    then: { fault: 'reset', at: 'after' },
    times: 1,
  })
  const headers = { 'content-type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify(PAYMENT) }
  await t.rejects(fetch(`http://127.0.0.1:${port}/v1/transaction`, sent))
  const [lost] = entriesOf(t, (await box.get(ARCHIVE)).body)
  t.equal(lost.request.url, `http://127.0.0.1:${port}/v1/transaction`)
  t.match(lost, {
    _fault: 'reset',
    _made: { data: [{ transaction_status: 'pending' }] },
    response: {
      status: 0,
      statusText: 'no response (reset)',
      content: { size: 0, mimeType: 'x-unknown' },
      bodySize: -1,
    },
  })
})

t.test('an archive has the filters of the list, and without a limit all calls', async (t) => {
  const box = await start(t)
  for (let i = 0; i < 120; i++) await box.get('/v1/users?limit=1')
  await box.get('/@other/v1/users?limit=1')
  const ids = async (query: string) =>
    pluck((await box.get(`${ARCHIVE}${query}`)).body.log.entries, '_request_id')
  t.equal((await ids('')).length, 120)
  t.strictSame(await ids('&limit=2'), ['req_119', 'req_120'])
  t.equal((await ids('&limit=110')).length, 110, 'more than a page')
  t.strictSame(await ids('&limit=2&cursor=req_3'), ['req_1', 'req_2'])
  t.strictSame(await ids('&status=404'), [])
  t.equal((await box.get('/__admin/requests?format=xml')).status, 400)
  t.equal((await box.get('/__admin/requests?format=json')).body.requests.length, 50)
  const all = (await box.get(`${ARCHIVE}&client=*`)).body.log.entries
  t.equal(all.at(-1)._client, 'other')

  const { port } = new URL(await box.app.listen({ port: 0, host: '127.0.0.1' }))
  const admin = createAdminClient({ url: `http://127.0.0.1:${port}` })
  const { log } = await admin.requests.har({ limit: 2 })
  t.strictSame(pluck(log.entries, '_request_id'), ['req_119', 'req_120'])
})
