import t from 'tap'
import { createRandom } from '../../src/runtime/random.ts'

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
