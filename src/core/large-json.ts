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
} from './json.ts'

const MIB = 1024 * 1024
// What is parsed in one go: large enough to be fast, small enough for well under a ms.
const BATCH_BYTES = 64 * 1024
// A single item must be parsed in one go. The largest that a sandbox makes is far smaller than this: a scenario in a
// state has at most the 100,000 values of the call that brought it.
const MAX_PIECE_BYTES = 4 * MIB
const MAX_PIECE_VALUES = 128 * 1024
// A table with many more rows grows in steps that hold up the event loop.
const MAX_ITEMS = 1_000_000
// The keys of one object, wherever it is. No row has more than some dozens, and an object of very many different keys
// is slow to parse and slow to check.
const MAX_KEYS = 1_000
const tooManyKeys = (place: string) => tooLarge(place, `${MAX_KEYS} fields in one object`)

/** Takes over one item of a list, in the order in which they stand. */
export type TakeItem = (item: unknown, index: number) => unknown
/** Which objects and lists are read piece by piece, by key; all else is one piece. */
export type Plan = { readonly [key: string]: Plan | TakeItem }

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const tooLarge = (place: string, limit: string) =>
  new SandboxError(
    'payload_too_large',
    `The body is too large: ${place || 'it'} has more than ${limit}. Send less.`,
  )

/** The bytes of a large JSON text, to be read piece by piece: parsed in one go it would hold up everything else. */
export class LargeJson {
  readonly #bytes: Uint8Array
  readonly #mostDepth: number
  // How many commas the open object of each level has, in the value that is passed over; of a list they do not count.
  readonly #commas: number[] = []
  #at = 0

  constructor(bytes: Uint8Array, mostDepth: number) {
    this.#bytes = bytes
    this.#mostDepth = mostDepth
  }

  /** The value of the text, with the taken items in their lists. Each `yield` is a place to pause. */
  *read(plan: Plan): Generator<undefined, unknown> {
    this.#at = this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf ? 3 : 0
    this.#skipSpace()
    const value = yield* this.#value(plan, 1, '')
    this.#skipSpace()
    if (this.#at < this.#bytes.length) throw malformed()
    return value
  }

  *#value(plan: Plan | TakeItem | undefined, depth: number, place: string) {
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

  /** The items of a list: as many as make a batch are parsed at once, and then taken one by one. */
  *#list(take: TakeItem, depth: number, place: string): Generator<undefined, unknown[]> {
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
        items.push(take(one, items.length))
        yield
      }
    }
    return items
  }

  /** Steps to the next item of what is open, and whether there is one. */
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

  /** Passes over one value and what stands behind it, up to a comma or the end of what holds it. */
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

  /** Where the text that begins here has its closing quote; `end` where it has none. */
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
