import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ASHA, ROHAN, start, TOKEN } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>
type Row = Record<string, unknown>

const DAY = '/__admin/statement?date=2026-01-01'

/** A sandbox in which payments were made and two days have passed: .96 comes back, .91 fails, .95 stays pending. */
async function paid(t: Test, ...payments: [reference: string, amount: number][]) {
  const box = await start(t)
  for (const [reference_id, amount] of payments)
    t.equal((await box.pay({ reference_id, amount })).status, 200)
  await box.advance('2d')
  return box
}

const shortOf = ({ client_transaction_id, direction, amount }: Row) =>
  `${direction} ${client_transaction_id} ${amount}`

t.test(
  'a day has a debit for each success, a credit for each return, and their sums',
  async (t) => {
    const box = await paid(t, ['a', 100], ['b', 100.96], ['c', 100.91], ['d', 100.95])
    const { body } = await box.get(DAY)
    t.strictSame(body.rows.map(shortOf), ['debit a 100.00', 'debit b 100.96', 'credit b 100.96'])
    const { transactions } = (await box.get('/v1/transaction/history', TOKEN)).body.data
    const a = transactions.find((one: Row) => one['client_transaction_id'] === 'a')
    t.strictSame(body.rows[0], {
      booked_at: '2026-01-01T00:00:03.000Z',
      partner_transaction_id: a.partner_transaction_id,
      client_transaction_id: 'a',
      transaction_id: body.rows[0].transaction_id,
      utr: a.utr,
      direction: 'debit',
      amount: '100.00',
    })
    t.match(body, {
      debits: { count: 2, amount: '200.96' },
      credits: { count: 1, amount: '100.96' },
      net: '100.00',
    })
    t.equal((await box.get(DAY)).text, (await box.get(DAY)).text, 'the same bytes')
    t.strictSame((await box.get('/__admin/statement?date=2026-01-05')).body, {
      rows: [],
      debits: { count: 0, amount: '0.00' },
      credits: { count: 0, amount: '0.00' },
      net: '0.00',
    })
  },
)

t.test('days are those of India, and several can be asked for', async (t) => {
  const box = await start(t, { begin: { clock: 'frozen' } })
  await box.post('/__admin/clock/freeze', { at: '2026-01-01T18:29:56Z' })
  await box.pay({ reference_id: 'before midnight' })
  await box.post('/__admin/clock/freeze', { at: '2026-01-01T18:29:57Z' })
  await box.pay({ reference_id: 'midnight', amount: 100.96 })
  await box.advance('1h')
  const on = async (query: string) =>
    (await box.get(`/__admin/statement?${query}`)).body.rows
      .filter(({ booked_at }: Row) => String(booked_at) > '2026')
      .map(shortOf)
  const [first, rest] = [
    ['debit before midnight 100.00'],
    ['debit midnight 100.96', 'credit midnight 100.96'],
  ]
  t.strictSame(await on('date=2026-01-01'), first)
  t.strictSame(await on('date=2026-01-02'), rest)
  t.strictSame(await on('from=2026-01-02'), rest)
  t.strictSame(await on('to=2026-01-01'), first)
  t.strictSame(await on('from=2026-01-01&to=2026-01-02'), [...first, ...rest])
  t.strictSame(await on(''), [...first, ...rest])
  for (const [query, field = ''] of [
    ['date=2026-01-01&to=2026-01-02', 'date'],
    ['from=2026-01-02&to=2026-01-01', 'from'],
    ['date=2026-02-30', 'date'],
    ['truth=perhaps', 'truth'],
    ['day=2026-01-01', 'day'],
  ]) {
    const { status, body } = await box.get(`/__admin/statement?${query}`)
    t.strictSame([status, body.errors[0].field], [400, field], `?${query}`)
  }
})

