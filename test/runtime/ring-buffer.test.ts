import t from 'tap'
import { Ring } from '../../src/runtime/ring-buffer.ts'

const ringOf = (max: number, mostSize = 1_000, budget?: { used: number; max: number }) =>
  new Ring<number>({ max, maxSize: mostSize, sizeOf: (n) => n }, budget)

t.test('a ring holds the newest, in both orders, and counts what it dropped', async (t) => {
  const ring = ringOf(3)
  for (let n = 1; n <= 8; n++) {
    ring.push(n)
    t.equal(ring.count, Math.min(n, 3))
  }
  t.strictSame([...ring.newestFirst()], [8, 7, 6])
  t.strictSame([...ring.oldestFirst()], [6, 7, 8])
  t.equal(ring.dropped, 5)
  ring.clear()
  t.strictSame([ring.newestFirst(), ring.count, ring.dropped], [[], 0, 0])
  ring.push(9)
  t.strictSame([...ring.oldestFirst()], [9], 'it goes on after it was emptied')
})

t.test(
  'a ring drops the oldest where all are too large together, and keeps the newest always',
  async (t) => {
    const ring = ringOf(10, 100)
    for (const n of [40, 30, 30]) ring.push(n)
    t.strictSame([...ring.oldestFirst()], [40, 30, 30], 'as large as may be')
    ring.push(1)
    t.strictSame([...ring.oldestFirst()], [30, 30, 1])
    ring.push(500)
    t.strictSame([...ring.oldestFirst()], [500])
    ring.push(2)
    t.strictSame([...ring.oldestFirst()], [2])
  },
)

t.test(
  'rings that share a budget hold no more than it together, and give back what they drop',
  async (t) => {
    const budget = { used: 0, max: 100 }
    const [a, b] = [ringOf(10, 100, budget), ringOf(10, 100, budget)]
    for (const n of [30, 30]) a.push(n)
    for (const n of [30, 30, 30]) b.push(n)
    t.strictSame([a.count, b.count], [2, 1])
    t.equal(budget.used, 90)
    a.clear()
    t.equal(budget.used, 30)
    for (const n of [30, 30]) b.push(n)
    t.equal(b.count, 3, 'what a ring gave back is free')
  },
)
