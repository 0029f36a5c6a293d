import type { EventRow } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import { maskNumber } from '../model/mask.ts'
import { createRandom, type Random } from '../runtime/random.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { notFound, type WorldContext } from '../tables/world-context.ts'
import { arrivalOrders } from './arrival-orders.ts'
import type { AttemptSender } from './attempt.ts'
import { isBare } from './events.ts'
import type { Webhooks } from './webhooks.ts'

/** The placeholder for the payment's id in the URL of a probe. */
export const PROBE_PLACEHOLDER = '{transaction_id}'

// Rejected events are sent again after the others, like retries, until this number of rounds.
const ROUNDS = 3
const ENCODED_PLACEHOLDER = encodeURIComponent(PROBE_PLACEHOLDER)

/** An order that was sent, and the state that the probe returned afterwards. */
export type ReplayedOrder = {
  sequence: string[]
  event_ids: string[]
  rejected: number
  state: unknown
}

/** The result of exploring: `found` is the shortest order whose state differs from that of the original order. */
export type ExploreResult = {
  transaction_id: string
  orders_tried: number
  in_order: ReplayedOrder
  found: (ReplayedOrder & { copies: number; differs_at: string[] }) | null
  /** Paths of the state that differ between two runs in the original order, such as times; not compared. */
  ignored: string[]
}

type EventBody = {
  id: string
  type: string
  data: Record<string, unknown> & { history: Record<string, unknown> }
  isBare?: true
}

/** The body of an event; under `webhook_body=resource` it is the resource alone. */
function eventBodyOf(row: EventRow): EventBody {
  const parsed = JSON.parse(row.body)
  return isBare(row) ? { id: row.event_id, type: row.type, data: parsed, isBare: true } : parsed
}

/** The leaves of a state, by path, so that two states can be compared. */
function leavesOf(value: unknown, path = '', parts = new Map<string, string>()) {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    for (const [name, inner] of Object.entries(value)) leavesOf(inner, `${path}/${name}`, parts)
  else parts.set(path || '/', JSON.stringify(value))
  return parts
}

/** The paths at which two states differ. */
function differences(a: unknown, b: unknown): string[] {
  const [left, originalOrder] = [leavesOf(a), leavesOf(b)]
  return [...new Set([...left.keys(), ...originalOrder.keys()])].filter(
    (path) => left.get(path) !== originalOrder.get(path),
  )
}

/** Copies of the payment's events with new ids and references, so that a receiver treats them as a new payment. */
function withFreshIds(bodies: readonly EventBody[], random: Random) {
  const transaction_id = random.uuid()
  const id = random.uuid()
  const client_transaction_id = `TXN${random.digits(15)}`
  const partner_transaction_id = `PTX${random.digits(15)}`
  const serial = random.digits(8)
  const events = bodies.map((body) => {
    const { reference_id, utr } = body.data.history['utr']
      ? {
          reference_id: body.data['reference_id'],
          utr: `${body.data.history['utr']}`.slice(0, 4) + serial,
        }
      : { reference_id: body.data['reference_id'], utr: null }
    const event_id = `evt_${random.uuid().replaceAll('-', '')}`
    const data = {
      ...body.data,
      transaction_id,
      reference_id: reference_id === null ? null : client_transaction_id,
      utr: utr && maskNumber(utr),
      history: { ...body.data.history, id, client_transaction_id, partner_transaction_id, utr },
    }
    const sent = body.isBare ? data : { ...body, id: event_id, data }
    return { event_id, type: body.type, body: JSON.stringify(sent) }
  })
  return { transaction_id, events }
}

const exploreError = (message: string) => new SandboxError('explore_failed', message)

