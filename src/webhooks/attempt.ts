import { webhookSignature } from '../assumptions/webhooks.ts'
import { VERSION } from '../config/package.ts'
import type { DeliveryAttempt, DeliveryFault, EventRow, StoredAttempt } from '../model/delivery.ts'
import { HIDDEN, maskLogText, maskText } from '../model/mask.ts'
import type { WebhookRow } from '../model/webhook.ts'
import { nodeCrypto, type Runtime } from '../runtime/runtime.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { OWN_ORIGIN } from './addresses.ts'
import { isBare } from './events.ts'
import { unsent } from './send.ts'
import { SIGNATURE_SCHEMES } from './signatures.ts'

/** How webhooks are sent, the same for every client. */
export type WebhookSettings = {
  /** The clock of `webhook-timestamp`. */
  time: 'wall' | 'client'
  retries: keyof typeof RETRY_PLANS
  /** Real ms for a whole attempt (default: 10 s of the sender). */
  deadlineMs?: number
}

const [S, M, H] = [1_000, 60_000, 3_600_000]
/** When attempts are made, ms after the first (defaults: Webhook). */
export const RETRY_PLANS = {
  fast: [0, S, 5 * S, 30 * S, 2 * M],
  standard: [0, 5 * S, 5 * M, 30 * M, 2 * H, 5 * H, 10 * H, 14 * H, 20 * H, 24 * H],
} as const

// Hanging receivers leave file descriptors for the port.
const MAX_ATTEMPTS = 64
const MAX_OF_CLIENT = 8

type Limit = <T>(run: () => Promise<T>) => Promise<T>

/** A limit of the attempts of all clients: at most 64 run at the same time; the others wait in order. */
export function createCommonLimit(): Limit {
  let running = 0
  const waiting: (() => void)[] = []
  return async (run) => {
    if (running < MAX_ATTEMPTS) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

/** A limit of the attempts of a client, which start in order. The first of them runs beside those that are limited in common. */
function createClientLimit(common: Limit): Limit {
  const waiting: (() => Promise<void>)[] = []
  const own: Limit = (run) => run()
  const free = [own, ...Array<Limit>(MAX_OF_CLIENT - 1).fill(common)]
  async function work() {
    const limit = free.shift()
    if (!limit) return
    while (waiting.length > 0) await limit(async () => waiting.shift()?.())
    if (limit === own) free.unshift(own)
    else free.push(limit)
  }
  return (run) =>
    new Promise((resolve, reject) => {
      waiting.push(() => run().then(resolve, reject))
      void work()
    })
}

type Traced = Pick<EventRow, 'event_id' | 'traceparent'>

/** Masks the signatures in headers: they are as sensitive as the secret for that body. */
export const maskSignatures = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name === 'webhook-signature'
        ? value.replaceAll(/v1,\S+/g, `v1,${HIDDEN}`)
        : name === 'x-webhook-signature'
          ? HIDDEN
          : value,
    ]),
  )

