/**
 * What the service answers, by the reference: each operation as the service's documentation and docs/assumptions.md tell it.
 * Only what depends on the state: what is wrong with a request by itself, and what the magic numbers do, is tested at the routes.
 */
import {
  type Account,
  byId,
  DAY,
  type Kept,
  type Later,
  MINUTE,
  type Moment,
  newestFirst,
  type Payment,
  put,
  putRecord,
  type Record,
  relink,
  SECOND,
  type Step,
  sameAccount,
  schedule,
  type User,
  type World,
} from './reference-world.ts'
import { aText, Slot, unchanged, uuid } from './template.ts'

// biome-ignore lint/suspicious/noExplicitAny: a body is whatever a call sends.
type Json = any

export type Call = {
  client: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the client's base path. */
  path: string
  query?: { [name: string]: string }
  body?: Json
  key?: string | undefined
}
export type Wanted = {
  status: number
  body: unknown
  /** A replay has the bytes of the first answer. */
  kept?: Kept
  replayed?: boolean
  /** What is done once ids are known. */
  later?: Later
}

// ---- answers

const envelope = (code: number, data: unknown): Wanted => ({
  status: code,
  body: { status: true, code, message: aText, data },
})

export const refuse = (status: number, error: string): Wanted => ({
  status,
  body: { status: false, code: status, error, message: aText, data: null, errors: Array.isArray },
})

const iso = (ms: number) => new Date(ms).toISOString()
const times = ({ created, updated }: { created: number; updated: number }) => ({
  created_at: iso(created),
  updated_at: iso(updated),
})
/** A number of which no response has shown all digits yet. */
const masked = ({ value }: Slot) =>
  function maskedUtr(actual: unknown) {
    return (
      /^X{8,18}\d{4}$/.test(String(actual)) && (!value || String(actual).endsWith(value.slice(-4)))
    )
  }

const showUser = (user: User) => ({
  user_id: user.id,
  email: user.email,
  pid: user.pid,
  tid: user.tid,
  bank_id: user.bank_id,
  ...times(user),
})

const showRecord = (record: Record) => ({
  kyc_id: record.id,
  user_id: record.user,
  kyc_status: record.status,
  metadata: record.metadata,
  ...times(record),
})

const showReceiver = ({ id, user }: Account) => ({
  bank_id: id,
  user_id: user,
  bank_status: 'success',
})
const showAccount = (account: Account) => ({ ...showReceiver(account), ...times(account) })

const showTransaction = (payment: Payment) => ({
  transaction_id: payment.id,
  reference_id: payment.reference,
  from_user_id: payment.from,
  to_user_id: payment.to,
  benif_bank_id: payment.account.id,
  transaction_type: payment.type,
  amount: payment.amount,
  utr: payment.utr && masked(payment.utr),
  transaction_status: payment.status === 'PROCESSING' ? 'pending' : payment.status.toLowerCase(),
  ...times(payment),
  benif_bank: showReceiver(payment.account),
})

const showHistory = (payment: Payment) => ({
  id: payment.history,
  client_transaction_id: payment.clientTransaction,
  partner_transaction_id: payment.partner,
  user_id: payer(payment),
  amount: payment.amount,
  status: payment.status,
  utr: payment.utr,
  metadata: payment.failure,
  ...times(payment),
})

/** History is the paying user's for a debit, the receiving user's for a credit. */
const payer = ({ type, from, to }: Payment) => (type === 'debit' ? from : to)

// ---- lists

/** A page that has the whole list. */
function page<R extends { created: number }>(
  rows: readonly R[],
  show: (row: R) => unknown,
  name: string,
  total: string,
): Wanted {
  return envelope(200, { [total]: rows.length, [name]: newestFirst(rows).map(show) })
}

// ---- the life of a row

const failing = (reason: string): Step[] => [
  { status: 'PENDING', after: 0 },
  { status: 'PROCESSING', after: SECOND },
  { status: 'FAILED', after: 2 * SECOND, reason },
]
const USUAL: Step[] = [
  { status: 'PENDING', after: 0 },
  { status: 'PROCESSING', after: SECOND },
  { status: 'SUCCESS', after: 2 * SECOND },
]
const STAYS_PROCESSING = USUAL.slice(0, 2)
/** An account and a PAN are verified at once. */
const VERIFIED: Step[] = [{ status: 'success', after: 0 }]
const pendingUntil = (status: string, after: number): Step[] => [
  { status: 'pending', after: 0 },
  { status, after },
]

