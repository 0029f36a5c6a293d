import type { RecordedBytes, RecordedResponse, RecordedSend } from '../../model/recording.ts'

/** The first difference between a replay and its recording: where, what, and both values if they exist. */
export type ReplayDifference = { at: string; what: string; recorded?: string; found?: string }

// The number of characters that are shown before and after the first difference of two texts.
const CONTEXT_BEFORE = 40
const CONTEXT_AFTER = 60

const format = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** The path of the first difference of two JSON values, such as `data[0].amount`, with both values. */
function firstJsonDifference(
  a: unknown,
  b: unknown,
  path = '',
): [string, unknown, unknown] | undefined {
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b))
    return JSON.stringify(a) === JSON.stringify(b) ? undefined : [path, a, b]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const at = Array.isArray(a) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const found = firstJsonDifference(a[key], b[key], at)
    if (found) return found
  }
  return undefined
}

/** The first difference of two bodies: a field if both are JSON, otherwise a character. */
function bodyDifference(
  recorded: RecordedBytes,
  found: RecordedBytes,
): Omit<ReplayDifference, 'at'> | undefined {
  if (recorded.text === found.text && recorded.base64 === found.base64) return undefined
  const difference = firstJsonDifference(parseJson(recorded.text), parseJson(found.text))
  if (difference && difference[0] !== '')
    return {
      what: `body, ${difference[0]}`,
      recorded: format(difference[1]),
      found: format(difference[2]),
    }
  const [a, b] = [recorded, found].map(({ text, base64 }) => text ?? base64 ?? '') as [
    string,
    string,
  ]
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const around = (text: string) =>
    format(text.slice(Math.max(0, at - CONTEXT_BEFORE), at + CONTEXT_AFTER))
  return { what: `body, from character ${at + 1} on`, recorded: around(a), found: around(b) }
}

function headersDifference(
  recorded: Readonly<Record<string, unknown>> = {},
  found: Readonly<Record<string, unknown>> = {},
): Omit<ReplayDifference, 'at'> | undefined {
  const [a, b] = [recorded, found].map((headers) => JSON.parse(JSON.stringify(headers)))
  const difference = firstJsonDifference(a, b)
  return (
    difference && {
      what: `header ${difference[0]}`,
      recorded: format(difference[1]),
      found: format(difference[2]),
    }
  )
}

/** The first difference of a response from the recorded one. */
export function responseDifference(
  at: string,
  recorded: RecordedResponse,
  found: RecordedResponse,
): ReplayDifference | undefined {
  for (const key of ['status', 'fault'] as const)
    if (recorded[key] !== found[key])
      return { at, what: key, recorded: format(recorded[key]), found: format(found[key]) }
  const difference =
    bodyDifference(recorded, found) ?? headersDifference(recorded.headers, found.headers)
  return difference && { at, ...difference }
}

/** The first difference of a webhook attempt from the recorded one. */
export function sendDifference(
  send: number,
  recorded: RecordedSend | undefined,
  found: Omit<RecordedSend, 'send'>,
): ReplayDifference | undefined {
  const at = `webhook ${send}, ${found.method} ${found.url}`
  if (!recorded) return { at, what: 'was sent in the replay, but not in the recording' }
  for (const key of ['method', 'url'] as const)
    if (recorded[key] !== found[key])
      return { at, what: key, recorded: recorded[key], found: found[key] }
  const difference =
    bodyDifference(recorded, found) ?? headersDifference(recorded.headers, found.headers)
  return difference && { at, ...difference }
}
