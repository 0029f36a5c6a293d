import type { DeliveryRow, TimerRow } from '../model/delivery.ts'
import type { FeedKind } from '../model/feed-kinds.ts'
import { type RequestLogEntry, requestSummary } from '../requests/request-log.ts'
import { Ring } from '../runtime/ring-buffer.ts'
import type { UnitOfWork } from '../store/unit-of-work.ts'

export type FeedEvents = {
  request: RequestLogEntry
  /** The number of calls whose response a rule delays has changed. */
  waiting: { count: number }
  /** A resource changed its status; `type` is the name of the webhook event. */
  change: { type: string; resource_id: string; at: string }
  timer: TimerRow
  delivery: DeliveryRow
  /** The clock was moved or frozen, or its speed changed. */
  clock: { now: string; mode: string; speed: number }
  /** Another scenario became active, a rule was pushed or removed, or the files were reloaded. */
  scenario: { name: string }
  assumptions: { changed: readonly string[] }
  reset: { parts: readonly string[] }
  /** The client's whole state was replaced. */
  restore: { from: 'snapshot' | 'state' }
}
export type AnyFeedEvent = { [K in FeedKind]: { kind: K; subject: FeedEvents[K] } }[FeedKind]

/** One event of a feed as it is sent; `data` is masked JSON text. */
export type FeedEvent = { id: string; seq: number; kind: FeedKind; data: string }

/** `onEnd` is called when the feed closes. */
type Listener<E> = { onEvent: (event: E) => void; onEnd: () => void }

const BUFFER = { max: 1_000, maxSize: 1024 * 1024, sizeOf: ({ data }: FeedEvent) => data.length }

function summaryOf({ kind, subject }: AnyFeedEvent): object {
  switch (kind) {
    case 'request':
      return requestSummary(subject)
    case 'timer': {
      const { timer_id, due_at, kind: timerKind, resource_id = null } = subject
      return { timer_id, at: new Date(due_at).toISOString(), kind: timerKind, resource_id }
    }
    case 'delivery': {
      const { delivery_id, event_id, event, resource_id, status, next_attempt_at, attempts } =
        subject
      const last = attempts.at(-1)
      return {
        delivery_id,
        event_id,
        event,
        resource_id,
        status,
        attempts: attempts.length,
        response_status: last?.status ?? null,
        error: last?.error?.code ?? null,
        next_attempt_at: next_attempt_at === null ? null : new Date(next_attempt_at).toISOString(),
      }
    }
    default:
      return subject
  }
}

/** A client's live events; from its first reader on, it buffers the last 1,000, so that a reader can continue after an id. */
export class Feed {
  readonly #name: string
  readonly #afterCommit: UnitOfWork['afterCommit']
  /** Made for the first reader. */
  #buffer: Ring<FeedEvent> | undefined
  readonly #watchers = new Set<Listener<AnyFeedEvent>>()
  readonly #readers = new Set<Listener<FeedEvent>>()
  #closed = false
  #seq = 0

  /** The name is the prefix of the ids. */
  constructor(name: string, afterCommit: UnitOfWork['afterCommit']) {
    this.#name = name
    this.#afterCommit = afterCommit
  }

  /** Whether an event has a listener now or must be buffered for a later one. */
  get isWanted(): boolean {
    return this.#buffer !== undefined || this.#watchers.size > 0
  }

  publish<K extends FeedKind>(kind: K, subject: FeedEvents[K]) {
    if (!this.isWanted) return
    const published = { kind, subject } as AnyFeedEvent
    for (const { onEvent } of [...this.#watchers]) onEvent(published)
    if (!this.#buffer) return
    const seq = ++this.#seq
    const event = { id: this.lastId, seq, kind, data: JSON.stringify(summaryOf(published)) }
    this.#buffer.push(event)
    for (const { onEvent } of [...this.#readers]) onEvent(event)
  }

  publishAfterCommit<K extends FeedKind>(kind: K, subject: FeedEvents[K]) {
    if (this.isWanted) this.#afterCommit(() => this.publish(kind, subject))
  }

  /** The id of the last event, from which a reader can continue. */
  get lastId(): string {
    return `${this.#name}-${this.#seq}`
  }

  /** The buffered events after an id; `missed` is true if older ones were dropped or the id is unknown. */
  after(id: string): { events: FeedEvent[]; missed: boolean } {
    const text = id.startsWith(`${this.#name}-`) ? id.slice(this.#name.length + 1) : ''
    const n = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    const events = this.#buffer?.oldestFirst() ?? []
    if (!(n <= this.#seq)) return { events, missed: true }
    return {
      events: events.filter((event) => event.seq > n),
      missed: n < this.#seq - events.length,
    }
  }

  /** Subscribes to events as objects. Returns the function that unsubscribes. */
  watch(watcher: Listener<AnyFeedEvent>): () => void {
    return this.#listen(this.#watchers, watcher)
  }

  /** Subscribes to events as masked text with ids; starts the buffering. Returns the function that unsubscribes. */
  read(reader: Listener<FeedEvent>): () => void {
    this.#buffer ??= new Ring(BUFFER)
    return this.#listen(this.#readers, reader)
  }

  #listen<E>(listeners: Set<Listener<E>>, one: Listener<E>) {
    if (this.#closed) one.onEnd()
    else listeners.add(one)
    return () => void listeners.delete(one)
  }

  close() {
    this.#closed = true
    const listeners = [...this.#watchers, ...this.#readers]
    this.#watchers.clear()
    this.#readers.clear()
    for (const { onEnd } of listeners) onEnd()
  }
}
