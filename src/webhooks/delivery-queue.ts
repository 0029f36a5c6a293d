import { webhookDelivery, webhookOrder } from '../assumptions/webhooks.ts'
import type { DeliveryRow, EventRow } from '../model/delivery.ts'
import { type Delay, pointOf } from '../model/duration.ts'
import type { WebhookOutcome } from '../scenarios/compiled.ts'
import { entryIn, type WorldContext } from '../tables/world-context.ts'
import { isReachable } from './events.ts'

export const WEBHOOK_ATTEMPT = 'webhook.attempt'

// An unlimited log would fill the memory; pending deliveries are never dropped.
const MAX_FINISHED = 10_000
// An event that waits for another one is sent at the latest after this time, ms of the client's time.
const MAX_HOLD = 3_600_000

export type DeliveryQueueDeps = Pick<
  WorldContext,
  'store' | 'clock' | 'random' | 'scheduler' | 'assumed'
> & {
  /** Called for every new or changed delivery, inside the change. */
  onChanged: (row: DeliveryRow) => void
}

/**
 * The stored deliveries of a client, and when the next attempt of each is made. An event waits until the first attempts of
 * the earlier events of its resource have ended, or, if a failed attempt keeps its place, until these are delivered or failed.
 */
export class DeliveryQueue {
  readonly #deps: DeliveryQueueDeps
  // The ids of finished deliveries, in order of completion.
  #finished: string[] = []

  constructor(deps: DeliveryQueueDeps) {
    this.#deps = deps
  }

