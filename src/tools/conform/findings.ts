import type { Operation } from '../../http/endpoint.ts'
import { HIDDEN, maskLogText, maskValue } from '../../model/mask.ts'

/** One deviation. `call` describes the request if it is special; `times` counts the occurrences. */
export type Finding = {
  endpoint: string
  call: string
  field: string
  expected: string
  found: string
  times: number
}

export type UncheckedEndpoint = { endpoint: string; reason: string }

/** What a response differs in, of the call that got it. */
export type Source = {
  differs: (field: string, expected: string, found: string) => void
  /** Adds a difference from the sandbox that the contract allows. */
  note: (field: string, expected: string, found: string) => void
  formatValue: (value: unknown, name: string) => string
  formatKey: (key: string) => string
}

const MAX_SHOWN_LENGTH = 40
// A hostile response can contain any number of deviations.
const MAX_FINDINGS = 500

export const endpointOf = ({ method, url }: Operation): string => `${method} ${url}`

/** Collects findings, each once per endpoint and field. Never stores a number or secret of a response unmasked. */
export function createFindings(token: string | undefined) {
  const differs = new Map<string, Finding>()
  const notes = new Map<string, Finding>()
  const unchecked = new Map<string, string>()
  let more = 0

  const withoutToken = (text: string) =>
    token === undefined ? text : text.replaceAll(token, HIDDEN)

  /** Masks before truncating; otherwise a truncated number could look harmless and stay unmasked. */
  const maskAndTruncate = (text: string, mask: (part: string) => string) => {
    const part = mask(withoutToken(text).slice(0, 4 * MAX_SHOWN_LENGTH))
    return part.length > MAX_SHOWN_LENGTH ? `${part.slice(0, MAX_SHOWN_LENGTH)}…` : part
  }

  const formatKey = (key: string) => maskAndTruncate(key, maskLogText)

  function formatValue(value: unknown, name: string): string {
    if (value === undefined) return 'nothing'
    if (Array.isArray(value)) return `a list of ${value.length}`
    if (typeof value === 'object' && value !== null) return 'an object'
    if (typeof value !== 'string') return String(maskValue(value, name))
    const masked = maskAndTruncate(value, (part) => String(maskValue(part, name)))
    const same = value.startsWith(masked.replace(/\u2026$/, ''))
    return `${JSON.stringify(masked)}${same ? '' : ' (masked here)'}`
  }

  function add(
    target: Map<string, Finding>,
    endpoint: string,
    call: string,
    field: string,
    expected: string,
    found: string,
  ) {
    const key = [endpoint, field, expected].join('\n')
    const known = target.get(key)
    if (known) known.times++
    else if (target.size < MAX_FINDINGS)
      target.set(key, { endpoint, call, field, expected, found, times: 1 })
    else more++
  }

  return {
    sourceOf: (op: Operation, call: string): Source => ({
      differs: (...found) => add(differs, endpointOf(op), call, ...found),
      note: (...found) => add(notes, endpointOf(op), call, ...found),
      formatValue,
      formatKey,
    }),
    formatKey,
    markUnchecked: (op: Operation, why: string) => void unchecked.set(endpointOf(op), why),
    markChecked: (op: Operation) => void unchecked.delete(endpointOf(op)),
    /** Returns all findings. A field with a difference has no note. */
    report() {
      const keyOf = ({ endpoint, call, field }: Finding) => [endpoint, call, field].join('\n')
      const differing = new Set([...differs.values()].map(keyOf))
      return {
        differs: [...differs.values()],
        notes: [...notes.values()].filter((note) => !differing.has(keyOf(note))),
        unchecked: [...unchecked].map(
          ([endpoint, reason]): UncheckedEndpoint => ({ endpoint, reason }),
        ),
        more,
      }
    },
  }
}

export type Findings = ReturnType<typeof createFindings>
