import t from 'tap'
import { conform } from '../../../src/tools/conform/conform.ts'
import type { Json } from '../calls.ts'
import { type Alter, held, lines, listen, places, proxy, sandbox } from './proxy.ts'

const OWN = { url: 'http://127.0.0.1:3000/webhook', webhook_secret: 'whsec_c2VjcmV0LW9mLW1pbmU=' }

/** Alters what was made. */
const made = (change: (body: Json) => void): Alter => {
  return ({ status, body }) => {
    if (status < 300) change(body)
  }
}

t.test('what is wrong with a write is named at its endpoint and field', async (t) => {
  const report = await held(
    t,
    {
      'POST /user': made(({ data }) => {
        data.pid = 'd0000000-0000-4000-8000-000000000001'
        data.mobile = data.mobile.slice(3)
      }),
      'POST /kyc': ({ status, body }, request) => {
        if (status !== 201) return
        body.message = JSON.parse(request.body).kyc[0].document_number
        if (body.data.length < 2) return
        body.data = body.data.slice(1)
        body.data[0].data.dob = '1990-08-16'
        body.data[0].data.vp = 'x'
      },
      'GET /kyc/:userId': made(({ data }) => {
        const { kycData } = data.response.data
        // Those of the fixtures stay.
        if (kycData.length === 2) kycData.shift()
      }),
      'POST /bank': made(({ data }) => {
        data.data.metadata.response.data.statusCode = 200
        data.data.ifsc_code = 'HDFC0000001'
      }),
      'POST /transaction': made(({ data }) => {
        data[0].amount = '1.49'
      }),
      'POST /clientWebhook': ({ status, body }, request) => {
        if (status !== 200) return
        body.message = JSON.parse(request.body).webhook_secret
        body.updatedWebhook.response.data.webhook_secret = OWN.webhook_secret
      },
      'PUT /clientWebhook': made((body) => {
        body.updatedWebhook.response.data.url = OWN.url
      }),
    },
    { write: true },
  )
  const received = lines(report.differs).map((line) => line.replace(/X\d{4}"/, 'X0000"'))
  t.strictSame(received.sort(), [
    'GET /kyc/:userId data.response.data.kycData: all rows that were just created; some of them are missing',
    'GET /user/:userId data.mobile: the value that its creation returned; "+XXXXXXXX0000" (masked here)',
    'POST /bank body: no unmasked number or secret; a value as it was sent',
    'POST /bank data.data.ifsc_code: must be masked with X except for the first four and last three characters; "HDFCXXXX001" (masked here)',
    'POST /bank data.data.metadata.response.data.statusCode: must be a string; 200',
    'POST /clientWebhook body: no unmasked number or secret; a value as it was sent',
    'POST /clientWebhook updatedWebhook.response.data.webhook_secret: no such field; an extra field',
    'POST /kyc body: no unmasked number or secret; a value as it was sent',
    'POST /kyc data: an entry for each of 2 documents; 1',
    'POST /kyc data[].data.dob: the sent value; "1990-08-16"',
    'POST /transaction data[].amount: the sent value; "1.49"',
    'POST /user data.pid: null on creation; a string',
    'PUT /clientWebhook updatedWebhook.response.data.url: the sent value; "http://127.0.0.1:3000/webhook"',
  ])
  t.strictSame(places(report.notes), ['POST /kyc data[].data.vp', 'POST /user data.mobile'])
})

t.test('a service without our defaults for writes gets notes only', async (t) => {
  const { url, token, admin } = await sandbox(t)
  const open: string[] = []
  const base = await listen(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers: Record<string, string> = {}
    for (const name of ['authorization', 'content-type']) {
      const value = request.headers[name]
      if (value !== undefined) headers[name] = value as string
    }
    // It takes what is no JSON.
    if (headers['content-type'] === 'text/plain') headers['content-type'] = 'application/json'
    const { method = 'GET' } = request
    const answer = await fetch(new URL(request.url!, url), {
      method,
      headers,
      ...(method !== 'GET' && { body: Buffer.concat(chunks) }),
    })
    open.push(`${method} ${request.url} ${answer.status}`)
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      ...(answer.status === 401 && { 'www-authenticate': 'Bearer' }),
    })
    response.end(await answer.text())
  })
  const report = await conform({ base, token, write: true })
  t.strictSame(lines(report.differs), [])
  t.equal(report.ok, true)
  t.strictSame(lines(report.notes), ['POST /user HTTP status: 415 unsupported_media_type; 201'])
  t.match(report.assumptions[0], { name: 'idempotency_key', reading: 'ignored' })
  const users = (await admin.users.list({ limit: 1 })).total
  t.equal(
    users - 110,
    report.created.filter(({ endpoint }) => endpoint === 'POST /user').length,
    'what should have been refused is reported as created',
  )
  t.equal(report.created.filter(({ endpoint }) => endpoint === 'POST /kyc').length, 3)
})