t.test(
  'a payment that succeeds, fails and succeeds again and again is booked each time',
  async (t) => {
    const box = await start(t)
    const id = (await box.pay({ reference_id: 'r' })).body.data[0].transaction_id
    await box.advance('1h')
    for (const status of ['FAILED', 'SUCCESS', 'FAILED', 'SUCCESS', 'FAILED', 'SUCCESS']) {
      t.equal((await box.post(`/__admin/simulate/transactions/${id}`, { status })).status, 200)
      await box.advance('1d')
    }
    const { body } = await box.get('/__admin/statement?from=2026-01-01')
    const days = body.rows.map(
      (one: Row) => `${one['direction']} ${String(one['booked_at']).slice(8, 10)}`,
    )
    t.strictSame(days, [
      ...['debit 01', 'credit 01', 'debit 02', 'credit 03', 'debit 04', 'credit 05', 'debit 06'],
    ])
  },
)

/** What each break makes of payment a, and the net with it; the rows after it stay. */
const BREAKS: [then: object, rows: string[], net: string][] = [
  [{ omit: true }, [], '7.00'],
  [{ repeat: 3 }, ['debit a 5.00', 'debit a 5.00', 'debit a 5.00'], '22.00'],
  [{ amount: '+1.50' }, ['debit a 6.50'], '13.50'],
  [{ amount: '-0.01' }, ['debit a 4.99'], '11.99'],
  [{ amount: '-9.00' }, ['debit a 0.00'], '7.00'],
  [{ day: 'next' }, [], '7.00'],
  [{ utr: 'missing' }, ['debit a 5.00'], '12.00'],
]
const AFTER = ['debit b 100.96', 'debit e 7.00', 'credit b 100.96']

t.test(
  'a break changes what the statement says, and neither the truth nor the payment',
  async (t) => {
    const box = await paid(t, ['a', 5], ['b', 100.96], ['e', 7])
    const before = (await box.get(DAY)).body
    const payments = (await box.get('/__admin/transactions')).text
    for (const [then, rows, net] of BREAKS) {
      const rule = { name: 'wrong', when: { reference: 'a' }, then }
      const set = await box.put('/__admin/scenario', { definition: { statement: [rule] } })
      t.equal(set.status, 200, JSON.stringify(then))
      const { truth, ...told } = (await box.get(`${DAY}&truth`)).body
      t.strictSame(told.rows.map(shortOf), [...rows, ...AFTER], JSON.stringify(then))
      t.equal(told.net, net)
      t.strictSame((await box.get(DAY)).body, told)
      const [{ rule: named, ...first }, ...others] = truth.rows
      t.equal(named, 'inline: wrong')
      t.strictSame([first, ...others], before.rows)
      t.equal(truth.net, before.net)
      const [one] = told.rows
      t.equal(one.utr === null, 'utr' in then || one.client_transaction_id === 'b')
      const next = (await box.get('/__admin/statement?date=2026-01-02')).body.rows.map(shortOf)
      t.strictSame(next, 'day' in then ? ['debit a 5.00'] : [])
    }
    t.equal((await box.get('/__admin/transactions')).text, payments)
  },
)

/** Which rows a rule omits: those of payments a (5, comes from Asha) and b (100.96, comes back). */
const MATCHED: [rule: object, omitted: string[]][] = [
  [{ when: { amount: { gte: 100 } } }, ['debit b 100.96', 'credit b 100.96']],
  [{ when: { amount: 5 } }, ['debit a 5.00']],
  [{ when: { reference: { starts_with: 'b' } } }, ['debit b 100.96', 'credit b 100.96']],
  [{ when: { direction: 'credit' } }, ['credit b 100.96']],
  [{ when: { from: ASHA } }, ['debit a 5.00', 'debit b 100.96', 'credit b 100.96']],
  [{ when: { to: ASHA } }, []],
  [{ when: { to: ROHAN, direction: 'debit' } }, ['debit a 5.00', 'debit b 100.96']],
  [{ when: { transaction_id: 'no-id' } }, []],
  [{ when: { direction: 'debit' }, times: 1 }, ['debit a 5.00']],
  [{ when: { direction: 'debit' }, skip: 1 }, ['debit b 100.96']],
  [{ when: { direction: 'debit' }, skip: 1, times: 1 }, ['debit b 100.96']],
]

