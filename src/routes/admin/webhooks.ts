import * as z from 'zod'
import { readTarget } from '../../core/addresses.ts'
import { adminCall } from '../../http/admin.ts'
import {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  type DeliveryRow,
  ListDeliveriesResponse,
} from '../../model/delivery.ts'
import { pagesOf } from '../../model/list.ts'
import { text, Uuid } from '../../model/text.ts'
import { EVENTS } from '../../scenarios/words.ts'
import type { RecordedEvent } from '../../services/deliveries.ts'
import { attemptDetails } from '../../services/delivery-attempts.ts'
import { PROBE_PLACEHOLDER } from '../../services/explore.ts'
import type { World } from '../../world.ts'

// Each is sent for real, so this many take minutes.
const MAX_ORDERS = 10_000

const DeliveryPath = z.object({ id: z.string().min(1).max(64) })
const iso = (ms: number) => new Date(ms).toISOString()

/** A delivery as a list shows it. */
export const shown = (row: DeliveryRow): Delivery => ({
  delivery_id: row.delivery_id,
  event_id: row.event_id,
  event: row.event,
  resource_id: row.resource_id,
  status: row.status,
  created_at: row.created_at,
  next_attempt_at: row.next_attempt_at === null ? null : iso(row.next_attempt_at),
  hold_until: row.hold_until ?? null,
  rule: row.rule ?? null,
  fault: row.fault ?? null,
  attempts: row.attempts.map((attempt) => attemptDetails(row.event_id, attempt)),
})

const shownRecorded = ({ delivery_id, event, resource_id, at }: RecordedEvent): Delivery => ({
  delivery_id,
  event_id: null,
  event,
  resource_id,
  status: 'recorded',
  created_at: iso(at),
  next_attempt_at: null,
  hold_until: null,
  rule: null,
  fault: null,
  attempts: [],
})

const detail = ({ deliveries }: World, row: DeliveryRow): DeliveryDetail => ({
  ...shown(row),
  body: deliveries.eventOf(row).body,
})

/** Those a query asks for, newest first; what was only recorded is from before the first delivery. */
export function listed({ deliveries }: World, query: z.output<typeof DeliveryQuery>) {
  const { page, limit, status, event, resource_id } = query
  const wanted = (one: { status?: string; event: string; resource_id: string }) =>
    (status === undefined || (one.status ?? 'recorded') === status) &&
    (event === undefined || one.event === event) &&
    (resource_id === undefined || one.resource_id === resource_id)
  const rows = [...deliveries.all()].filter(wanted).reverse()
  const recorded = deliveries.recorded().filter(wanted).reverse()
  const from = (page - 1) * limit
  const total = rows.length + recorded.length
  return {
    total,
    page,
    limit,
    total_pages: pagesOf(total, limit),
    deliveries: [
      ...rows.slice(from, from + limit).map(shown),
      ...recorded
        .slice(Math.max(0, from - rows.length), Math.max(0, from + limit - rows.length))
        .map(shownRecorded),
    ],
  }
}

const ProbeUrl = text(2048).refine(
  (url) => 'target' in readTarget(url) && url.includes(PROBE_PLACEHOLDER),
  { error: `must be an absolute http or https URL with ${PROBE_PLACEHOLDER} in it` },
)
const replay = {
  sequence: z.array(z.string()),
  event_ids: z.array(z.string()),
  refused: z.int(),
  state: z.unknown(),
}

/** What is sent to the client's webhook: looking at it, and making it happen by hand. */
export const webhookCalls = [
  adminCall({
    id: 'listDeliveries',
    method: 'GET',
    url: '/webhooks/deliveries',
    summary: 'Deliveries and their attempts, newest first; by status, event and resource_id',
    query: DeliveryQuery,
    response: ListDeliveriesResponse,
    handle: (world, { query }) => listed(world, query),
  }),
  adminCall({
    id: 'getDelivery',
    method: 'GET',
    url: '/webhooks/deliveries/:id',
    summary: 'A delivery with its body and every attempt',
    params: DeliveryPath,
    response: DeliveryDetail,
    handle(world, { params: { id } }) {
      const old = world.deliveries.recorded().find(({ delivery_id }) => delivery_id === id)
      if (old) return { ...shownRecorded(old), body: null }
      return detail(world, world.deliveries.get(id))
    },
  }),
  adminCall({
    id: 'redeliver',
    method: 'POST',
    url: '/webhooks/deliveries/:id/redeliver',
    summary: 'Send a delivery once more, now; answers with how it ended',
    params: DeliveryPath,
    response: DeliveryDetail,
    handle: async (world, { params: { id } }) =>
      detail(world, await world.deliveries.redeliver(id)),
  }),
  adminCall({
    id: 'triggerWebhook',
    method: 'POST',
    url: '/webhooks/trigger',
    summary: 'Fire an event about a resource, the newest unless one is named; sent now',
    body: z.strictObject({
      event: z.enum(EVENTS),
      resource_id: z.guid().toLowerCase().optional(),
      override: z.record(z.string(), z.unknown()).optional(),
    }),
    response: z
      .strictObject({ event_id: z.string(), deliveries: z.array(Delivery) })
      .meta({ id: 'Triggered' }),
    async handle({ deliveries }, { body: { event, resource_id, override } }) {
      const rows = await deliveries.trigger(event, resource_id, override)
      return { event_id: rows[0]!.event_id, deliveries: rows.map(shown) }
    },
  }),
  adminCall({
    id: 'exploreWebhooks',
    method: 'POST',
    url: '/webhooks/explore',
    summary:
      'Send a payment’s events in every order that may happen, and find one that ends otherwise',
    body: z.strictObject({
      transaction_id: Uuid,
      probe: ProbeUrl,
      max_orders: z.int().min(1).max(MAX_ORDERS).default(100),
    }),
    response: z
      .strictObject({
        transaction_id: Uuid,
        orders_tried: z.int(),
        in_order: z.strictObject(replay),
        found: z
          .strictObject({ ...replay, copies: z.int(), differs_at: z.array(z.string()) })
          .nullable(),
        ignored: z.array(z.string()),
      })
      .meta({ id: 'Explored' }),
    errors: ['explore_failed'],
    handle: (world, { body: { transaction_id, probe, max_orders: maxOrders } }) =>
      world.explore(transaction_id, probe, maxOrders),
  }),
]
