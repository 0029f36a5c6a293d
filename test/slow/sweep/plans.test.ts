import t from 'tap'
import type { Fault, Plan, Run } from '../../../src/tools/sweep/faults-and-findings.ts'
import { groupsOf } from '../../../src/tools/sweep/findings.ts'
import { byRisk, deadlineOf } from '../../../src/tools/sweep/plans.ts'
import { frozen, smallClient } from './small-client.ts'

const never = { late_success: 'never' }
const call = (name: string, operation = 'createTransaction', nth = 1): Fault => ({
  kind: /^(payment|kyc|bank)_/.test(name) ? 'lifecycle' : 'call',
  name,
  operation,
  nth,
  what: name,
  scenario: {},
})
const reading = (name: string, word: string): Fault => ({
  kind: 'assumption',
  name: `${name}=${word}`,
  what: name,
  scenario: { assume: { [name]: word } },
})
const named = (plans: readonly Plan[]) =>
  plans.map((plan) => plan.map(({ name, nth = '' }) => `${name}${nth}`).join('+'))

t.test('what puts the most money at risk comes first, and each kind of fault early', async (t) => {
  const plans = [
    call('respond_202_after', 'listUsers'),
    call('reset_after', 'createTransaction', 2),
    call('hang_after', 'listUsers'),
    reading('list_order', 'oldest_first'),
    call('kyc_failed', 'submitKyc'),
    call('kyc_failed', 'submitKyc', 2),
    call('reset_after'),
    call('payment_failed'),
    { ...call('respond_500', 'getKyc'), decides: false },
    { ...call('respond_500', 'getKyc', 4), decides: true },
  ].map((one) => [one])
  const pair = [reading('reference_id', 'unique'), call('reset_after')]
  t.strictSame(named(byRisk([pair, ...plans])), [
    ...['reset_after1', 'kyc_failed1', 'payment_failed1', 'kyc_failed2', 'list_order=oldest_first'],
    ...['respond_5004', 'reset_after2', 'reference_id=unique+reset_after1'],
    ...['respond_202_after1', 'hang_after1', 'respond_5001'],
  ])
})

t.test('the reads that decide a payment, and what a reading permits, get faults', async (t) => {
  const { sweep } = smallClient(
    t,
    `const look = () => call('GET', '/transaction').catch(() => {})
for (let n = 0; n < 3; n++) await look()
await pay()
for (let n = 0; n < 3; n++) await look()
`,
  )
  const points = async (choice: 'first' | 'first-last') => {
    const { runs } = await sweep({ only: ['respond_500 & listTransactions'], points: choice })
    return runs.map(({ plan }) => plan[0]!.nth)
  }
  t.strictSame(await points('first'), [3])
  t.strictSame(await points('first-last'), [3, 4, 1, 6])
  const late = { only: ['payment_late_success'], options: { ...frozen, assume: never } }
  await t.rejects(sweep(late), /selects no fault/)
})

t.test('a client may wait 30 s for a response, and try again', async (t) => {
  const rules = [{ when: {}, then: { fault: 'hang' as const } }]
  const hanging = { ...call('hang_after'), scenario: { rules } }
  t.equal(deadlineOf([hanging], 100, false), 75_000)
  t.equal(deadlineOf([hanging], 100, true), 30_000)
  t.equal(deadlineOf([call('reset')], 100, false), 30_000)
})

t.test('a lost payment is tried at each payment, and other faults at three', async (t) => {
  const pays = (n: number) =>
    `await call('POST', '/transaction', { ...ORDER, amount: ${n} }).catch(() => {})\n`
  const { sweep } = smallClient(t, [1, 2, 3, 4, 5].map(pays).join(''))
  const points = async (name: string, choice: 'first' | 'first-last' = 'first-last') => {
    const { runs } = await sweep({ only: [name], points: choice })
    return runs.map(({ plan }) => plan[0]!.nth).sort()
  }
  t.strictSame(await points('reset_after'), [1, 2, 3, 4, 5])
  t.strictSame(await points('respond_500'), [1, 2, 5])
  t.strictSame(await points('reset_after', 'first'), [1])
})

t.test(
  'one bug is one finding: in a pair, at other calls and events, and in other tests',
  async (t) => {
    let id = 0
    const run = (verdict: Run['verdict'], key: string, ...plan: Fault[]) =>
      ({
        id: ++id,
        ...{ plan, verdict, level: 'error', divergence: { key } },
        sort: verdict === 'wrong_books' ? key : undefined,
      }) as unknown as Run
    const together = (name: string, workers = 2): Fault => ({
      ...call(name),
      kind: 'race',
      race: { workers },
    })
    const lost = call('reset_after')
    const twice = 'sent POST /transaction'
    const runs = [
      run(
        'paid_twice',
        twice,
        reading('idempotency_key', 'honoured'),
        call('reset_after', 'createTransaction', 3),
      ),
      run('paid_twice', twice, lost),
      run('retry_storm', 'POST /v1/kyc was repeated too early', call('respond_503', 'submitKyc')),
      run(
        'retry_storm',
        'POST /v1/bank was repeated too early',
        call('respond_503', 'addBankAccount'),
      ),
      run('retry_storm', 'POST /v1/kyc was repeated too early', call('kyc_pending', 'submitKyc')),
      run('relies_on', 'not ok 1 - pays', reading('list_order', 'oldest_first')),
      run('relies_on', 'not ok 2 - finds', reading('new_words', 'some')),
      run('accepted_forged', 'answered 204 to this kyc.failed', call('signature_wrong')),
      run('accepted_forged', 'answered 204 to this kyc.success', call('timestamp_stale')),
      run('wrong_state', 'no event', call('copies')),
      run('paid_twice', 'sent GET /transaction', call('truncate_after')),
      run('wrong_state', 'no event', call('drop')),
      run('paid_twice', 'sent GET /users', together('two_workers')),
      run('paid_twice', twice, together('race'), call('respond_503')),
      run('paid_twice', twice, together('race', 1)),
      run('wrong_books', 'utr', call('copies')),
      run('wrong_books', 'utr', call('copies_at_once')),
      run('wrong_books', 'amount', call('copies')),
    ]
    t.strictSame(
      groupsOf(runs).map((group) => group.map((one) => one.id)),
      [[2, 1], [11], [13, 14], [15], [16, 17], [18], [10, 12], [8, 9], [3, 4, 5], [6], [7]],
    )
  },
)