t.test('a rule says which rows, after how many, and how many of them', async (t) => {
  const box = await paid(t, ['a', 5], ['b', 100.96])
  const all = (await box.get(DAY)).body.rows.map(shortOf)
  for (const [rule, omitted] of MATCHED) {
    const statement = [{ ...rule, then: { omit: true } }]
    await box.put('/__admin/scenario', { definition: { statement } })
    const left = (await box.get(DAY)).body.rows.map(shortOf)
    t.strictSame(
      all.filter((row: string) => !left.includes(row)),
      omitted,
      JSON.stringify(rule),
    )
  }
  const fixtures = '/__admin/statement?to=2025-12-31'
  const before = (await box.get(fixtures)).text
  await box.put('/__admin/scenario', {
    definition: { statement: [{ when: { direction: 'debit' }, then: { omit: true } }] },
  })
  t.equal((await box.get(fixtures)).text, before, 'rows of fixtures stay')
  const wrong = { when: { reference: 'a' }, then: { omit: true, utr: 'missing' } }
  t.equal((await box.put('/__admin/scenario', { definition: { statement: [wrong] } })).status, 400)
})

t.test('statement-breaks has one break of each kind, and reconcile finds each', async (t) => {
  const references = ['a', 'b', 'c', 'd', 'e', 'f']
  const box = await paid(t, ...references.map((one): [string, number] => [one, 50]))
  await box.put('/__admin/scenario', { name: 'statement-breaks' })
  const rows = references.map((reference) => ({ reference, amount: 50, status: 'SUCCESS' }))
  const utrs = (await box.get(`${DAY}&truth`)).body.truth.rows.map((one: Row) => one['utr'])
  const books = rows.map((row, i) => ({ ...row, utr: utrs[i] }))
  const { body } = await box.post('/__admin/reconcile', { rows: books, date: '2026-01-01' })
  t.strictSame(
    body.differences.map(({ kind, books }: Row & { books: Row }) => [kind, books['reference']]),
    [
      ['missing_in_statement', 'a'],
      ['twice', 'b'],
      ['amount', 'c'],
      ['missing_in_statement', 'd'],
      ['utr', 'e'],
    ],
  )
  t.equal(body.matched, 1)
  t.strictSame((await box.post('/__admin/reconcile', { rows: books })).body.differences, [])
})

type Case = [books: Row[], kinds: string[], matched: number]

const A = { reference: 'a', amount: 5 }
const B = { reference: 'b', amount: 100.96 }
const C = { reference: 'c', amount: 100.91 }
const D = { reference: 'd', amount: 100.95 }
/** What books say of: a (settled), b (came back), c (failed), d (pending). */
const CASES: Case[] = [
  [[A], [], 1],
  [[{ ...A, amount: '₹5.00', status: 'Paid' }], [], 1],
  [[], ['missing_in_books'], 0],
  [[{ ...A, amount: 5.01 }], ['amount'], 0],
  [[{ ...A, status: 'FAILED' }], ['status'], 0],
  [[{ ...A, status: 'pending' }], ['status'], 0],
  [[A, A], ['twice'], 0],
  [[{ ...A, utr: '' }], ['utr'], 0],
  [[{ ...A, utr: 'x' }], ['utr'], 0],
  [[{ ...A, utr: null }], [], 1],
  [[A, { reference: 'x', amount: 5 }], ['missing_in_statement'], 1],
  // A history of statuses: the last one counts.
  [
    [
      { ...A, status: 'pending' },
      { ...A, status: 'success' },
    ],
    [],
    2,
  ],
  [[{ ...A, status: 'returned' }], ['status'], 0],
  // What failed or is pending.
  [[A, { ...C, status: 'FAILED' }], [], 2],
  [[A, { ...C, status: 'paid' }], ['status'], 1],
  [[A, C], ['missing_in_statement'], 1],
  [[A, { ...C, status: 'pending' }], ['status'], 1],
  [[A, { ...D, status: 'processing' }], [], 2],
  [[A, { ...D, status: 'failed' }], ['status'], 1],
]

