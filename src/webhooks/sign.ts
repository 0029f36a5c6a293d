import { nodeCrypto } from '../runtime/node-modules.ts'

/** What is signed: the event's id, unix seconds of the attempt, the body's bytes as sent, the client's secret. */
export type SignInput = { id: string; timestamp: number; body: string | Uint8Array; secret: string }

/** The header faults that a scenario can inject (`webhooks:` rules; see docs/webhooks.md). */
export type SignFault = { signature?: 'wrong' | 'missing' | 'rotated'; timestamp?: 'stale' }

// Older than any receiver should accept, but plausible to a receiver that does not check it.
const STALE_SECONDS = 3_600

/**
 * Decodes a base64 secret without its `whsec_` prefix; returns undefined if it is not base64.
 *
 * Accepts the same input as the public `standardwebhooks` package in its default mode, so that both decode a secret
 * to the same bytes. That is slightly more than strict base64: padding may be missing, and a single last character is
 * ignored.
 */
function decodedSecret(secret: string): Buffer | undefined {
  const text = secret.replace(/^whsec_/, '')
  const bare = text.replace(/={1,2}$/, '')
  if (text.length < 4 || bare === '') return undefined
  const digits = bare.length % 4 === 1 ? bare.slice(0, -1) : bare
  return /^[A-Za-z0-9+/]*$/.test(digits) ? Buffer.from(digits, 'base64') : undefined
}

/** The keys of a secret: its UTF-8 bytes, then its decoded bytes if it is base64. */
export function keysOf(secret: string): Buffer[] {
  const decoded = decodedSecret(secret)
  const plain = Buffer.from(secret, 'utf8')
  return decoded ? [plain, decoded] : [plain]
}

const hmac = (key: Buffer) => nodeCrypto().createHmac('sha256', key)

export const signatureOf = (
  key: Buffer,
  id: string,
  timestamp: number | string,
  body: string | Uint8Array,
) => hmac(key).update(`${id}.${timestamp}.`).update(body).digest('base64')

export const bodySignatureOf = (key: Buffer, body: string | Uint8Array) =>
  hmac(key).update(body).digest('hex')

/**
 * Returns the signing headers of one attempt, in the format of Standard Webhooks.
 *
 * `webhook-signature` contains one `v1,` + base64 HMAC-SHA256 of `id.timestamp.body` for each key of the secret: its
 * UTF-8 bytes and, if it is base64 (with or without `whsec_`), its decoded bytes. A receiver accepts any matching
 * signature, so both modes of the public `standardwebhooks` package verify. `x-webhook-signature` is the hex
 * HMAC-SHA256 of the body alone, keyed with the UTF-8 bytes.
 *
 * Faults: `wrong` signs with other keys, `missing` omits both signatures, `rotated` puts those of a new secret before the right
 * ones, and `stale` signs correctly with a time one hour before `timestamp`.
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
