import t from 'tap'
import { judge } from '../../src/sweep/judge.ts'
import type { Observation, SeenCall } from '../../src/sweep/types.ts'

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
  output: '',
}

const verdictOf = (...calls: SeenCall[]) =>
  judge(
    [],
    { ...OBSERVED, calls },
    { baselines: [OBSERVED, OBSERVED], maxRetries: 20, deadlineMs: 30_000, hasProbe: false },
  )

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

t.test('another call, or one of another client, is no retry', async (t) => {
  const soon = { ...LATER, status: 200, beganMs: 10, atMs: 10, clockMs: 10, answeredClockMs: 10 }
  t.match(verdictOf(REFUSED, { ...soon, content: 'POST /v1/transaction {"amount":1}' }), {
    verdict: 'passed',
  })
  t.match(verdictOf(REFUSED, { ...soon, client: 'other' }), { verdict: 'passed' })
})
