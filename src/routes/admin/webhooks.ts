import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  type DeliveryRow,
  ListDeliveriesResponse,
} from '../../model/delivery.ts'
import { isoOf, named } from '../../model/formats.ts'
import { pageOf } from '../../model/paging.ts'
import { rupeesOf } from '../../model/payment.ts'
import { betweenTest, searchTest } from '../../model/search.ts'
import { InboxQuery, InboxResponse, ReceivedResponse } from '../../model/webhook.ts'
import { EVENTS } from '../../scenarios/operations-and-events.ts'
import { attemptDetails } from '../../webhooks/attempt.ts'
import type { RecordedEvent } from '../../webhooks/deliveries.ts'
import { SIGNATURE_SCHEMES } from '../../webhooks/signatures.ts'
import type { World } from '../../world/world.ts'

const Reveal = z
  .optional(z.literal('true'))
  .describe('With the secret, and the signatures that it makes, unmasked.')
const DeliveryPath = z.object({ id: z.string().min(1).max(64) })

function paymentFields({ tables }: World, resource_id: string) {
  const payment = tables.tables.payments.get(resource_id)
  return {
    amount: payment ? rupeesOf(payment.paise) : null,
    reference_id: payment?.reference_id ?? null,
  }
}

/** A delivery, or an event that was only recorded. */
type Listed = Omit<DeliveryRow, 'event_id' | 'status'> & Pick<Delivery, 'event_id' | 'status'>

const recordedRow = ({ at, ...event }: RecordedEvent): Listed => ({
  ...event,
  event_id: null,
  status: 'recorded',
  created_at: isoOf(at),
  ordered: false,
  next_attempt_at: null,
  timer_id: null,
  attempts: [],
})

export const deliveryResponse = (world: World, row: Listed): Delivery => ({
  delivery_id: row.delivery_id,
  event_id: row.event_id,
  event: row.event,
  resource_id: row.resource_id,
  ...paymentFields(world, row.resource_id),
  status: row.status,
  created_at: row.created_at,
  next_attempt_at: row.next_attempt_at === null ? null : isoOf(row.next_attempt_at),
  hold_until: row.hold_until ?? null,
  rule: row.rule ?? null,
  fault: row.fault ?? null,
  attempts: row.attempts.map((attempt) =>
    attemptDetails(world.webhooks.deliveries.eventOf(row as DeliveryRow) ?? row, attempt),
  ),
})

const deliveryDetail = (world: World, row: DeliveryRow): DeliveryDetail => ({
  ...deliveryResponse(world, row),
  body: world.webhooks.deliveries.eventOf(row).body,
})

/** With the present secret, and the signatures that it makes. */
function revealed({ webhooks }: World, row: DeliveryRow, detail: DeliveryDetail): DeliveryDetail {
  const { webhook_secret: secret } = webhooks.get()
  const { event_id: id, body } = webhooks.deliveries.eventOf(row)
  const attempts = detail.attempts.map((shown, i) => {
    const { timestamp, scheme = 'message' } = row.attempts[i]!
    // A stale timestamp is stored as it was sent.
    const { timestamp: _, ...fault } = row.fault ?? {}
    const signed = SIGNATURE_SCHEMES[scheme].sign({ id, timestamp, body, secret }, fault)
    return { ...shown, headers: { ...shown.headers, ...signed } }
  })
  return { ...detail, attempts, secret }
}

const wasTried = ({ attempts }: Listed, how: 'again' | '5xx') =>
  how === 'again' ? attempts.length > 1 : attempts.some(({ status }) => (status ?? 0) >= 500)

/** What a search in the deliveries reads. */
function textOf(world: World, row: Listed): string {
  const { amount, reference_id: reference } = paymentFields(world, row.resource_id)
  const { delivery_id: id, event_id: eventId, event, resource_id: resource, status, rule } = row
  return [id, eventId, event, resource, status, rule, amount, reference].join(' ')
}

