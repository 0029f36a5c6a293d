import { EVENTS, type EventName } from './words.ts'

/** The events that a pattern takes in: one by name, `transaction.*`, or `*`; none for one that there is not. */
export function eventsOf(pattern = '*'): readonly EventName[] {
  if (!pattern.endsWith('*')) return EVENTS.filter((event) => event === pattern)
  return EVENTS.filter((event) => event.startsWith(pattern.slice(0, -1)))
}
