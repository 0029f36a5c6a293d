import { type CallParts, READ, type Reading, readerOf, type Test } from './match.ts'

/** Rules in their order, asked for those that match a call. */
export type RuleList<R> = {
  size: number
  /** The first rule that matches and that `take` takes; `take` is called for each match in turn. */
  find(call: CallParts, take: (rule: R) => boolean): R | undefined
}

// Below this, running through all rules costs less than looking them up.
const WORTH_AN_INDEX = 6
const UNREAD = Symbol('unread')

/** The few texts that a rule wants at some path, if it wants any: what it is looked up by. */
function exactOf(tests: readonly Test[]): { test: Test; texts: readonly string[] } | undefined {
  for (const test of tests) {
    const wanted =
      test.operator === 'eq' ? [test.argument] : test.operator === 'in' ? test.argument : []
    const texts = wanted as unknown[]
    if (texts.length > 0 && texts.every((one) => typeof one === 'string'))
      return { test, texts: texts as string[] }
  }
  return undefined
}

type Slot = { read: (call: CallParts) => unknown; reading: Reading }

/** Numbers the values that tests look at, so that a call's value is read and converted once for all rules. */
function createSlots() {
  const slots: Slot[] = []
  const numbers = new Map<string, number>()
  return {
    slots,
    of({ part, path, reading }: Pick<Test, 'part' | 'path' | 'reading'>): number {
      const name = `${reading} ${part} ${path.join('\u0000')}`
      const known = numbers.get(name)
      if (known !== undefined) return known
      numbers.set(name, slots.length)
      return slots.push({ read: readerOf(part, path), reading }) - 1
    },
  }
}

type Bucket = { slot: number; byText: Map<string, number[]>; all: number[] }

/** Puts each rule that wants exact texts where these find it; answers the buckets and the other rules. */
function indexOf(rules: readonly { tests: readonly Test[] }[], slotOf: (test: Test) => number) {
  const buckets = new Map<number, Bucket>()
  const rest: number[] = []
  for (const [order, { tests }] of rules.entries()) {
    const exact = rules.length < WORTH_AN_INDEX ? undefined : exactOf(tests)
    if (!exact) {
      rest.push(order)
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
  return { buckets: [...buckets.values()], rest }
}

/**
 * An ordered list of rules. Those that want exact texts at a path are found by them, so that a long list of account
 * numbers costs a look-up and not a walk; the others are walked, each value of the call read once.
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
      const { read, reading } = slots[number]!
      const value = READ[reading](read(call))
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
      // A number may equal a decimal text: only a text tells by itself which rules are out.
      const hits = typeof value === 'string' ? byText.get(value) : all
      if (hits) found = found ? [...found, ...hits] : hits
    }
    return found ? [...found, ...rest].sort((a, b) => a - b) : rest
  }

  return { size: rules.length, find }
}
