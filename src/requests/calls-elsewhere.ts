import { countOf } from '../model/count-text.ts'
import type { AllRequests } from './all-requests.ts'

const MAX_NAMED = 3

/** A client in a message. */
export const clientText = (name: string): string =>
  name === 'default' ? 'the default client' : `@${name}`

/** Says where the calls were, if a client had none: ` The default client had no calls; @pytest had 12.` */
export function callsElsewhere(all: AllRequests, client: string): string {
  const counts = new Map<string, number>()
  for (const { client: name = '' } of all.newestFirst())
    counts.set(name, (counts.get(name) ?? 0) + 1)
  if (counts.size === 0 || counts.has(client)) return ''
  const others = [...counts].sort(([, a], [, b]) => b - a)
  const named = others.slice(0, MAX_NAMED).map(([name, n]) => `${clientText(name)} had ${n}`)
  const rest = others.length - named.length
  const had = [...named, ...(rest > 0 ? [`${countOf(rest, 'more client')} had others`] : [])]
  const text = clientText(client)
  return ` ${text[0]!.toUpperCase()}${text.slice(1)} had no calls; ${had.join(', ')}.`
}
