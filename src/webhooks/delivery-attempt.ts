import type { Assumed } from '../assumptions/assumed.ts'
import { webhookDelivery } from '../assumptions/webhook-delivery.ts'
import type { DeliveryRow, StoredAttempt } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import type { Later } from '../runtime/real-time.ts'
import type { SandboxStore, SandboxTables } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'
import type { CommitOrder, TimerRow } from '../time/scheduler.ts'
import type { AttemptSender } from './attempt-request.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import type { Webhooks } from './webhooks.ts'

// The delay before a result that could not be written is written again, real ms.
const REWRITE_MS = 1_000

/** The result of an attempt; `gone`: the receiver wants no more of them. */
type AttemptResult = { attempt: StoredAttempt; retryAfterMs: number; gone: boolean }

export type DeliveryAttemptsDeps = {
  store: SandboxTables
  clock: Clock
  assumed: Assumed
  queue: DeliveryQueue
  webhooks: Webhooks
  sender: AttemptSender
  /** When each attempt is made, in ms after the first attempt. */
  retryPlan: readonly number[]
  /** The store's functions for changes that are written at the end of a turn of the event loop. */
  storeHooks: Pick<SandboxStore, 'batch' | 'onDurable'>
  later: Later
  onError: (error: unknown) => void
}

/**
 * Makes the attempts of deliveries: send, store the result, retry. By default delivery is at least once: an attempt whose
 * result was not written is made again.
 */
export class DeliveryAttempts {
  readonly #deps: DeliveryAttemptsDeps
  // The running attempts, by id of their delivery.
  readonly #sending = new Map<string, Promise<void>>()
  readonly #cancelRewrites = new Set<() => void>()
  // Results of attempts from before a reset belong to rows that no longer exist.
  #epoch = 0
  #stopped = false

  constructor(deps: DeliveryAttemptsDeps) {
    this.#deps = deps
  }

  /** The running attempt of a delivery; resolves when its result is written. */
  running(delivery_id: string): Promise<void> | undefined {
    return this.#sending.get(delivery_id)
  }

  /** Starts the attempt of a timer that ran; `false` if its delivery is finished. */
  start(timer: TimerRow, order: CommitOrder | undefined): Promise<void> | false {
    const delivery_id = timer.resource_id!
    if (this.#deps.queue.find(delivery_id)?.status !== 'pending') return false
    const running = this.#sending.get(delivery_id)
    if (running) return running
    const mine = this.#attempt(timer, delivery_id, order)
    this.#sending.set(delivery_id, mine)
    return mine
  }

  async #attempt(timer: TimerRow, delivery_id: string, order: CommitOrder | undefined) {
    const mine = this.#epoch
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
      const isRolledBack = this.#deps.store.tables.timers.get(timer.timer_id) !== undefined
      const result = isRolledBack ? undefined : await this.#send(delivery_id, mine)
      // Receivers respond in any order; the order of the results, and so the ids of timers, must not depend on it.
      await earlier
      if (result) written = this.#write(delivery_id, timer.due_at, result, mine)
    } finally {
      // After a reset the same id can belong to another attempt.
      if (mine === this.#epoch) this.#sending.delete(delivery_id)
      stored()
    }
    await written
  }

  /** The delivery if an attempt of this epoch still concerns it. */
  #pending(delivery_id: string, epoch: number): DeliveryRow | undefined {
    const row = this.#deps.queue.find(delivery_id)
    return this.#stopped || epoch !== this.#epoch || row?.status !== 'pending' ? undefined : row
  }

  /** Sends the next attempt of a delivery; `undefined` if no attempt is needed any more. */
  async #send(delivery_id: string, epoch: number): Promise<AttemptResult | undefined> {
    const { sender, queue, webhooks } = this.#deps
    const row = this.#pending(delivery_id, epoch)
    const webhook = webhooks.current()
    if (!row || !webhook) return undefined
    return sender.send(queue.eventOf(row), row.attempts.length + 1, webhook, row.fault)
  }

  /** Writes a result with the other changes of this turn; if the disk fails, retries until it succeeds. */
  #write(delivery_id: string, due_at: number, result: AttemptResult, epoch: number): Promise<void> {
    const { store, storeHooks } = this.#deps
    return new Promise((resolve, reject) => {
      const row = this.#pending(delivery_id, epoch)
      if (!row) return resolve()
      const ended = (error?: unknown) => {
        if (error === undefined) return resolve()
        if (!(error instanceof SandboxError) || error.code !== 'storage_unavailable')
          return reject(error)
        this.#writeLater(() => this.#write(delivery_id, due_at, result, epoch))
        resolve()
      }
      try {
        storeHooks.batch(() => store.change(() => this.#settle(row, due_at, result)))
        storeHooks.onDurable(ended)
      } catch (error) {
        ended(error)
      }
    })
  }

  #writeLater(write: () => Promise<void>) {
    const { later, onError } = this.#deps
    const cancel = later(REWRITE_MS, () => {
      this.#cancelRewrites.delete(cancel)
      write().catch(onError)
    })
    this.#cancelRewrites.add(cancel)
  }

  /** Stores the result of an attempt and schedules the next one, if there is one. */
  #settle(row: DeliveryRow, due_at: number, { attempt, retryAfterMs, gone }: AttemptResult) {
    const { queue, clock, assumed, retryPlan: plan } = this.#deps
    const { retries } = assumed.get(webhookDelivery)
    const tried = [...row.attempts, attempt]
    const n = tried.length
    const gap = plan[n] === undefined ? undefined : plan[n] - plan[n - 1]!
    if (attempt.ok) queue.finish(row, 'delivered', tried)
    else if (gone || gap === undefined || row.once || !retries)
      queue.finish(row, tried.some(({ ok }) => ok) ? 'delivered' : 'failed', tried)
    else
      queue.retry({ ...row, attempts: tried }, Math.max(due_at + gap, clock.now() + retryAfterMs))
  }

  /** Forgets the running attempts, after the rows were replaced or removed. */
  forget() {
    this.#epoch++
    this.#sending.clear()
  }

  stop() {
    this.#stopped = true
    for (const cancel of this.#cancelRewrites) cancel()
    this.#cancelRewrites.clear()
  }
}