/** Sends the events of a payment in the orders that at-least-once delivery allows, and compares the final states. */
export function createExplore({
  store,
  random,
  webhooks,
  attempts,
  runtime,
  deadlineMs,
}: WorldContext & {
  webhooks: Webhooks
  attempts: AttemptSender
  runtime: Pick<Runtime, 'send' | 'secret'>
  deadlineMs?: number
}) {
  const { payments, events: eventRows } = store.tables

  function eventBodiesOf(transaction_id: string): EventBody[] {
    if (!payments.get(transaction_id)) throw notFound('transaction', transaction_id)
    const rows = eventRows.page('resource', transaction_id, 0, Number.POSITIVE_INFINITY).reverse()
    if (rows.length < 2)
      throw exploreError(
        `The transaction ${transaction_id} has ${rows.length} stored ${rows.length === 1 ? 'event' : 'events'}; explore needs at least 2. Create the webhook before the payment, then advance the clock until the payment is finished.`,
      )
    return rows.map(({ row }) => eventBodyOf(row))
  }

  /** Gets the state of a payment from the integrator's own URL. */
  async function callProbe(probe: string, transaction_id: string): Promise<unknown> {
    const url = probe
      .replaceAll(PROBE_PLACEHOLDER, transaction_id)
      .replaceAll(ENCODED_PLACEHOLDER, transaction_id)
    const { ok, response, truncated, error } = await runtime.send({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      body: '',
      ...(deadlineMs && { deadlineMs }),
    })
    if (!ok) throw exploreError(`The probe request failed: ${error!.message}.`)
    if (truncated)
      throw exploreError(
        'The response of the probe is larger than 4 KiB. Let it return only the state of the payment.',
      )
    try {
      return JSON.parse(response)
    } catch {
      return response
    }
  }

  /** Sends one order to the receiver as a new payment, then calls the probe. */
  async function replay(
    bodies: readonly EventBody[],
    indexes: readonly number[],
    probe: string,
    ids: Random,
  ): Promise<ReplayedOrder> {
    const webhook = webhooks.get()
    const { transaction_id, events } = withFreshIds(bodies, ids)
    let left = indexes.map((i) => events[i]!)
    for (let round = 1; round <= ROUNDS && left.length > 0; round++) {
      const rejected: typeof left = []
      for (const event of left) {
        const sent = await attempts.send(event, round, webhook)
        if (!sent)
          throw new SandboxError(
            'not_ready',
            'The sandbox is shutting down. Explore again after it has started.',
          )
        const { ok, status, error } = sent.attempt
        if (ok) continue
        if (status === null) throw exploreError(`The receiver did not respond: ${error!.message}.`)
        rejected.push(event)
      }
      left = rejected
    }
    return {
      sequence: indexes.map((i) => events[i]!.type),
      event_ids: indexes.map((i) => events[i]!.event_id),
      rejected: left.length,
      state: await callProbe(probe, transaction_id),
    }
  }

  /**
   * Explores the orders of a payment's events, shortest first, and stops at the first one after which the probe returns
   * a different state than after the original order. Throws `explore_failed` if receiver or probe do not respond.
   */
  return async function explore(
    transaction_id: string,
    probe: string,
    maxOrders: number,
  ): Promise<ExploreResult> {
    webhooks.get()
    const bodies = eventBodiesOf(transaction_id)
    const right = bodies.map((_, i) => i)
    // A receiver remembers ids; ids from the seed would repeat after a reset or from another client.
    const ids = createRandom(Number.parseInt(runtime.secret().slice(0, 12), 16))
    const in_order = await replay(bodies, right, probe, ids)
    // Twice, to find the values that are new in each run (ids, times).
    const again = await replay(bodies, right, probe, ids)
    const ignored = differences(in_order.state, again.state)
    if (in_order.rejected > 0)
      throw exploreError(
        'The receiver rejects events even in their original order, so no other order can be compared with it.',
      )
    const result: ExploreResult = {
      transaction_id,
      orders_tried: 0,
      in_order,
      found: null,
      ignored,
    }
    const orders = arrivalOrders({
      events: bodies,
      random: () => store.change(random.fraction),
      max_orders: maxOrders,
    })
    for (const { indexes, copies } of orders) {
      result.orders_tried++
      const attempt = await replay(bodies, indexes, probe, ids)
      const differs_at = differences(in_order.state, attempt.state).filter(
        (path) => !ignored.includes(path),
      )
      if (differs_at.length === 0) continue
      result.found = { ...attempt, copies, differs_at }
      break
    }
    return result
  }
}
