import { appendFileSync } from 'node:fs'

const FILE = process.env['TORTURE_FIGURES']

/** Whether this is the long form; `scripts/torture.mjs` asks for it. */
export const LONG = process.env['TORTURE'] === 'long'

/** What chance grows from: a run with the same seed draws the same. */
export const SEED = Number(process.env['TORTURE_SEED'] ?? 1)

/** A small seeded source of numbers from 0 to 1, so that a run can be had again. */
export function seeded(seed = SEED): () => number {
  let state = seed >>> 0
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Tells the runner what was counted; each name is a figure of the part's row. */
export function figures(counted: Readonly<Record<string, number | string>>): void {
  if (FILE) appendFileSync(FILE, `${JSON.stringify(counted)}\n`)
}