/** What books say of b, which came back: its status as the service shows it, as returned, or as two movements. */
const BACK: Case[] = [
  [[B], ['status'], 0],
  [[], ['missing_in_books', 'missing_in_books'], 0],
  [[{ ...B, status: 'FAILED' }], [], 1],
  [[{ ...B, status: 'returned' }], [], 1],
  [[{ ...B, status: 'returned', booked_at: '2025-12-31' }], [], 1],
  [[{ ...B, status: 'pending' }], ['status'], 0],
  [
    [
      { ...B, direction: 'debit' },
      { ...B, direction: 'credit' },
    ],
    [],
    2,
  ],
  [[{ ...B, direction: 'debit' }], ['status'], 0],
  [
    [
      { ...B, status: 'paid' },
      { ...B, status: 'returned' },
    ],
    [],
    2,
  ],
  [
    [
      { ...B, status: 'paid', amount: 5 },
      { ...B, status: 'returned' },
    ],
    ['amount'],
    0,
  ],
  [
    [
      { ...B, status: 'returned', booked_at: '2026-01-02' },
      { ...B, status: 'paid', booked_at: '2026-01-01' },
    ],
    [],
    2,
  ],
]

async function holdCases(t: Test, box: Box, cases: readonly Case[]) {
  for (const [rows, kinds, matched] of cases) {
    const { status, body } = await box.post('/__admin/reconcile', { rows })
    t.equal(status, 200)
    t.strictSame(
      [body.differences.map(({ kind }: Row) => kind), body.matched],
      [kinds, matched],
      JSON.stringify(rows),
    )
    for (const one of body.differences) t.match(one.message, /^(?:Payment|Transaction) \S+: .+\.$/)
  }
}

t.test('books are compared with what happened', async (t) => {
  await holdCases(t, await paid(t, ['b', 100.96]), BACK)
  const box = await paid(t, ['a', 5], ['c', 100.91], ['d', 100.95])
  await holdCases(t, box, CASES)
  const id = (await box.get(DAY)).body.rows[0].transaction_id
  const { body } = await box.post('/__admin/reconcile', {
    rows: [{ transaction_id: id, amount: 6 }],
  })
  t.match(body, {
    matched: 0,
    differences: [
      {
        kind: 'amount',
        books: { transaction_id: id, amount: 6 },
        statement: { client_transaction_id: 'a', amount: '5.00' },
        message: 'Payment a: the books say 6.00, and the bank 5.00.',
      },
    ],
    books: { debits: { count: 1, amount: '6.00' }, credits: { count: 0 }, net: '6.00' },
    statement: { debits: { count: 1, amount: '5.00' }, credits: { count: 0 }, net: '5.00' },
  })
})

t.test('a second payment with the same reference is missing in books that have one', async (t) => {
  const box = await paid(t, ['a', 5], ['a', 5])
  const told = async (...rows: Row[]) => (await box.post('/__admin/reconcile', { rows })).body
  t.match(await told(A), { differences: [{ kind: 'missing_in_books' }] })
  t.match(await told(A, A), { differences: [], matched: 2 })
})

const onDay = (box: Box, rows: Row[], more: object) =>
  box.post('/__admin/reconcile', { rows, ...more })

t.test(
  'books of many days are compared with the statement of one, or with the rows of another',
  async (t) => {
    const box = await start(t)
    await box.pay({ reference_id: 'one', amount: 5 })
    await box.advance('1d')
    await box.pay({ reference_id: 'two', amount: 6 })
    await box.advance('1d')
    const books = [
      { reference: 'one', amount: 5 },
      { reference: 'two', amount: 6 },
    ]
    const date = '2026-01-02'
    t.match((await onDay(box, books, { date })).body, { matched: 1, differences: [] })
    t.match((await onDay(box, books.slice(0, 1), { date })).body, {
      differences: [{ kind: 'missing_in_books', books: null }],
    })
    const { rows: statement } = (await box.get(`/__admin/statement?date=${date}`)).body
    t.match((await onDay(box, books, { statement })).body, {
      differences: [{ kind: 'missing_in_statement', books: { reference: 'one' } }],
    })
    t.match((await onDay(box, books, { statement, date })).body.differences, [])
    const late = [{ ...books[0], booked_at: '2026-01-02T09:00:00Z' }, books[1]!]
    t.match((await onDay(box, late, { date })).body.differences, [{ kind: 'missing_in_statement' }])
  },
)