const AADHAAR = pendingUntil('success', 5 * SECOND)

const IN_TURN = [
  'beneficiary_bank_offline',
  'bank_account_closed',
  'imps_not_allowed',
  'insufficient_funds',
  'npci_beneficiary_timeout',
  'gateway_down',
]
const BY_SCENARIO: { [name: string]: (moment: Moment) => Step[] } = {
  'pending-transactions': () => [
    { status: 'PENDING', after: 0 },
    { status: 'PROCESSING', after: 25 * MINUTE },
    { status: 'SUCCESS', after: 5 * SECOND },
  ],
  'stuck-transactions': () => STAYS_PROCESSING,
  'late-reversals': () => [...USUAL, { status: 'FAILED', after: DAY }],
  'failed-payouts': (moment) => failing(IN_TURN[moment.turns++ % IN_TURN.length]!),
}

const lifeOfPayment = (moment: Moment) => BY_SCENARIO[moment.scenario]?.(moment) ?? USUAL

// ---- the operations

type Operation = {
  /** Refusals that come before a scenario is asked. */
  refuse?: (world: World, body: Json) => Wanted | undefined
  carryOut: (world: World, call: Call, id: string, later: Later) => Wanted
}

const notFound = () => refuse(404, 'not_found')
const ofUser =
  (show: (world: World, user: User) => Wanted): Operation['carryOut'] =>
  (world, _call, id) => {
    const user = byId(world.at.users, id)
    return user ? show(world, user) : notFound()
  }

const mobileKey = (mobile: string) => (mobile.length === 10 ? `+91${mobile}` : mobile)

const OPERATIONS: { [route: string]: Operation } = {
  'POST /user': {
    refuse({ at }, { email, mobile }) {
      const taken = at.users.some(
        (user) =>
          user.email.toLowerCase() === email.toLowerCase() ||
          mobileKey(user.mobile) === mobileKey(mobile),
      )
      return taken ? refuse(409, 'user_exists') : undefined
    },
    carryOut(world, { body: { email, mobile } }) {
      const { now, users } = world.at
      const links = { pid: null, tid: null, bank_id: null }
      const user = { id: uuid(), email, mobile, ...links, created: now, updated: now }
      users.push(user)
      return envelope(201, showUser(user))
    },
  },
  'GET /user/:userId': { carryOut: ofUser((_world, user) => envelope(200, showUser(user))) },
  'GET /users': { carryOut: (world) => page(world.at.users, showUser, 'users', 'total_users') },
  'POST /kyc': {
    refuse: ({ at }, { user_id }) => (byId(at.users, user_id) ? undefined : notFound()),
    carryOut({ at }, { body: { user_id, kyc } }, _id, later) {
      const entries = kyc.map((item: Json) => {
        const life = item.document_type === 'pid' ? AADHAAR : VERIFIED
        const { status } = life[0]!
        const record: Record = {
          id: uuid(),
          user: user_id,
          type: item.document_type,
          status,
          metadata: unchanged(),
          created: at.now,
          updated: at.now,
        }
        putRecord(at, record, later)
        schedule(at, 'record', () => record.id.value!, life, later)
        return { status: true, message: aText, data: showRecord(record) }
      })
      return envelope(201, entries)
    },
  },
  'GET /kyc/:userId': {
    carryOut: ofUser((world, user) => {
      const records = newestFirst(world.at.records).filter((one) => one.user === user.id.value)
      const data = { user: [showUser(user)], kycData: records.map(showRecord) }
      const response = { status: true, code: 200, message: aText, data }
      return { status: 200, body: { status: true, data: { statusCode: 200, response } } }
    }),
  },
  'POST /bank': {
    refuse({ at }, { user_id: user, account_number: number, ifsc_code }) {
      if (!byId(at.users, user)) return notFound()
      return sameAccount(at, { user, number, ifsc: ifsc_code.toUpperCase() })
        ? refuse(409, 'bank_account_exists')
        : undefined
    },
    carryOut({ at }, { body }, _id, later) {
      const { user_id: user, account_number: number } = body
      const ifsc = body.ifsc_code.toUpperCase()
      const times = { created: at.now, updated: at.now }
      const account = { id: uuid(), user, number, ifsc, ...times }
      put(at.accounts, account)
      later.push(() => relink(at, user))
      return envelope(201, { status: true, message: aText, data: showAccount(account) })
    },
  },
  'GET /bank/:userId': {
    carryOut: ofUser(({ at }, user) => {
      const accounts = newestFirst(at.accounts).filter((one) => one.user === user.id.value)
      return envelope(200, accounts.map(showAccount))
    }),
  },
  'POST /transaction': {
    refuse({ at }, { from_user_id, to_user_id, benif_bank_id, reference_id }) {
      const from = byId(at.users, from_user_id)
      const account = byId(at.accounts, benif_bank_id)
      if (!from || !byId(at.users, to_user_id) || !account) return notFound()
      if (at.checkKyc && from.pid === null && from.tid === null) return refuse(422, 'kyc_required')
      const used = reference_id && at.payments.some(({ reference }) => reference === reference_id)
      return used ? refuse(409, 'duplicate_reference') : undefined
    },
    carryOut(world, call, _id, later) {
      const { at } = world
      const { from_user_id, to_user_id, benif_bank_id, reference_id } = call.body
      const account = byId(at.accounts, benif_bank_id)!
      const amount = Number(call.body.amount).toFixed(2)
      const life = lifeOfPayment(at)
      const payment: Payment = {
        id: uuid(),
        history: uuid(),
        reference: reference_id ?? null,
        clientTransaction: reference_id ?? new Slot(/^.{1,100}$/),
        partner: new Slot(/^.{1,100}$/),
        from: from_user_id,
        to: to_user_id,
        account,
        type: 'debit',
        amount,
        status: 'PENDING',
        utr: null,
        failure: null,
        created: at.now,
        updated: at.now,
      }
      put(at.payments, payment)
      schedule(at, 'payment', () => payment.id.value!, life, later)
      return envelope(200, [showTransaction(payment)])
    },
  },
  'GET /transaction': {
    carryOut: (world) =>
      page(world.at.payments, showTransaction, 'transactions', 'total_transation'),
  },
  'GET /transaction/history': {
    carryOut: (world, call) =>
      page(
        world.at.payments.filter(({ type }) => type === 'debit' || !call.query?.['type']),
        showHistory,
        'transactions',
        'total_transactions',
      ),
  },
  'GET /transaction/history/user/:userId': {
    carryOut(world, _call, id) {
      const theirs = world.at.payments.filter((payment) => payer(payment) === id)
      if (!byId(world.at.users, id)) return notFound()
      return page(theirs, showHistory, 'transactions', 'total_transactions')
    },
  },
  'GET /transaction/:transaction_id': {
    carryOut(world, _call, id) {
      const payment = byId(world.at.payments, id)
      return payment ? envelope(200, [showTransaction(payment)]) : notFound()
    },
  },
}

