import t from 'tap'
import { baselineDifferences, keyLevelOf, withLevel } from '../../../src/tools/sweep/baseline.ts'
import { firstDivergence } from '../../../src/tools/sweep/divergence.ts'
import type {
  Observation,
  SeenCall,
  SeenDelivery,
  SeenPayment,
} from '../../../src/tools/sweep/faults-and-findings.ts'
import { judge } from '../../../src/tools/sweep/judge.ts'
import { failureLine } from '../../../src/tools/sweep/program.ts'

const REFUSED: SeenCall = {
  client: 'default',
  operation: 'createTransaction',
  method: 'POST',
  path: '/v1/transaction',
  content: 'POST /v1/transaction {}',
  status: 503,
  isFailed: true,
  beganMs: 0,
  atMs: 0,
  clockMs: 0,
  answeredClockMs: 0,
  nth: 1,
  documents: 0,
  retryAfterMs: 1_000,
  rule: null,
}
const { retryAfterMs: _, ...LATER } = REFUSED

const OBSERVED: Observation = {
  calls: [],
  payments: [],
  deliveries: [],
  events: 0,
  exitCode: 0,
  isHung: false,
  hits: [],
  probeDifferences: [],
  bookDifferences: [],
  durationMs: 1,
  seen: new Set(),
  output: '',
}

const USER = '00000000-0000-4000-8000-000000000003'
const JUDGING = { maxRetries: 20, hasProbe: false }
const payment = (paise: number): SeenPayment => ({
  transaction_id: `${paise}`,
  client: 'default 0',
  reference: null,
  keys: [`payer account ${paise}`, `account ${paise}`, `${paise}`, 'any'],
  key: `${paise}`,
  paise,
  statusAtEnd: 'SUCCESS',
  status: 'SUCCESS',
  wasPaid: true,
  wasFailed: false,
  isReadAsFailed: false,
})
const paying = (...paise: number[]): Observation => ({ ...OBSERVED, payments: paise.map(payment) })

const observed = (...calls: SeenCall[]) => ({ ...OBSERVED, calls })
/** The same call again, this time after the first; `clockMs` is the clock of the client. */
const again = (ms: number, clockMs = ms) => {
  const at = { beganMs: ms, atMs: ms, clockMs, answeredClockMs: clockMs }
  return { ...LATER, status: 200, isFailed: false, ...at }
}
/** A refusal that comes after some time. */
const refused = (ms: number) => ({ ...REFUSED, atMs: ms, answeredClockMs: ms })
const soon = again(10)
const other = (more: Partial<SeenCall>) => observed(REFUSED, { ...soon, ...more })
const EVENT = { client: 'default', resource_id: 'transaction' } as SeenDelivery
const POLL = { ...LATER, method: 'GET', status: 200, isFailed: false }
const polls = (isFailed: boolean) => observed(...Array(50).fill({ ...POLL, isFailed }))
/** Two workers read the same, wait as they are told, and read again almost at once; the reads fail again. */
const twoWorkers = (waits: number) =>
  [0, 3, waits, waits + 3, 2 * waits, 2 * waits + 2].map((ms) => ({
    ...again(ms),
    method: 'GET',
    path: `/v1/kyc/${USER}`,
    isFailed: true,
    retryAfterMs: 1_000,
  }))
const lookUps = observed({ ...POLL, retryAfterMs: 1_000 }, { ...POLL, beganMs: 9 })
const usual = observed(LATER, LATER)

/** What counts as a retry: what a run did, what it does without a fault, and the verdict. */
const RETRIES: readonly [what: string, run: Observation, baseline: Observation, verdict: string][] =
  [
    ['Retry-After is not heeded', observed(refused(0), again(600)), OBSERVED, 'retry_storm'],
    ['it counts from the response', observed(refused(2e3), again(2_600)), OBSERVED, 'retry_storm'],
    ['which may be slow', observed(refused(2e3), again(3_050)), OBSERVED, 'passed'],
    ['who moves its clock has waited', observed(REFUSED, again(10, 1_000)), OBSERVED, 'passed'],
    ['independent parts make equal calls', observed(REFUSED, soon), usual, 'passed'],
    ['but not more than usual', observed(REFUSED, soon, soon), usual, 'retry_storm'],
    ['another call', other({ content: 'POST /v1/transaction {"amount":1}' }), OBSERVED, 'passed'],
    ['a call of another worker', other({ worker: 2 }), OBSERVED, 'passed'],
    ['a call of another client', other({ client: 'other' }), OBSERVED, 'passed'],
    [
      'the read of the next event',
      { ...other({}), deliveries: [{ ...EVENT, beganMs: 9, atMs: 11 }] },
      OBSERVED,
      'passed',
    ],
    ['the same read without an event', other({}), OBSERVED, 'retry_storm'],
    ['polls that got an answer', polls(false), OBSERVED, 'passed'],
    ['polls that got none', polls(true), OBSERVED, 'retry_storm'],
    ['the look-ups of a batch', lookUps, paying(7, 8), 'not_paid'],
    ['the look-ups of one payment', lookUps, paying(7), 'retry_storm'],
    [
      'two workers that wait',
      { ...paying(71, 72), calls: twoWorkers(1_050) },
      paying(71, 72),
      'passed',
    ],
    [
      'two that do not',
      { ...paying(71, 72), calls: twoWorkers(200) },
      paying(71, 72),
      'retry_storm',
    ],
    ['one that is two', { ...paying(7), calls: twoWorkers(1_050) }, paying(7), 'retry_storm'],
  ]
