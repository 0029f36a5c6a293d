import * as z from 'zod'
import { MAX_MS } from './duration.ts'
import { LAST_INSTANT, named, Timestamp, Traceparent } from './formats.ts'
import { Between, pageFields, searchQuery } from './paging.ts'

/** An event as stored: its body's bytes are fixed when it is made. */
export const EventRow = z.strictObject({
  event_id: z.string(),
  type: z.string(),
  resource_id: z.string(),
  created_at: Timestamp,
  /** How many deliveries it has. */
  copies: z.int(),
  body: z.string(),
  /** The `traceparent` of the call that caused it, or of an earlier event of its resource. */
  traceparent: z.exactOptional(Traceparent),
})
export type EventRow = z.infer<typeof EventRow>

/** `recorded`: the client had no webhook, or nothing is sent by itself; the event is sent only on request. */
export const DeliveryStatus = z.enum([
  'pending',
  'delivered',
  'failed',
  'dropped',
  'cancelled',
  'recorded',
])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** One attempt as the API shows it: times on the client's clock, the duration in real ms, signatures masked. */
const DeliveryAttempt = named('DeliveryAttempt', {
  number: z.int().min(1),
  at: Timestamp,
  ok: z.boolean(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  status: z.int().nullable(),
  duration_ms: z.int(),
  response: z.string(),
  truncated: z.boolean(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

/** One attempt as stored: of the headers only what cannot be derived from the other fields. */
const StoredAttempt = DeliveryAttempt.omit({ headers: true }).extend({
  /** Unix seconds. */
  timestamp: z.int(),
  signatures: z.int(),
  /** What was signed; absent: the whole message. */
  scheme: z.exactOptional(z.enum(['body', 'none'])),
})
export type StoredAttempt = z.infer<typeof StoredAttempt>

export const DeliveryFault = named('DeliveryFault', {
  signature: z.exactOptional(z.enum(['wrong', 'missing', 'rotated'])),
  timestamp: z.exactOptional(z.literal('stale')),
  body: z.exactOptional(z.literal('truncated')),
  lost_attempts: z.exactOptional(z.int().min(1).max(10)),
})
export type DeliveryFault = z.infer<typeof DeliveryFault>

/** One delivery of an event, as stored; a scenario may create several. */
export const DeliveryRow = z.strictObject({
  delivery_id: z.string(),
  event_id: z.string(),
  event: z.string(),
  resource_id: z.string(),
  created_at: Timestamp,
  status: DeliveryStatus.exclude(['recorded']),
  /** Later events of its resource wait for it, and it waits for earlier ones. */
  ordered: z.boolean(),
  /** Client's time, ms; null if it is finished or waits for an earlier event; in the past while it is being sent. */
  next_attempt_at: z.int().nullable(),
  /** The timer of that attempt; removed while it is being sent. */
  timer_id: z.string().nullable(),
  attempts: z.array(StoredAttempt),
  /** The delivery waits until this event of its resource was sent. */
  hold_until: z.exactOptional(z.string()),
  /** How long it waits after that, ms of the client's time. */
  delay_ms: z.exactOptional(z.int().min(0).max(MAX_MS)),
  /** One further attempt, requested by a call. */
  once: z.exactOptional(z.literal(true)),
  fault: z.exactOptional(DeliveryFault),
  rule: z.exactOptional(z.string()),
})
export type DeliveryRow = z.infer<typeof DeliveryRow>

export const Delivery = named('Delivery', {
  delivery_id: z.string(),
  event_id: z.string().nullable(),
  event: z.string(),
  resource_id: z.string(),
  amount: z.string().nullable().describe('Of the payment; null: not a payment.'),
  reference_id: z.string().nullable().describe('Of the payment.'),
  status: DeliveryStatus,
  created_at: Timestamp,
  next_attempt_at: Timestamp.nullable(),
  hold_until: z.string().nullable(),
  rule: z.string().nullable(),
  fault: DeliveryFault.nullable(),
  attempts: z.array(DeliveryAttempt),
})
export type Delivery = z.infer<typeof Delivery>

/** A delivery with its body; null for an event that was only recorded. */
export const DeliveryDetail = Delivery.extend({
  body: z.string().nullable(),
  secret: z.string().optional().describe('Of the webhook; only with `reveal`.'),
}).meta({ id: 'DeliveryDetailResponse' })
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

export const DeliveryQuery = searchQuery(50).extend({
  status: DeliveryStatus.optional(),
  event: z.string().max(64).optional(),
  tried: z
    .optional(z.enum(['again', '5xx']))
    .describe('`again`: more than once; `5xx`: a response was 5xx.'),
  resource_id: z.string().max(64).optional(),
  ...Between.shape,
})
export type DeliveryQuery = z.infer<typeof DeliveryQuery>

export const ListDeliveriesResponse = named('DeliveriesResponse', {
  ...pageFields,
  deliveries: z.array(Delivery),
})

/** Every error code of an attempt and its meaning. `response_too_large` and `response_compressed` are remarks: it may be `ok`. */
export const SEND_ERRORS = {
  timeout_connect: 'No connection within the deadline (DNS, TCP or TLS).',
  timeout_response: 'No response headers within the deadline.',
  timeout_body: 'No complete response body within the deadline.',
  refused: 'Nothing listens on that port.',
  unreachable: 'No network route.',
  dns: 'The host name can’t be resolved.',
  tls: 'TLS handshake failed, or untrusted certificate.',
  reset: 'Connection reset before any response.',
  no_response: 'Connection closed without a response.',
  reset_body: 'Connection broke within the response body.',
  not_http: 'Not HTTP, or an unrequested 100 Continue.',
  headers_too_large: 'Response headers over 16 KiB.',
  redirect: 'A 3xx response.',
  gone: 'A 410 response; no more attempts.',
  status: 'Any other status that isn’t 2xx.',
  response_too_large: 'A 2xx response over 64 KiB: delivered; the rest wasn’t read.',
  response_compressed: 'A compressed 2xx response: delivered.',
  address_not_allowed: 'The address rules forbid it.',
  bad_request: 'Invalid URL or header; nothing was sent.',
  lost: 'Lost by `lost_attempts` of a webhook rule.',
  closed: 'The sandbox stopped during the attempt.',
  failed: 'Anything else; the message has the system’s error.',
} as const

export type SendErrorCode = keyof typeof SEND_ERRORS

/** The error of an attempt: a code for programs, a sentence for people. */
export type SendError = { code: SendErrorCode; message: string }

/** Something that will happen: a stored row, so that it can be listed, fired, cancelled and survives a restart. */
export const TimerRow = z.strictObject({
  timer_id: z.string(),
  /** Client's time, ms. */
  due_at: z.int().min(0).max(LAST_INSTANT),
  /** Insertion number; breaks ties of `due_at`. */
  seq: z.int(),
  kind: z.string(),
  resource_id: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
})
export type TimerRow = z.infer<typeof TimerRow>
