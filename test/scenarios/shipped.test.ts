import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { problemText } from '../../src/model/errors.ts'
import { failureOf } from '../../src/model/payment.ts'
import { createRandom } from '../../src/runtime/random.ts'
import { type Counter, createDecider } from '../../src/scenarios/decide.ts'
import { magicValuesOf } from '../../src/scenarios/magic-values.ts'
import type { RuleCall } from '../../src/scenarios/match.ts'
import { readLibrary } from '../../src/scenarios/read-library.ts'

const folder = `${join(PACKAGE_ROOT, 'scenarios')}/`
const textOf = (file: string) => readFileSync(`${folder}${file}`, 'utf8')
const result = readLibrary([folder])
if (!result.ok) throw new Error(result.problems.map(problemText).join('\n'))
const { library, warnings } = result

function play(name: string) {
  const counters = new Map<string, Counter>()
  const scenario = library.get(name)!
  const decider = createDecider({
    layers: library.layersOf(scenario),
    counters: {
      get: (key) => counters.get(key),
      set: (key, value) => void counters.set(key, value),
    },
    chance: createRandom(1).at,
    now: () => 0,
    since: () => 0,
  })
  return { ...decider, scenario }
}

const pay: RuleCall = {
  operation: 'createTransaction',
  body: { amount: 100 },
  account: { account_number: '123456789012' },
}
const pan: RuleCall = {
  operation: 'submitKyc',
  item: { document_type: 'tid', document_number: 'ABCPX1234A' },
}
const aadhaar: RuleCall = {
  operation: 'submitKyc',
  item: { document_type: 'pid', document_number: '123412341234' },
}
const bank: RuleCall = { operation: 'addBankAccount', body: { account_number: '123456789012' } }
const read: RuleCall = { operation: 'getTransaction' }

t.test('the shipped set is the promised one, without a warning', async (t) => {
  t.strictSame(library.names, [
    'bank-verification-failures',
    'default',
    'failed-payouts',
    'flaky-network',
    'go-live',
    'kyc-failures',
    'kyc-review',
    'late-reversals',
    'live-demo',
    'lost-responses',
    'no-webhooks',
    'pending-transactions',
    'provider-outage',
    'rate-limited',
    'slow',
    'statement-breaks',
    'strict-contract',
    'stuck-transactions',
    'webhook-bad-signatures',
    'webhook-disorder',
    'webhook-duplicates',
    'webhook-storm',
  ])
  t.strictSame(warnings.map(problemText), [])
})

t.test('each file points editors to its schema, has a title, and is listed', async (t) => {
  const readme = textOf('README.md')
  for (const file of readdirSync(folder).filter((one) => one.endsWith('.yaml'))) {
    const name = file.replace('.yaml', '')
    t.equal(
      textOf(file).split('\n')[0],
      '# yaml-language-server: $schema=./scenario.schema.json',
      file,
    )
    t.ok(textOf(file).split('\n')[1]?.startsWith('# '), `${file} says what it is for`)
    t.ok(
      readme.includes(`\n- [${name}](${file}): ${library.get(name)!.definition.title}\n`),
      `README.md has ${name}`,
    )
  }
})

t.test('a reason of one’s own is a sentence of the gateway, whatever the word', async (t) => {
  for (const reason of ['moon_phase', 'constructor'])
    t.strictSame(failureOf(reason), {
      reason,
      description: `The payment failed: ${reason.replace('_', ' ')}.`,
      source: 'gateway',
    })
})

t.test('default: every magic value has its row, and any other value none', async (t) => {
  const rows = magicValuesOf(library.get('default')!).map(({ where, value, outcome }) => [
    where,
    value,
    outcome,
  ])
  t.strictSame(rows, [
    ['PAN', 'XXXPX0001A', 'failed (name NOT MATCHING)'],
    ['PAN', 'XXXPX0002A', 'failed (dateOfBirth NOT MATCHING)'],
    ['PAN', 'XXXPX0003A', 'failed (Record (PAN) Not Found in ITD Database/Invalid PAN)'],
    ['PAN', 'XXXPX0004A', 'failed (Marked as Fake)'],
    ['PAN', 'XXXPX0005A', 'failed (Marked as Deactivated)'],
    ['PAN', 'XXXPX0006A', 'failed (Deleted)'],
    ['PAN', 'XXXPX0007A', 'success (aadhaarSeedingStatus N)'],
    ['PAN', 'XXXPX0008A', 'pending (source down) -> success'],
    ['Aadhaar', '999999990019', 'pending -> success'],
    ['Aadhaar', '999999990026', 'pending -> failed'],
    ['Aadhaar', '999999990035', 'stays pending'],
    ['Aadhaar', '999999990042', 'failed'],
    ['account at POST /bank', '999900000001', 'failed (Invalid account number or IFSC provided)'],
    ['account at POST /bank', '999900000002', 'failed (Account is blocked)'],
    ['account at POST /bank', '999900000003', 'failed (Account closed)'],
    ['account at POST /bank', '999900000004', 'success (NRE Account)'],
    ['account at POST /bank', '999900000005', 'success (in the name of SOMEONE ELSE)'],
    ['account at POST /bank', '999900000006', 'pending (Beneficiary bank offline) -> success'],
    [
      'account at POST /bank',
      '999900000007',
      'pending (NPCI Unavailable) -> failed (NPCI Unavailable)',
    ],
    ['payout to account', '999900000101', 'FAILED (beneficiary_bank_offline)'],
    ['payout to account', '999900000102', 'FAILED (bank_account_closed)'],
    ['payout to account', '999900000103', 'FAILED (imps_not_allowed)'],
    ['payout to account', '999900000104', 'stays PENDING'],
    ['payout to account', '999900000105', 'stays PROCESSING'],
    [
      'payout to account',
      '999900000106',
      'SUCCESS, then FAILED (beneficiary_bank_rejected) 3s later',
    ],
    ['amount', '100.91', 'FAILED (bank_account_invalid)'],
    ['amount', '100.92', 'FAILED (beneficiary_bank_offline)'],
    ['amount', '100.93', 'FAILED (insufficient_funds)'],
    ['amount', '100.94', 'stays PROCESSING'],
    ['amount', '100.95', 'stays PENDING'],
    ['amount', '100.96', 'SUCCESS, then FAILED (beneficiary_bank_rejected) 3s later'],
  ])
  const { decide } = play('default')
  for (const call of [pay, pan, aadhaar, bank, read])
    t.equal(decide(call), undefined, call.operation)
})

t.test('the schema explains the words whose meaning is easy to miss', async (t) => {
  const schema = textOf('scenario.schema.json')
  for (const text of [
    'magic values are off.',
    'Sends this event only after the named event of the same resource, which normally comes later.',
    'What the rule does after the last outcome: last = repeat it (default)',
    'A missing field never matches.',
  ])
    t.ok(schema.includes(text), text)
})