const ROUTES = Object.entries(OPERATIONS).map(([route, operation]) => ({
  route,
  operation,
  pattern: new RegExp(`^${route.replace(/:\w+/, '([^/]+)')}$`),
}))

/** The operation of a call, and the id in its path. */
export function routeOf({ method, path }: Call) {
  for (const { route, operation, pattern } of ROUTES) {
    const found = pattern.exec(`${method} ${path.slice('/v1'.length)}`)
    if (found) return { route, operation, id: found[1] ?? '' }
  }
  throw new Error(`the reference has no ${method} ${path}`)
}

/** A key is one of its route; other methods than POST take none. */
export const keyOf = (call: Call) =>
  call.method === 'POST' && call.key !== undefined ? `${routeOf(call).route} ${call.key}` : ''

/** A call that is known to be this client's. */
export function serviceAnswer(world: World, call: Call): Wanted {
  const { at } = world
  const { operation, id } = routeOf(call)
  const scoped = keyOf(call)
  const text = JSON.stringify(call.body)
  const kept = scoped ? at.keys.get(scoped) : undefined
  if (kept && kept.until > at.now) {
    if (kept.body !== text) return refuse(422, 'idempotency_mismatch')
    return { status: kept.status, body: kept.response, kept, replayed: true }
  }

  const refused = operation.refuse?.(world, call.body)
  // What a scenario answers in an operation's place.
  const isDown = !refused && at.scenario === 'provider-outage'
  const later: Later = []
  const done =
    refused ??
    (isDown ? refuse(503, 'service_unavailable') : operation.carryOut(world, call, id, later))
  // An error is not stored.
  if (!scoped || done.status >= 400) return { ...done, later }
  const answer: Kept = { body: text, status: done.status, response: done.body, until: at.now + DAY }
  at.keys.set(scoped, answer)
  return { ...done, later, kept: answer }
}
