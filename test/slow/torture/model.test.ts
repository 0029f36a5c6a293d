import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { GUARDED, HONOURED, start } from '../../helper.ts'
import { figures, LONG, SEED } from './part.ts'
import { createReference, type Reference } from './reference.ts'
import type { Call, Wanted } from './reference-service.ts'
import type { Moment, World } from './reference-world.ts'
import { difference, unchanged, uuid } from './template.ts'

const SEQUENCES = LONG ? 5_000 : 25
const LONGEST = 60

// ---- the clients that there are: the same rows as fixtures and as the reference's

const DAY_ONE = '2025-03-01T00:00:00.000Z'
const at = { created_at: DAY_ONE, updated_at: DAY_ONE }
const rowId = (kind: string, n: number) => `${kind}0000000-0000-4000-8000-00000000000${n}`

/** Two users with a verified account each, a third with nothing; the first has a good PAN. */
function people(first: number) {
  const [one, two, three] = [0, 1, 2].map((i) => rowId('0', first + i)) as [string, string, string]
  const of = (user: string, i: number) => ({
    user_id: user,
    email: `user${first + i}@example.com`,
    mobile: `+91900000000${first + i}`,
  })
  const account = (user: string, i: number) => ({
    bank_id: rowId('b', first + i),
    user_id: user,
    account_number: `99991000000${first + i}`,
    ifsc_code: 'HDFC0000001',
    bank_status: 'success',
    account_holder_name: `HOLDER ${'AB'[i]}`,
    ...at,
  })
  const pan = {
    kyc_id: rowId('d', first),
    user_id: one,
    document_type: 'tid',
    document_name: 'pan',
    document_number: 'XXXPX1011A',
    full_name: 'Holder A',
    dob: '1990-01-02',
    kyc_status: 'success',
    verified_by: 'system',
    ...at,
  }
  const credit = {
    transaction_id: rowId('a', first),
    id: rowId('e', first),
    client_transaction_id: 'CREDIT-1',
    partner_transaction_id: 'PTX1',
    reference_id: 'r0',
    from_user_id: two,
    to_user_id: one,
    benif_bank_id: rowId('b', first),
    amount: '250.00',
    transaction_type: 'credit',
    status: 'PENDING',
    remark: 'made before',
    ...at,
  }
  return {
    users: [of(one, 0), of(two, 1), of(three, 2)],
    accounts: [account(one, 0), account(two, 1)],
    pan,
    credit,
  }
}

const CLIENTS = { default: people(1), careful: people(4) }
const client = (name: string, n: number, check_kyc: boolean) => ({
  client: name,
  client_id: rowId('c', n),
  access_token: `sbx_${name}`,
  check_kyc,
  ...at,
})
const FIXTURES = {
  clients: [client('default', 1, false), client('careful', 2, true)],
  users: Object.entries(CLIENTS).flatMap(([name, { users }]) =>
    users.map((user) => ({ client: name, ...user, ...at })),
  ),
  kyc: Object.values(CLIENTS).map(({ pan }) => pan),
  bank_accounts: Object.values(CLIENTS).flatMap(({ accounts }) => accounts),
  transactions: Object.values(CLIENTS).map(({ credit }) => credit),
}

/** The same rows as the reference holds them. */
function rowsOf({ users, accounts, pan, credit }: ReturnType<typeof people>): Partial<Moment> {
  const made = { created: Date.parse(DAY_ONE), updated: Date.parse(DAY_ONE) }
  const held = accounts.map((account) => ({
    id: uuid(account.bank_id),
    user: account.user_id,
    number: account.account_number,
    ifsc: account.ifsc_code,
    ...made,
  }))
  return {
    users: users.map(({ user_id, ...user }, i) => ({
      id: uuid(user_id),
      ...user,
      pid: null,
      tid: i === 0 ? pan.kyc_id : null,
      bank_id: accounts[i]?.bank_id ?? null,
      ...made,
    })),
    accounts: held,
    records: [
      {
        id: uuid(pan.kyc_id),
        user: pan.user_id,
        type: 'tid',
        status: 'success',
        metadata: unchanged(),
        ...made,
      },
    ],
    payments: [
      {
        id: uuid(credit.transaction_id),
        history: uuid(credit.id),
        reference: credit.reference_id,
        clientTransaction: credit.client_transaction_id,
        partner: credit.partner_transaction_id,
        from: credit.from_user_id,
        to: credit.to_user_id,
        account: held[0]!,
        type: 'credit',
        amount: credit.amount,
        status: 'PENDING',
        utr: null,
        failure: null,
        ...made,
      },
    ],
  }
}
const newReference = () =>
  createReference({
    default: rowsOf(CLIENTS.default),
    careful: { checkKyc: true, ...rowsOf(CLIENTS.careful) },
  })

