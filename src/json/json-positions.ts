/** The keys and list positions from the root to a value. */
export type JsonPath = readonly (string | number)[]

/** The positions of the values in a JSON text, and its first syntax error. Lines and columns count from 1. */
export type JsonPlaces = {
  /** The start of the value at a path; of its nearest existing parent if the path does not exist. */
  placeOf(path: JsonPath): { line: number; column: number }
  fault?: { line: number; column: number; message: string }
}

const MAX_LEVELS = 100
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const SPACE = /[ \t\r\n]*/y
const HEX = /[0-9a-fA-F]{4}/y

class JsonSyntaxError extends Error {
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

const under = (path: string, key: string | number) => `${path}\u0000${key}`

/** Parses JSON, stores the offset of each value, and throws `JsonSyntaxError` at the first error. */
function walk(text: string, offsets: Map<string, number>) {
  let at = text.startsWith('\ufeff') ? 1 : 0

  function fail(message: string, offset = at): never {
    if (offset >= text.length)
      throw new JsonSyntaxError(text.length, 'the text ends too early here')
    throw new JsonSyntaxError(offset, message)
  }
  function matched(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  function next(): string | undefined {
    matched(SPACE)
    if (text[at] === '/') fail('JSON does not allow comments; remove it')
    return text[at]
  }

  function string(): string {
    const start = at++
    for (; text[at] !== '"'; at++) {
      if (at >= text.length) fail('', at)
      if (text.charCodeAt(at) < 0x20)
        fail('a string must end with a double quote on the same line; write a line break as \\n')
      if (text[at] !== '\\') continue
      at++
      if (text[at] === 'u') {
        at++
        if (matched(HEX) === undefined) fail('\\u must be followed by four hexadecimal digits')
        at--
      } else if (at < text.length && !'"\\/bfnrt'.includes(text[at]!))
        fail('write a backslash as \\\\', at - 1)
    }
    at++
    return JSON.parse(text.slice(start, at))
  }

  /** Parses the members between brackets; `one` parses each of them. */
  function members(close: string, one: (i: number) => void) {
    at++
    if (next() === close) {
      at++
      return
    }
    for (let i = 0; ; i++) {
      one(i)
      const mark = next()
      if (mark === close) break
      if (mark !== ',') fail(`a comma or ${close} is missing before this`)
      const comma = at++
      if (next() === close) fail('a comma with no value after it; remove it', comma)
    }
    at++
  }

  function value(path: string, level: number) {
    const mark = next()
    offsets.set(path, at)
    if (level > MAX_LEVELS) fail(`more than ${MAX_LEVELS} levels of objects and lists`)
    if (mark === '{') {
      const keys = new Set<string>()
      members('}', () => {
        if (next() !== '"') fail('a key in double quotes is missing here')
        const start = at
        const key = string()
        if (keys.has(key)) fail(`the key ${JSON.stringify(key)} is there twice; keep one`, start)
        keys.add(key)
        if (next() !== ':') fail('a colon is missing before this')
        at++
        value(under(path, key), level + 1)
      })
    } else if (mark === '[') members(']', (i) => value(under(path, i), level + 1))
    else if (mark === '"') string()
    else if (matched(LITERAL) === undefined)
      fail(
        'a value is missing here: a string in double quotes, a number, true, false, null, { or [',
      )
  }

  value('', 0)
  if (next() !== undefined) fail('there is more text after the end of the value')
}

/** Finds the position of each value in a JSON text. `JSON.parse` does not report positions in every version of Node. */
export function jsonPlaces(text: string): JsonPlaces {
  const offsets = new Map<string, number>()
  const placeAt = (offset: number) => {
    const before = text.slice(0, offset)
    const start = before.lastIndexOf('\n') + 1
    return { line: before.split('\n').length, column: offset - start + 1 }
  }
  const placeOf = (path: JsonPath) => {
    for (let length = path.length; length >= 0; length--) {
      const offset = offsets.get(path.slice(0, length).reduce<string>(under, ''))
      if (offset !== undefined) return placeAt(offset)
    }
    return { line: 1, column: 1 }
  }
  try {
    walk(text, offsets)
    return { placeOf }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { placeOf, fault: { ...placeAt(error.offset), message: error.message } }
  }
}
