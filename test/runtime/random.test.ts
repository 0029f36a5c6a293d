import t from 'tap'
import { createRandom, uuidOf } from '../../src/runtime/random.ts'

const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const DRAWS = 100_000

t.test('a series is a function of its seed and counter alone', async (t) => {
  const drawn = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 50 }, () => [random.uuid(), random.fraction(), random.digits(12)])
  }
  t.strictSame(drawn(1), drawn(1))
  t.equal(new Set([1, 2, 3, 2 ** 32 + 1, 2 ** 33 + 1].map((s) => String(drawn(s)))).size, 5)

  const state = { counter: 0 }
  const whole = createRandom(9, state)
  const first = [whole.uuid(), whole.digits(20)]
  const kept = state.counter
  const rest = [whole.uuid(), whole.fraction(), whole.next()]
  const resumed = createRandom(9, { counter: kept })
  t.strictSame([resumed.uuid(), resumed.fraction(), resumed.next()], rest, 'a restart goes on')
  t.notOk(first.includes(rest[0] as string))
})

t.test('a seed repeats no word, no uuid and no number of its series', async (t) => {
  const random = createRandom(1)
  const [words, uuids] = [new Set<number>(), new Set<string>()]
  for (let i = 0; i < DRAWS; i++) words.add(createRandom(1, { counter: i }).fraction())
  for (let i = 0; i < DRAWS; i++) uuids.add(random.uuid())
  // Two of 100,000 words of 32 bits meet by chance about once; a poor mixer repeats thousands.
  t.ok(words.size >= DRAWS - 10, `${words.size} words`)
  t.equal(uuids.size, DRAWS)
  t.equal(
    new Set([...uuids].map((id) => id.slice(0, 8) + id.slice(-12))).size,
    DRAWS,
    'nor do its random ends',
  )
  t.ok([...uuids].every((id) => V4.test(id)))
  t.equal(random.next(), DRAWS + 1)
  t.equal(random.next(), DRAWS + 2)
})

t.test('fractions and digits are spread evenly', async (t) => {
  const random = createRandom(3)
  const tenths = new Array<number>(10).fill(0)
  for (let i = 0; i < DRAWS; i++) {
    const fraction = random.fraction()
    if (fraction < 0 || fraction >= 1) t.fail(`${fraction} is outside [0, 1)`)
    tenths[Math.floor(fraction * 10)]!++
  }
  t.ok(
    tenths.every((n) => Math.abs(n - DRAWS / 10) < DRAWS / 100),
    String(tenths),
  )
  const digits = new Array<number>(10).fill(0)
  for (const digit of random.digits(DRAWS)) digits[Number(digit)]!++
  t.ok(
    digits.every((n) => Math.abs(n - DRAWS / 10) < DRAWS / 100),
    String(digits),
  )
  for (const length of [1, 8, 9, 10, 18, 19]) t.match(random.digits(length), /^\d+$/)
  for (const length of [1, 8, 9, 10, 18, 19]) t.equal(random.digits(length).length, length)
})

t.test('a labelled draw depends on seed, label and n, and moves no other', async (t) => {
  const [plain, asked] = [createRandom(5), createRandom(5)]
  const before = plain.uuid()
  asked.at('rule', 1)
  t.equal(asked.uuid(), before)
  t.equal(asked.at('rule', 7), createRandom(5, { counter: 900 }).at('rule', 7))
  const series = (seed: number, label: string) =>
    Array.from({ length: 1_000 }, (_, n) => createRandom(seed).at(label, n))
  const [a, b, other] = [series(5, 'a'), series(5, 'b'), series(6, 'a')]
  for (const [name, one, two] of [
    ['labels', a, b],
    ['seeds', a, other],
  ] as const) {
    // Independent draws agree on which half they fall in about every second time.
    const agree = one.filter((x, n) => x < 0.5 === two[n]! < 0.5).length
    t.ok(agree > 420 && agree < 580, `${name} agree ${agree} times of 1,000`)
    t.equal(new Set([...one, ...two]).size, 2_000)
  }
  const mean = a.reduce((sum, x) => sum + x, 0) / a.length
  t.ok(Math.abs(mean - 0.5) < 0.05, `mean ${mean}`)
})

t.test('the uuid of a text is its own', async (t) => {
  t.match(uuidOf('client w1'), V4)
  t.equal(uuidOf('client w1'), uuidOf('client w1'))
  const ids = new Set(Array.from({ length: 10_000 }, (_, i) => uuidOf(`client w${i}`)))
  t.equal(ids.size, 10_000)
})
