import type { Scenarios } from '../active-scenario/world-scenarios.ts'
import type { DeliveryFault, DeliveryRow, EventRow, StoredAttempt } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import { canTransition } from '../model/lifecycle.ts'
import { quoteInput } from '../model/mask.ts'
import type { WebhookOutcome } from '../scenarios/compiled.ts'
import { kindOf, resourceIdOf } from '../tables/resource-ids.ts'
import type { SandboxStore } from '../tables/tables.ts'
import { notFound, type WorldContext } from '../tables/world-context.ts'
import { pointOf } from '../time/duration.ts'
import { type CommitOrder, createCommitOrder, type TimerRow } from '../time/scheduler.ts'
import type { DeliveryAttempts } from './delivery-attempts.ts'
import type { Override, WebhookEvents } from './webhook-events.ts'
import type { Webhooks } from './webhooks.ts'

/** The kind of the timers of attempts. */
export const WEBHOOK_ATTEMPT = 'webhook.attempt'

// These events are only sent on request (defaults: Webhook).
const ON_REQUEST: ReadonlySet<string> = new Set(['user.created', 'webhook.test'])
// An unlimited log would fill the memory; pending deliveries are never dropped.
const MAX_FINISHED = 10_000
const MAX_RECORDED = 1_000
// An event that waits for another one is sent at the latest after this time, ms of the client's time.
const MAX_HOLD = 3_600_000
// The delay before a result that could not be written is written again, real ms.
const REWRITE_MS = 1_000

/** An event that happened before the webhook existed: it has no body. */
export type RecordedEvent = { delivery_id: string; event: string; resource_id: string; at: number }

export type DeliveriesDeps = WorldContext & {
  webhooks: Webhooks
  scenarios: Scenarios
  webhookEvents: WebhookEvents
  attempts: DeliveryAttempts
  /** When each attempt is made, in ms after the first attempt. */
  retryPlan: readonly number[]
  /** The store's functions for changes that are written at the end of a turn of the event loop. */
  storeHooks: Pick<SandboxStore, 'afterCommit' | 'batch' | 'onDurable'>
  onError: (error: unknown) => void
  /** Called for every new or changed delivery, inside the change. */
  onChanged: (row: DeliveryRow) => void
}

