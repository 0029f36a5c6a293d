import { coverageOf } from '../../../src/tools/coverage/report.ts'
import type {
  Fault,
  Finding,
  Observation,
  Plan,
  Run,
  SweepResult,
} from '../../../src/tools/sweep/faults-and-findings.ts'
import { planText } from '../../../src/tools/sweep/plans.ts'

export const HOSTILE =
  '</code><script>alert(1)</script><img src=http://127.0.0.1:9/x onerror=1>"\'&'
const CONTROL = '\u0000\u001b[31mred\u001b[0m\u202e\ud800\uffff'

export const LOST: Fault = {
  kind: 'call',
  name: 'reset_after',
  operation: 'createTransaction',
  nth: 1,
  what: `the response of the 1st POST /transaction is lost ${HOSTILE}${CONTROL}\nrules: []`,
  scenario: {
    rules: [
      {
        name: 'the response of the 1st POST /transaction is lost',
        when: { operation: 'createTransaction' },
        times: 1,
        then: { fault: 'reset', at: 'after' },
      },
    ],
  },
}
const LATE: Fault = {
  kind: 'webhook',
  name: 'copies',
  operation: 'transaction.status.update',
  nth: 2,
  what: 'the 2nd event transaction.status.update arrives twice',
  scenario: { webhooks: [{ when: { event: '*' }, skip: 1, times: 1, then: { copies: 2 } }] },
}
const READING: Fault = {
  kind: 'assumption',
  name: 'idempotency_key=honoured',
  what: 'the service honours an Idempotency-Key',
  scenario: { assume: { idempotency_key: 'honoured' } },
}
const STUCK: Fault = {
  kind: 'lifecycle',
  name: 'stuck',
  operation: 'createTransaction',
  nth: 1,
  what: 'the 1st payment stays pending',
  scenario: {
    rules: [
      {
        when: { operation: 'createTransaction' },
        times: 1,
        then: { transaction: [{ status: 'PENDING' }] },
      },
    ],
  },
}

const call = (
  method: string,
  path: string,
  status: number | null,
  atMs: number,
  rule = null as string | null,
) => ({
  client: 'default',
  operation: path.startsWith('/transaction') ? 'createTransaction' : 'listUsers',
  method,
  path,
  content: '{}',
  status,
  isFailed: status !== 200,
  beganMs: atMs,
  atMs,
  clockMs: 0,
  answeredClockMs: 0,
  nth: null,
  documents: 0,
  rule,
})

const payment = (id: string, status = 'SUCCESS') => ({
  transaction_id: id,
  client: 'default 0',
  reference: null,
  keys: [],
  key: 'asha|100000000003|ICIC0000003|25000',
  paise: 25_000,
  statusAtEnd: 'PENDING',
  isReadAsFailed: false,
  wasFailed: false,
  wasPaid: status === 'SUCCESS',
  status,
})

const delivery = (atMs: number, isForged = false) => ({
  client: 'default',
  event_id: 'evt_1',
  event: 'transaction.status.update',
  resource_id: HOSTILE,
  nth: 1,
  isForged,
  signed: 'message' as const,
  isAfterEnd: false,
  status: 200,
  beganMs: atMs,
  atMs,
})

export const observation = (more: Partial<Observation> = {}): Observation => ({
  calls: [call('GET', `/users?page=${HOSTILE}`, 200, 1), call('POST', '/transaction', 200, 5)],
  payments: [payment('t1')],
  events: 1,
  deliveries: [delivery(8)],
  exitCode: 0,
  isHung: false,
  hits: [1],
  probeDifferences: [],
  bookDifferences: [],
  durationMs: 120,
  seen: new Set(['money payment: SUCCESS']),
  output: '',
  ...more,
})

const run = (
  id: number,
  plan: Plan,
  verdict: Run['verdict'],
  level: Run['level'],
  more = {},
): Run => ({
  id,
  plan,
  what: planText(plan),
  observation: observation(more),
  verdict,
  level,
  happened: `it happened ${HOSTILE}${CONTROL}`,
})

/** A result of each kind of fault, with hostile texts in every place that can have them. */
export function sweepResult(): SweepResult {
  const storm = Array.from({ length: 500 }, (_, i) => call('POST', '/transaction', 503, 10 + i))
  const runs = [
    run(1, [LOST], 'paid_twice', 'error', {
      calls: [
        call('GET', `/users?page=${HOSTILE}`, 200, 1),
        call('POST', '/transaction', null, 5, `rule ${HOSTILE}`),
        call('POST', '/transaction', 200, 7),
        ...storm,
      ],
      payments: [payment('t1'), payment('t2')],
      deliveries: [delivery(600), delivery(601, true)],
      probeDifferences: [HOSTILE],
      bookDifferences: [{ kind: 'twice', transaction_id: 't1', paise: 25_000, text: HOSTILE }],
      output: `not ok ${HOSTILE}${CONTROL}`,
    }),
    run(2, [LATE], 'relies_on', 'error', { exitCode: 1 }),
    run(3, [READING], 'passed', 'none'),
    run(4, [STUCK], 'not_paid', 'warning'),
    run(5, [STUCK, LATE], 'hung', 'error', { isHung: true, exitCode: null }),
    run(6, [{ ...STUCK, nth: 2 }], 'not_reached', 'information'),
  ]
  const findings = runs
    .filter(({ level }) => level === 'error' || level === 'warning')
    .map((one, i): Finding => {
      const finding = `finding-${i + 1}`
      const reproduce = `payout-sandbox exec --scenarios report --scenario ${finding} -- npm test '${HOSTILE}'`
      const definition = {
        title: 'what it does',
        extends: 'mine',
        ...Object.assign({}, ...one.plan.map(({ scenario }) => scenario)),
      }
      const same = one.id === 1 ? [runs[2]!] : []
      return {
        ...one,
        finding,
        same,
        reproduce,
        definition,
        isByChance: false,
        divergence: { key: '', text: 'POST /transaction was sent again' },
        isKnown: one.verdict === 'hung',
      }
    })
  const command = ['npm', 'test', HOSTILE]
  return {
    command,
    seed: 1,
    baseline: observation(),
    runs,
    findings,
    scenarios: { mine: { title: 'The scenario of the user', extends: 'slow' } },
    flaky: [runs[3]!],
    failures: 1,
    flakyTests: ['not ok 3 - pays twice'],
    isStopped: false,
    untried: [[STUCK, READING]],
    pruned: [],
    coverage: coverageOf(new Set(['money payment: SUCCESS'])),
  }
}