// ---- the sandbox itself

type Real = Awaited<ReturnType<typeof openReal>>

async function openReal(file: string) {
  const errors: string[] = []
  const log = {
    info() {},
    warn() {},
    error: (message: string, error?: unknown) => void errors.push(`${message} ${error}`),
  }
  // The wall stands, so that a clock that ticks does too.
  const wall = () => Date.parse('2026-06-01T00:00:00.000Z')
  const open = () =>
    start(
      { teardown() {} },
      {
        assume: { ...GUARDED.assume, ...HONOURED.assume },
        fixtures: FIXTURES,
        sandbox: { file, wall, log },
      },
    )
  let box = await open()
  return {
    errors,
    send({ client, method, path, query, body, key }: Call) {
      const search = query ? `?${new URLSearchParams(query)}` : ''
      return box.call(method, `/@${client}${path}${search}`, body, {
        authorization: `Bearer sbx_${client}`,
        ...(key !== undefined && { 'idempotency-key': key }),
      })
    },
    async restart() {
      await box.close()
      box = await open()
    },
    close: () => box.close(),
  }
}

let calls = 0

/** Makes a call of both, and compares the responses. */
async function both(reference: Reference, real: Real, asked: Call) {
  calls++
  const call = reference.isUnsure(asked) ? { ...asked, key: undefined } : asked
  const wanted: Wanted = reference.response(call)
  const actual = await real.send(call)
  const replayed = actual.headers['idempotency-replayed'] === 'true'
  let found =
    difference(wanted.status, actual.status, 'status') ??
    difference(wanted.body, actual.body) ??
    difference(wanted.replayed ?? false, replayed, 'Idempotency-Replayed')
  if (wanted.kept && !found) {
    wanted.kept.text ??= actual.text
    found = difference(wanted.kept.text, actual.text, 'bytes of the replay')
  }
  found ??= real.errors[0]
  if (found)
    throw new Error(`${JSON.stringify(call)}: ${found}\nanswer ${actual.status} ${actual.text}`)
  for (const run of wanted.later ?? []) run()
  return actual
}

// ---- steps: each a call, or a few, made of what drew it and of what there is

class Step<A> implements fc.AsyncCommand<Reference, Real> {
  readonly name: string
  readonly args: A
  readonly play: (args: A, reference: Reference, real: Real) => Promise<unknown>

  constructor(name: string, args: A, play: Step<A>['play']) {
    this.name = name
    this.args = args
    this.play = play
  }
  check = () => true
  run = async (reference: Reference, real: Real) =>
    void (await this.play(this.args, reference, real))
  toString = () => `${this.name} ${JSON.stringify(this.args)}`
}

const UNKNOWN = '12345678-1234-4123-8123-123456789abc'
/** An id of this client mostly; else another client's, one that nobody has, or none at all. */
function idOf(reference: Reference, name: string, rows: keyof typeof TABLES, n: number): string {
  const own = (world: World) => world.at[TABLES[rows]].map(({ id }) => id.value!)
  if (n === 18) return UNKNOWN
  const other = own(reference.look(name === 'default' ? 'careful' : 'default'))
  const mine = own(reference.look(name))
  const from = n === 19 || mine.length === 0 ? other : mine
  return from[from.length - 1 - (n % from.length)] ?? UNKNOWN
}
const TABLES = { user: 'users', kyc: 'records', bank: 'accounts', transaction: 'payments' } as const

const who = fc.constantFrom('default', 'default', 'default', 'careful', 'careful', 'worker', 'fork')
const which = fc.nat(19)
const often = <T>(usual: readonly T[], ...rare: T[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    ...(rare.length > 0 ? [{ weight: 1, arbitrary: fc.constantFrom(...rare) }] : []),
  )
const key = often<string | undefined>([undefined, undefined, 'k1', 'k2'], 'k3')
const sent = { client: who, key }
type Sent = Pick<Call, 'client' | 'key'>

const step = <A>(
  name: string,
  args: { [K in keyof A]: fc.Arbitrary<A[K]> },
  make: (args: A, reference: Reference) => Call,
): fc.Arbitrary<Step<A>> =>
  fc
    .record(args)
    .map(
      (drawn) =>
        new Step(name, drawn as A, (args, reference, real) =>
          both(reference, real, make(args, reference)),
        ),
    )

/** A body without the fields that were drawn as left out. */
const given = (body: object) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))

