import { nodeCrypto } from '../runtime/node-modules.ts'

/** What is signed: the event's id, unix seconds of the attempt, the body's bytes as sent, the client's secret. */
export type SignInput = { id: string; timestamp: number; body: string | Uint8Array; secret: string }

/** The header faults that a scenario can inject (`webhooks:` rules; see docs/webhooks.md). */
export type SignFault = { signature?: 'wrong' | 'missing' | 'rotated'; timestamp?: 'stale' }

// Older than any receiver should accept, but plausible to a receiver that does not check it.
const STALE_SECONDS = 3_600

/**
 * A base64 secret without its prefix; undefined if it is not base64. As in the public `standardwebhooks` package, padding
 * may be missing, and a single last character is ignored.
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
 * The signing headers in the format of Standard Webhooks, with one signature for each key of the secret: a receiver accepts any,
 * so both modes of the public `standardwebhooks` package verify. `x-webhook-signature` is that of the body alone.
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
