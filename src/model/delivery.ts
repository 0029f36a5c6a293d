import * as z from 'zod'
import { MAX_MS } from './duration.ts'
import { Timestamp } from './formats.ts'
import { listFields, searchQuery } from './paging.ts'

/** An event as stored: its body's bytes are fixed when it is made. */
export const EventRow = z.strictObject({
  event_id: z.string(),
  type: z.string(),
  resource_id: z.string(),
  created_at: Timestamp,
  /** How many deliveries it has. */
  copies: z.int(),
  body: z.string(),
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
const DeliveryAttempt = z
  .strictObject({
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
  .meta({ id: 'DeliveryAttempt' })
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

/** One attempt as stored: of the headers only what cannot be derived from the other fields. */
const StoredAttempt = DeliveryAttempt.omit({ headers: true }).extend({
  /** Unix seconds. */
  timestamp: z.int(),
  /** How many signatures were sent. */
  signatures: z.int(),
  /** What was signed; absent: the whole message. */
  scheme: z.exactOptional(z.enum(['body', 'none'])),
})
export type StoredAttempt = z.infer<typeof StoredAttempt>

/** The fault that a scenario injects into a delivery. */
export const DeliveryFault = z
  .strictObject({
    signature: z.exactOptional(z.enum(['wrong', 'missing'])),
    timestamp: z.exactOptional(z.literal('stale')),
    body: z.exactOptional(z.literal('truncated')),
    lost_attempts: z.exactOptional(z.int().min(1).max(10)),
  })
  .meta({ id: 'DeliveryFault' })
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
  /** The webhook rule that matched the event. */
  rule: z.exactOptional(z.string()),
})
export type DeliveryRow = z.infer<typeof DeliveryRow>

/** A delivery in a list. */
export const Delivery = z
  .strictObject({
    delivery_id: z.string(),
    event_id: z.string().nullable(),
    event: z.string(),
    resource_id: z.string(),
    amount: z.string().nullable().meta({ description: 'Of the payment; null: not a payment.' }),
    reference_id: z.string().nullable().meta({ description: 'Of the payment.' }),
    status: DeliveryStatus,
    created_at: Timestamp,
    next_attempt_at: Timestamp.nullable(),
    hold_until: z.string().nullable(),
    rule: z.string().nullable(),
    fault: DeliveryFault.nullable(),
    attempts: z.array(DeliveryAttempt),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.infer<typeof Delivery>

/** A delivery with its body; null for an event that was only recorded. */
export const DeliveryDetail = Delivery.extend({ body: z.string().nullable() }).meta({
  id: 'DeliveryDetailResponse',
})
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

export const DeliveryQuery = searchQuery(50).extend({
  status: DeliveryStatus.optional(),
  event: z.string().max(64).optional(),
  resource_id: z.string().max(64).optional(),
})
export type DeliveryQuery = z.infer<typeof DeliveryQuery>

export const ListDeliveriesResponse = z
  .strictObject({
    total: z.int(),
    ...listFields,
    total_pages: z.int(),
    deliveries: z.array(Delivery),
  })
  .meta({ id: 'DeliveriesResponse' })
