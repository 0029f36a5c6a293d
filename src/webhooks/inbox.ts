import { webhookSignature } from '../assumptions/webhooks.ts'
import { maskLogText } from '../model/mask.ts'
import type { ListQuery } from '../model/paging.ts'
import type { Received } from '../model/webhook.ts'
import type { SendRequest, SendResult } from '../runtime/runtime.ts'
import { newIdIn, type WorldContext } from '../tables/world-context.ts'
import { maskSignatures } from './attempt.ts'
import { SIGNATURE_SCHEMES } from './signatures.ts'
import type { Webhooks } from './webhooks.ts'

// Enough for a test; the oldest message is removed first. Nobody needs a token to fill an inbox.
const MAX_MESSAGES = 100
const MAX_BODY = 4 * 1024
const STORED_HEADERS = /^(?:content-type|content-length|user-agent|webhook-.*|x-webhook-.*)$/
const MAX_HEADER = 1_024

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A header as it is stored: masked, except for the webhook's own headers. */
const storedHeader = (name: string, value: string): string =>
  (name.includes('webhook-') ? value : maskLogText(value)).slice(0, MAX_HEADER)

function typeOf({ 'x-webhook-event': named }: Headers, body: string): string | null {
  if (typeof named === 'string') return named.slice(0, 64)
  try {
    const { type } = JSON.parse(body)
    return typeof type === 'string' ? type.slice(0, 64) : null
  } catch {
    return null
  }
}

export type InboxDeps = WorldContext & { webhooks: Webhooks; unixNow: () => number }

/** The built-in receiver: stores every message and whether its signature is valid for the client's secret. */
export function createInbox({ store, clock, random, assumed, webhooks, unixNow }: InboxDeps) {
  const { inbox, events } = store.tables

  function verify(headers: Headers, body: Uint8Array, id: string | null) {
    const webhook = webhooks.current()
    if (!webhook)
      return {
        ok: false as const,
        code: 'no_secret',
        reason: 'this client has no webhook, so there is no secret to verify with',
      }
    const sentBody = id === null ? undefined : events.get(id)?.body
    return SIGNATURE_SCHEMES[assumed.get(webhookSignature)].verify({
      headers,
      body,
      secret: webhook.webhook_secret,
      now: unixNow(),
      ...(sentBody !== undefined && { sentBody }),
    })
  }

  function receive(headers: Headers, bytes: Uint8Array): Received {
    const given = headers['webhook-id']
    const id = typeof given === 'string' ? given.slice(0, 128) : null
    const verdict = verify(headers, bytes, id)
    const body = Buffer.from(bytes).toString('utf8')
    const attempt = Number(headers['x-webhook-attempt'])
    const entries = Object.entries(headers).flatMap(([name, value]) =>
      STORED_HEADERS.test(name) ? [[name, storedHeader(name, String(value))]] : [],
    )
    return store.change(() => {
      const row = store.put('inbox', {
        message_id: newIdIn(inbox, () => `msg_${random.next()}`),
        received_at: clock.iso(),
        webhook_id: id,
        type: typeOf(headers, body),
        attempt: Number.isSafeInteger(attempt) && attempt > 0 ? attempt : null,
        repeated: id !== null && inbox.count('webhook', id) > 0,
        verified: verdict.ok,
        code: verdict.ok ? null : verdict.code,
        reason: verdict.ok ? null : verdict.reason,
        headers: maskSignatures(Object.fromEntries(entries)),
        body: body.slice(0, MAX_BODY),
        truncated: body.length > MAX_BODY,
      }).row
      const count = inbox.count('all', 'all')
      if (count > MAX_MESSAGES) store.remove('inbox', inbox.page('all', 'all', count - 1, 1)[0]!.id)
      return { received: true as const, message_id: row.message_id, verified: row.verified }
    })
  }

  return {
    receive,
    /** Sends a webhook to the inbox of its own client, without a connection; resolves when the message is written. */
    send: ({ headers, body }: Pick<SendRequest, 'headers' | 'body'>): Promise<SendResult> =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.from(body)
        const received = store.unit.batch(() =>
          receive({ ...headers, 'content-length': String(bytes.length) }, bytes),
        )
        const result = {
          ...{ ok: true, status: 200, duration_ms: 0, truncated: false },
          response: JSON.stringify(received),
        }
        store.unit.onDurable((error) => (error === undefined ? resolve(result) : reject(error)))
      }),
    list: ({ page, limit }: ListQuery) => ({
      total: inbox.count('all', 'all'),
      messages: inbox.page('all', 'all', (page - 1) * limit, limit).map(({ row }) => row),
    }),
    clear(): number {
      const ids = [...inbox.rows()].map(({ message_id }) => message_id)
      store.change(() => {
        for (const id of ids) store.remove('inbox', id)
      })
      return ids.length
    },
  }
}