/** Returns the deliveries that match a query, newest first. Events that were only recorded are older than all deliveries. */
export function listDeliveries(world: World, query: z.output<typeof DeliveryQuery>) {
  const { deliveries } = world.webhooks
  const { page, limit, status, event, resource_id, search, tried } = query
  const isFound = searchTest(search)
  const isThen = betweenTest(query)
  const matchesQuery = (row: Listed) =>
    (isThen?.(row.created_at) ?? true) &&
    (status === undefined || row.status === status) &&
    (event === undefined || row.event === event) &&
    (tried === undefined || wasTried(row, tried)) &&
    (resource_id === undefined || row.resource_id === resource_id) &&
    (isFound?.(textOf(world, row)) ?? true)
  const oldestFirst = [...deliveries.recorded().map(recordedRow), ...deliveries.all()]
  const found = oldestFirst.filter(matchesQuery).reverse()
  const from = (page - 1) * limit
  return {
    ...pageOf(query, found.length),
    deliveries: found.slice(from, from + limit).map((row) => deliveryResponse(world, row)),
  }
}

export const webhookCalls = [
  adminCall({
    id: 'listDeliveries',
    summary:
      'List deliveries, newest first; search, or filter by status, event, attempts and resource_id',
    query: DeliveryQuery,
    response: ListDeliveriesResponse,
    handle: (world, { query }) => listDeliveries(world, query),
  }),
  adminCall({
    id: 'getDelivery',
    summary: 'Return a delivery with body and attempts',
    params: DeliveryPath,
    query: z.object({ reveal: Reveal }),
    response: DeliveryDetail,
    handle(world, { params: { id }, query: { reveal } }) {
      const old = world.webhooks.deliveries.recorded().find(({ delivery_id }) => delivery_id === id)
      if (old) return { ...deliveryResponse(world, recordedRow(old)), body: null }
      const row = world.webhooks.deliveries.get(id)
      const detail = deliveryDetail(world, row)
      return reveal ? revealed(world, row, detail) : detail
    },
  }),
  adminCall({
    id: 'redeliver',
    summary: 'Resend a delivery now, and return the outcome',
    params: DeliveryPath,
    response: DeliveryDetail,
    handle: async (world, { params: { id } }) =>
      deliveryDetail(world, await world.webhooks.redeliver(id)),
  }),
  adminCall({
    id: 'triggerWebhook',
    summary: 'Send an event now, by default about the newest resource',
    body: z.strictObject({
      event: z.enum(EVENTS),
      resource_id: z.guid().toLowerCase().optional(),
      override: z.record(z.string(), z.unknown()).optional(),
    }),
    response: named('TriggeredResponse', { event_id: z.string(), deliveries: z.array(Delivery) }),
    async handle(world, { body: { event, resource_id, override } }) {
      const rows = await world.webhooks.trigger(event, resource_id, override)
      return {
        event_id: rows[0]!.event_id,
        deliveries: rows.map((row) => deliveryResponse(world, row)),
      }
    },
  }),
]

const bytesOf = (body: unknown) => (body instanceof Uint8Array ? body : new Uint8Array(0))

export const inboxCalls = [
  adminCall({
    id: 'receiveWebhook',
    summary: 'Receive a webhook and verify it; needs no admin token',
    raw: true,
    response: ReceivedResponse,
    handle: ({ webhooks }, { headers, body }) => webhooks.inbox.receive(headers, bytesOf(body)),
  }),
  adminCall({
    id: 'listInbox',
    summary: 'List the inbox, newest first, with each verification',
    query: InboxQuery,
    response: InboxResponse,
    handle({ webhooks }, { query: { page, limit } }) {
      const { total, messages } = webhooks.inbox.list({ page, limit })
      return { ...pageOf({ page, limit }, total), messages }
    },
  }),
  adminCall({
    id: 'clearInbox',
    summary: 'Empty the inbox',
    response: named('ClearedInboxResponse', { deleted: z.int() }),
    handle: ({ webhooks }) => ({ deleted: webhooks.inbox.clear() }),
  }),
]
