import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import {
  type SignFault,
  signWebhook,
  type VerifyInput,
  verifySignature,
} from '../../src/webhooks/signatures.ts'

const ID = 'evt_0123456789abcdef0123456789abcdef'
const NOW = Math.floor(Date.now() / 1000)
const BODY = JSON.stringify({
  id: ID,
  type: 'transaction.success',
  data: { name: 'Priya ₹', amount: '100.00' },
})

const NAMED_SECRETS = [
  ...['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ...['whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA==', 'whsec_', 'whsec_whsec_abcd'],
  ...['my-webhook-secret', 'topsecret123', 'supersecret', 'secret123', 'Password!', 'abcd1234'],
  ...['x', 'abc', 'abcd', 'ab==', 'abc=', 'abcde=', '====', '=', 'with spaces', 'पैसा', 'naïve'],
  ...['0'.repeat(256), ...[65, 85, 87, 89, 255].map((length) => 'A'.repeat(length))],
]
// Every length, with the alphabet's digits in turn, so that no case is drawn by luck.
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const SECRETS = [
  ...NAMED_SECRETS,
  ...Array.from({ length: 256 }, (_, i) =>
    Array.from({ length: i + 1 }, (_, j) => DIGITS[(i * 31 + j * 17) % 64]).join(''),
  ),
  ...Array.from(
    { length: 100 },
    (_, i) => `whsec_${Buffer.alloc(i + 1, i * 37).toString('base64')}`,
  ),
]

t.test('the key is the UTF-8 bytes; the hex signature is of the body alone', async (t) => {
  const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret: 'पैसा' })
  const hmac = (text: string) => createHmac('sha256', Buffer.from('पैसा')).update(text)
  t.equal(headers['webhook-signature'], `v1,${hmac(`${ID}.${NOW}.${BODY}`).digest('base64')}`)
  t.equal(headers['x-webhook-signature'], hmac(BODY).digest('hex'))
})

t.test('a secret that is base64 has two signatures, another one', async (t) => {
  const count = (secret: string) =>
    signWebhook({ id: ID, timestamp: NOW, body: BODY, secret })['webhook-signature']!.split(' ')
      .length
  for (const secret of [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'topsecret123',
    'supersecret',
    'c2FuZA==',
  ])
    t.equal(count(secret), 2, secret)
  for (const secret of ['my-webhook-secret', 'पैसा', 'x', 'two words', 'not_base64!!', 'whsec_'])
    t.equal(count(secret), 1, secret)
})

t.test('the public package and the inbox verify every secret that they take', async (t) => {
  let byDefault = 0
  for (const secret of SECRETS) {
    const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret })
    const raw = new Webhook(new TextEncoder().encode(secret), { format: 'raw' })
    if (!same(() => raw.verify(BODY, headers))) t.fail(`raw mode: ${secret}`)
    const verdict = verifySignature({ headers, body: Buffer.from(BODY), secret, now: NOW })
    if (!verdict.ok) t.fail(`${secret}: ${verdict.reason}`)
    let usual: Webhook
    try {
      usual = new Webhook(secret)
    } catch {
      continue // its default mode takes base64 only
    }
    byDefault++
    if (!same(() => usual.verify(BODY, headers))) t.fail(`default mode: ${secret}`)
  }
  t.ok(byDefault > 350, `${byDefault} of ${SECRETS.length} secrets in default mode`)
})

function same(verify: () => unknown): boolean {
  try {
    return JSON.stringify(verify()) === BODY
  } catch {
    return false
  }
}

t.test('one fitting signature is enough, in either reading of the secret', async (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret })
  for (const signature of headers['webhook-signature']!.split(' '))
    for (const list of [signature, `v1a,other v1,AAAA ${signature}`]) {
      const sent = { ...headers, 'webhook-signature': list }
      t.same(verifySignature({ headers: sent, body: BODY, secret, now: NOW }), { ok: true })
    }
})

const SECRET = 'whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA=='
type Change = Partial<Omit<VerifyInput, 'headers'>> & {
  headers?: VerifyInput['headers']
  fault?: SignFault
  signedWith?: string
}

