// tools/coverage/: what the callers of a sandbox have met, of all that the contract permits: the collector watches the
// feed of each client, and report.ts compares.

import { PAGED_LISTS } from '../../assumptions/assumption.ts'
import { statusWords } from '../../assumptions/responses.ts'
import { CODE_OF_STATUS } from '../../http/scenario-response.ts'
import type { CoverageGroup } from '../../model/coverage.ts'
import type { DeliveryRow } from '../../model/delivery.ts'
import { ERRORS, type ErrorCode } from '../../model/errors.ts'
import {
  canTransition,
  FIRST_STATUSES,
  type LifecycleKind,
  PaymentStatus,
} from '../../model/payment.ts'
import { type CompletedRequest, callerOf } from '../../requests/request-log.ts'
import type { SandboxTables } from '../../tables/tables.ts'
import type { World } from '../../world/world.ts'

/** The resources that have statuses: their group, their name in a report, and their statuses. */
export const RESOURCES = {
  transaction: { group: 'money', noun: 'payment', statuses: PaymentStatus.options },
  kyc: { group: 'kyc', noun: 'KYC record', statuses: FIRST_STATUSES.kyc },
  bank: { group: 'accounts', noun: 'bank account', statuses: FIRST_STATUSES.bank },
} as const satisfies Record<LifecycleKind, object>

export const isLifecycle = (word: string): word is LifecycleKind => Object.hasOwn(RESOURCES, word)

export const MET = {
  success: '2xx',
  silent: 'no response',
  lost: 'connection lost',
  broken: 'broken body',
  accepted: 'accepted',
  repeated: 'repeated',
  late: 'late',
  disorder: 'out of order',
  nextPage: 'a page after the first',
  lastPage: 'the last of several pages',
} as const

/** Identifies a behaviour in the set of those that were met. */
export const factOf = (group: CoverageGroup, subject: string, behaviour: string): string =>
  `${group} ${subject}: ${behaviour}`

// What an error is whose body does not say it: that of a scenario, or of other readings of `error_body`.
const CODES: Readonly<Record<number, ErrorCode>> = {
  ...CODE_OF_STATUS,
  400: 'validation_failed',
  403: 'client_inactive',
  500: 'injected_error',
}

// Only views of one resource are searched: the account inside a payment is as old as the payment.
const TRANSACTION = /"transaction_id":"([^"]+)".*?"transaction_status":"(\w+)"/g
const KYC = /"kyc_id":"([^"]+)".*?"kyc_status":"(\w+)"/g
const BANK = /"bank_id":"([^"]+)".*?"bank_status":"(\w+)"/g
const HISTORY = /"id":"([^"]+)","client_id".*?"status":"([A-Z]+)"/g
const SHOWN: Readonly<Record<string, readonly [LifecycleKind, RegExp]>> = {
  createTransaction: ['transaction', TRANSACTION],
  getTransaction: ['transaction', TRANSACTION],
  listTransactions: ['transaction', TRANSACTION],
  listTransactionHistory: ['transaction', HISTORY],
  listUserTransactionHistory: ['transaction', HISTORY],
  submitKyc: ['kyc', KYC],
  getKyc: ['kyc', KYC],
  addBankAccount: ['bank', BANK],
  listBankAccounts: ['bank', BANK],
}
const TOTAL = /"total_\w+":(\d+).*?"limit":(\d+)/

const { kyc, bank } = statusWords.readings['other']!.value
// The words of the other reading of `status_words`.
const OTHER_WORDS = Object.fromEntries(
  Object.entries({ ...kyc, ...bank }).map(([status, word]) => [word, status]),
)

// The order of events of one instant; success and failure may follow each other.
const RANKS: Readonly<Record<string, number>> = { pending: 0, processing: 1, success: 2, failed: 2 }

// An event that a rule or a retry delays so long is late, ms of the client's time. On a fast clock each event takes longer.
const LATE_MS = 5_000
// Statuses and events are remembered for the newest resources only.
const MAX_REMEMBERED = 10_000
// A longer response is a list of which the first rows say enough.
const MAX_READ = 65_536

function outcomeOf({ status, fault, response }: CompletedRequest): string {
  if (status === undefined) return fault === 'reset' || fault === 'empty' ? MET.lost : MET.silent
  if (fault !== undefined) return MET.broken
  if (status < 300) return MET.success
  const code = /"error":"(\w+)"/.exec(response)?.[1]
  if (code !== undefined && Object.hasOwn(ERRORS, code)) return code
  return CODES[status] ?? `HTTP ${status}`
}