const post = ({ client, key }: Sent, path: string, body: object): Call => ({
  client,
  method: 'POST',
  path: `/v1${path}`,
  body: given(body),
  key,
})
const get = ({ client }: Sent, path: string, query?: object): Call => ({
  client,
  method: 'GET',
  path: `/v1${path}`,
  ...(query && { query: given(query) }),
})
const admin = (
  method: Call['method'],
  { client }: { client: string },
  path: string,
  body?: object,
): Call => ({ client, method, path: `/__admin${path}`, ...(body && { body }) })

/** So many rows that a list is one page. */
const ALL = { limit: '100' }
const item = fc
  .constantFrom(
    { document_type: 'tid', document_name: 'pan', document_number: 'ABCPE1234F' },
    { document_type: 'pid', document_name: 'aadhar', document_number: '999999990019' },
  )
  .map((document) => ({
    ...document,
    dateOfBirth: '29-02-2000',
    Nationality: 'Indian',
    nameOnCard: 'Asha Nair',
  }))

const usersAndChecks = [
  step(
    'createUser',
    {
      ...sent,
      email: often(
        ['a', 'b', 'c', 'd', 'e', 'F'].map((name) => `${name}@example.com`),
        'A@EXAMPLE.COM',
      ),
      mobile: often(
        ['+919800000001', '9800000002', '+919800000003', '+14155550100', '9800000005'],
        '9800000001',
      ),
      user_type: often<string | undefined>([undefined, 'individual', 'business']),
    },
    ({ email, mobile, user_type, ...call }) => post(call, '/user', { email, mobile, user_type }),
  ),
  step('getUser', { ...sent, user: which }, ({ user, ...call }, reference) =>
    get(call, `/user/${idOf(reference, call.client, 'user', user)}`),
  ),
  step('listUsers', sent, (call) => get(call, '/users', ALL)),
  step(
    'submitKyc',
    { ...sent, user: which, kyc: fc.array(item, { minLength: 1, maxLength: 2 }) },
    ({ user, kyc, ...call }, reference) =>
      post(call, '/kyc', { user_id: idOf(reference, call.client, 'user', user), kyc }),
  ),
  step('getKyc', { ...sent, user: which }, ({ user, ...call }, reference) =>
    get(call, `/kyc/${idOf(reference, call.client, 'user', user)}`),
  ),
  step(
    'addBankAccount',
    {
      ...sent,
      user: which,
      account_number: often(['123456789012', '123456789013', '123456789014'], 'letters'),
      ifsc_code: often(['HDFC0000001', 'HDFC0000001', 'ZZZZ0ABC123'], 'hdfc0000001'),
    },
    ({ user, account_number, ifsc_code, ...call }, reference) =>
      post(call, '/bank', {
        user_id: idOf(reference, call.client, 'user', user),
        account_number,
        ifsc_code,
      }),
  ),
  step('listBankAccounts', { ...sent, user: which }, ({ user, ...call }, reference) =>
    get(call, `/bank/${idOf(reference, call.client, 'user', user)}`),
  ),
]

const paymentArgs = {
  ...sent,
  from: which,
  bank: which,
  amount: often<unknown>([100, '100.00', 1.5, 1]),
  reference_id: often<string | undefined>([undefined, undefined, 'r1', 'r2', 'r3'], 'r0'),
  remark: often<string | undefined>([undefined, 'note']),
  currency_code: often<string | undefined>([undefined, 'INR']),
}
const payments = [
  step('pay', paymentArgs, ({ from, bank, client, key, ...body }, reference) => {
    const { users, accounts } = reference.look(client).at
    const account = accounts[accounts.length - 1 - (bank % accounts.length)]
    const others = users.filter(({ id }) => id.value !== account?.user)
    const payer = others[from % others.length]?.id.value ?? UNKNOWN
    const to = account?.user ?? UNKNOWN
    const ids = { from_user_id: payer, to_user_id: to, benif_bank_id: account?.id.value ?? UNKNOWN }
    return post({ client, key }, '/transaction', { ...ids, ...body })
  }),
  step('listTransactions', sent, (call) => get(call, '/transaction', ALL)),
  step('getTransaction', { ...sent, payment: which }, ({ payment, ...call }, reference) =>
    get(call, `/transaction/${idOf(reference, call.client, 'transaction', payment)}`),
  ),
  step(
    'listTransactionHistory',
    { ...sent, type: often<string | undefined>([undefined, 'debit']) },
    ({ type, ...call }) => get(call, '/transaction/history', { type, ...ALL }),
  ),
  step('listUserTransactionHistory', { ...sent, user: which }, ({ user, ...call }, reference) =>
    get(call, `/transaction/history/user/${idOf(reference, call.client, 'user', user)}`, ALL),
  ),
]

