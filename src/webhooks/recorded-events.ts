import { Ring } from '../runtime/ring-buffer.ts'

/** An event that was not sent by itself, such as one from before the webhook existed: it has no body. `at` is the client's time, ms. */
export type RecordedEvent = { delivery_id: string; event: string; resource_id: string; at: number }

const OPTIONS = { max: 1_000 }

/** The newest events that were not sent by themselves, in memory. They are sent only on request. */
export function createRecordedEvents() {
  const ring = new Ring<RecordedEvent>(OPTIONS)
  return {
    add(event: Omit<RecordedEvent, 'delivery_id'>) {
      ring.push({ delivery_id: `rec_${ring.dropped + ring.count + 1}`, ...event })
    },
    find(id: string): RecordedEvent | undefined {
      for (const one of ring.oldestFirst()) if (one.delivery_id === id) return one
      return undefined
    },
    all: (): RecordedEvent[] => [...ring.oldestFirst()],
    clear: () => ring.clear(),
  }
}

export type RecordedEvents = ReturnType<typeof createRecordedEvents>
