import t from 'tap'
import { arrivalOrders } from '../../src/webhooks/arrival-orders.ts'

/** A small seeded random source, so that the tests are repeatable. */
function seeded(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const events = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `evt_${i}` }))
const orders = (n: number, maxOrders: number, random = seeded(1)) => [
  ...arrivalOrders({ events: events(n), random, max_orders: maxOrders }),
]

t.test('three events: every other order, the nearest first, then with repeats', async (t) => {
  t.same(
    orders(3, 1_000)
      .slice(0, 12)
      .map(({ indexes, copies, disturbance }) => [indexes.join(''), copies, disturbance]),
    [
      ['021', 0, 1],
      ['102', 0, 1],
      ['120', 0, 2],
      ['201', 0, 2],
      ['210', 0, 3],
      ['0012', 1, 0],
      ['0112', 1, 0],
      ['0122', 1, 0],
      ['0102', 1, 1],
      ['0121', 1, 1],
      ['0021', 1, 1],
      ['0221', 1, 1],
    ],
  )
})

t.test('small lists are explored completely', async (t) => {
  // n! - 1 reorderings; with one repeat, each of n! orders takes n(n+1)/2 places for it.
  const cases: [n: number, copies: number, count: number][] = [
    [1, 0, 0],
    [1, 1, 1],
    [2, 0, 1],
    [2, 1, 2 * 3],
    [3, 0, 5],
    [3, 1, 6 * 6],
    [4, 0, 23],
    [4, 1, 24 * 10],
    // 5 places of {0,0,1,1}: 4!/(2!2!) = 6, and of {0,0,0,1} and {0,1,1,1}: 4 each.
    [2, 2, 14],
  ]
  for (const [n, copies, count] of cases)
    t.equal(
      orders(n, 100_000).filter((order) => order.copies === copies).length,
      count,
      `${n} events, ${copies} copies`,
    )
})

t.test('every order is one that at-least-once delivery allows', async (t) => {
  for (const [n, maxOrders] of [
    [1, 10],
    [2, 50],
    [3, 200],
    [4, 60],
    [5, 300],
    [9, 400],
    [30, 100],
  ] as const) {
    const all = orders(n, maxOrders)
    const seen = new Set(['in order', Array.from({ length: n }, (_, i) => i).join()])
    let wrong = 0
    for (const { sequence, indexes, copies } of all) {
      if (seen.has(indexes.join())) wrong++
      seen.add(indexes.join())
      if (new Set(indexes).size !== n || indexes.length !== n + copies) wrong++
      if (sequence.some((event, i) => event.id !== `evt_${indexes[i]}`)) wrong++
    }
    t.equal(wrong, 0, `${n} events: no order is wrong, given or twice`)
    t.ok(all.length <= maxOrders, `${n} events: at most ${maxOrders}`)
    const keys = all.map((order) => order.indexes.length * 1e6 + order.disturbance)
    t.same(
      keys,
      [...keys].sort((a, b) => a - b),
      `${n} events: the nearest first`,
    )
  }
})

t.test('with many events there are still repeats and distant orders', async (t) => {
  const all = orders(8, 200)
  t.equal(all.length, 200)
  const reordered = all.filter((order) => order.copies === 0)
  t.equal(reordered.length, 100, 'half are reorderings')
  t.equal(all.filter((order) => order.copies === 1).length, 50, 'a quarter repeats one event')
  t.ok(
    reordered.some((order) => order.disturbance > 8),
    'some are far from the order given',
  )
})