const instant = fc.constantFrom(
  '2024-06-01T00:00:00Z',
  '2025-12-31T23:59:59.500Z',
  '2026-01-01T00:00:02Z',
  '2026-01-01T00:01:00.001Z',
  '2026-01-02T00:00:00Z',
  '2026-12-31T23:59:58Z',
)
const seconds = fc.constantFrom(0, 0.5, 1, 2, 3, 5, 10, 60, 121, 1_500, 86_400, 90_000)

const time = [
  step('getClock', { client: who }, (call) => admin('GET', call, '/clock')),
  step('advanceBy', { client: who, by: seconds }, ({ by, ...call }) =>
    admin('POST', call, '/clock/advance', { by: `${by * 1_000}ms` }),
  ),
  step('advanceTo', { client: who, to: instant }, ({ to, ...call }) =>
    admin('POST', call, '/clock/advance', { to }),
  ),
  step('next', { client: who }, (call) => admin('POST', call, '/clock/next')),
  step(
    'freeze',
    { client: who, at: fc.option(instant, { nil: undefined }) },
    ({ at: instant, ...call }) => admin('POST', call, '/clock/freeze', given({ at: instant })),
  ),
  fc.record({ client: who, n: which, fire: fc.boolean() }).map(
    (args) =>
      new Step('timer', args, async ({ client, n, fire }, reference, real) => {
        await both(reference, real, admin('GET', { client }, '/timers'))
        const timers = reference.look(client).at.timers.filter(({ kind }) => kind !== 'scenario')
        const one = timers[n % timers.length]
        if (!one) return
        const path = `/timers/${one.timerId}${fire ? '/fire' : ''}`
        const call = admin(fire ? 'POST' : 'DELETE', { client }, path)
        await both(reference, real, call)
      }),
  ),
]

const snapshot = fc.constantFrom('before', 'after')
const parts = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc.subarray(['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests'], {
      minLength: 1,
      maxLength: 2,
    }),
  },
)
const states = [
  fc.constant(new Step('restart', {}, (_args, _reference, real) => real.restart())),
  step(
    'reset',
    { client: who, parts, all: often<boolean | undefined>([undefined], true) },
    ({ parts, all, ...call }) => admin('POST', call, '/reset', given({ parts, all })),
  ),
  step('saveSnapshot', { client: who, name: snapshot }, ({ name, ...call }) =>
    admin('POST', call, '/snapshots', { name }),
  ),
  step('restore', { client: who, name: snapshot }, ({ name, ...call }) =>
    admin('POST', call, `/snapshots/${name}/restore`),
  ),
  step('listSnapshots', { client: who }, (call) => admin('GET', call, '/snapshots')),
  step('forget', { client: who, name: snapshot }, ({ name, ...call }) =>
    admin('DELETE', call, `/snapshots/${name}`),
  ),
  fc.record({ client: who, from: who }).map(
    (args) =>
      new Step('putState', args, async ({ client, from }, reference, real) => {
        const source = reference.look(from)
        const { body } = await real.send(admin('GET', { client: from }, '/state'))
        reference.worlds.set(from, source)
        const call = admin('PUT', { client }, '/state', body)
        const wanted = reference.response({ ...call, body: source })
        const actual = await real.send(call)
        const found =
          difference(wanted.status, actual.status, 'status') ?? difference(wanted.body, actual.body)
        if (found) throw new Error(`PUT /state of ${from} for ${client}: ${found} ${actual.text}`)
      }),
  ),
]

