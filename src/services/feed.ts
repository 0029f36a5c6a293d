import { createRing } from '../core/ring.ts'
import type { TimerRow } from '../core/scheduler.ts'
import type { DeliveryRow } from '../model/delivery.ts'
import type { FeedKind } from '../model/feed-kinds.ts'
import { type RequestLogEntry, requestSummary } from './request-log.ts'

/** What a client's feed tells of, by kind. */
export type FeedEvents = {
  request: RequestLogEntry
  /** A resource came into a state, as the events of webhooks name it. */
  change: { type: string; resource_id: string; at: string }
  timer: TimerRow
  delivery: DeliveryRow
  /** Somebody moved it, stopped it, or changed its speed. */
  clock: { now: string; mode: string; speed: number }
  /** Another scenario decides, a rule was pushed or taken away, or the files were read again. */
  scenario: { name: string }
  reset: { parts: readonly string[] }
  /** All of the client's content was replaced. */
  restore: { from: 'snapshot' | 'state' }
}
export type AnyFeedEvent = { [K in FeedKind]: { kind: K; subject: FeedEvents[K] } }[FeedKind]

/** One event of a feed as it is sent: its data is masked JSON text. */
export type FeedEvent = { id: string; seq: number; kind: FeedKind; data: string }

export type Watcher = { onEvent: (event: AnyFeedEvent) => void; onEnd: () => void }
export type Reader = { onEvent: (event: FeedEvent) => void; onEnd: () => void }

const MAX_EVENTS = 1_000
const MAX_SIZE = 1024 * 1024

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
        answered: last?.status ?? null,
        error: last?.error?.code ?? null,
        next_attempt_at: next_attempt_at === null ? null : new Date(next_attempt_at).toISOString(),
      }
    }
    default:
      return subject
  }
}

/**
 * What happens in a client's world, told as it happens.
 *
 * Nothing is kept before the first reader comes, so that a client that nobody watches pays nothing; from then on the
 * last 1,000 events, at most 1 Mi characters of them, can be read again from an id on. `name` sets this feed's ids
 * apart from those of another one.
 */
export function createFeed(name: string) {
  const ring = createRing<FeedEvent>({
    max: MAX_EVENTS,
    maxSize: MAX_SIZE,
    sizeOf: ({ data }) => data.length,
  })
  const watchers = new Set<Watcher>()
  const readers = new Set<Reader>()
  let isBuffering = false
  let closed = false
  let seq = 0
  const idOf = (n: number) => `${name}-${n}`
  const isWanted = () => isBuffering || watchers.size > 0

  function publish<K extends FeedKind>(kind: K, subject: FeedEvents[K]) {
    if (!isWanted()) return
    const told = { kind, subject } as AnyFeedEvent
    for (const { onEvent: see } of [...watchers]) see(told)
    if (!isBuffering) return
    const event = { id: idOf(++seq), seq, kind, data: JSON.stringify(summaryOf(told)) }
    ring.push(event)
    for (const { onEvent: read } of [...readers]) read(event)
  }

  /** The events after an id; `missed` where some of them are no longer known. */
  function eventsAfter(id: string): { events: FeedEvent[]; missed: boolean } {
    const text = id.startsWith(`${name}-`) ? id.slice(name.length + 1) : ''
    const n = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    const events = [...ring.oldestFirst()]
    if (!(n <= seq)) return { events, missed: true }
    return { events: events.filter((event) => event.seq > n), missed: n < seq - ring.count }
  }

  return {
    publish,
    after: eventsAfter,
    /** Whether anybody listens, or may ask later for what happens now. */
    get isWanted() {
      return isWanted()
    },
    /** The id of the last event, to go on from. */
    get lastId() {
      return idOf(seq)
    },
    /** Hands over each thing as it is told, until the answered verb is called; `end` is called when the feed ends. */
    watch(watcher: Watcher): () => void {
      if (closed) watcher.onEnd()
      else watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    /** The same, as events with an id, which are kept from now on. */
    read(reader: Reader): () => void {
      isBuffering = true
      if (closed) reader.onEnd()
      else readers.add(reader)
      return () => void readers.delete(reader)
    },
    /** Ends it for everybody who listens. */
    close() {
      closed = true
      for (const { onEnd: end } of [...watchers, ...readers]) end()
      watchers.clear()
      readers.clear()
    },
  }
}

export type Feed = ReturnType<typeof createFeed>
