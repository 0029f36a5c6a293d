/**
 * One client of the reference: its rows, its time and what happens in it. Written from the service's documentation and
 * docs/assumptions.md, as plainly as they say it: a list is sorted when it is asked for, and a copy of the rows is a snapshot.
 */
import { aText, Slot, unchanged } from './template.ts'

export type User = {
  id: Slot
  email: string
  mobile: string
  pid: string | null
  tid: string | null
  bank_id: string | null
  created: number
  updated: number
}
export type Record = {
  id: Slot
  user: string
  type: string
  status: string
  metadata: unknown
  created: number
  updated: number
}
export type Account = {
  id: Slot
  user: string
  number: string
  ifsc: string
  created: number
  updated: number
}
export type Payment = {
  id: Slot
  history: Slot
  reference: string | null
  clientTransaction: string | Slot
  partner: string | Slot
  from: string
  to: string
  account: Account
  type: string
  amount: string
  status: string
  utr: Slot | null
  failure: unknown
  created: number
  updated: number
}
/** Something that is to happen to a row, or, where `kind` is `scenario`, to the active scenario. */
export type Timer = {
  due: number
  order: number
  kind: 'payment' | 'record' | 'scenario'
  id: string
  /** Its own id, once a list of timers has shown it. */
  timerId?: string
  status: string
  reason?: string | undefined
}
export type Step = { status: string; after: number; reason?: string }
export type Kept = { body: string; status: number; response: unknown; until: number; text?: string }

/** All that a snapshot keeps. Rows are replaced and never changed, so copies of the lists are enough. */
export type Moment = {
  now: number
  /** The latest time that it ever was. */
  latest: number
  checkKyc: boolean
  users: User[]
  records: Record[]
  accounts: Account[]
  payments: Payment[]
  timers: Timer[]
  keys: Map<string, Kept>
  scenario: string
  /** Payments that `failed-payouts` has decided about. */
  turns: number
}
export type World = {
  name: string
  /** What a reset goes back to. */
  home: () => Moment
  at: Moment
  snapshots: Map<string, Moment>
}

export const copyOf = (moment: Moment): Moment => ({
  ...moment,
  users: [...moment.users],
  records: [...moment.records],
  accounts: [...moment.accounts],
  payments: [...moment.payments],
  timers: [...moment.timers],
  keys: new Map(moment.keys),
})

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const DAY = 1_440 * MINUTE

export const byId = <R extends { id: Slot }>(rows: readonly R[], id: unknown): R | undefined =>
  rows.find((row) => row.id.value === String(id).toLowerCase())

/** Newest first; ties by newest insertion. */
export const newestFirst = <R extends { created: number }>(rows: readonly R[]): R[] =>
  [...rows].reverse().sort((a, b) => b.created - a.created)

export const soonestFirst = (timers: readonly Timer[]): Timer[] =>
  [...timers].sort((a, b) => a.due - b.due || a.order - b.order)

export function put<R extends { id: Slot }>(rows: R[], row: R) {
  const place = rows.findIndex(({ id }) => id === row.id)
  if (place === -1) rows.push(row)
  else rows[place] = row
}

// ---- users, records, accounts

/** A user's `pid` and `tid` are the latest successful records, `bank_id` the first account that was verified. */
export function relink(moment: Moment, userId: string) {
  const user = byId(moment.users, userId)!
  const latest = (type: string) =>
    newestFirst(moment.records).find(
      (record) => record.user === userId && record.type === type && record.status === 'success',
    )?.id.value ?? null
  const verified = moment.accounts.find((account) => account.user === userId)
  const links = {
    pid: latest('pid'),
    tid: latest('tid'),
    bank_id: user.bank_id ?? verified?.id.value ?? null,
  }
  if (links.pid === user.pid && links.tid === user.tid && links.bank_id === user.bank_id) return
  put(moment.users, { ...user, ...links, updated: moment.now })
}

/** The response has the id, so what needs the id is done after the response. */
export type Later = (() => void)[]

