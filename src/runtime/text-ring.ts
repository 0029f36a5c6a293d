import { MAX_UNIT_BYTES } from './utf8.ts'

const FIRST_BYTES = 16 * 1024

/** A text in a ring. It is empty once the ring may have overwritten it. */
export class RingText {
  readonly #ring: TextRing
  /** The place of its first byte, counted from the first byte that was ever added. */
  readonly at: number
  /** Bytes. */
  readonly size: number

  constructor(ring: TextRing, at: number, size: number) {
    this.#ring = ring
    this.at = at
    this.size = size
  }

  toString(): string {
    return this.#ring.read(this)
  }
}

/**
 * Stores the newest texts of a list as UTF-8, in one buffer that is filled in a circle and grows as needed. Strings would
 * live just long enough for the garbage collector to copy each of them twice.
 */
export class TextRing {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** The places of the oldest text that is kept, and behind the newest one. */
  #start = 0
  #end = 0

  /** Adds a text. Those from `oldest` on are kept; without it, none of the earlier ones. */
  add(text: string, oldest: RingText | undefined): RingText {
    // Room for the longest encoding: to measure the text would cost as much as to write it.
    const most = MAX_UNIT_BYTES * text.length
    this.#start = oldest?.at ?? this.#end
    while (this.#placeFor(most) + most - this.#start > this.#bytes.length) this.#grow()
    const at = this.#placeFor(most)
    const size = this.#bytes.write(text, at % this.#bytes.length)
    this.#end = at + size
    return new RingText(this, at, size)
  }

  read({ at, size }: RingText): string {
    if (at < this.#start) return ''
    const from = at % this.#bytes.length
    return this.#bytes.toString('utf8', from, from + size)
  }

  /** A text must not be split by the end of the buffer. */
  #placeFor(size: number): number {
    const { length } = this.#bytes
    const rest = length - (this.#end % length)
    return size > rest ? this.#end + rest : this.#end
  }

  /** Doubles the buffer. A text that the end of the old one did not split is not split by the end of the new one. */
  #grow() {
    const old = this.#bytes
    this.#bytes = Buffer.allocUnsafeSlow(2 * old.length)
    for (let at = this.#start; at < this.#end; ) {
      const from = at % old.length
      const size = Math.min(old.length - from, this.#end - at)
      old.copy(this.#bytes, at % this.#bytes.length, from, from + size)
      at += size
    }
  }
}
