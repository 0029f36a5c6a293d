// What a ledger shows: wrong books of each kind with the smallest client that keeps them, and ledgers that can't be read.
import { existsSync, mkdirSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { notProven } from '../../../src/tools/sweep/report/sweep-json.ts'
import { short, smallClient } from './small-client.ts'

const LEDGER = 'cat "$PAYOUT_SANDBOX_RUN_DIR/books.csv"'

/** Pays, looks the payment up if there was no response, waits until it can't come back any more, and books it. */
const booking = (head: string, books: string) => `
writeFileSync(folder + '/books.csv', '${head}\\n')
const book = (...row) => appendFileSync(folder + '/books.csv', row.join() + '\\n')
const order = { ...ORDER, reference_id: 'wage-1' }
const make = () => call('POST', '/transaction', order)
const [sent] = await make().catch(() => [])
if (!sent) await pass('1100ms')
const made = sent ?? (await find())
await pass('26h')
const { transaction_status: status, utr } = await get(made.transaction_id)
${books}
`
const STATUS = 'reference,amount,status'
const MOVES = 'reference,amount,direction'
const BOOKED = 'reference,amount,status,booked'
const NET = "(status === 'success' ? Number(AMOUNT) : 0)"
const RIGHT = "book('wage-1', AMOUNT, status)\n"
const PAYMENT = ['reset_after', 'payment_failed', 'payment_reversed']
const wrong = (fault: string) => [`error wrong_books: ${fault} createTransaction 1`]
const SHOWN = 'a payment of 4321.09, wage-1,'

/** What the client books, under which faults, and what is found. */
const FOUND: readonly [
  head: string,
  books: string,
  only: readonly string[],
  found: string[],
  said?: string,
][] = [
  [STATUS, RIGHT, PAYMENT, []],
  [BOOKED, `book('wage-1', AMOUNT, status, ${NET})`, PAYMENT, []],
  [BOOKED, `book('wage-1', AMOUNT, status, 5.9 + ${NET})`, PAYMENT, []],
  [
    STATUS,
    `if (sent) ${RIGHT}else book('other', 1, 'failed')`,
    PAYMENT,
    wrong('reset_after'),
    `${SHOWN} was paid but not booked`,
  ],
  [
    STATUS,
    "book('wage-1', AMOUNT, 'paid')",
    ['payment_failed'],
    wrong('payment_failed'),
    `${SHOWN} is booked as paid, but it failed (row reference=wage-1 amount=4321.09 status=paid)`,
  ],
  [
    MOVES,
    "book('wage-1', AMOUNT, 'debit')",
    ['payment_failed'],
    wrong('payment_failed'),
    `${SHOWN} is booked but not paid: it failed (row reference=wage-1 amount=4321.09 direction=debit)`,
  ],
  [
    MOVES,
    "book('wage-1', AMOUNT, 'debit')",
    ['payment_reversed'],
    wrong('payment_reversed'),
    `${SHOWN} came back, and its return is not booked (row reference=wage-1 amount=4321.09 direction=debit)`,
  ],
  [
    MOVES,
    "for (const _ of sent ? [1] : [1, 2]) book('wage-1', AMOUNT, 'debit')",
    PAYMENT.slice(0, 1),
    wrong('reset_after'),
    `${SHOWN} is booked twice (row reference=wage-1 amount=4321.09 direction=debit)`,
  ],
  [
    STATUS,
    "book('wage-1', sent ? AMOUNT : 4321, status)",
    PAYMENT,
    wrong('reset_after'),
    `${SHOWN} is booked with 4321.00 (row reference=wage-1 amount=4321 status=success)`,
  ],
  [
    `${STATUS},utr`,
    "book('wage-1', AMOUNT, status, sent && utr)",
    PAYMENT,
    wrong('reset_after'),
    `${SHOWN} is booked, but its UTR never arrives in the books (row reference=wage-1 amount=4321.09 status=success)`,
  ],
  [
    BOOKED,
    `book('wage-1', AMOUNT, status, (sent ? 1 : 2) * ${NET})`,
    PAYMENT,
    wrong('reset_after'),
    `${SHOWN} was paid, and the books have 8642.18 booked for it instead of 4321.09`,
  ],
  [
    STATUS,
    `${RIGHT}if (!sent) book('wage-2', 7, 'paid')`,
    PAYMENT,
    wrong('reset_after'),
    'the books have a payment that was never made (row reference=wage-2 amount=7 status=paid)',
  ],
  [
    STATUS,
    `await call('POST', '/transaction', { ...order, amount: 7 })\n${RIGHT}book('wage-1', 7, status)`,
    ['respond_500 & getTransaction'],
    [],
  ],
  // Without any fault, with those that faults show.
  [
    `${STATUS},utr`,
    // A fault adds a UTR that is missing for another payment.
    `const [two] = await call('POST', '/transaction', { ...order, amount: 7, reference_id: 'wage-2' })
await pass('26h')
book('wage-1', AMOUNT, 'paid', '')
book('wage-2', 7, 'paid', sent ? (await get(two.transaction_id)).utr : '')
book('wage-3', 8, 'paid', 'x')`,
    ['reset_after', 'payment_failed'],
    ['error wrong_books: ', 'error wrong_books: ', ...wrong('payment_failed')],
    `without any fault, ${SHOWN} is booked, but its UTR never arrives in the books (row reference=wage-1 amount=4321.09 status=paid)`,
  ],
  [
    STATUS,
    `await make()\n${RIGHT}${RIGHT}`,
    ['respond_500 & getTransaction'],
    ['error paid_twice: '],
    'without any fault, a payment of 4321.09 was made twice with the reference_id wage-1',
  ],
]
for (const [head, books, only, found, said] of FOUND)
  t.test(said ?? `nothing wrong: ${books}`, async (t) => {
    const result = await smallClient(t, booking(head, books)).sweep({ only, ledger: LEDGER })
    t.strictSame(short(result), found)
    if (said) t.equal(result.findings[0]!.happened, said)
  })

t.test('who has booked a failure has noticed it, whatever was read', async (t) => {
  const { sweep } = smallClient(
    t,
    `const { transaction_id } = await pay()
await pass('1h')
const { tables } = JSON.parse((await send('GET', admin + '/state')).text)
const { status } = tables.payments.find((one) => one.transaction_id === transaction_id)
writeFileSync(folder + '/books.csv', ['transaction_id,amount,status', [transaction_id, AMOUNT, status]].join('\\n'))
`,
  )
  const only = ['payment_failed']
  t.strictSame(short(await sweep({ only, ledger: LEDGER })), [])
  t.strictSame(short(await sweep({ only })), [
    'warning not_paid: payment_failed createTransaction 1',
  ])
})

t.test(
  'a ledger that cannot be read stops the sweep before its first run with a fault',
  async (t) => {
    const { sweep } = smallClient(t, booking(STATUS, RIGHT))
    const UNREADABLE: readonly [ledger: string, message: string][] = [
      ['true', 'the ledger gave no books: true printed nothing. Let it print CSV'],
      ['echo oh >&2; exit 3', 'exit 3 exited with 3: oh. Let it print CSV'],
      ['echo wage-1', 'the ledger echo wage-1 printed no books: output:1: has no column'],
      [`${LEDGER} | sed s/,success/,done?/`, 'output:2:3: status "done?" isn\'t a known status'],
      [`${LEDGER} | sed s/wage-1/w/`, 'no row of the ledger belongs to a payment'],
    ]
    for (const [ledger, message] of UNREADABLE) {
      const begun: unknown[] = []
      const onProgress = (progress: unknown) => begun.push(progress)
      const failed = sweep({ ledger, only: PAYMENT, onProgress }).then(
        () => 'no error',
        (error: Error) => error.message,
      )
      t.match(await failed, message, ledger)
      t.strictSame(begun, [], ledger)
    }
  },
)

t.test('books that cannot be read where the command failed are said to be missing', async (t) => {
  const fails = "if (status !== 'success') throw new Error(status)\n"
  const { sweep } = smallClient(t, `${booking(STATUS, RIGHT)}${fails}`)
  const ledger = `grep -q success "$PAYOUT_SANDBOX_RUN_DIR/books.csv" && ${LEDGER}`
  const result = await sweep({ only: ['payment_failed'], ledger })
  t.match(notProven(result).join(), 'The ledger printed no books after 1 run in which')
})

t.test('a ledger and a probe together; the folder of a run is gone after it', async (t) => {
  const keeps = "appendFileSync(here + '/folders', folder + '\\n')\n"
  const { sweep, read } = smallClient(t, `${booking(STATUS, RIGHT)}${keeps}`)
  const probe = 'test -s "$PAYOUT_SANDBOX_RUN_DIR/books.csv" && echo success; : {transaction_id}'
  // Of a sweep that was killed: no process has this number.
  const stale = join(tmpdir(), `payout-sandbox-run-${hostname()}-99999999-x`)
  mkdirSync(stale, { recursive: true })
  const result = await sweep({ only: ['payment_failed'], ledger: LEDGER, probe })
  t.notOk(existsSync(stale))
  t.strictSame(short(result), ['error wrong_state: payment_failed createTransaction 1'])
  const folders = read('folders').trim().split('\n')
  t.equal(new Set(folders).size, folders.length)
  t.strictSame(folders.filter(existsSync), [])
})
