import { Ring } from '../runtime/ring-buffer.ts'
import { type Era, LOG_LIMITS, type RequestLogEntry } from './request-log.ts'

/**
 * The newest calls of all clients, with numbers of their own: also those of deleted clients, but not what a client has
 * cleared, as its reset does.
 */
export class AllRequests {
  readonly #ring = new Ring<{ call: RequestLogEntry; era: Era }>({
    ...LOG_LIMITS,
    sizeOf: ({ call }) => call.size,
  })
  #seq = 0

  add(client: string, call: RequestLogEntry, era: Era) {
    this.#ring.push({ call: { ...call, client, seq: ++this.#seq }, era })
  }

  *newestFirst(): Generator<RequestLogEntry> {
    for (const { call, era } of this.#ring.newestFirst()) if (!era.isOver) yield call
  }

  get count(): number {
    return [...this.newestFirst()].length
  }

  /** The number of older requests that were dropped. */
  get dropped(): number {
    return this.#ring.dropped
  }

  /** Removes all entries and returns their number. */
  clear(): number {
    const { count } = this
    this.#ring.clear()
    return count
  }
}
