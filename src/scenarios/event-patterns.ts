import { EVENTS, type EventName } from './words.ts'

/** Returns the events that a pattern matches: a name, `transaction.*`, or `*`. Returns none for an unknown name. */
export function eventsOf(pattern = '*'): readonly EventName[] {
  if (!pattern.endsWith('*')) return EVENTS.filter((event) => event === pattern)
  return EVENTS.filter((event) => event.startsWith(pattern.slice(0, -1)))
}
