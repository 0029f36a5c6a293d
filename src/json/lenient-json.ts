const OPENING = /^("(?:[^"\\]|\\.)*")?\s*:?\s*([[{]?)(.*)$/

type Container = unknown[] | Record<string, unknown>

/** Reads damaged JSON line by line, as a data file has it: one row or field a line. A line that is broken is left out. */
class LenientReader {
  lost = 0
  readonly roots: unknown[] = []
  readonly #open: Container[] = [this.roots]

  get #top(): Container {
    return this.#open.at(-1)!
  }

  take(text: string): void {
    const line = text.trim().replace(/,$/, '')
    if (line === '') return
    if (line.startsWith(']') || line.startsWith('}')) {
      this.#close(line.startsWith(']'))
      this.take(line.slice(1).replace(/^\s*,/, ''))
      return
    }
    if (this.#add(line)) return
    // The end of the innermost list or object may have been left out.
    const inner = this.#open.pop()!
    if (this.#open.length > 0 && this.#add(line)) return
    this.#open.push(inner)
    this.lost++
  }

  #add(line: string): boolean {
    return this.#addWhole(line) || this.#addOpening(line)
  }

  /** Closes the innermost list or object, with all that is open in it. */
  #close(isList: boolean) {
    const last = this.#open.findLastIndex((one) => Array.isArray(one) === isList)
    if (last > 0) this.#open.length = last
  }

  /** Adds rows or fields that are whole. */
  #addWhole(line: string): boolean {
    try {
      if (Array.isArray(this.#top)) this.#top.push(...JSON.parse(`[${line}]`))
      else Object.assign(this.#top, JSON.parse(`{${line}}`))
      return true
    } catch {
      return false
    }
  }

  /** Opens a list or an object that has its members on the next lines. */
  #addOpening(line: string): boolean {
    const [, name, bracket, rest] = OPENING.exec(line)!
    if (bracket !== '[' && rest !== '') return false
    const opened: Container = bracket === '{' ? {} : []
    const top = this.#top
    if (Array.isArray(top) !== (name === undefined)) return false
    if (Array.isArray(top)) top.push(opened)
    else top[JSON.parse(name!)] = opened
    this.#open.push(opened)
    this.take(rest ?? '')
    return true
  }
}

/** Reads as much of a damaged JSON text as possible; `lost` counts the lines that are left out. */
export function readLenientJson(text: string): { value: unknown; lost: number } {
  const reader = new LenientReader()
  for (const line of text.split('\n')) reader.take(line)
  return { value: reader.roots[0], lost: reader.lost }
}
