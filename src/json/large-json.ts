import { isUtf8 } from 'node:buffer'
import { SandboxError } from '../model/errors.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  malformed,
  OPEN_LIST,
  OPEN_OBJECT,
  parseJson,
  QUOTE,
  tooDeep,
} from './parse-json.ts'

const MIB = 1024 * 1024
// Parsed in one call: large enough to be fast, small enough to take well under 1 ms.
const BATCH_BYTES = 64 * 1024
// A single item must be parsed in one call. The largest item that a sandbox creates is much smaller than this: a
// scenario in a state has at most the 100,000 values of the call that uploaded it.
const MAX_PIECE_BYTES = 4 * MIB
const MAX_PIECE_VALUES = 128 * 1024
// A table with many more rows grows in steps that block the event loop.
const MAX_ITEMS = 1_000_000
// The maximum number of keys of any object. No row has more than a few dozen, and an object with very many different
// keys is slow to parse and to check.
const MAX_KEYS = 1_000
const tooManyKeys = (place: string) => tooLarge(place, `${MAX_KEYS} fields in one object`)

/** Receives one item of a list, in order; the result replaces the item. */
export type OnItem = (item: unknown, index: number) => unknown
/** Which objects and lists are read piece by piece, by key; every other value is parsed in one piece. */
export type Plan = { readonly [key: string]: Plan | OnItem }

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const tooLarge = (place: string, limit: string) =>
  new SandboxError(
    'payload_too_large',
    `The body is too large: ${place || 'it'} has more than ${limit}. Send less.`,
  )

/** A large JSON text that is read piece by piece: parsing it in one call would block the event loop. */
export class LargeJson {
  readonly #bytes: Uint8Array
  readonly #mostDepth: number
  // The number of commas in the open object of each level of the skipped value; commas of lists are not counted.
  readonly #commas: number[] = []
  #at = 0

  constructor(bytes: Uint8Array, maxDepth: number) {
    this.#bytes = bytes
    this.#mostDepth = maxDepth
  }

  /**
   * Parses the text and returns its value; lists contain the results of `OnItem`. The caller may pause at each `yield`.
   */
  *read(plan: Plan): Generator<undefined, unknown> {
    this.#at = this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf ? 3 : 0
    this.#skipSpace()
    const value = yield* this.#value(plan, 1, '')
    this.#skipSpace()
    if (this.#at < this.#bytes.length) throw malformed()
    return value
  }

  *#value(plan: Plan | OnItem | undefined, depth: number, place: string) {
    const first = this.#bytes[this.#at]
    if (typeof plan === 'object' && first === OPEN_OBJECT)
      return yield* this.#object(plan, depth, place)
    if (typeof plan === 'function' && first === OPEN_LIST)
      return yield* this.#list(plan, depth, place)
    const start = this.#at
    this.#pass(depth - 1, place)
    return parseJson(this.#text(start, this.#at))
  }

  *#object(plan: Plan, depth: number, place: string): Generator<undefined, unknown> {
    const value: Record<string, unknown> = {}
    for (let keys = 0; this.#goOn(keys === 0, CLOSE_OBJECT); keys++) {
      if (keys === MAX_KEYS) throw tooManyKeys(place)
      const key = this.#key()
      const at = place ? `${place}.${key}` : key
      value[key] = yield* this.#value(
        Object.hasOwn(plan, key) ? plan[key] : undefined,
        depth + 1,
        at,
      )
      yield
    }
    return value
  }

  /** Parses the items of a list in batches, then passes them on one by one. */
  *#list(onItem: OnItem, depth: number, place: string): Generator<undefined, unknown[]> {
    const bytes = this.#bytes
    const items: unknown[] = []
    while (this.#goOn(items.length === 0, CLOSE_LIST)) {
      const start = this.#at
      let count = 1
      const item = `an item of ${place}`
      this.#pass(depth, item)
      while (bytes[this.#at] === COMMA && this.#at - start < BATCH_BYTES) {
        this.#at++
        this.#pass(depth, item)
        count++
      }
      if (items.length + count > MAX_ITEMS) throw tooLarge(place, `${MAX_ITEMS} rows`)
      const batch = parseJson(`[${this.#text(start, this.#at)}]`) as unknown[]
      if (batch.length !== count) throw malformed()
      for (const one of batch) {
        items.push(onItem(one, items.length))
        yield
      }
    }
    return items
  }

  /** Moves to the next item of the open object or list; returns false at its end. */
  #goOn(isFirst: boolean, close: number): boolean {
    if (isFirst) this.#at++
    this.#skipSpace()
    const byte = this.#bytes[this.#at]
    if (byte === close) {
      this.#at++
      return false
    }
    if (isFirst) return true
    if (byte !== COMMA) throw malformed()
    this.#at++
    this.#skipSpace()
    return true
  }

  #key(): string {
    const start = this.#at
    if (this.#bytes[start] !== QUOTE) throw malformed()
    this.#at = this.#endOfText(start, Math.min(this.#bytes.length, start + BATCH_BYTES)) + 1
    const key = parseJson(this.#text(start, this.#at)) as string
    if (key === '__proto__' || key === 'constructor') throw malformed()
    this.#skipSpace()
    if (this.#bytes[this.#at] !== COLON) throw malformed()
    this.#at++
    this.#skipSpace()
    return key
  }

  /** Skips one value, up to the next comma or the end of its parent. Checks depth and size. */
  #pass(outer: number, place: string) {
    const bytes = this.#bytes
    const commas = this.#commas
    const end = Math.min(bytes.length, this.#at + MAX_PIECE_BYTES)
    let depth = 0
    let values = 1
    let i = this.#at
    for (; i < end; i++) {
      const byte = bytes[i]!
      if (byte === QUOTE) i = this.#endOfText(i, end)
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        values++
        if (outer + ++depth > this.#mostDepth)
          throw tooDeep(`more than ${this.#mostDepth}`, this.#mostDepth)
        commas[depth] = byte === OPEN_OBJECT ? 0 : Number.NEGATIVE_INFINITY
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth-- === 0) break
      } else if (byte === COMMA) {
        if (depth === 0) break
        values++
        if (++commas[depth]! === MAX_KEYS) throw tooManyKeys(place)
      }
    }
    if (i >= end && end < bytes.length) throw tooLarge(place, `${MAX_PIECE_BYTES / MIB} MiB`)
    if (values > MAX_PIECE_VALUES) throw tooLarge(place, `${MAX_PIECE_VALUES} values`)
    this.#at = Math.min(i, end)
  }

  /** The position of the closing quote of the string that begins at `start`; `end` if there is none. */
  #endOfText(start: number, end: number): number {
    const bytes = this.#bytes
    let i = start + 1
    for (; i < end && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++
    return Math.min(i, end)
  }

  #skipSpace() {
    const bytes = this.#bytes
    const end = Math.min(bytes.length, this.#at + MAX_PIECE_BYTES)
    let i = this.#at
    while (i < end && isSpace(bytes[i]!)) i++
    this.#at = i
  }

  #text(start: number, end: number): string {
    const bytes = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start)
    if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8. Send JSON in UTF-8.')
    return bytes.toString('utf8')
  }
}