/**
 * Deliveries of events to the client's webhook: the scenario decides about each, attempts run on the client's clock.
 *
 * An event waits until the earlier events of its resource are delivered or failed; different resources are independent.
 * Events that a scenario delays, holds or copies are outside that order. Delivery is at least once: an attempt whose
 * result was not written is made again.
 */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, clock, random, scheduler, events, onError, onChanged } = deps
  const { afterCommit, batch, onDurable } = deps.storeHooks
  const { webhooks, scenarios, webhookEvents, attempts, retryPlan: plan } = deps
  const { deliveries, events: eventRows, payments, kyc, bank_accounts, timers } = store.tables
  const sending = new Map<string, Promise<void>>()
  let recorded: RecordedEvent[] = []
  // Finished deliveries in order of completion; those before index `dropped` were removed.
  let finished: string[] = []
  let dropped = 0
  let recordedEver = 0
  // Results of attempts from before a reset belong to rows that no longer exist.
  let epoch = 0
  let stopped = false

  // ---- when an attempt is made

  function put(row: DeliveryRow): DeliveryRow {
    onChanged(row)
    return store.put('deliveries', row).row
  }

  /** Stores a delivery with the timer of its next attempt; `clock/advance` shows the payload. */
  function schedule(row: DeliveryRow, due_at: number) {
    const timer = scheduler.schedule({
      due_at,
      kind: WEBHOOK_ATTEMPT,
      // Not the id of the event's resource: a status set on request cancels the timers of that resource.
      resource_id: row.delivery_id,
      payload: { event: row.event, event_id: row.event_id, attempt: row.attempts.length + 1 },
    })
    // The time of the timer: the scheduler limits it to the last possible instant.
    put({ ...row, next_attempt_at: timer.due_at, timer_id: timer.timer_id })
  }

  const timerOf = ({ timer_id }: DeliveryRow) =>
    timer_id === null ? undefined : timers.get(timer_id)

  function cancel(row: DeliveryRow) {
    if (row.timer_id !== null) scheduler.cancel(row.timer_id)
  }

  /** Whether a payment has pending steps; needed only for events that wait for a late reversal. */
  function hasSteps(resource_id: string): boolean {
    for (const timer of timers.rows()) if (timer.resource_id === resource_id) return true
    return false
  }

  /** The first pending ordered delivery of a resource. */
  function firstInOrder(resource_id: string): DeliveryRow | undefined {
    const count = deliveries.count('ordered', resource_id)
    return count === 0 ? undefined : deliveries.page('ordered', resource_id, count - 1, 1)[0]!.row
  }

  /** Whether an event can still happen to a resource, automatically or on request. */
  function isReachable(event: string, resource_id: string): boolean {
    const status = event.slice(event.indexOf('.') + 1)
    switch (kindOf(event)) {
      case 'transaction': {
        const now = payments.get(resource_id)?.status
        if (!now || !canTransition('transaction', now, status.toUpperCase())) return false
        return now !== 'SUCCESS' || hasSteps(resource_id)
      }
      case 'kyc':
        return canTransition('kyc', kyc.get(resource_id)?.kyc_status ?? '', status)
      case 'bank':
        return canTransition('bank', bank_accounts.get(resource_id)?.bank_status ?? '', status)
      default:
        return false
    }
  }

  // ---- an event happens

  /** Creates a delivery; with `skipsOrder` it does not wait for earlier events of its resource. */
  function deliver(
    event: EventRow,
    copy: number,
    outcome: WebhookOutcome,
    rule: string | undefined,
    skipsOrder: boolean,
  ) {
    const { event_id, type, resource_id, created_at } = event
    const { delay, drop, holdUntil, signature, timestamp, body } = outcome
    const fault: DeliveryFault = {
      ...(signature && { signature }),
      ...(timestamp && { timestamp }),
      ...(body && { body }),
    }
    const held = holdUntil !== undefined && isReachable(holdUntil, resource_id)
    const row: DeliveryRow = {
      delivery_id: deliveryId(event_id, copy),
      event_id,
      event: type,
      resource_id,
      created_at,
      status: drop ? 'dropped' : 'pending',
      ordered: !skipsOrder && !drop && !delay && !held && copy === 1,
      next_attempt_at: null,
      timer_id: null,
      attempts: [],
      ...(held && { hold_until: holdUntil }),
      ...(Object.keys(fault).length > 0 && { fault }),
      ...(rule !== undefined && { rule }),
    }
    const waits = row.ordered && deliveries.count('ordered', resource_id) > 0
    if (drop || waits) {
      put(row)
      if (drop) trackFinished(row.delivery_id)
    } else {
      const later = delay ? pointOf(delay, delay.minMs === delay.maxMs ? 0 : random.fraction()) : 0
      schedule(row, clock.now() + (held ? MAX_HOLD : later))
    }
    return deliveries.get(row.delivery_id)!
  }

  /** Creates an event and its deliveries, inside the open change. */
  function publish(
    type: string,
    resource_id: string,
    override?: Override,
    skipsOrder = false,
  ): DeliveryRow[] {
    const { event_id, created_at, body, data } = webhookEvents.create(type, resource_id, override)
    const decision = scenarios.decideWebhook(webhookEvents.callOf(type, resource_id, data))
    const outcome = decision?.outcome ?? {}
    const copies = outcome.drop ? 1 : (outcome.copies ?? 1)
    const made = { event_id, type, resource_id, created_at, body, copies }
    const event = store.put('events', made).row
    const rule = decision && `${decision.scenario}: ${decision.rule}`
    return Array.from({ length: copies }, (_, i) =>
      deliver(event, i + 1, outcome, rule, skipsOrder),
    )
  }

  events.on(({ type, resourceId, asked }) => {
    if (!asked && ON_REQUEST.has(type)) return
    if (webhooks.current()) {
      publish(type, resourceId)
      return
    }
    // Most clients have no webhook: this path must cost a payment almost nothing.
    const at = clock.now()
    afterCommit(() => {
      recordedEver++
      const delivery_id = `rec_${recordedEver}`
      recorded.push({ delivery_id, event: type, resource_id: resourceId, at })
      if (recorded.length >= 2 * MAX_RECORDED) recorded = recorded.slice(-MAX_RECORDED)
    })
  })

  // ---- an attempt ends

  /** Records that a delivery is finished, and removes the oldest finished ones beyond the maximum. */
  function trackFinished(delivery_id: string) {
    finished.push(delivery_id)
    while (finished.length - dropped > MAX_FINISHED) {
      const oldest = deliveries.get(finished[dropped++]!)
      // It may be pending again: redelivered, or the change that finished it was rolled back.
      if (oldest && oldest.status !== 'pending') remove(oldest)
    }
    if (dropped > MAX_FINISHED) {
      finished = finished.slice(dropped)
      dropped = 0
    }
  }

  function remove({ delivery_id, event_id }: DeliveryRow) {
    store.remove('deliveries', delivery_id)
    const copies = eventRows.get(event_id)?.copies ?? 0
    for (let copy = 1; copy <= copies; copy++)
      if (deliveries.get(deliveryId(event_id, copy))) return
    store.remove('events', event_id)
  }

  /** Schedules what a finished delivery blocked: the next event in order, and the events that waited for it. */
  function releaseBlocked({ event, resource_id }: DeliveryRow) {
    const next = firstInOrder(resource_id)
    if (next && next.next_attempt_at === null) schedule(next, clock.now())
    if (deliveries.count('held', resource_id) === 0) return
    for (const { row } of deliveries.page('held', resource_id, 0, Number.POSITIVE_INFINITY)) {
      const { hold_until, ...free } = row
      // Release it if its event was sent, or can no longer happen.
      if (hold_until !== event && (next || isReachable(hold_until!, resource_id))) continue
      cancel(row)
      schedule(free, clock.now())
    }
  }

  function finish(row: DeliveryRow, status: DeliveryRow['status'], attempts = row.attempts) {
    const done: DeliveryRow = {
      ...row,
      status,
      attempts,
      next_attempt_at: null,
      timer_id: null,
    }
    if (row.once) delete done.once
    if (row.hold_until) delete done.hold_until
    put(done)
    trackFinished(done.delivery_id)
    releaseBlocked(done)
  }

  type AttemptResult = { attempt: StoredAttempt; retryAfterMs: number; gone: boolean }

  /** Stores the result of an attempt and schedules the next one, if there is one. */
  function applyResult(
    row: DeliveryRow,
    due_at: number,
    { attempt, retryAfterMs, gone }: AttemptResult,
  ) {
    const tried = [...row.attempts, attempt]
    const n = tried.length
    const gap = plan[n] === undefined ? undefined : plan[n] - plan[n - 1]!
    if (attempt.ok) finish(row, 'delivered', tried)
    else if (gone || gap === undefined || row.once)
      finish(row, tried.some(({ ok }) => ok) ? 'delivered' : 'failed', tried)
    else schedule({ ...row, attempts: tried }, Math.max(due_at + gap, clock.now() + retryAfterMs))
  }

  /** Writes a result with the other changes of this turn; if the disk fails, retries until it succeeds. */
  function storeResult(
    delivery_id: string,
    due_at: number,
    result: AttemptResult,
    startEpoch: number,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const row = deliveries.get(delivery_id)
      if (stopped || startEpoch !== epoch || row?.status !== 'pending') return resolve()
      const ended = (error?: unknown) => {
        if (error === undefined) return resolve()
        if (!(error instanceof SandboxError) || error.code !== 'storage_unavailable')
          return reject(error)
        setTimeout(() => {
          storeResult(delivery_id, due_at, result, startEpoch).catch(onError)
        }, REWRITE_MS).unref()
        resolve()
      }
      try {
        batch(() => store.change(() => applyResult(row, due_at, result)))
        onDurable(ended)
      } catch (error) {
        ended(error)
      }
    })
  }

  /** Makes the attempt of a timer that ran; resolves when the result is written. */
  async function attempt(timer: TimerRow, delivery_id: string, order: CommitOrder | undefined) {
    const mine = epoch
    const earlier = order?.last
    let stored = () => {}
    if (order)
      order.last = new Promise((resolve) => {
        stored = resolve
      })
    let written: Promise<void> | undefined
    try {
      // Wait for the change that removes the timer: after a rollback the timer exists again and nothing is sent.
      await undefined
      const result = timers.get(timer.timer_id) ? undefined : await send(delivery_id, mine)
      // Receivers respond in any order; the order of the results, and so the ids of timers, must not depend on it.
      await earlier
      if (result) written = storeResult(delivery_id, timer.due_at, result, mine)
    } finally {
      // After a reset the same id can belong to another attempt.
      if (mine === epoch) sending.delete(delivery_id)
      stored()
    }
    await written
  }

  /** Makes the next attempt of a delivery when a slot is free; `undefined` if no attempt is needed any more. */
  async function send(delivery_id: string, mine: number): Promise<AttemptResult | undefined> {
    await attempts.lane.enter()
    try {
      const row = deliveries.get(delivery_id)
      const webhook = webhooks.current()
      if (stopped || mine !== epoch || row?.status !== 'pending' || !webhook) return undefined
      const event = eventRows.get(row.event_id)!
      return await attempts.send(event, row.attempts.length + 1, webhook, row.fault)
    } finally {
      attempts.lane.leave()
    }
  }

  scheduler.handle(
    WEBHOOK_ATTEMPT,
    (timer, order) => {
      const delivery_id = timer.resource_id!
      if (deliveries.get(delivery_id)?.status !== 'pending') return false
      const running = sending.get(delivery_id)
      if (running) return running
      const mine = attempt(timer, delivery_id, order)
      sending.set(delivery_id, mine)
      return mine
    },
    { parallel: true },
  )

  // ---- on request

  function get(id: string): DeliveryRow {
    const row = deliveries.get(id)
    if (!row) throw notFound('delivery', quoteInput(id))
    return row
  }

  function requireWebhook() {
    if (!webhooks.current())
      throw new SandboxError(
        'not_found',
        'This client has no webhook yet, so nothing can be sent. Create one with POST /clientWebhook.',
      )
  }

  /** Makes the attempts that are due, even on a frozen clock, and waits for their results. */
  async function sendDue(ids: readonly string[]): Promise<DeliveryRow[]> {
    const due = ids
      .map((id) => timerOf(get(id)))
      .filter((timer) => timer && timer.due_at <= clock.now())
    const order = createCommitOrder()
    await Promise.all([
      ...due.map((timer) => scheduler.fire(timer!, order)),
      ...ids.flatMap((id) => sending.get(id) ?? []),
    ])
    return ids.map(get)
  }

  /** Creates an event about a resource (default: the newest of its kind) and waits for the attempts that are due now. */
  async function trigger(type: string, resource = 'latest', override?: Override) {
    requireWebhook()
    const made = store.change(() =>
      publish(type, resourceIdOf(store, kindOf(type), resource), override, true),
    )
    return sendDue(made.map(({ delivery_id }) => delivery_id))
  }

  /** Sends a delivery again, immediately. The body of a recorded event is made from the present state of the resource. */
  async function redeliver(id: string): Promise<DeliveryRow> {
    requireWebhook()
    const old = recorded.find(({ delivery_id }) => delivery_id === id)
    if (old) return (await trigger(old.event, old.resource_id))[0]!
    const row = get(id)
    if (!sending.has(id))
      store.change(() => {
        cancel(row)
        const { hold_until: _, ...free } = row
        // A pending delivery is sent early; a finished one gets a single additional attempt.
        schedule(
          row.status === 'pending'
            ? free
            : { ...free, status: 'pending', ordered: false, once: true },
          clock.now(),
        )
      })
    return (await sendDue([id]))[0]!
  }

  /** Handles a cancelled timer: its delivery ends as `cancelled`, and the next event can be sent. */
  function handleCancelled({ kind, resource_id }: TimerRow) {
    const row = kind === WEBHOOK_ATTEMPT ? deliveries.get(resource_id!) : undefined
    if (row?.status === 'pending') store.change(() => finish(row, 'cancelled'))
  }

  return {
    publish,
    trigger,
    redeliver,
    handleCancelled,
    get,
    /** The stored event of a delivery. */
    eventOf: (row: DeliveryRow) => eventRows.get(row.event_id)!,
    /** All deliveries in order of creation. */
    all: () => deliveries.rows(),
    /** Events from before the webhook existed, oldest first. */
    recorded: () => recorded.slice(-MAX_RECORDED),
    /** After a start or restore: collects finished deliveries, and schedules those that were being sent when the process ended. */
    recover() {
      store.change(() => {
        for (const row of [...deliveries.rows()]) {
          if (row.status !== 'pending') trackFinished(row.delivery_id)
          if (row.status !== 'pending' || timerOf(row)) continue
          if (row.ordered && firstInOrder(row.resource_id)?.delivery_id !== row.delivery_id)
            continue
          schedule(row, clock.now())
        }
      })
    },
    /** Removes all deliveries and events, inside the open change. */
    clear() {
      for (const row of [...deliveries.rows()]) {
        cancel(row)
        store.remove('deliveries', row.delivery_id)
      }
      for (const { event_id } of [...eventRows.rows()]) store.remove('events', event_id)
    },
    /** Resets the state in memory after the rows were replaced or removed. */
    forget() {
      epoch++
      recorded = []
      recordedEver = 0
      finished = []
      dropped = 0
      sending.clear()
    },
    stop() {
      stopped = true
    },
  }
}

const deliveryId = (event_id: string, copy: number) =>
  `dlv_${event_id.slice('evt_'.length)}${copy === 1 ? '' : `_${copy}`}`
