import { countOf } from '../model/count-text.ts'
import type { AllRequests } from './request-log.ts'

const MAX_NAMED = 3

/** A client in a message. */
export const clientText = (name: string): string =>
  name === 'default' ? 'the default client' : `@${name}`

/**
 * Says where the calls were, for a message about one client: `The default client had no calls; @pytest had 12.` Empty if no
 * other client had calls.
 */
export function callsElsewhere(all: AllRequests, client: string): string {
  const counts = all.counts()
  const own = counts.get(client) ?? 0
  counts.delete(client)
  if (counts.size === 0) return ''
  const others = [...counts].sort(([, a], [, b]) => b - a)
  const named = others.slice(0, MAX_NAMED).map(([name, n]) => `${clientText(name)} had ${n}`)
  const rest = others.length - named.length
  const more = rest > 0 ? [`${countOf(rest, 'other client')} had more`] : []
  const text = clientText(client)
  const subject = text[0]!.toUpperCase() + text.slice(1)
  return `${subject} had ${own === 0 ? 'no calls' : countOf(own, 'call')}; ${[...named, ...more].join(', ')}.`
}
