import t from 'tap'
import { baselineDifferences, keyLevelOf, withLevel } from '../../../src/tools/sweep/baseline.ts'
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
  nthOfAll: 1,
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
  durationMs: 1,
  seen: new Set(),
  output: '',
}

const JUDGING = { maxRetries: 20, hasProbe: false }
const verdictOf = (...calls: SeenCall[]) =>
  judge([], { ...OBSERVED, calls }, { ...JUDGING, baselines: [OBSERVED] })

/** A call that is refused after some time, and one of equal content that comes some time after the refusal. */
function retryAfter(refusalMs: number, pauseMs: number) {
  const at = refusalMs + pauseMs
  return verdictOf(
    { ...REFUSED, atMs: refusalMs, answeredClockMs: refusalMs },
    { ...LATER, status: 200, beganMs: at, atMs: at, clockMs: at, answeredClockMs: at },
  )
}

t.test('Retry-After counts from the response, also if that was slow', async (t) => {
  t.match(retryAfter(0, 600), { verdict: 'retry_storm', level: 'error' })
  t.match(retryAfter(2_000, 600), { verdict: 'retry_storm' })
  t.match(retryAfter(2_000, 1_050), { verdict: 'passed' })
})

t.test('a caller that has moved the clock of its client has waited', async (t) => {
  const again = { ...LATER, beganMs: 10, atMs: 10, clockMs: 1_000, answeredClockMs: 1_000 }
  t.match(verdictOf(REFUSED, again), { verdict: 'passed' })
})

t.test('equal calls of independent parts of a program are no retries', async (t) => {
  const soon = { ...LATER, beganMs: 10, atMs: 10, clockMs: 10, answeredClockMs: 10 }
  const calls = [REFUSED, soon]
  const usual = { ...OBSERVED, calls: [LATER, LATER] }
  t.match(judge([], { ...OBSERVED, calls }, { ...JUDGING, baselines: [usual] }), {
    verdict: 'passed',
  })
  t.match(judge([], { ...OBSERVED, calls: [...calls, soon] }, { ...JUDGING, baselines: [usual] }), {
    verdict: 'retry_storm',
  })
})

t.test('another call, or one of another client, is no retry', async (t) => {
  const soon = { ...LATER, status: 200, beganMs: 10, atMs: 10, clockMs: 10, answeredClockMs: 10 }
  t.match(verdictOf(REFUSED, { ...soon, content: 'POST /v1/transaction {"amount":1}' }), {
    verdict: 'passed',
  })
  t.match(verdictOf(REFUSED, { ...soon, client: 'other' }), { verdict: 'passed' })
})

t.test('the read of the next event is no retry', async (t) => {
  const event = { client: 'default', resource_id: 'transaction' } as SeenDelivery
  const soon = { ...LATER, status: 200, beganMs: 10, atMs: 10, clockMs: 10, answeredClockMs: 10 }
  const run = { ...OBSERVED, calls: [REFUSED, soon] }
  const inEvent = { ...run, deliveries: [{ ...event, beganMs: 9, atMs: 11 }] }
  const judging = { ...JUDGING, baselines: [OBSERVED] }
  t.match(judge([], inEvent, judging), { verdict: 'passed' })
  t.match(judge([], run, judging), { verdict: 'retry_storm' })
})

const payment = (paise: number): SeenPayment => ({
  transaction_id: `${paise}`,
  keys: [`payer account ${paise}`, `account ${paise}`, `${paise}`, 'any'],
  key: `${paise}`,
  paise,
  statusAtEnd: 'SUCCESS',
  status: 'SUCCESS',
  wasPaid: true,
  isReadAsFailed: false,
})
const paying = (...paise: number[]): Observation => ({ ...OBSERVED, payments: paise.map(payment) })

t.test('polls that got an answer are no storm, nor the look-ups of a batch', async (t) => {
  const poll = { ...LATER, method: 'GET', status: 200, isFailed: false }
  t.match(verdictOf(...Array(50).fill(poll)), { verdict: 'passed' })
  t.match(verdictOf(...Array(50).fill({ ...poll, isFailed: true })), { verdict: 'retry_storm' })
  const early = { ...poll, retryAfterMs: 1_000 }
  const run = { ...OBSERVED, calls: [early, { ...poll, beganMs: 9 }] }
  t.match(judge([], run, { ...JUDGING, baselines: [paying(7, 8)] }), { verdict: 'not_paid' })
  t.match(judge([], run, { ...JUDGING, baselines: [paying(7)] }), { verdict: 'retry_storm' })
})

t.test('two runs that pay other amounts differ', async (t) => {
  const first = paying(100, 25_050, 25_050)
  t.strictSame(baselineDifferences(first, paying(25_050, 100, 25_050)), [])
  t.strictSame(baselineDifferences(first, paying(100, 25_050, 7)), [
    'payments of 0.07: 0 in the first run, 1 in the second',
    'payments of 250.50: 2 in the first run, 1 in the second',
  ])
  t.strictSame(baselineDifferences(first, paying(100, 25_050)), [
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
    happened: 'a payment was made 3 times; without the fault it is made twice',
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