const NAMES = [
  'default',
  'pending-transactions',
  'stuck-transactions',
  'late-reversals',
  'failed-payouts',
  'provider-outage',
]
const control = [
  step('setScenario', { client: who, name: fc.constantFrom(...NAMES) }, ({ name, ...call }) =>
    admin('PUT', call, '/scenario', { name }),
  ),
  step(
    'simulateTransaction',
    {
      client: who,
      n: fc.nat(16),
      status: fc.constantFrom('PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'),
      reason: fc.constantFrom(undefined, 'bank_account_closed'),
    },
    ({ n, status, reason, ...call }, reference) =>
      admin(
        'POST',
        call,
        `/simulate/transactions/${idOf(reference, call.client, 'transaction', n)}`,
        given({ status, reason }),
      ),
  ),
  step(
    'simulateKyc',
    { client: who, n: fc.nat(16), status: fc.constantFrom('pending', 'success', 'failed') },
    ({ n, status, ...call }, reference) =>
      admin('POST', call, `/simulate/kyc/${idOf(reference, call.client, 'kyc', n)}`, { status }),
  ),
  step('listClients', { client: who }, (call) => admin('GET', call, '/clients')),
  step(
    'createClient',
    {
      client: who,
      name: fc.constantFrom('fork', 'fork', 'worker'),
      how: fc.oneof(
        fc.constantFrom({ fixtures: 'empty' }, { fixtures: 'default' }, {}),
        fc.record({
          from: fc.oneof(
            fc.record({ client: who }),
            fc.record({ client: who, snapshot: snapshot }),
          ),
        }),
      ),
    },
    ({ name, how, ...call }) =>
      admin('POST', call, '/clients', { name, access_token: `sbx_${name}`, ...how }),
  ),
  step(
    'deleteClient',
    { client: who, name: fc.constantFrom('fork', 'worker', 'default') },
    ({ name, ...call }) => admin('DELETE', call, `/clients/${name}`),
  ),
]

/** Everything of every client, read once more at the end. */
async function readAll(reference: Reference, real: Real) {
  for (const [name, world] of reference.worlds) {
    const { users, payments } = world.at
    const mine = { client: name }
    // Else all is 503.
    if (world.at.scenario === 'provider-outage')
      await both(reference, real, admin('PUT', mine, '/scenario', { name: 'default' }))
    await both(reference, real, get(mine, '/users', ALL))
    await both(reference, real, get(mine, '/transaction', ALL))
    await both(reference, real, get(mine, '/transaction/history', ALL))
    for (const { id } of users) {
      await both(reference, real, get(mine, `/kyc/${id.value}`))
      await both(reference, real, get(mine, `/bank/${id.value}`))
      await both(reference, real, get(mine, `/transaction/history/user/${id.value}`, ALL))
    }
    await both(reference, real, admin('GET', mine, '/clock'))
    await both(reference, real, admin('GET', mine, '/timers'))
    const utrs = payments.flatMap(({ utr }) => utr?.value ?? [])
    if (new Set(utrs).size < utrs.length) throw new Error(`${name}: a UTR came twice: ${utrs}`)
  }
  await both(reference, real, admin('GET', { client: 'default' }, '/clients'))
}

t.test(
  `${SEQUENCES} sequences of calls, restarts, resets and restores are answered as the reference answers`,
  async (t) => {
    const folder = t.testdir()
    let sequences = 0
    let steps = 0
    const commands = fc.commands(
      [
        ...usersAndChecks,
        ...usersAndChecks.slice(0, 1),
        ...payments,
        ...payments.slice(0, 1),
        ...payments.slice(0, 1),
        ...time,
        ...time,
        ...states,
        ...control,
      ] as fc.Arbitrary<fc.AsyncCommand<Reference, Real>>[],
      { maxCommands: LONGEST, size: 'max' },
    )
    const property = fc.asyncProperty(commands, async (drawn) => {
      const file = join(folder, `${++sequences}`, 'db.json')
      const real = await openReal(file)
      const reference = newReference()
      try {
        await fc.asyncModelRun(() => ({ model: reference, real }), drawn)
        await readAll(reference, real)
        steps += [...drawn].length
      } finally {
        await real.close()
        rmSync(join(folder, `${sequences}`), { recursive: true, force: true })
      }
    })
    try {
      await fc.assert(property, { seed: SEED, numRuns: SEQUENCES })
    } catch (error) {
      const { message, cause } = error as Error & { cause?: Error }
      t.comment(message)
      t.fail(`they differ: ${cause?.message ?? cause}`)
    }
    t.ok(steps > SEQUENCES * 10, `${steps} steps, ${calls} calls`)
    figures({ sequences, steps, calls })
  },
)
