import type { SignatureScheme } from '../assumptions/webhooks.ts'
import { nodeCrypto } from '../runtime/runtime.ts'

/** What is signed: the event's id, unix seconds of the attempt, the body's bytes as sent, the client's secret. */
export type SignInput = { id: string; timestamp: number; body: string | Uint8Array; secret: string }

/** The header faults that a scenario can inject (`webhooks:` rules; see docs/webhooks.md). */
export type SignFault = { signature?: 'wrong' | 'missing' | 'rotated'; timestamp?: 'stale' }

// Older than any receiver should accept, but plausible to a receiver that does not check it.
const STALE_SECONDS = 3_600

/**
 * Decodes a base64 secret without its `whsec_` prefix, as the public `standardwebhooks` package does: padding may be missing,
 * and a single last character is ignored.
 */
function decodedSecret(secret: string): Buffer | undefined {
  const text = secret.replace(/^whsec_/, '')
  const bare = text.replace(/={1,2}$/, '')
  if (text.length < 4 || bare === '') return undefined
  const digits = bare.length % 4 === 1 ? bare.slice(0, -1) : bare
  return /^[A-Za-z0-9+/]*$/.test(digits) ? Buffer.from(digits, 'base64') : undefined
}

/** The keys of a secret: its UTF-8 bytes, then its decoded bytes if it is base64. */
function keysOf(secret: string): Buffer[] {
  const decoded = decodedSecret(secret)
  const plain = Buffer.from(secret, 'utf8')
  return decoded ? [plain, decoded] : [plain]
}

const hmac = (key: Buffer) => nodeCrypto().createHmac('sha256', key)
const signatureOf = (
  key: Buffer,
  id: string,
  timestamp: number | string,
  body: string | Uint8Array,
) => hmac(key).update(`${id}.${timestamp}.`).update(body).digest('base64')

const bodySignatureOf = (key: Buffer, body: string | Uint8Array) =>
  hmac(key).update(body).digest('hex')

/**
 * The signing headers of one attempt, in the format of Standard Webhooks: a signature for each key of the secret, so that
 * both modes of the public `standardwebhooks` package verify; `x-webhook-signature` is that of the body alone.
 */
export function signWebhook(input: SignInput, fault: SignFault = {}): Record<string, string> {
  const { id, body, secret } = input
  const timestamp = fault.timestamp === 'stale' ? input.timestamp - STALE_SECONDS : input.timestamp
  const headers: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
  }
  if (fault.signature === 'missing') return headers
  const keys = keysOf(fault.signature === 'wrong' ? `${secret}#not-the-secret` : secret)
  const before = fault.signature === 'rotated' ? keysOf(`${secret}#next`) : []
  headers['webhook-signature'] = [...before, ...keys]
    .map((key) => `v1,${signatureOf(key, id, timestamp, body)}`)
    .join(' ')
  headers['x-webhook-signature'] = bodySignatureOf(keys[0]!, body)
  return headers
}

/** The maximum difference between a timestamp and the receiver's clock in the public libraries, seconds. */
export const TOLERANCE_SECONDS = 300

/** Why a received webhook does not verify, as a stable code. */
export type VerifyErrorCode =
  | 'header_missing'
  | 'header_malformed'
  | 'body_changed'
  | 'other_secret'
  | 'no_match'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'not_signed'

/** Whether a received webhook is genuine, and if not, why, in plain words. */
export type Verdict = { ok: true } | { ok: false; code: VerifyErrorCode; reason: string }

export type VerifyInput = {
  /** Headers as `node:http` provides them: lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body's bytes as received, before any parsing. */
  body: string | Uint8Array
  secret: string
  /** The receiver's current time, unix seconds; the timestamp is compared with it. */
  now: number
  /** Maximum difference of the timestamp in seconds, in both directions (default: 300). */
  tolerance?: number
  /** The bytes that were sent with this id, if known. They distinguish a changed body from another secret. */
  sentBody?: string | Uint8Array
}

const fails = (code: VerifyErrorCode, reason: string): Verdict => ({ ok: false, code, reason })

/** Compares in a time that does not depend on where the texts differ; hashing makes their lengths equal. */
export function sameText(a: string, b: string): boolean {
  const hash = (text: string) => nodeCrypto().createHash('sha256').update(text).digest()
  return nodeCrypto().timingSafeEqual(hash(a), hash(b))
}

function firstDifference(a: Buffer, b: Buffer): number {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return i
}

