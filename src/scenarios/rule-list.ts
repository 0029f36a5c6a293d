import { type CallParts, readerOf, type Test } from './match.ts'
import { CONVERT, type Conversion } from './operators.ts'

/** An ordered list of rules that can find the rules that match a call. */
export type RuleList<R> = {
  size: number
  /** Calls `take` for each matching rule in order, until it returns true; returns that rule. */
  find(call: CallParts, take: (rule: R) => boolean): R | undefined
}

// With fewer rules, testing all of them is faster than an index.
const MIN_INDEXED_RULES = 6
const UNREAD = Symbol('unread')

/** Returns a test of a rule that accepts only fixed texts, and these texts; the index uses them. */
function exactTexts(tests: readonly Test[]): { test: Test; texts: readonly string[] } | undefined {
  for (const test of tests) {
    const wanted =
      test.operator === 'eq' ? [test.argument] : test.operator === 'in' ? test.argument : []
    const texts = wanted as unknown[]
    if (texts.length > 0 && texts.every((one) => typeof one === 'string'))
      return { test, texts: texts as string[] }
  }
  return undefined
}

type Slot = { read: (call: CallParts) => unknown; conversion: Conversion }

/** Assigns a slot to each value that tests read, so that each value of a call is read and converted once for all rules. */
function createSlots() {
  const slots: Slot[] = []
  const numbers = new Map<string, number>()
  return {
    slots,
    of({ part, path, conversion }: Pick<Test, 'part' | 'path' | 'conversion'>): number {
      const name = `${conversion} ${part} ${path.join('\u0000')}`
      const known = numbers.get(name)
      if (known !== undefined) return known
      numbers.set(name, slots.length)
      return slots.push({ read: readerOf(part, path), conversion }) - 1
    },
  }
}

type Bucket = { slot: number; byText: Map<string, number[]>; all: number[] }

/** Builds the index: puts each rule with exact texts into a bucket. Returns the buckets and the rules that are not indexed. */
function indexOf(rules: readonly { tests: readonly Test[] }[], slotOf: (test: Test) => number) {
  const buckets = new Map<number, Bucket>()
  const unindexed: number[] = []
  for (const [order, { tests }] of rules.entries()) {
    const exact = rules.length < MIN_INDEXED_RULES ? undefined : exactTexts(tests)
    if (!exact) {
      unindexed.push(order)
      continue
    }
    const slot = slotOf(exact.test)
    const fresh: Bucket = { slot, byText: new Map(), all: [] }
    const bucket = buckets.get(slot) ?? fresh
    buckets.set(slot, bucket)
    bucket.all.push(order)
    for (const text of new Set(exact.texts)) {
      const same = bucket.byText.get(text)
      if (same) same.push(order)
      else bucket.byText.set(text, [order])
    }
  }
  return { buckets: [...buckets.values()], rest: unindexed }
}

/**
 * Creates an ordered list of rules. Rules with exact texts at a path are indexed by these texts, so that a long list of
 * account numbers costs one look-up. All other rules are tested in order; each value of the call is read once.
 */
export function createRuleList<R extends { tests: readonly Test[] }>(
  rules: readonly R[],
): RuleList<R> {
  const { slots, of } = createSlots()
  const checks = rules.map(({ tests }) =>
    tests.map((test) => ({ slot: of(test), accepts: test.accepts })),
  )
  const { buckets, rest } = indexOf(rules, of)

  function find(call: CallParts, take: (rule: R) => boolean): R | undefined {
    if (rules.length === 0) return undefined
    const values: unknown[] = new Array(slots.length).fill(UNREAD)
    const valueAt = (number: number): unknown => {
      const { read, conversion } = slots[number]!
      const value = CONVERT[conversion](read(call))
      values[number] = value
      return value
    }
    const matches = (order: number): boolean => {
      const own = checks[order]!
      for (let i = 0; i < own.length; i++) {
        const { slot, accepts } = own[i]!
        const known = values[slot]
        if (!accepts(known === UNREAD ? valueAt(slot) : known)) return false
      }
      return true
    }
    const orders = candidates(valueAt)
    for (let i = 0; i < orders.length; i++) {
      const rule = rules[orders[i]!]!
      if (matches(orders[i]!) && take(rule)) return rule
    }
    return undefined
  }

  function candidates(valueAt: (slot: number) => unknown): readonly number[] {
    let found: number[] | undefined
    for (const { slot, byText, all } of buckets) {
      const value = valueAt(slot)
      if (value === undefined) continue
      // A number can equal a decimal text, so only a text value can use the index.
      const hits = typeof value === 'string' ? byText.get(value) : all
      if (hits) found = found ? [...found, ...hits] : hits
    }
    return found ? [...found, ...rest].sort((a, b) => a - b) : rest
  }

  return { size: rules.length, find }
}