const OTHER_AMOUNT = BODY.replace('100.00', '900.00')
const CUT = BODY.slice(0, 40)
const REFUSALS: [change: Change, code: string, reason: RegExp][] = [
  [{ headers: { 'webhook-id': undefined } }, 'header_missing', /header webhook-id is missing/],
  [{ headers: { 'webhook-timestamp': '' } }, 'header_missing', /webhook-timestamp is missing/],
  [{ fault: { signature: 'missing' } }, 'header_missing', /webhook-signature is missing/],
  [{ headers: { 'webhook-id': ['a', 'b'] } }, 'header_malformed', /was sent more than once/],
  [{ headers: { 'webhook-timestamp': '2026-01-01' } }, 'header_malformed', /unix seconds: 2026/],
  [{ headers: { 'webhook-signature': 'v1a,xyz' } }, 'header_malformed', /begins with `v1,`/],
  [{ headers: { 'webhook-signature': 'abcdef' } }, 'header_malformed', /no entry that begins/],
  [{ fault: { signature: 'wrong' } }, 'no_match', /another secret, or it was changed/],
  [{ fault: { signature: 'wrong' }, sentBody: BODY }, 'other_secret', /with another secret/],
  [{ signedWith: 'topsecret123' }, 'no_match', /another secret/],
  [{ headers: { 'webhook-id': 'evt_other' } }, 'no_match', /webhook-timestamp was changed/],
  [{ headers: { 'webhook-timestamp': String(NOW - 1) } }, 'no_match', /timestamp was changed/],
  [{ body: CUT }, 'body_changed', /changed or truncated: its 40 bytes are not valid JSON/],
  [
    { body: CUT, sentBody: BODY },
    'body_changed',
    /40 bytes were received, \d+ were signed, and the first difference is at byte 41/,
  ],
  [
    { body: JSON.stringify(JSON.parse(BODY), null, 2) },
    'body_changed',
    /serialized again: it is the same JSON/,
  ],
  [{ body: OTHER_AMOUNT }, 'no_match', /another secret, or it was changed/],
  [
    { body: OTHER_AMOUNT, sentBody: Buffer.from(BODY) },
    'body_changed',
    /the first difference is at byte/,
  ],
  [{ headers: { 'x-webhook-signature': '00' } }, 'no_match', /x-webhook-signature does not/],
  [{ fault: { timestamp: 'stale' } }, 'timestamp_too_old', /3600 s old; the maximum is 300 s/],
  [{ now: NOW + 360 }, 'timestamp_too_old', /360 s old/],
  [{ now: NOW - 301 }, 'timestamp_too_new', /301 s ahead/],
  [{ now: NOW + 6, tolerance: 5 }, 'timestamp_too_old', /6 s old; the maximum is 5 s/],
]

t.test('what does not verify has a code and a reason', async (t) => {
  for (const [{ fault, signedWith, headers, ...input }, code, reason] of REFUSALS) {
    const secret = signedWith ?? SECRET
    const signed = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret }, fault)
    const verdict = verifySignature({
      body: BODY,
      secret: SECRET,
      now: NOW,
      ...input,
      headers: { ...signed, ...headers },
    })
    t.match(verdict, { ok: false, code, reason })
  }
})

t.test('a timestamp at the edge of the tolerance verifies', async (t) => {
  const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret: SECRET })
  for (const now of [NOW - 300, NOW, NOW + 300])
    t.same(verifySignature({ headers, body: BODY, secret: SECRET, now }), { ok: true })
})

t.test(
  'a rotated secret: that of the next one comes first, and the right one is there',
  async (t) => {
    const signed = { id: ID, timestamp: NOW, body: BODY, secret: SECRET }
    const usual = signWebhook(signed)['webhook-signature']!.split(' ')
    const headers = signWebhook(signed, { signature: 'rotated' })
    const rotated = headers['webhook-signature']!.split(' ')
    t.notOk(usual.includes(rotated[0]!))
    t.strictSame(rotated.slice(-usual.length), usual)
    t.match(verifySignature({ headers, body: BODY, secret: signed.secret, now: NOW }), { ok: true })
  },
)