const TOLD = {
  booked_at: '2026-01-01T00:00:00.000Z',
  partner_transaction_id: 'p',
  client_transaction_id: 'c',
  transaction_id: 't',
  utr: null,
  direction: 'debit',
  amount: '1,500.50',
}
const REFUSED: [body: object, field: string][] = [
  [{}, 'rows'],
  [{ rows: [{ reference: 'a' }] }, 'rows[0].amount'],
  [{ rows: [{ amount: 5 }] }, 'rows[0]'],
  [{ rows: [{ reference: 'a', amount: '5.001' }] }, 'rows[0].amount'],
  [{ rows: [{ reference: 'a', amount: '1.500,50' }] }, 'rows[0].amount'],
  [{ rows: [{ reference: 'a', amount: -5 }] }, 'rows[0].amount'],
  [{ rows: [{ reference: 'a', amount: 5, status: 'maybe' }] }, 'rows[0].status'],
  [{ rows: [{ reference: 'a', amount: 5, direction: 'in' }] }, 'rows[0].direction'],
  [{ rows: [], date: '2026-13-01' }, 'date'],
  [{ rows: [], from: '2026-01-02', to: '2026-01-01' }, 'from'],
  [{ rows: [], statement: [{}] }, 'statement[0].booked_at'],
  [{ rows: [], statement: [{ ...TOLD, amount: '5x' }] }, 'statement[0].amount'],
  [{ rows: [{ reference: 'a', amount: 5, booked_at: '31/01/2026' }] }, 'rows[0].booked_at'],
]

t.test('rows that are no books are refused with their place', async (t) => {
  const box = await start(t)
  for (const [given, field] of REFUSED) {
    const { status, body } = await box.post('/__admin/reconcile', given)
    t.equal(status, 400, JSON.stringify(given))
    t.ok(
      body.errors.some((one: Row) => one['field'] === field),
      `${field}: ${JSON.stringify(body.errors)}`,
    )
  }
  const amounts: [string | number, string][] = [
    ['1500.5', '1500.50'],
    ['1,500.50', '1500.50'],
    ['₹1,500.50', '1500.50'],
    ['1,50,000', '150000.00'],
    ['Rs. 20', '20.00'],
    [0.1, '0.10'],
  ]
  for (const [amount, read] of amounts) {
    const { body } = await box.post('/__admin/reconcile', { rows: [{ reference: 'x', amount }] })
    t.equal(body.books.net, read, String(amount))
  }
})

t.test('what the fixtures brought is known after a restart and an import, too', async (t) => {
  const file = join(t.testdir({}), 'db.json')
  const first = await start(t, { sandbox: { file } })
  await first.pay({ reference_id: 'a', amount: 5 })
  await first.advance('1h')
  await first.put('/__admin/scenario', {
    definition: { statement: [{ when: { direction: 'debit' }, times: 1, then: { omit: true } }] },
  })
  const rows = [{ reference: 'a', amount: 5, status: 'SUCCESS' }]
  const seen = async ({ get, post }: Box) => [
    (await post('/__admin/reconcile', { rows })).body.differences,
    (await get(DAY)).body.rows,
    (await get('/__admin/summary')).body.money,
  ]
  const before = await seen(first)
  t.strictSame(before.slice(0, 2), [[], []])
  const exported = (await first.get('/__admin/state')).body
  await first.close()
  const again = await start(t, { sandbox: { file } })
  t.strictSame(await seen(again), before)
  await again.post('/__admin/reset', {})
  t.equal((await again.put('/__admin/state', exported)).status, 200)
  t.strictSame(await seen(again), before)
})

t.test('a row that the bank books on another day is found on both days', async (t) => {
  const box = await paid(t, ['a', 5])
  await box.put('/__admin/scenario', {
    definition: { statement: [{ when: { reference: 'a' }, then: { day: 'next' } }] },
  })
  const rows = [{ reference: 'a', amount: 5, status: 'SUCCESS' }]
  const on = async (date: string) =>
    (await box.post('/__admin/reconcile', { rows, date })).body.differences
  t.match(await on('2026-01-01'), [{ kind: 'missing_in_statement', books: { reference: 'a' } }])
  t.match(await on('2026-01-02'), [
    {
      kind: 'missing_in_books',
      message: 'Payment a: its debit is there on 2026-01-02, and the books have it on 2026-01-01.',
    },
  ])
})