export function putRecord(moment: Moment, record: Record, later: Later = []) {
  put(moment.records, record)
  later.push(() => relink(moment, record.user))
}

export const sameAccount = (
  moment: Moment,
  { user, number, ifsc }: Pick<Account, 'user' | 'number' | 'ifsc'>,
) =>
  moment.accounts.find(
    (other) => other.user === user && other.number === number && other.ifsc === ifsc,
  )

export function decideRecord(moment: Moment, record: Record, status: string) {
  const later: Later = []
  putRecord(moment, { ...record, status, metadata: unchanged(), updated: moment.now }, later)
  for (const run of later) run()
}

// ---- payments

/** Terminal states stay, save SUCCESS -> FAILED. */
const LEADS_TO: { [status: string]: string[] } = {
  PENDING: ['PROCESSING', 'SUCCESS', 'FAILED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: ['FAILED'],
  FAILED: [],
}
export const canMove = (from: string, to: string) => LEADS_TO[from]!.includes(to)

const failureOf = (reason?: string) => ({
  reason: reason ?? aText,
  description: aText,
  source: aText,
})

export function movePayment(moment: Moment, payment: Payment, status: string, reason?: string) {
  put(moment.payments, {
    ...payment,
    status,
    utr: status === 'SUCCESS' ? new Slot(/^[A-Z\d]{12,22}$/) : payment.utr,
    failure: status === 'FAILED' ? failureOf(reason) : null,
    updated: moment.now,
  })
}

// ---- time

let orders = 0

/** Steps, each after the one before; the first is how the row was made. */
export function schedule(
  moment: Moment,
  kind: Timer['kind'],
  id: () => string,
  [, ...steps]: readonly Step[],
  later: Later,
) {
  let due = moment.now
  for (const { after, status, reason } of steps) {
    due += after
    const timer: Timer = { due, order: ++orders, kind, id: '', status, reason }
    moment.timers.push(timer)
    later.push(() => {
      timer.id = id()
    })
  }
}

export function dropTimers(moment: Moment, drop: (timer: Timer) => boolean) {
  moment.timers = moment.timers.filter((timer) => !drop(timer))
}

/** Makes one timer happen; whether it could. */
export function happen(moment: Moment, timer: Timer): boolean {
  dropTimers(moment, (one) => one === timer)
  const { kind, id, status, reason } = timer
  if (kind === 'scenario') {
    activate(moment, status)
    return true
  }
  if (kind === 'record') {
    const record = byId(moment.records, id)
    if (record?.status !== 'pending') return false
    decideRecord(moment, record, status)
    return true
  }
  const payment = byId(moment.payments, id)
  if (!payment || !canMove(payment.status, status)) return false
  movePayment(moment, payment, status, reason)
  return true
}

const iso = (ms: number) => new Date(ms).toISOString()

/** Moves time; every timer due on the way happens at its own instant. Answers what happened: when, and to which row. */
export function advance(moment: Moment, target: number): { at: string; id: string }[] {
  const happened: { at: string; id: string }[] = []
  for (;;) {
    const [timer] = soonestFirst(moment.timers)
    if (!timer || timer.due > target) break
    moment.now = Math.max(moment.now, timer.due)
    if (happen(moment, timer) && timer.kind !== 'scenario')
      happened.push({ at: iso(timer.due), id: timer.id })
  }
  moment.now = Math.max(moment.now, target)
  moment.latest = Math.max(moment.latest, moment.now)
  return happened
}

// ---- scenarios

/** `provider-outage` ends by itself after two minutes; another scenario takes its timeline away. */
export function activate(moment: Moment, scenario: string) {
  dropTimers(moment, ({ kind }) => kind === 'scenario')
  moment.scenario = scenario
  if (scenario === 'failed-payouts') moment.turns = 0
  if (scenario === 'provider-outage') {
    const due = moment.now + 2 * MINUTE
    moment.timers.push({ due, order: ++orders, kind: 'scenario', id: '', status: 'default' })
  }
}