/** Collects what the callers of all clients meet: a few words for each behaviour. A reset of a client removes nothing. */
export class Collector {
  /** The behaviours that were met: results of `factOf`. */
  readonly seen = new Set<string>()
  // The newest last.
  readonly #remembered = new Map<string, string>()
  #epochs = 0

  watch = ({ tables, feed }: Pick<World, 'tables' | 'feed'>) => {
    let epoch = ++this.#epochs
    feed.watch({
      onEvent: ({ kind, subject }) => {
        if (kind === 'request') this.#called(subject, epoch, tables)
        else if (kind === 'delivery') this.#delivered(subject, epoch)
        // The same ids name other resources now.
        else if (kind === 'reset' || kind === 'restore') epoch = ++this.#epochs
      },
      onEnd() {},
    })
  }

  hasReadFailure = (id: string): boolean => this.#remembered.has(`read ${id}`)

  #note(group: CoverageGroup, subject: string, behaviour: string) {
    this.seen.add(factOf(group, subject, behaviour))
  }

  #remember(id: string, value: string) {
    this.#remembered.delete(id)
    this.#remembered.set(id, value)
    if (this.#remembered.size > MAX_REMEMBERED)
      this.#remembered.delete(this.#remembered.keys().next().value!)
  }

  #called(call: CompletedRequest, epoch: number, tables: SandboxTables) {
    const { operation } = call
    if (operation === undefined || callerOf(call) !== 'code') return
    const outcome = outcomeOf(call)
    this.#note('calls', operation, outcome)
    if (outcome !== MET.success || call.method === 'HEAD') return
    const text = call.response.slice(0, MAX_READ)
    const shown = SHOWN[operation]
    if (shown) {
      const [kind, pattern] = shown
      for (const [, id, word] of text.matchAll(pattern)) {
        const payment =
          pattern === HISTORY ? tables.tables.payments.first('history', id!)?.row : undefined
        const resource = payment?.transaction_id ?? id!
        this.#shown(kind, resource, word!, epoch)
        if (kind === 'transaction' && word!.toUpperCase() === 'FAILED')
          this.#remember(`read ${resource}`, word!)
      }
    }
    const page = Number(/[?&]page=(\d+)/.exec(call.url)?.[1] ?? 1)
    if (page < 2 || !PAGED_LISTS.includes(operation)) return
    const [, total, limit] = TOTAL.exec(text) ?? []
    const pages = Math.ceil(Number(total) / Number(limit))
    if (page <= pages) this.#note('lists', operation, MET.nextPage)
    if (page === pages) this.#note('lists', operation, MET.lastPage)
  }

  #shown(kind: LifecycleKind, id: string, word: string, epoch: number) {
    const { group, noun, statuses } = RESOURCES[kind]
    const status = kind === 'transaction' ? word.toUpperCase() : (OTHER_WORDS[word] ?? word)
    const key = `${epoch} ${kind} ${id}`
    const last = this.#remembered.get(key)
    if (status === last || !statuses.some((known) => known === status)) return
    this.#note(group, noun, status)
    // An event that comes late shows an earlier status, and no transition.
    if (last !== undefined && !canTransition(kind, last, status, true)) return
    if (last !== undefined) this.#note(group, noun, `${last} to ${status}`)
    this.#remember(key, status)
  }

  #delivered(row: DeliveryRow, epoch: number) {
    const { status, event, event_id, resource_id, created_at, attempts, rule, fault = {} } = row
    const attempt = attempts.at(-1)
    if (status !== 'delivered' || !attempt?.ok) return
    // The sandbox's own receiver is no receiver of the caller.
    if (attempt.url.includes('/__admin/webhooks/inbox')) return
    // To accept what cannot be verified proves nothing.
    if (fault.signature ?? fault.timestamp ?? fault.body) return
    this.#note('webhooks', event, MET.accepted)
    const eventKey = `${epoch} ${event_id}`
    if (this.#remembered.has(eventKey)) return this.#note('webhooks', event, MET.repeated)
    this.#remember(eventKey, '')
    const isDelayed = rule !== undefined || attempts.length > 1
    if (isDelayed && Date.parse(attempt.at) - Date.parse(created_at) >= LATE_MS)
      this.#note('webhooks', event, MET.late)
    const [kind, word] = event.split('.') as [string, string]
    if (!isLifecycle(kind)) return
    const orderKey = `${epoch} order ${resource_id}`
    const place = `${created_at} ${RANKS[word]}`
    if (place < (this.#remembered.get(orderKey) ?? '')) this.#note('webhooks', event, MET.disorder)
    else this.#remember(orderKey, place)
    this.#shown(kind, resource_id, word, epoch)
  }
}