t.test('each refusal of ours is asked for, and is a note where it is another', async (t) => {
  const other: Alter = (passing) => {
    if (passing.status >= 400) passing.status = 418
  }
  const names = ['user', 'kyc', 'bank', 'transaction', 'clientWebhook']
  const alterations = Object.fromEntries(names.map((name) => [`POST /${name}`, other]))
  const report = await held(
    t,
    { ...alterations, 'PUT /clientWebhook': other, 'GET /kyc/:userId': other },
    { write: true },
  )
  t.strictSame(report.differs, [])
  t.strictSame(
    report.notes.map(({ endpoint, expected, times }) => `${endpoint} ${expected} ${times}`).sort(),
    [
      'GET /kyc/:userId 400 validation_failed 1',
      'GET /kyc/:userId 404 not_found 1',
      'POST /bank 400 validation_failed 1',
      'POST /bank 404 not_found 1',
      'POST /clientWebhook 400 validation_failed 1',
      'POST /kyc 400 validation_failed 2',
      'POST /kyc 404 not_found 1',
      'POST /transaction 400 validation_failed 2',
      'POST /transaction 404 not_found 1',
      'POST /transaction 422 bank_user_mismatch 1',
      'POST /transaction 422 same_user 1',
      'POST /user 400 malformed_json 1',
      'POST /user 400 validation_failed 2',
      'POST /user 415 unsupported_media_type 1',
      'PUT /clientWebhook 400 validation_failed 1',
    ],
  )
})

t.test('a payment that a state forbids is no difference', async (t) => {
  const refused = await held(
    t,
    {
      'POST /transaction': (passing, { body }) => {
        if (passing.status !== 200) return
        passing.status = 422
        passing.body = { error: JSON.parse(body).amount === 1.5 ? 'no_balance' : 'other' }
      },
    },
    { write: true },
  )
  t.match(refused, { ok: true, differs: [] })
  t.match(refused.unchecked, [
    { endpoint: 'POST /transaction', reason: 'rejected: 422 "no_balance"' },
  ])
  const pending = await held(
    t,
    {
      'POST /bank': made(({ data }) => {
        data.data.bank_status = 'pending'
      }),
    },
    { write: true },
  )
  t.match(pending, { ok: true, differs: [] })
  t.match(pending.unchecked, [
    { endpoint: 'POST /transaction', reason: 'the account just created is not verified' },
  ])
})

t.test('a webhook that is there is put back, and its secret is not touched', async (t) => {
  const { url, token, admin } = await sandbox(t)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  await fetch(`${url}/clientWebhook`, { method: 'POST', headers, body: JSON.stringify(OWN) })
  const webhook = async () => JSON.stringify((await admin.state.get()).tables.webhook)
  const before = await webhook()
  t.match(before, OWN.url)
  const report = await conform({ base: url, token, write: true })
  t.strictSame([report.differs, report.notes], [[], []])
  t.equal(await webhook(), before)
  t.match(report.unchecked, [
    {
      endpoint: 'POST /clientWebhook',
      reason: 'a webhook exists already, and its secret could not be restored',
    },
  ])
  const { requests } = await admin.requests.list({ limit: 1_000, method: 'PUT' })
  t.strictSame(
    requests.map(({ body }) => body),
    [{ url: OWN.url }, { url: 'https://example.invalid/payout-sandbox-conform' }],
    'its URL alone was changed and put back',
  )

  const lost = await proxy(t, url, {
    'PUT /clientWebhook': (passing, { nth }) => {
      if (nth === 1) passing.text = 'x'.repeat(2 * 1024 * 1024)
    },
  })
  const unread = await conform({ base: lost, token, write: true })
  t.match(unread.differs, [
    { endpoint: 'PUT /clientWebhook', found: 'a response of more than 1 MiB' },
  ])
  t.equal(await webhook(), before, 'also after an answer that could not be read')

  const stuck = await proxy(t, url, {
    'PUT /clientWebhook': (passing, { nth }) => {
      if (nth > 1) Object.assign(passing, { status: 500, body: {} })
    },
    'GET /clientWebhook': (passing, { nth }) => {
      if (passing.status === 200 && nth > 3) passing.body.data.url = 'https://example.invalid/x'
    },
  })
  const received = await conform({ base: stuck, token, write: true })
  t.strictSame(places(received.differs), [
    'GET /clientWebhook data.url',
    'PUT /clientWebhook HTTP status',
  ])
})
