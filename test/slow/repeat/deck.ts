// The calls of a long run: endpoints, admin calls, time and webhooks, mixed by a seed of their own.
import { ASSUMPTIONS } from '../../../src/assumptions/readings.ts'
import { createRandom } from '../../../src/runtime/random.ts'
import { ASHA, KABIR, ROHAN, ROHANS_ACCOUNT } from '../../helper.ts'

/** One call; a body that is no text is sent as JSON. */
export type Call = {
  method: string
  url: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

const PENDING_KYC = 'd0000000-0000-4000-8000-000000000006'
const PENDING_BANK = 'b0000000-0000-4000-8000-000000000010'
const WORKERS = ['worker-1', 'worker-2']
const NEWEST = 40
const STATUSES = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']
const SPANS = ['1s', '2500ms', '30s', '5m', '12m']
const EVENTS = [
  'transaction.success',
  'kyc.success',
  'bank.pending',
  'user.created',
  'webhook.test',
]
const PANS = ['ABCPX1234A', 'XXXPX0001A', 'XXXPX0007A', 'XXXPX0008A', 'bad', '']
// Without those whose responses take seconds of real time.
const SCENARIOS = [
  'default',
  'live-demo',
  'default',
  'rate-limited',
  'failed-payouts',
  'default',
  'webhook-storm',
  'kyc-failures',
  'webhook-disorder',
  'default',
  'no-webhooks',
  'lost-responses',
  'webhook-duplicates',
  'default',
  'webhook-bad-signatures',
  'bank-verification-failures',
  'late-reversals',
  'default',
  'provider-outage',
]
const OWN_SCENARIO = {
  extends: 'late-reversals',
  rules: [
    {
      name: 'one in three fails',
      when: { operation: '*' },
      chance: 0.33,
      then: { respond: { status: 503 } },
    },
  ],
  webhooks: [{ name: 'three of each', when: { event: '*' }, then: { copies: 3 } }],
  timeline: [{ after: '10s', every: '5m', do: { credit: { amount: '2500.00' } } }],
}

/** Deals the calls of a run, each a function of the seed and of the answers before it; `receiver` is where webhooks go. */
export function createDeck(seed: number, receiver: string) {
  const random = createRandom(seed)
  const int = (below: number) => Math.floor(random.fraction() * below)
  const pick = <T>(list: readonly T[]): T => list[int(list.length)]!
  let dealt = 0

  // What responses have shown: the newest id of each kind with its world, and the last whole state of each world.
  const seen: Record<string, { base: string; id: string }[]> = {
    user_id: [{ base: '', id: ASHA }],
    transaction_id: [{ base: '', id: 'a0000000-0000-4000-8000-000000000046' }],
    kyc_id: [],
    bank_id: [{ base: '', id: ROHANS_ACCOUNT }],
    delivery_id: [],
    timer_id: [],
    rule_id: [],
    request_id: [],
  }
  const following: (() => Call)[] = []
  const states = new Map<string, string>()
  const MISSING = { base: '', id: 'dead0000-0000-4000-8000-000000000000' }
  const known = (kind: string) => (int(20) === 0 ? MISSING : (pick(seen[kind]!) ?? MISSING))
  const user = () => (int(2) ? pick([ASHA, ROHAN, KABIR]) : known('user_id').id)

  const base = () => (int(5) === 0 ? `/@${pick(WORKERS)}` : '')
  const service = (method: string, path: string, body?: unknown, headers = {}): Call => ({
    method,
    url: `${base()}/v1${path}`,
    ...(body !== undefined && { body }),
    headers: int(25) === 0 ? { ...headers, 'x-sandbox-scenario': pick(SCENARIOS) } : headers,
  })
  const admin = (method: string, path: string, body?: unknown): Call => ({
    method,
    url: `${base()}/__admin${path}`,
    ...(body !== undefined && { body }),
  })
  /** A call about something that a response has shown, in its own world. */
  const about = (kind: string, method: string, path: string, body?: unknown): Call => {
    const { base, id } = known(kind)
    return {
      method,
      url: `${base}${path.replace('ID', id)}`,
      ...(body !== undefined && { body }),
    }
  }
  const withToken = (method: string, path: string): Call => ({
    method,
    url: `/v1${path}`,
    headers: {
      authorization: `Bearer sbx_${pick(['test_token', 'test_token', 'second_token', 'x'])}`,
    },
  })

  function pay(): Call {
    const amount = pick<unknown>([
      dealt,
      `${100 + dealt}.${pick(['00', '91', '94', '96', '50'])}`,
      `${1 + dealt}.9${int(7)}`,
      '1.005',
    ])
    const body = {
      from_user_id: int(3) ? ASHA : user(),
      to_user_id: int(20) ? ROHAN : ASHA,
      benif_bank_id: int(20) ? ROHANS_ACCOUNT : known('bank_id').id,
      amount,
      ...(int(3) === 0 && { reference_id: `ref-${int(400)}` }),
    }
    return service(
      'POST',
      '/transaction',
      body,
      int(4) === 0 ? { 'idempotency-key': `key-${int(60)}` } : {},
    )
  }

  /** Chooses one reading, or undoes the choice. */
  function reading() {
    const { name, readings, form } = pick(ASSUMPTIONS)
    return { [name]: pick([...Object.keys(readings), ...(form ? [form.example] : []), null]) }
  }

  function kyc(): Call {
    const documents = [
      {
        document_type: 'pid',
        document_name: 'aadhar',
        document_number: pick(['999999990019', '999999990026', '999999990035', '999999990042']),
      },
      { document_type: 'tid', document_name: 'pan', document_number: pick(PANS) },
    ]
    const person = {
      dateOfBirth: pick(['01-02-1990', '01-02-1990', '31-12-1899']),
      Nationality: 'Indian',
      nameOnCard: `Name ${dealt}`,
    }
    return service('POST', '/kyc', {
      user_id: user(),
      kyc: documents.map((one) => ({ ...one, ...person })),
    })
  }

  const bank = () =>
    service('POST', '/bank', {
      user_id: user(),
      account_number: pick([`99990000000${1 + int(7)}`, `1234567${10_000 + int(5_000)}`]),
      ifsc_code: pick(['HDFC0001234', 'SBIN0000001', 'bad']),
    })

  const webhook = (method: string) =>
    service(method, '/clientWebhook', {
      url: int(8) ? receiver : pick(['http://127.0.0.1:1/closed', 'no url']),
      webhook_secret: pick(['whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA==', `secret-${dealt}`]),
    })

  const malformed = (): Call =>
    pick<Call>([
      { method: 'POST', url: '/v1/user', body: '{"email": ' },
      { method: 'POST', url: '/v1/user', body: 'x', headers: { 'content-type': 'text/plain' } },
      { method: 'DELETE', url: '/v1/users' },
      { method: 'GET', url: `/v1/nothing/${dealt}` },
      { method: 'GET', url: '/v1/user/none' },
      { method: 'GET', url: '/v1/users?limit=none' },
      { method: 'GET', url: '/v1/users', headers: { host: 'rebound.example.com' } },
      { method: 'POST', url: '/__admin/clock/advance', body: { by: 'soon' } },
      { method: 'GET', url: '/__admin/health', headers: { origin: 'https://example.com' } },
    ])

  function client(): Call {
    const name = `fork-${int(4)}`
    return int(2)
      ? { method: 'DELETE', url: `/__admin/clients/${name}` }
      : {
          method: 'POST',
          url: '/__admin/clients',
          body: {
            name,
            access_token: `sbx_fork_${name}_${dealt}`,
            ...pick([
              { from: { client: pick(['default', ...WORKERS]) } },
              { fixtures: 'empty', random_seed: dealt, clock: '2027-03-04T05:06:07Z' },
              { scenario: pick(SCENARIOS), check_kyc: true },
            ]),
          },
        }
  }

  function putState(): Call {
    const base = `/@${pick(WORKERS)}`
    return { method: 'PUT', url: `${base}/__admin/state`, body: states.get(base) ?? { format: 2 } }
  }

  const rule = () =>
    admin(
      'POST',
      '/rules',
      pick([
        { when: { operation: 'createTransaction' }, times: 1, then: { respond: { status: 503 } } },
        { when: { operation: '*' }, times: 2, then: { delay: '1ms..9ms' } },
        { when: { operation: 'getUser' }, times: 1, then: { fault: 'malformed' } },
        { when: { operation: 'createTransaction' }, times: 2, then: { fault: 'reset' } },
        { when: { operation: 'nothing' }, then: {} },
      ]),
    )

  const RESETS = [['deliveries', 'requests'], ['scenario'], ['scenario', 'clock'], undefined].map(
    (parts) => ({ parts }),
  )
  /** Waits that end at once: the state is already there, or can no longer be reached. */
  function wait() {
    const [kind, match] = pick([
      ['request', { operation: pick(['createUser', 'nothing']) }],
      ['transaction', { transaction_status: pick(['success', 'nothing']) }],
      ['kyc', { kyc_status: pick(['failed', 'nothing']) }],
      ['delivery', { status: pick(['delivered', 'nothing']) }],
    ] as const)
    return admin('POST', '/wait', { for: kind, match, timeout_ms: 0 })
  }

  /** Looks at the timers of a world, then does something with one of them. */
  function timer(method: string, path: string) {
    const look = admin('GET', '/timers')
    const at = look.url.replace('/timers', '')
    following.push(() => {
      const theirs = seen['timer_id']!.filter(({ base }) => look.url.startsWith(`${base}/__admin`))
      const id = theirs.at(-1 - int(4))?.id ?? 'tmr_0'
      return { method, url: `${at}${path.replace('ID', id)}` }
    })
    return look
  }

  const MATCHES = [{}, { operation: 'createTransaction' }, { status: 503 }, { path: '/v1/none' }]
  const named = () => `s-${int(2)}`
  const moved = () => ({ status: pick(STATUSES), ...(int(2) && { reason: 'insufficient_funds' }) })
  const checked = () => ({ status: pick(['success', 'failed', 'success', 'pending']) })

  /** Every kind of call, and how many of it are in each round of the deck. */
  const KINDS: readonly (readonly [times: number, make: () => Call])[] = [
    [
      4,
      () => {
        const body = { email: `r${int(3_000)}@example.com`, mobile: `+919${800000000 + dealt}` }
        return service('POST', '/user', body)
      },
    ],
    [2, () => service('GET', `/user/${user()}`)],
    [2, () => service('GET', `/users?page=${1 + int(3)}&limit=${7 + int(100)}`)],
    [14, pay],
    [3, () => service('GET', `/transaction?page=${1 + int(2)}`)],
    [3, () => about('transaction_id', 'GET', '/v1/transaction/ID')],
    [2, () => withToken('GET', `/transaction/history?type=debit&limit=${5 + int(20)}`)],
    [2, () => withToken('GET', `/transaction/history/user/${user()}`)],
    [4, kyc],
    [2, () => service('GET', `/kyc/${user()}`)],
    [4, bank],
    [2, () => service('GET', `/bank/${user()}`)],
    [2, () => withToken('GET', '/client/profile')],
    [2, () => webhook('POST')],
    [2, () => service('GET', '/clientWebhook')],
    [2, () => webhook('PUT')],
    [3, malformed],
    [1, () => admin('GET', '/health')],
    [1, () => admin('GET', '/ready')],
    [2, () => admin('GET', '/clock')],
    [9, () => admin('POST', '/clock/advance', { by: pick(SPANS) })],
    [2, () => admin('POST', '/clock/next')],
    [2, () => admin('POST', '/clock/freeze', pick([{}, { at: '2026-01-01T01:00:00Z' }]))],
    [2, () => timer('DELETE', '/timers/ID')],
    [2, () => timer('POST', '/timers/ID/fire')],
    [1, () => admin('POST', '/reset', pick(RESETS))],
    [1, () => admin('GET', '/clients')],
    [3, client],
    [1, () => ({ method: 'GET', url: `/@${pick(WORKERS)}/__admin/state` })],
    [1, putState],
    [1, () => admin('GET', '/snapshots')],
    [2, () => admin('POST', '/snapshots', { name: named() })],
    [1, () => admin('GET', `/snapshots/${named()}`)],
    [1, () => admin('GET', `/snapshots/${named()}/diff`)],
    [1, () => admin('DELETE', `/snapshots/${named()}`)],
    [1, () => admin('POST', `/snapshots/${named()}/restore`)],
    [1, () => admin('GET', '/scenarios')],
    [1, () => admin('GET', '/scenario')],
    [1, () => admin('GET', `/scenarios/${pick(SCENARIOS)}`)],
    [3, () => admin('PUT', '/scenario', { name: SCENARIOS[int(SCENARIOS.length)] })],
    [1, () => admin('PUT', '/scenario', { definition: OWN_SCENARIO })],
    [2, () => admin('PUT', '/scenario', { name: 'default' })],
    [1, () => admin('GET', '/assumptions')],
    [2, () => admin('PUT', '/assumptions', reading())],
    [1, () => admin('GET', '/magic-values')],
    [1, () => admin('GET', '/rules')],
    [2, rule],
    [2, () => about('rule_id', 'DELETE', '/__admin/rules/ID')],
    [2, () => about('transaction_id', 'POST', '/__admin/simulate/transactions/ID', moved())],
    [2, () => admin('POST', `/simulate/kyc/${pick([PENDING_KYC, known('kyc_id').id])}`, checked())],
    [
      1,
      () =>
        admin(
          'POST',
          `/simulate/bank-accounts/${pick([PENDING_BANK, known('bank_id').id])}`,
          checked(),
        ),
    ],
    [3, () => admin('POST', '/webhooks/trigger', { event: pick(EVENTS) })],
    [2, () => admin('GET', `/webhooks/deliveries?limit=${5 + int(20)}`)],
    [1, () => about('delivery_id', 'GET', '/__admin/webhooks/deliveries/ID')],
    [2, () => about('delivery_id', 'POST', '/__admin/webhooks/deliveries/ID/redeliver')],
    [1, () => admin('GET', '/webhooks/inbox')],
    [2, () => admin('POST', '/webhooks/inbox', { id: `evt_${dealt}`, type: 'kyc.success' })],
    [1, () => admin('DELETE', '/webhooks/inbox')],
    [2, () => admin('GET', `/requests?limit=${5 + int(20)}`)],
    [1, () => about('request_id', 'GET', '/__admin/requests/ID')],
    [1, () => admin('DELETE', '/requests')],
    [1, () => admin('POST', '/requests/find', { match: pick(MATCHES), limit: 5 })],
    [1, () => admin('POST', '/requests/count', { match: pick(MATCHES) })],
    [1, () => admin('POST', '/requests/verify', { match: pick(MATCHES), at_least: int(3) })],
    [2, wait],
    [1, () => admin('GET', '/client')],
    [1, () => admin('GET', '/summary')],
    [1, () => admin('GET', '/users?limit=5')],
    [1, () => admin('GET', `/users/${user()}`)],
    [1, () => admin('GET', '/transactions?limit=5')],
    [1, () => about('transaction_id', 'GET', '/__admin/transactions/ID')],
  ]
  const full = KINDS.flatMap(([times, make]) => Array.from({ length: times }, () => make))
  let deck: (() => Call)[] = []

  // The workers are there before anything is asked of them: a call that waits and the one that moves its clock race.
  const opening: Call[] = [
    ...WORKERS.map((name, i) => ({
      method: 'POST',
      url: '/__admin/clients',
      body: { name, access_token: `sbx_${name}`, random_seed: 100 + i, clock: 'frozen' },
    })),
    { method: 'POST', url: '/v1/clientWebhook', body: { url: receiver, webhook_secret: 'first' } },
  ]

  return {
    next(): Call {
      const first = opening[dealt++]
      if (first) return first
      const follower = following.shift()
      if (follower) return follower()
      if (deck.length === 0) deck = [...full]
      return deck.splice(int(deck.length), 1)[0]!()
    },
    /** Notes the ids in an answer, so that later calls can be about them. */
    remember({ method, url }: Call, status: number, text: string) {
      const [, base = '', path] = /^(\/@[^/]+)?(\/[^?]*)/.exec(url)!
      if (status >= 300) return
      if (method === 'GET' && path === '/__admin/state') states.set(base, text)
      // Lists and states would drown what the calls of this run have made.
      else if (text.length < 20_000)
        for (const [, kind, id] of text.matchAll(/"(\w+_id)":"([^"]+)"/g)) {
          const list = seen[kind!]
          if (!list || list.some((one) => one.id === id && one.base === base)) continue
          list.push({ base, id: id! })
          if (list.length > NEWEST) list.shift()
        }
    },
  }
}
