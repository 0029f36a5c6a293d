import { parse } from 'secure-json-parse'
import { SandboxError } from '../model/errors.ts'

/** The maximum nesting of the JSON of a body; also of a scenario file. */
export const MAX_DEPTH = 32

export const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
export const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The error of JSON that is nested too deep. */
export const tooDeep = (found: number | string, max: number) =>
  new SandboxError(
    'json_too_deep',
    `The JSON of the body is nested ${found} levels deep; the maximum is ${max}. Send JSON with fewer levels.`,
  )

export const malformed = (
  what = 'The body is not valid JSON, or it contains a forbidden key such as __proto__. Send a JSON object.',
) => new SandboxError('malformed_json', what)

/** Returns the nesting of a JSON text, and about how many values it has. */
export function measureJson(bytes: Uint8Array): { depth: number; values: number } {
  let depth = 0
  let deepest = 0
  let values = 1
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) {
      for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++
    } else if (byte === COMMA) values++
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      if (++depth > deepest) deepest = depth
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
  }
  return { depth: deepest, values }
}

/**
 * Throws if a text is nested too deep or has too many values. This check runs before parsing: a parsed value may be
 * too deep for recursion, and its validation may take long.
 */
export function rejectTooComplex(bytes: Uint8Array, max: { depth: number; values: number }): void {
  // Each level takes two characters, so a short text cannot be too deep.
  if (bytes.length <= 2 * max.depth) return
  const { depth, values } = measureJson(bytes)
  if (depth > max.depth) throw tooDeep(depth, max.depth)
  if (values > max.values)
    throw new SandboxError(
      'payload_too_large',
      `The JSON of the body has ${values} values; the maximum is ${max.values}. Send fewer values.`,
    )
}

/** Parses a JSON text; throws if it is invalid or has a key that sets a prototype. */
export function parseJson(text: string): unknown {
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    throw malformed()
  }
}
