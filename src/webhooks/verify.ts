import type { SignatureScheme } from '../assumptions/webhooks.ts'
import { nodeCrypto } from '../runtime/node-modules.ts'
import {
  bodySignatureOf,
  keysOf,
  type SignFault,
  type SignInput,
  signatureOf,
  signWebhook,
} from './sign.ts'

/**
 * The maximum difference between a timestamp and the receiver's clock, in seconds; the value of the public libraries.
 */
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
function same(a: string, b: string): boolean {
  const hash = (text: string) => nodeCrypto().createHash('sha256').update(text).digest()
  return nodeCrypto().timingSafeEqual(hash(a), hash(b))
}

function firstDifference(a: Buffer, b: Buffer): number {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return i
}

/** Finds the most likely reason why no signature matches. */
function explainMismatch(
  input: VerifyInput,
  id: string,
  timestamp: string,
  given: string[],
): Verdict {
  const body = Buffer.from(input.body as Uint8Array)
  const keys = keysOf(input.secret)
  const fits = (candidate: string | Buffer) =>
    keys.some((key) => given.some((one) => same(one, signatureOf(key, id, timestamp, candidate))))

  const plain = input.headers['x-webhook-signature']
  if (typeof plain === 'string' && same(plain, bodySignatureOf(keys[0]!, body)))
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

/**
 * Checks whether a received webhook is genuine: all headers exist, a `v1` signature matches one key of the secret,
 * `x-webhook-signature` matches if it was sent, and the timestamp is within the tolerance.
 *
 * The signature is checked before the timestamp, so a webhook with a stale timestamp is known to be genuine.
 */
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
  if (!right.some((one) => given.some((other) => same(one, other))))
    return explainMismatch(input, id, timestamp, given)
  const plain = input.headers['x-webhook-signature']
  if (plain !== undefined && !same(String(plain), bodySignatureOf(keys[0]!, input.body)))
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
  if (same(given, bodySignatureOf(keysOf(secret)[0]!, body))) return { ok: true }
  return fails(
    'no_match',
    'x-webhook-signature does not match: the body was signed with another secret, or it was changed',
  )
}

/** How one scheme signs a webhook, and how its receiver verifies it. */
type Scheme = {
  sign: (input: SignInput, fault: SignFault) => Readonly<Record<string, string>>
  verify: (input: VerifyInput) => Verdict
  /** The names of its headers. */
  headers: readonly string[]
}

const BODY_HEADER = 'x-webhook-signature'

/** Every scheme of signatures. */
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