function explainMismatch(input: VerifyInput, id: string, timestamp: string, given: string[]) {
  const body = Buffer.from(input.body as Uint8Array)
  const keys = keysOf(input.secret)
  const fits = (candidate: string | Buffer) =>
    keys.some((key) =>
      given.some((one) => sameText(one, signatureOf(key, id, timestamp, candidate))),
    )

  const plain = input.headers['x-webhook-signature']
  if (typeof plain === 'string' && sameText(plain, bodySignatureOf(keys[0]!, body)))
    return fails(
      'no_match',
      'the body is unchanged, but webhook-id or webhook-timestamp was changed after signing',
    )
  if (input.sentBody !== undefined) {
    const sent = Buffer.from(input.sentBody as Uint8Array)
    if (sent.equals(body))
      return fails('other_secret', 'the body is unchanged, so it was signed with another secret')
    const at = firstDifference(body, sent)
    return fails(
      'body_changed',
      `the body was changed: ${body.length} bytes were received, ${sent.length} were signed, and the first difference is at byte ${at + 1}`,
    )
  }
  let compact: string
  try {
    compact = JSON.stringify(JSON.parse(body.toString('utf8')))
  } catch {
    return fails(
      'body_changed',
      `the body was changed or truncated: its ${body.length} bytes are not valid JSON`,
    )
  }
  if (fits(compact))
    return fails(
      'body_changed',
      'the body was serialized again: it is the same JSON, but not the same bytes that were signed',
    )
  return fails(
    'no_match',
    'no signature matches: the body was signed with another secret, or it was changed',
  )
}

/** Checks signature, then timestamp: so a webhook whose timestamp is stale is known to be genuine. */
export function verifySignature(input: VerifyInput): Verdict {
  const found: string[] = []
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const value = input.headers[name]
    if (value === undefined || value === '')
      return fails('header_missing', `the header ${name} is missing`)
    if (typeof value !== 'string')
      return fails('header_malformed', `the header ${name} was sent more than once`)
    found.push(value)
  }
  const [id, timestamp, signatures] = found as [string, string, string]
  if (!/^\d{1,15}$/.test(timestamp))
    return fails(
      'header_malformed',
      `webhook-timestamp is not in unix seconds: ${timestamp.slice(0, 40)}`,
    )
  const given = signatures
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => entry.slice(3))
  if (given.length === 0)
    return fails('header_malformed', 'webhook-signature has no entry that begins with `v1,`')

  const keys = keysOf(input.secret)
  const right = keys.map((key) => signatureOf(key, id, timestamp, input.body))
  if (!right.some((one) => given.some((other) => sameText(one, other))))
    return explainMismatch(input, id, timestamp, given)
  const plain = input.headers['x-webhook-signature']
  if (plain !== undefined && !sameText(String(plain), bodySignatureOf(keys[0]!, input.body)))
    return fails('no_match', 'webhook-signature matches, but x-webhook-signature does not')

  const age = input.now - Number(timestamp)
  const tolerance = input.tolerance ?? TOLERANCE_SECONDS
  if (age > tolerance)
    return fails(
      'timestamp_too_old',
      `the timestamp is ${age} s old; the maximum is ${tolerance} s`,
    )
  if (age < -tolerance)
    return fails(
      'timestamp_too_new',
      `the timestamp is ${-age} s ahead; the maximum is ${tolerance} s`,
    )
  return { ok: true }
}

/** The same for a webhook with only `x-webhook-signature`; nothing in it proves its time. */
function verifyBodySignature({ headers, body, secret }: VerifyInput): Verdict {
  const given = headers['x-webhook-signature']
  if (typeof given !== 'string')
    return fails('header_missing', 'the header x-webhook-signature is missing')
  if (sameText(given, bodySignatureOf(keysOf(secret)[0]!, body))) return { ok: true }
  return fails(
    'no_match',
    'x-webhook-signature does not match: the body was signed with another secret, or it was changed',
  )
}

type Scheme = {
  sign: (input: SignInput, fault: SignFault) => Readonly<Record<string, string>>
  verify: (input: VerifyInput) => Verdict
  headers: readonly string[]
}

const BODY_HEADER = 'x-webhook-signature'

export const SIGNATURE_SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  message: {
    sign: signWebhook,
    verify: verifySignature,
    headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature', BODY_HEADER],
  },
  body: {
    sign(input, fault) {
      const signature = signWebhook(input, fault)[BODY_HEADER]
      return signature === undefined ? {} : { [BODY_HEADER]: signature }
    },
    verify: verifyBodySignature,
    headers: [BODY_HEADER],
  },
  none: {
    sign: () => ({}),
    verify: () => ({
      ok: false,
      code: 'not_signed',
      reason: 'webhooks are not signed, because the reading of webhook_signature is none',
    }),
    headers: [],
  },
}
