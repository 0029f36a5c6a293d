import type { Assumed } from '../assumptions/readings.ts'
import { webhookDelivery } from '../assumptions/webhooks.ts'
import type { DeliveryRow, TimerRow } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import type { Later } from '../runtime/real-time.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'
import type { CommitOrder } from '../time/runner.ts'
import type { AttemptResult, AttemptSender } from './attempt.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import type { Webhooks } from './webhooks.ts'

// The delay before a result that could not be written is written again, real ms.
const REWRITE_MS = 1_000

export type RunningAttemptsDeps = {
  store: SandboxTables
  clock: Clock
  assumed: Assumed
  queue: DeliveryQueue
  webhooks: Webhooks
  sender: AttemptSender
  /** When each attempt is made, in ms after the first attempt. */
  retryPlan: readonly number[]
  later: Later
  onError: (error: unknown) => void
}

/**
 * Makes the attempts of deliveries: prepare, call, then handle success or failure. By default delivery is at least once:
 * an attempt whose result was not written is made again.
 */
export function createRunningAttempts({
  store,
  clock,
  assumed,
  queue,
  webhooks,
  sender,
  retryPlan: plan,
  later,
  onError,
}: RunningAttemptsDeps) {
  // By id of their delivery.
  const running = new Map<string, Promise<void>>()
  const cancelRewrites = new Set<() => void>()
  // Results of attempts from before a reset belong to rows that no longer exist.
  let epoch = 0
  let isStopped = false

  /** The delivery if an attempt of this epoch still concerns it. */
  function pending(delivery_id: string, mine: number): DeliveryRow | undefined {
    const row = queue.find(delivery_id)
    return isStopped || mine !== epoch || row?.status !== 'pending' ? undefined : row
  }

  /** What an attempt sends; `undefined` if none is needed any more. */
  function prepare({ timer_id, resource_id }: TimerRow, mine: number) {
    // After a rollback of the change that removed the timer it exists again, and nothing is sent.
    const row = store.tables.timers.get(timer_id) ? undefined : pending(resource_id!, mine)
    const webhook = webhooks.current()
    return row && webhook && { row, webhook }
  }

  async function call(timer: TimerRow, mine: number): Promise<AttemptResult | undefined> {
    // Until that change has ended.
    await undefined
    const prepared = prepare(timer, mine)
    if (!prepared) return undefined
    const { row, webhook } = prepared
    return sender.send(queue.eventOf(row), row.attempts.length + 1, webhook, row.fault)
  }

  /** Stores the result of an attempt and schedules the next one, if there is one. */
  function handle(
    row: DeliveryRow,
    due_at: number,
    { attempt, retryAfterMs, gone }: AttemptResult,
  ) {
    const tried = [...row.attempts, attempt]
    const n = tried.length
    const gap = plan[n] === undefined ? undefined : plan[n] - plan[n - 1]!
    const isLast = gone || row.once || assumed.get(webhookDelivery) !== 'at_least_once'
    if (attempt.ok) queue.finish(row, 'delivered', tried)
    else if (isLast || gap === undefined)
      queue.finish(row, tried.some(({ ok }) => ok) ? 'delivered' : 'failed', tried)
    else
      queue.retry({ ...row, attempts: tried }, Math.max(due_at + gap, clock.now() + retryAfterMs))
  }

  /** Writes a result with the other changes of this turn; if the disk fails, retries until it succeeds. */
  function write(timer: TimerRow, result: AttemptResult, mine: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const row = pending(timer.resource_id!, mine)
      if (!row) return resolve()
      function ended(error?: unknown) {
        if (error === undefined) return resolve()
        if (!(error instanceof SandboxError) || error.code !== 'storage_unavailable')
          return reject(error)
        const cancel = later(REWRITE_MS, () => {
          cancelRewrites.delete(cancel)
          write(timer, result, mine).catch(onError)
        })
        cancelRewrites.add(cancel)
        resolve()
      }
      try {
        store.unit.batch(() => store.change(() => handle(row, timer.due_at, result)))
        store.unit.onDurable(ended)
      } catch (error) {
        ended(error)
      }
    })
  }

  async function attempt(timer: TimerRow, order: CommitOrder | undefined) {
    const mine = epoch
    const earlier = order?.last
    let stored = () => {}
    if (order)
      order.last = new Promise((resolve) => {
        stored = resolve
      })
    let written: Promise<void> | undefined
    try {
      const result = await call(timer, mine)
      // Receivers respond in any order; the order of the results, and so the ids of timers, must not depend on it.
      await earlier
      if (result) written = write(timer, result, mine)
    } finally {
      // After a reset the same id can belong to another attempt.
      if (mine === epoch) running.delete(timer.resource_id!)
      stored()
    }
    await written
  }

  return {
    /** The running attempt of a delivery; resolves when its result is written. */
    of: (delivery_id: string) => running.get(delivery_id),
    /** Starts the attempt of a timer that ran; `false` if its delivery is finished. */
    start(timer: TimerRow, order: CommitOrder | undefined): Promise<void> | false {
      const delivery_id = timer.resource_id!
      if (queue.find(delivery_id)?.status !== 'pending') return false
      const mine = running.get(delivery_id) ?? attempt(timer, order)
      running.set(delivery_id, mine)
      return mine
    },
    /** Forgets the running attempts, after the rows were replaced or removed. */
    forget() {
      epoch++
      running.clear()
    },
    stop() {
      isStopped = true
      for (const cancel of cancelRewrites) cancel()
      cancelRewrites.clear()
    },
  }
}