/** A response without secrets, signatures and tokens: debug pages can repeat what was sent. */
function withoutSecrets(answer: string, secret: string, headers: Readonly<Record<string, string>>) {
  let text = answer
  // A shorter secret would mask parts of any text.
  for (const known of [secret, secret.replace(/^whsec_/, ''), headers['x-webhook-signature']])
    if (known && known.length > 3) text = text.replaceAll(known, HIDDEN)
  return text
    .replace(/v1,[A-Za-z0-9+/]{43}=/g, `v1,${HIDDEN}`)
    .replace(/Bearer [^\s"',]+/gi, `Bearer ${HIDDEN}`)
    .replace(/\bsbx_[A-Za-z0-9_-]+/g, HIDDEN)
}

/** The trace of an attempt: that of its event, with a new parent id. */
function traceparentOf({ event_id, traceparent }: Traced, number: number) {
  if (traceparent === undefined) return undefined
  const hash = nodeCrypto().createHash('sha256').update(`${event_id} ${number}`).digest('hex')
  const [, trace, , flags] = traceparent.split('-')
  return { traceparent: ['00', trace, hash.slice(0, 16), flags].join('-') }
}

function headersOf(signature: Readonly<Record<string, string>>, event: Traced, number: number) {
  return {
    'content-type': 'application/json',
    'user-agent': `payout-sandbox/${VERSION}`,
    ...signature,
    'x-webhook-attempt': String(number),
    ...traceparentOf(event, number),
  }
}

export function attemptDetails(
  event: Traced,
  { timestamp, signatures, scheme, ...attempt }: StoredAttempt,
): DeliveryAttempt {
  const signed: Record<string, string> = {
    'webhook-id': event.event_id,
    'webhook-timestamp': String(timestamp),
    ...(signatures > 0 && {
      'webhook-signature': Array(signatures).fill(`v1,${HIDDEN}`).join(' '),
      'x-webhook-signature': HIDDEN,
    }),
  }
  const sent = SIGNATURE_SCHEMES[scheme ?? 'message'].headers.filter((name) => name in signed)
  return {
    ...attempt,
    headers: headersOf(
      Object.fromEntries(sent.map((name) => [name, signed[name]!])),
      event,
      attempt.number,
    ),
  }
}

/** How many signatures headers have; that of the body alone counts only where it is the only one. */
const signatureCount = ({
  'webhook-signature': signatures,
  'x-webhook-signature': ofBody,
}: Readonly<Record<string, string>>) =>
  signatures === undefined ? Number(ofBody !== undefined) : signatures.split(' ').length

const LOST = unsent({
  code: 'lost',
  message: 'a webhook rule lost this attempt on the way: the receiver never saw it',
})

/** The result of an attempt as it is stored; `gone`: the receiver wants no more of them. */
export type AttemptResult = { attempt: StoredAttempt; retryAfterMs: number; gone: boolean }

/** Signs and sends single attempts, and returns their results as they are stored. */
export function createAttemptSender({
  clock,
  assumed,
  runtime,
  settings,
  common,
  sendToInbox,
}: WorldContext & {
  runtime: Pick<Runtime, 'wall' | 'send'>
  settings: WebhookSettings
  common: Limit
  sendToInbox: Runtime['send']
}) {
  const { time, deadlineMs } = settings
  const limited = createClientLimit(common)

  /** Unix seconds that receivers of this sandbox should compare timestamps with. */
  const unixNow = () => Math.floor((time === 'client' ? clock.now() : runtime.wall()) / 1_000)

  return {
    unixNow,
    /** Makes one attempt; returns `undefined` if the sandbox stopped meanwhile and the result is unknown. */
    async send(
      event: EventRow,
      number: number,
      { url, webhook_secret }: WebhookRow,
      fault: DeliveryFault = {},
    ): Promise<AttemptResult | undefined> {
      const at = clock.iso()
      const scheme = assumed.get(webhookSignature)
      const timestamp = unixNow()
      // The whole body is signed, even if a fault truncates the sent one.
      const whole = Buffer.from(event.body)
      const signed = { id: event.event_id, timestamp, body: whole, secret: webhook_secret }
      const headers: Record<string, string> = {
        ...headersOf(SIGNATURE_SCHEMES[scheme].sign(signed, fault), event, number),
        // Without its envelope the body does not say what happened.
        ...(isBare(event) && { 'x-webhook-event': event.type }),
      }
      const half = Math.ceil(whole.length / 2)
      const body = fault.body === 'truncated' ? whole.subarray(0, half) : whole
      const isLost = number <= (fault.lost_attempts ?? 0)
      const send = url.startsWith(OWN_ORIGIN) ? sendToInbox : runtime.send
      const request = { url, headers, body, ...(deadlineMs && { deadlineMs }) }
      const result = isLost ? LOST : await limited(() => send(request))
      const { ok, status, duration_ms, response, truncated, error, retryAfterMs = 0 } = result
      if (error?.code === 'closed') return undefined
      return {
        retryAfterMs,
        gone: status === 410,
        attempt: {
          number,
          at,
          ok,
          url: maskLogText(url),
          timestamp: Number(headers['webhook-timestamp'] ?? timestamp),
          signatures: signatureCount(headers),
          ...(scheme !== 'message' && { scheme }),
          status: status ?? null,
          duration_ms,
          response: response && maskText(withoutSecrets(response, webhook_secret, headers)),
          truncated,
          error: error ?? null,
        },
      }
    },
  }
}

export type AttemptSender = ReturnType<typeof createAttemptSender>