  get #tables() {
    return this.#deps.store.tables
  }

  get(id: string): DeliveryRow {
    return entryIn(this.#tables.deliveries, 'delivery', id).row
  }

  find(id: string): DeliveryRow | undefined {
    return this.#tables.deliveries.get(id)
  }

  eventOf({ event_id }: DeliveryRow): EventRow {
    return this.#tables.events.get(event_id)!
  }

  // ---- order and hold

  /** Stores a new delivery; with `skipsOrder` it does not wait for earlier events of its resource. */
  add(
    event: EventRow,
    { copy, delay }: { copy: number; delay: Delay },
    outcome: WebhookOutcome,
    rule: string | undefined,
    skipsOrder: boolean,
  ): DeliveryRow {
    const { clock, random } = this.#deps
    const { event_id, type, resource_id, created_at } = event
    const { drop, holdUntil, fault = {} } = outcome
    const held = holdUntil !== undefined && isReachable(holdUntil, resource_id, this.#tables)
    const joins = copy === 1 && !drop && !held && this.#releaseJoined(resource_id)
    const delay_ms = pointOf(delay, delay.minMs < delay.maxMs ? random.fraction() : 0)
    const row: DeliveryRow = {
      delivery_id: deliveryId(event_id, copy),
      event_id,
      event: type,
      resource_id,
      created_at,
      status: drop ? 'dropped' : 'pending',
      ordered: !skipsOrder && !joins && !drop && delay.maxMs === 0 && !held && copy === 1,
      next_attempt_at: null,
      timer_id: null,
      attempts: [],
      ...(held && { hold_until: holdUntil, ...(delay_ms > 0 && { delay_ms }) }),
      ...(Object.keys(fault).length > 0 && { fault }),
      ...(rule !== undefined && { rule }),
    }
    if (drop) {
      this.#put(row)
      this.#retain(row)
    } else if (row.ordered && this.#tables.deliveries.count('ordered', resource_id) > 0)
      this.#put(row)
    else this.schedule(row, clock.now() + (held ? MAX_HOLD : 0) + delay_ms)
    return this.get(row.delivery_id)
  }

  /** Schedules what waits for the next event of its resource, which is sent at this instant too. */
  #releaseJoined(resource_id: string): boolean {
    const { deliveries } = this.#tables
    if (deliveries.count('held', resource_id) === 0) return false
    const joined = deliveries
      .page('held', resource_id, 0, Number.POSITIVE_INFINITY)
      .filter(({ row }) => row.hold_until === 'next')
    for (const { row } of joined) this.expedite(row)
    return joined.length > 0
  }

  /** Stores a delivery with the timer of its next attempt; `clock/advance` shows the payload. */
  schedule(row: DeliveryRow, due_at: number) {
    const timer = this.#deps.scheduler.schedule({
      due_at,
      kind: WEBHOOK_ATTEMPT,
      // Not the id of the event's resource: a status set on request cancels the timers of that resource.
      resource_id: row.delivery_id,
      payload: { event: row.event, event_id: row.event_id, attempt: row.attempts.length + 1 },
    })
    // The time of the timer: the scheduler limits it to the last possible instant.
    this.#put({ ...row, next_attempt_at: timer.due_at, timer_id: timer.timer_id })
  }

  /** Schedules the attempt after a failed one; unless the delivery keeps its place, it no longer blocks later events. */
  retry(row: DeliveryRow, due_at: number) {
    const keepsPlace = this.#deps.assumed.get(webhookOrder) === 'per_resource'
    this.schedule(keepsPlace ? row : { ...row, ordered: false }, due_at)
    this.#scheduleNext(row.resource_id)
  }

  timerOf({ timer_id }: DeliveryRow) {
    return timer_id === null ? undefined : this.#tables.timers.get(timer_id)
  }

  /** Sends a delivery now: a pending one early, a finished one once more. */
  expedite({ hold_until: _, delay_ms: __, ...row }: DeliveryRow) {
    this.#cancel(row)
    const next: DeliveryRow =
      row.status === 'pending' ? row : { ...row, status: 'pending', ordered: false, once: true }
    this.schedule(next, this.#deps.clock.now())
  }

  /** Ends a delivery, and schedules what it blocked. */
  finish(row: DeliveryRow, status: DeliveryRow['status'], attempts = row.attempts) {
    const { once: _, hold_until: __, delay_ms: ___, ...rest } = row
    const done: DeliveryRow = { ...rest, status, attempts, next_attempt_at: null, timer_id: null }
    this.#put(done)
    this.#retain(done)
    this.#releaseBlocked(done)
  }

  /** Schedules what a finished delivery blocked: the next event in order, and the events that waited for it. */
  #releaseBlocked({ event, resource_id }: DeliveryRow) {
    const { deliveries } = this.#tables
    this.#scheduleNext(resource_id)
    if (deliveries.count('held', resource_id) === 0) return
    for (const { row } of deliveries.page('held', resource_id, 0, Number.POSITIVE_INFINITY)) {
      const { hold_until, delay_ms = 0, ...free } = row
      // Release it if its event was sent, or can no longer happen.
      const mayCome =
        isReachable(hold_until!, resource_id, this.#tables) ||
        this.#isPending(hold_until!, resource_id)
      if (hold_until !== event && mayCome) continue
      this.#cancel(row)
      // A delay that already runs, because the hold was too long, does not start again.
      this.schedule(free, Math.min(this.#deps.clock.now() + delay_ms, row.next_attempt_at!))
    }
  }

  /** Schedules the first event of a resource that waits for an earlier one, if nothing blocks it any more. */
  #scheduleNext(resource_id: string) {
    const next = this.#firstInOrder(resource_id)
    if (next && next.next_attempt_at === null) this.schedule(next, this.#deps.clock.now())
  }

  #isPending(type: string, resource_id: string): boolean {
    const { events } = this.#tables
    for (const { row } of events.page('resource', resource_id, 0, Number.POSITIVE_INFINITY)) {
      if (row.type !== type) continue
      for (let copy = 1; copy <= row.copies; copy++)
        if (this.find(deliveryId(row.event_id, copy))?.status === 'pending') return true
    }
    return false
  }

  #firstInOrder(resource_id: string): DeliveryRow | undefined {
    const { deliveries } = this.#tables
    const count = deliveries.count('ordered', resource_id)
    return count === 0 ? undefined : deliveries.page('ordered', resource_id, count - 1, 1)[0]!.row
  }

  #put(row: DeliveryRow) {
    this.#deps.onChanged(row)
    this.#deps.store.put('deliveries', row)
  }

  #cancel({ timer_id }: DeliveryRow) {
    if (timer_id !== null) this.#deps.scheduler.cancel(timer_id)
  }

  // ---- retention

  /** Removes the deliveries that finished first beyond the maximum. */
  #retain({ delivery_id }: DeliveryRow) {
    this.#finished.push(delivery_id)
    while (this.#finished.length > MAX_FINISHED) {
      const oldest = this.find(this.#finished.shift()!)
      // It may be pending again: redelivered, or the change that finished it was rolled back.
      if (oldest && oldest.status !== 'pending') this.#remove(oldest)
    }
  }

  #remove({ delivery_id, event_id }: DeliveryRow) {
    const { store } = this.#deps
    store.remove('deliveries', delivery_id)
    const copies = this.#tables.events.get(event_id)?.copies ?? 0
    for (let copy = 1; copy <= copies; copy++) if (this.find(deliveryId(event_id, copy))) return
    store.remove('events', event_id)
  }

  // ---- the whole content

  /** Collects finished deliveries; those that were being sent are sent again, or failed if nothing is sent twice. */
  recover() {
    const { store, clock, assumed } = this.#deps
    const retries = assumed.get(webhookDelivery) === 'at_least_once'
    store.change(() => {
      for (const { delivery_id } of [...this.#tables.deliveries.rows()]) {
        // As it is now: the end of an earlier one may have changed it.
        const row = this.find(delivery_id)
        if (!row) continue
        if (row.status !== 'pending') this.#retain(row)
        if (row.status !== 'pending' || this.timerOf(row)) continue
        if (row.ordered && this.#firstInOrder(row.resource_id)?.delivery_id !== row.delivery_id)
          continue
        // Without a time it waits for an earlier event, so it was not being sent.
        if (retries || row.next_attempt_at === null) this.schedule(row, clock.now())
        else this.finish(row, 'failed')
      }
    })
  }

  /** Removes all deliveries and events, inside the open change. */
  clear() {
    const { store } = this.#deps
    for (const row of [...this.#tables.deliveries.rows()]) {
      this.#cancel(row)
      store.remove('deliveries', row.delivery_id)
    }
    for (const { event_id } of [...this.#tables.events.rows()]) store.remove('events', event_id)
  }

  /** Forgets which deliveries were finished, after the rows were replaced or removed. */
  forget() {
    this.#finished = []
  }
}

const deliveryId = (event_id: string, copy: number) =>
  `dlv_${event_id.slice('evt_'.length)}${copy === 1 ? '' : `_${copy}`}`