for (const [what, run, baseline, verdict] of RETRIES)
  t.test(what, async (t) => {
    const judged = judge([], run, { ...JUDGING, baselines: [baseline] })
    t.match(judged, { verdict, ...(verdict === 'retry_storm' && { level: 'error' }) })
  })

t.test('two runs that pay other amounts differ', async (t) => {
  const first = paying(100, 25_050, 25_050)
  t.strictSame(baselineDifferences(first, paying(25_050, 100, 25_050)), [])
  t.strictSame(baselineDifferences(first, paying(100, 25_050, 7)), [
    'payments of 0.07: 0 in the first run, 1 in the second',
    'payments of 250.50: 2 in the first run, 1 in the second',
  ])
})

t.test('with --unstable, payments of other amounts are counted', async (t) => {
  const runs = [paying(100, 200), paying(300, 400)] as const
  const level = keyLevelOf(...runs)
  const baselines = runs.map((one) => withLevel(one, level))
  const judging = { ...JUDGING, baselines }
  t.match(judge([], withLevel(paying(500, 600), level), judging), { verdict: 'passed' })
  t.match(judge([], withLevel(paying(500, 600, 700), level), judging), {
    verdict: 'paid_twice',
    happened: 'a payment was made 3 times, not twice',
  })
})

t.test(
  'who rejects forged events cannot know the state, and who rejects others must',
  async (t) => {
    const run = {
      ...OBSERVED,
      probeDifferences: ['payment 1 is SUCCESS, and the probe says "pending"'],
    }
    const probed = { baselines: [OBSERVED], maxRetries: 20, hasProbe: true }
    const under = (name: string) =>
      judge([{ kind: 'webhook', name, what: name, scenario: {} }], run, probed)
    t.match(under('signature_wrong'), { verdict: 'passed' })
    t.match(under('drop'), { verdict: 'wrong_state' })
  },
)

t.test('the line that names a failure is no source of Node', async (t) => {
  const output = '    Error.captureStackTrace(err);\n    ^\nTypeError: fetch failed\n    at pay\n'
  t.equal(failureLine(output), ': TypeError: fetch failed')
})

const POST = { ...LATER, status: 200, isFailed: false }
const LOST = { ...LATER, status: null, rule: 'sweep-plan: lost' }
const READ = { ...POLL, operation: 'getTransaction', beganMs: 5, atMs: 5 }
const came = (status: number) =>
  ({ event: 'transaction.success', status, atMs: 9, isAfterEnd: false }) as SeenDelivery
const sent = { ...observed(POST, READ), deliveries: [came(200)], payments: [payment(7)] }

/** What a run does otherwise than one that pays, reads and gets an event; and what comes first. */
const DIVERGENCES: readonly [run: Partial<Observation>, first: string | undefined][] = [
  [{ calls: [LOST, READ, READ, READ] }, undefined],
  [
    { calls: [LOST, { ...POST, beganMs: 3 }, READ] },
    "POST /transaction was sent again, which doesn't happen without the fault",
  ],
  [
    {
      calls: [
        { ...POST, worker: 1 },
        { ...POST, worker: 2, operation: 'createWebhook', beganMs: 2 },
        { ...POST, worker: 2, beganMs: 3 },
      ],
    },
    "POST /transaction was sent by worker 2 too, which doesn't happen without the fault",
  ],
  [
    { calls: [LOST, { ...READ, status: 404, isFailed: true }] },
    'GET /transaction/:transaction_id got 404; without the fault 200',
  ],
  [{ calls: [LOST] }, 'GET /transaction/:transaction_id was not sent; without the fault it is'],
  [
    { deliveries: [came(200), came(200)] },
    "the event transaction.success came again, which it doesn't without the fault",
  ],
  [
    { deliveries: [came(500)] },
    'the receiver answered 500 to transaction.success; without the fault 200',
  ],
  [{ deliveries: [] }, 'the event transaction.success did not come before the command ended'],
  [
    { payments: [{ ...payment(7), status: 'FAILED' }] },
    'a payment was FAILED a day later; without the fault SUCCESS',
  ],
]
for (const [run, first] of DIVERGENCES)
  t.test(`first: ${first ?? 'nothing, as it only polls more often'}`, async (t) => {
    t.equal(firstDivergence({ ...sent, ...run }, sent)?.text, first)
  })
