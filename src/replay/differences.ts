import type { RecordedBytes, RecordedResponse, RecordedSend } from '../model/recording.ts'

/** The first thing in which a replay is not as recorded: where, what, and both sides where there are two. */
export type Difference = { at: string; what: string; recorded?: string; found?: string }

// What stands around the place where two texts part.
const BEFORE = 40
const AFTER = 60

const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** The first place at which two JSON values differ, such as `data[0].amount`. */
function firstPlace(a: unknown, b: unknown, path = ''): [string, unknown, unknown] | undefined {
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b))
    return JSON.stringify(a) === JSON.stringify(b) ? undefined : [path, a, b]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const at = Array.isArray(a) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const found = firstPlace(a[key], b[key], at)
    if (found) return found
  }
  return undefined
}

/** Where two bodies part: the field where both are JSON, else the byte. */
function bodyDifference(
  recorded: RecordedBytes,
  found: RecordedBytes,
): Omit<Difference, 'at'> | undefined {
  if (recorded.text === found.text && recorded.base64 === found.base64) return undefined
  const place = firstPlace(jsonOf(recorded.text), jsonOf(found.text))
  if (place && place[0] !== '')
    return { what: `body, ${place[0]}`, recorded: shown(place[1]), found: shown(place[2]) }
  const [a, b] = [recorded, found].map(({ text, base64 }) => text ?? base64 ?? '') as [
    string,
    string,
  ]
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const around = (text: string) => shown(text.slice(Math.max(0, at - BEFORE), at + AFTER))
  return { what: `body, from character ${at + 1} on`, recorded: around(a), found: around(b) }
}

function headersDifference(
  recorded: Readonly<Record<string, unknown>> = {},
  found: Readonly<Record<string, unknown>> = {},
): Omit<Difference, 'at'> | undefined {
  const [a, b] = [recorded, found].map((headers) => JSON.parse(JSON.stringify(headers)))
  const place = firstPlace(a, b)
  return place && { what: `header ${place[0]}`, recorded: shown(place[1]), found: shown(place[2]) }
}

/** In what an answer is not as recorded. */
export function responseDifference(
  at: string,
  recorded: RecordedResponse,
  found: RecordedResponse,
): Difference | undefined {
  for (const key of ['status', 'fault'] as const)
    if (recorded[key] !== found[key])
      return { at, what: key, recorded: shown(recorded[key]), found: shown(found[key]) }
  const difference =
    bodyDifference(recorded, found) ?? headersDifference(recorded.headers, found.headers)
  return difference && { at, ...difference }
}

/** In what an attempt is not as recorded. */
export function sendDifference(
  send: number,
  recorded: RecordedSend | undefined,
  found: Omit<RecordedSend, 'send'>,
): Difference | undefined {
  const at = `webhook ${send}, ${found.method} ${found.url}`
  if (!recorded) return { at, what: 'is sent here, and was not in the recording' }
  for (const key of ['method', 'url'] as const)
    if (recorded[key] !== found[key])
      return { at, what: key, recorded: recorded[key], found: found[key] }
  const difference =
    bodyDifference(recorded, found) ?? headersDifference(recorded.headers, found.headers)
  return difference && { at, ...difference }
}
