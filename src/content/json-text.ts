import { LineCounter, parseDocument } from 'yaml'
import { faultIn, type Place, placeAt } from '../config/files.ts'
import type { Problem } from '../model/errors.ts'
import { fieldOf } from '../model/validation-errors.ts'

export type JsonPath = readonly (string | number)[]

// To find a position, yaml needs fifty times the memory of the file; in a larger file, a problem has only its path.
const MAX_LOCATED = 8 * 1024 * 1024
const MAX_LEVELS = 100
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g

function parsed(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'json' })
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  return { document, at }
}

/** Returns the function that finds the value at a path in a JSON text, or its nearest parent. */
export function placesIn(text: string): (path: JsonPath) => Place {
  if (text.length > MAX_LOCATED) return () => ({ line: 0, column: 0 })
  const { document, at } = parsed(text)
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true) as { range: [number] } | undefined
      if (node) return at(node.range[0])
    }
    return { line: 1, column: 1 }
  }
}

/** Returns the function that makes a problem at a path of a file; with its text, the problem has a place there. */
export function problemsIn(file: string, text?: string) {
  const placeOf = text === undefined ? undefined : placesIn(text)
  return (at: JsonPath, message: string): Problem => {
    const path = fieldOf(at)
    const { line, column } = placeOf?.(at) ?? { line: 0, column: 0 }
    return { file, line, column, path, message: path && line ? `${path}: ${message}` : message }
  }
}

/** The number of keys of a value; throws `RangeError` if it is nested too deeply. */
function countKeys(value: unknown, level = 0): number {
  if (typeof value !== 'object' || value === null) return 0
  if (level > MAX_LEVELS) throw new RangeError(`has more than ${MAX_LEVELS} levels`)
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const one of Object.values(value)) count += countKeys(one, level + 1)
  return count
}

const isProto = (key: string) =>
  key === '"__proto__"' || (key.includes('\\') && JSON.parse(key) === '__proto__')

/** Finds what `JSON.parse` lets through: too many levels, the key `__proto__`, or a duplicate key. */
function faultOf(text: string, value: unknown): (Place & { message: string }) | undefined {
  let keys = 0
  for (const { 0: found, 1: colon, index } of text.matchAll(STRING)) {
    if (!colon) continue
    keys++
    if (isProto(found.slice(0, -colon.length)))
      return { ...placeAt(text, index), message: 'has the key __proto__; use another name' }
  }
  try {
    if (keys === countKeys(value)) return undefined
  } catch (error) {
    return { line: 1, column: 1, message: (error as Error).message }
  }
  const message = 'has a key that is there twice; keep one'
  if (text.length > MAX_LOCATED) return { line: 0, column: 0, message }
  const { document, at } = parsed(text)
  return { ...at(document.errors[0]!.pos[0]), message }
}

/** Parses JSON, or says where it's invalid or has a duplicate key. */
export function parseJson(
  text: string,
): { value: unknown } | { fault: Place & { message: string } } {
  try {
    const value = JSON.parse(text) as unknown
    const fault = faultOf(text, value)
    return fault ? { fault } : { value }
  } catch (error) {
    const { why, ...place } = faultIn(text, (error as Error).message)
    return { fault: { ...place, message: `is not JSON: ${why}` } }
  }
}
