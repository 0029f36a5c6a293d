const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SPACE = /[ \t\r\n]*/y

class Broken extends Error {}

/** Reads damaged JSON: what is broken is left out, from its line to the next line that can go on. */
class LenientReader {
  lost = 0
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(): unknown {
    const mark = this.#next()
    if (mark === '{') return this.#object()
    if (mark === '[') return this.#list()
    return JSON.parse(this.#matched(STRING) ?? this.#matched(LITERAL) ?? this.#broken())
  }

  #broken(): never {
    throw new Broken()
  }

  #matched(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #next(): string | undefined {
    this.#matched(SPACE)
    return this.#text[this.#at]
  }

  #object() {
    const members: [string, unknown][] = []
    this.#members('"', '}', () => {
      const key = JSON.parse(this.#matched(STRING) ?? this.#broken())
      if (this.#next() !== ':') this.#broken()
      this.#at++
      members.push([key, this.value()])
    })
    return Object.fromEntries(members)
  }

  #list() {
    const items: unknown[] = []
    this.#members('{', ']', () => items.push(this.value()))
    return items
  }

  /** Reads the members between brackets; `first` is how a line begins that has the next one. */
  #members(first: string, close: string, one: () => void) {
    const opened = this.#at++
    // A row on one line is left out as a whole; a list that follows it can go on.
    const isRow = first === '"' && !/[\r\n]/.test(this.#text[this.#at] ?? '')
    let isFirst = true
    for (;;) {
      let memberAt: number | undefined
      try {
        if (this.#next() === close) break
        if (!isFirst) {
          if (this.#text[this.#at] !== ',') this.#broken()
          this.#at++
          this.#next()
        }
        isFirst = false
        memberAt = this.#at
        one()
      } catch (error) {
        const canGoOn = !isRow && this.#text.slice(opened, this.#at).includes('\n')
        if (!(error instanceof Broken) || !canGoOn) throw error
        if (!this.#goOn(first, close, memberAt)) return
        isFirst = true
      }
    }
    this.#at++
  }

  /**
   * Moves to the next line that can go on, and counts what is left out; returns whether there is one. `memberAt` is where the
   * broken member began; without it, only a comma is missing.
   */
  #goOn(first: string, close: string, memberAt: number | undefined): boolean {
    const start = this.#text.lastIndexOf('\n', this.#at - 1) + 1
    const isAtStart = this.#text.slice(start, this.#at).trim() === ''
    if (isAtStart && this.#text[this.#at] === first && memberAt !== this.#at) {
      if (memberAt !== undefined) this.lost++
      return true
    }
    this.lost++
    for (;;) {
      const end = this.#text.indexOf('\n', this.#at)
      if (end === -1) {
        this.#at = this.#text.length
        return false
      }
      this.#at = end + 1
      const mark = this.#next()
      if (mark === first || mark === close) return true
      if (mark === '{') this.lost++
    }
  }
}

/** Reads as much of a damaged JSON text as possible; `lost` counts the lines that are left out. */
export function readLenientJson(text: string): { value: unknown; lost: number } {
  const reader = new LenientReader(text)
  try {
    const value = reader.value()
    return { value, lost: reader.lost }
  } catch (error) {
    if (error instanceof Broken) return { value: undefined, lost: reader.lost + 1 }
    throw error
  }
}
