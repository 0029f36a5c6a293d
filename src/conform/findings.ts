import type { Operation } from '../http/operation.ts'
import { HIDDEN, maskLogText, maskValue } from '../model/mask.ts'

/** One thing that is not as wanted. `call` says how the endpoint was asked, where it was not plainly; `times`: how often it was met. */
export type Finding = {
  endpoint: string
  call: string
  field: string
  expected: string
  found: string
  times: number
}

/** What could not be held against anything, and why. */
export type Unseen = { endpoint: string; why: string }

/** Which call is spoken of. */
export type Place = { op: Operation; call: string }

const MAX_SHOWN = 40
// A hostile answer may be wrong in more ways than anyone reads.
const MAX_KEPT = 500

export const endpointOf = ({ method, url }: Operation): string => `${method} ${url}`

/** Collects what was found, each kind of it once for its endpoint and field; no number or secret of an answer is kept. */
export function createFindings(token: string | undefined) {
  const differs = new Map<string, Finding>()
  const notes = new Map<string, Finding>()
  const unseen = new Map<string, string>()
  let more = 0

  const withoutToken = (text: string) =>
    token === undefined ? text : text.replaceAll(token, HIDDEN)

  /** Masked before it is cut, so that no number is cut into one that looks harmless. */
  const cut = (text: string, mask: (part: string) => string) => {
    const part = mask(withoutToken(text).slice(0, 4 * MAX_SHOWN))
    return part.length > MAX_SHOWN ? `${part.slice(0, MAX_SHOWN)}…` : part
  }

  /** A value of an answer as a report may show it; `name` is that of its field. */
  function shown(value: unknown, name: string): string {
    if (value === undefined) return 'nothing'
    if (Array.isArray(value)) return `a list of ${value.length}`
    if (typeof value === 'object' && value !== null) return 'an object'
    if (typeof value !== 'string') return String(maskValue(value, name))
    const masked = cut(value, (part) => String(maskValue(part, name)))
    const same = value.startsWith(masked.replace(/…$/, ''))
    return `${JSON.stringify(masked)}${same ? '' : ' (masked here)'}`
  }

  function add(
    to: Map<string, Finding>,
    { op, call }: Place,
    field: string,
    expected: string,
    found: string,
  ) {
    const endpoint = endpointOf(op)
    const key = [endpoint, field, expected].join('\n')
    const known = to.get(key)
    if (known) known.times++
    else if (to.size < MAX_KEPT) to.set(key, { endpoint, call, field, expected, found, times: 1 })
    else more++
  }

  return {
    shown,
    /** The name of a field that nobody knows. */
    shownKey: (key: string) => cut(key, maskLogText),
    /** Something is not as the contract shows it. */
    differs: (place: Place, field: string, expected: string, found: string) =>
      add(differs, place, field, expected, found),
    /** Something is as the contract allows, and not as the sandbox does it. */
    note: (place: Place, field: string, expected: string, found: string) =>
      add(notes, place, field, expected, found),
    /** Nothing of an endpoint could be held, until it is. */
    unseen: (op: Operation, why: string) => void unseen.set(endpointOf(op), why),
    seen: (op: Operation) => void unseen.delete(endpointOf(op)),
    /** All of it. What differs from the contract at a field is not told once more as a note. */
    told() {
      const placeOf = ({ endpoint, call, field }: Finding) => [endpoint, call, field].join('\n')
      const differing = new Set([...differs.values()].map(placeOf))
      return {
        differs: [...differs.values()],
        notes: [...notes.values()].filter((note) => !differing.has(placeOf(note))),
        unseen: [...unseen].map(([endpoint, why]): Unseen => ({ endpoint, why })),
        more,
      }
    },
  }
}

export type Findings = ReturnType<typeof createFindings>
