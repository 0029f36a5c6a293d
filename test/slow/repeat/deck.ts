// The calls of a long run: endpoints, admin calls, time and webhooks, mixed by a seed of their own.
import { ASSUMPTIONS } from '../../../src/assumptions/readings.ts'
import { createRandom } from '../../../src/runtime/random.ts'
import { createCalls, DEFINITIONS, DESCRIBED, MATCHES, RULES, searchOf } from '../calls.ts'

/** One call; a body that is no text is sent as JSON. */
export type Call = {
  id?: string
  method: string
  url: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

/** Time that ticks, chance that must not repeat, and a stream without an end. */
export const NOT_PLAYED = ['resumeClock', 'setClockSpeed', 'getCoverage', 'streamEvents']

/** How many of an operation are in each round of the deck, where it isn't one, or two of the service. */
const TIMES: { [id: string]: number } = {
  createUser: 4,
  createTransaction: 18,
  submitKyc: 4,
  addBankAccount: 4,
  advanceClock: 9,
  setScenario: 5,
  createClient: 2,
  pushRule: 3,
  simulateTransaction: 2,
  simulateKyc: 2,
  simulateBankAccount: 4,
  deleteTimer: 3,
  fireTimer: 3,
  triggerWebhook: 5,
  redeliver: 2,
  getDelivery: 2,
  getRequest: 2,
  updateWebhook: 3,
  listUserTransactionHistory: 3,
  wait: 4,
}
/** What is about something that a call just before it has shown or made, of the same client. */
const AFTER: { [id: string]: string } = {
  deleteTimer: 'listTimers',
  fireTimer: 'listTimers',
  deleteRule: 'listRules',
  putState: 'getState',
  getSnapshot: 'saveSnapshot',
  diffSnapshot: 'saveSnapshot',
  restoreSnapshot: 'saveSnapshot',
  deleteSnapshot: 'saveSnapshot',
  getDelivery: 'listDeliveries',
  redeliver: 'listDeliveries',
  getRequest: 'listRequests',
}
// Without those whose responses take seconds of real time.
const SCENARIOS = [
  'live-demo',
  'rate-limited',
  'failed-payouts',
  'webhook-storm',
  'kyc-failures',
  'webhook-disorder',
  'no-webhooks',
  'lost-responses',
  'webhook-duplicates',
  'webhook-bad-signatures',
  'bank-verification-failures',
  'late-reversals',
  'provider-outage',
]
const FAULTS = [
  { when: { operation: '*' }, times: 1, then: { fault: 'malformed' } },
  { when: { operation: 'createTransaction' }, times: 2, then: { fault: 'reset' } },
]
const BASES = ['', '', '', '', '/@worker-1', '/@worker-2']
const TOKENS = [...Array(6).fill('sbx_test_token'), 'sbx_second_token', 'x']
const MALFORMED: readonly Call[] = [
  { method: 'POST', url: '/v1/user', body: '{"email": ' },
  { method: 'POST', url: '/v1/user', body: 'x', headers: { 'content-type': 'text/plain' } },
  { method: 'DELETE', url: '/v1/users' },
  { method: 'GET', url: '/v1/nothing' },
  { method: 'GET', url: '/v1/user/none' },
  { method: 'GET', url: '/v1/users?limit=none' },
  { method: 'GET', url: '/v1/users', headers: { host: 'rebound.example.com' } },
  { method: 'POST', url: '/__admin/clock/advance', body: { by: 'soon' } },
  { method: 'GET', url: '/__admin/health', headers: { origin: 'https://example.com' } },
]

/** Deals the calls of a run, each a function of the seed and of the answers before it; `receiver` is where webhooks go. */
export function createDeck(seed: number, receiver: string) {
  const random = createRandom(seed)
  let dealt = 0
  const calls = createCalls(random.fraction, {
    url: (below) => (below(8) ? receiver : ['http://127.0.0.1:1/closed', 'no url'][below(2)]),
    email: (below) => `r${below(3_000)}@example.com`,
    mobile: () => `+919${800_000_000 + dealt}`,
    createClient: (below) => ({
      name: `fork-${below(4)}`,
      access_token: `sbx_fork_${dealt}`,
      ...[
        { from: { client: 'worker-1' } },
        { fixtures: 'empty', random_seed: dealt, clock: '2027-03-04T05:06:07Z' },
        { scenario: SCENARIOS[below(SCENARIOS.length)], check_kyc: true },
      ][below(3)],
    }),
    'deleteClient.name': ['fork-0', 'fork-1', 'fork-2', 'fork-3'],
    // A long way under live-demo takes seconds.
    freezeClock: [{}, { at: '2026-01-01T01:00:00Z' }],
    advanceClock: ['1s', '2500ms', '30s', '5m', '12m'].map((by) => ({ by })),
    'simulateBankAccount.id': ['b0000000-0000-4000-8000-000000000010'],
    'listTimers.search': [''],
    scenario: SCENARIOS,
    'readScenario.name': SCENARIOS,
    // The default one has the most ways.
    setScenario: (below) =>
      [
        { name: 'default' },
        { name: SCENARIOS[below(SCENARIOS.length)] },
        { definition: DEFINITIONS[below(2)] },
        { name: 'default' },
      ][below(4)],
    pushRule: (below) => [...FAULTS, RULES[below(RULES.length)]][below(3)],
    reset: [
      { parts: ['deliveries', 'requests'] },
      { parts: ['scenario'] },
      { parts: ['clock'] },
      {},
    ],
    /** Chooses one reading, or undoes the choice. */
    setAssumptions(below) {
      const { name, readings, form } = ASSUMPTIONS[below(ASSUMPTIONS.length)]!
      const all = [...Object.keys(readings), ...(form ? [form.example] : []), null]
      return { [name]: all[below(all.length)] }
    },
    // The log of all clients outlives the reset of one.
    reconcile: [
      { rows: [{ reference: 'ref-1', amount: '100.00' }] },
      { rows: [], from: '2026-01-01' },
    ],
    findRequests: MATCHES.map((match) => ({ match, limit: 5 })),
    countRequests: MATCHES.map((match) => ({ match })),
    verifyRequests: MATCHES.map((match) => ({ match, at_least: 1 })),
    // Waits that end at once: the state is already there, or can no longer be reached.
    wait: [
      { for: 'request', match: { operation: 'createUser' } },
      { for: 'transaction', match: { transaction_status: 'success' } },
      { for: 'kyc', match: { kyc_status: 'nothing' } },
      { for: 'delivery', match: { status: 'delivered' } },
    ].map((wait) => ({ ...wait, timeout_ms: 0 })),
  })
  const { pick, maybe } = calls.chance

  function deal(id: string, base: string): Call {
    const operation = DESCRIBED.find((one) => one.id === id)!
    const { method, prefix } = operation
    const { path, query, body } = calls.make(operation, base)
    // A HAR tells real time.
    const search = searchOf(query.filter(([name]) => name !== 'client' && name !== 'format'))
    const headers = prefix === '/v1' && {
      ...(maybe(0.8) && {
        authorization: `Bearer ${base ? base.replace('/@', 'sbx_') : pick(TOKENS)}`,
      }),
      ...(method === 'POST' && maybe(0.1) && { 'idempotency-key': pick(['k1', 'k2', 'k3']) }),
      ...(maybe(0.04) && { 'x-sandbox-scenario': pick(SCENARIOS) }),
    }
    return {
      id,
      method,
      url: `${base}${prefix}${path}${search}`,
      body,
      ...(headers && { headers }),
    }
  }

  const round = DESCRIBED.filter(({ id }) => !NOT_PLAYED.includes(id)).flatMap(({ id, prefix }) =>
    Array.from({ length: TIMES[id] ?? (prefix === '/v1' ? 2 : 1) }, () => id),
  )
  let deck: string[] = []
  let following: (() => Call) | undefined
  // The workers are there before anything is asked of them: a call that waits and the one that moves its clock race.
  const opening: Call[] = [
    ...['worker-1', 'worker-2'].map((name, i) => ({
      method: 'POST',
      url: '/__admin/clients',
      body: { name, access_token: `sbx_${name}`, random_seed: 100 + i, clock: 'frozen' },
    })),
    { method: 'POST', url: '/v1/clientWebhook', body: { url: receiver, webhook_secret: 'first' } },
  ]

  return {
    next(): Call {
      const first = opening[dealt++] ?? following?.()
      following = undefined
      if (first) return first
      if (maybe(0.02)) return pick(MALFORMED)
      if (deck.length === 0) deck = [...round]
      const id = deck.splice(calls.chance.below(deck.length), 1)[0]!
      const base = pick(BASES)
      const before = AFTER[id]
      if (before) following = () => deal(id, base)
      return deal(before ?? id, base)
    },
    /** Notes the ids in an answer, so that later calls can be about them. */
    remember({ id, url }: Call, status: number, text: string) {
      if (status < 300) calls.hear(id, url, text)
    },
  }
}
