import type { BankAccountRow } from '../../model/bank-account.ts'
import type { DeliveryFault, DeliveryRow } from '../../model/delivery.ts'
import { traceOf } from '../../model/formats.ts'
import type { KycRow } from '../../model/kyc.ts'
import type { PaymentRow } from '../../model/payment.ts'
import { parseJsonOrUndefined, type RequestLogEntry } from '../../requests/request-log.ts'
import type { World } from '../../world/world.ts'
import type { KnownPayment } from '../reconcile.ts'
import { concernedBy } from './faults.ts'
import type { Fault, Plan, SeenCall, SeenDelivery, SeenPayment } from './faults-and-findings.ts'
import { assumptionOf } from './faults-and-findings.ts'
import { faultsByRule } from './plans.ts'
import type { Meeting } from './race.ts'

/** The key of every payment, if not even the amounts are equal in each run. */
export const ANY_PAYMENT = 'any'

function documentsIn(body: string): number {
  const { kyc } = (parseJsonOrUndefined(body) ?? {}) as { kyc?: unknown }
  return Array.isArray(kyc) ? kyc.length : 0
}

/** Whether a message is forged so that a receiver can see it. */
const isForged = (
  { signature, timestamp, body }: DeliveryFault = {},
  signed: SeenDelivery['signed'],
) =>
  body !== undefined ||
  (signature !== undefined && signature !== 'rotated' && signed !== 'none') ||
  (timestamp !== undefined && signed === 'message')

/** The account of a payee, and its KYC records, the oldest first. */
export type Payee = {
  account: Pick<BankAccountRow, 'bank_status'> | undefined
  records: readonly Pick<KycRow, 'document_type' | 'kyc_status'>[]
}

/** Why nobody should pay a payee now, if there is a reason. */
function unverified({ account, records }: Payee) {
  if (account?.bank_status === 'failed') return 'to an account that was refused'
  const latest = new Map(records.map((row) => [row.document_type, row.kyc_status]))
  return [...latest.values()].includes('failed') ? 'to a payee whose KYC had failed' : undefined
}

function payeeOf({ tables }: World, { to_user_id, benif_bank_id }: PaymentRow): Payee {
  const { kyc, bank_accounts } = tables.tables
  const records = kyc.page('user', to_user_id, 0, kyc.count('user', to_user_id))
  return {
    account: bank_accounts.get(benif_bank_id),
    records: records.toReversed().map(({ row }) => row),
  }
}

export type ObservedCall = Record<'operation' | 'rule' | 'fault', string | null | undefined> &
  Pick<
    RequestLogEntry,
    'method' | 'url' | 'body' | 'headers' | 'isDecided' | 'duration_ms' | 'at'
  > & {
    status: number | null | undefined
  }

/** A client that is observed; `epoch` tells the ids of its rows before a reset from those after it. */
export type ObservedClient = { name: string; epoch: number }

const idIn = ({ name, epoch }: ObservedClient, id: string) => `${name} ${epoch} ${id}`

/** Watches the clients of a sandbox, and keeps what they see: after a reset of a client its rows are gone. */
export class Observer {
  readonly calls: SeenCall[] = []
  readonly deliveries: SeenDelivery[] = []
  /** How many events there were while their client had a webhook. */
  events = 0
  readonly #plan: Plan
  readonly #faults: ReadonlyMap<string, Fault>
  readonly #now: () => number
  readonly #payments = new Map<string, Omit<SeenPayment, 'isReadAsFailed'>>()
  readonly #rows = new Map<string, KnownPayment & { client: ObservedClient; epoch: number }>()
  /** Looks at the payments of each client that is there. */
  readonly #looks = new Set<() => void>()
  readonly #attempts = new Map<string, number>()
  readonly #hits = new Map<Fault, number>()
  // How often a rule of a plan would have matched, by operation or type of event: over all clients, as plans count.
  readonly #counts = new Map<string, number>()
  readonly #eventNumbers = new Map<string, number>()
  /** The command has ended: what happens now is a consequence. */
  isEnded = false
  /** Called when a fault happens that kills the command. */
  onKill = () => {}
  /** Lets calls meet, if the plan says so. */
  meeting: Meeting | undefined

  constructor(plan: Plan, now: () => number) {
    this.#plan = plan
    this.#faults = faultsByRule(plan)
    this.#now = now
  }

  watch = (world: World) => {
    const client = { name: world.name, epoch: 0 }
    const { tables } = world.tables
    const keep = (row: PaymentRow, wasThere = false) =>
      this.keepRow(client, row, wasThere || world.tables.isOfBase('payments', row.transaction_id))
    const look = (wasThere = false) => {
      for (const { row } of tables.payments.page('type', 'debit', 0, Number.POSITIVE_INFINITY))
        keep(row, wasThere)
    }
    this.#looks.add(look)
    world.feed.watch({
      onEvent: ({ kind, subject }) => {
        if (kind === 'request') this.seeCall(client, subject, this.#now(), world.clock.now())
        else if (kind === 'delivery') this.seeDelivery(client, subject, this.#now())
        else if (kind === 'reset' || kind === 'restore') {
          client.epoch++
          look(true)
        }
        if (kind !== 'change') return
        if (world.webhooks.current()) this.events++
        const row = tables.payments.get(subject.resource_id)
        if (row?.transaction_type !== 'debit') return
        keep(row)
        const payer = tables.users.get(row.from_user_id)
        this.seePayment(client, row, payer?.email ?? '', () => payeeOf(world, row))
      },
      onEnd: () => {
        client.epoch++
        this.#looks.delete(look)
      },
    })
  }

  /** The rule of a fault has acted. */
  #hit(fault: Fault | undefined) {
    if (fault === undefined) return
    this.#hits.set(fault, (this.#hits.get(fault) ?? 0) + 1)
    if (fault.kills) this.onKill()
  }

  /** Counts one more of a kind, or more of it, and returns the number of the last one. */
  #count(id: string, more = 1): number {
    const count = (this.#counts.get(id) ?? 0) + more
    this.#counts.set(id, count)
    return count
  }

  /** Sees a call that was answered just now: real ms since the start of the run, and the client's time. */
  seeCall({ name }: ObservedClient, entry: ObservedCall, atMs: number, clockMs: number) {
    if (this.isEnded) return
    const { method, url, body, isDecided, rule, fault, at } = entry
    const operation = entry.operation ?? ''
    const status = entry.status ?? null
    const traceparent = traceOf(entry.headers['traceparent'])
    const faults = (rule?.split(', ') ?? []).map((one) => this.#faults.get(one))
    for (const one of faults) this.#hit(one)
    const retryAfter = faults
      .flatMap((one) => one?.scenario.rules ?? [])
      .map(({ then }) => then?.respond?.headers?.['retry-after'])
      .find(Boolean)
    // Rules do not count what the service rejects before them.
    const isCounted = operation !== '' && isDecided
    const items = isCounted && operation === 'submitKyc' ? documentsIn(body) : 0
    this.calls.push({
      client: name,
      worker: this.meeting?.workerOf(entry.headers),
      operation,
      method,
      path: url.split('?', 1)[0]!,
      content: `${method} ${url} ${body}`,
      status,
      isFailed: status === null || status >= 400 || Boolean(fault),
      beganMs: Math.max(0, atMs - entry.duration_ms),
      atMs,
      clockMs: at,
      answeredClockMs: clockMs,
      nth: isCounted ? this.#count(operation) : null,
      documents: items === 0 ? 0 : this.#count('documents', items),
      ...(retryAfter && { retryAfterMs: Number(retryAfter) * 1_000 }),
      rule: rule ?? null,
      ...(traceparent && { traceparent }),
    })
  }

  /** Sees a new payment, or another status of one. */
  seePayment(client: ObservedClient, row: PaymentRow, payer: string, payee: () => Payee) {
    const { transaction_id, paise, status, account_number, ifsc_code } = row
    const account = `${account_number} ${ifsc_code} ${paise}`
    const keys = [`${payer} ${account}`, account, String(paise), ANY_PAYMENT]
    const id = idIn(client, transaction_id)
    const known = this.#payments.get(id)
    this.#payments.set(id, {
      transaction_id,
      client: `${client.name} ${client.epoch}`,
      reference: row.reference_id,
      keys,
      key: keys[0]!,
      paise,
      statusAtEnd: this.isEnded ? (known?.statusAtEnd ?? status) : status,
      status,
      wasPaid: status === 'SUCCESS' || known?.wasPaid === true,
      wasFailed: (status === 'FAILED' && !this.isEnded) || known?.wasFailed === true,
      unverified: known ? known.unverified : unverified(payee()),
    })
  }

  /** Keeps a payment as it is now; `wasThere`: before the command, or before a snapshot was restored. */
  keepRow(client: ObservedClient, payment: PaymentRow, wasThere: boolean) {
    const id = idIn(client, payment.transaction_id)
    const isOptional = wasThere || this.#rows.get(id)?.isOptional === true
    this.#rows.set(id, { payment, isOptional, client, epoch: client.epoch })
  }

  /** All payments as they are now. Nobody has to have booked those that a test has removed. */
  rows(): KnownPayment[] {
    for (const look of this.#looks) look()
    return [...this.#rows.values()]
      .map(({ payment, isOptional, client, epoch }) => {
        return { payment, isOptional: isOptional || epoch !== client.epoch }
      })
      .sort((a, b) => Number(a.isOptional) - Number(b.isOptional))
  }

  /** Sees a delivery with its attempts, the last of which ended at this time. */
  seeDelivery(client: ObservedClient, row: DeliveryRow, atMs: number) {
    const id = idIn(client, row.delivery_id)
    const known = this.#attempts.get(id)
    const eventId = idIn(client, row.event_id)
    const nth = this.#eventNumbers.get(eventId) ?? this.#count(row.event)
    this.#eventNumbers.set(eventId, nth)
    if (known === undefined && row.rule !== undefined && !this.isEnded)
      this.#hit(this.#faults.get(row.rule))
    const { event_id, event, resource_id, fault } = row
    for (const { scheme: signed = 'message', status, duration_ms } of row.attempts.slice(known))
      this.deliveries.push({
        client: client.name,
        event_id,
        event,
        resource_id,
        signed,
        isForged: isForged(fault, signed),
        status,
        nth,
        isAfterEnd: this.isEnded,
        beganMs: atMs - duration_ms,
        atMs,
      })
    this.#attempts.set(id, row.attempts.length)
  }

  /** How often each fault of the plan happened. */
  hits = (): number[] =>
    this.#plan.map((fault) => {
      const assumption = assumptionOf(fault)
      if (fault.race && !fault.race.bringsEvent) return this.meeting!.hits()
      return assumption ? concernedBy(assumption, this) : (this.#hits.get(fault) ?? 0)
    })

  payments = (isReadAsFailed: (id: string) => boolean): SeenPayment[] =>
    [...this.#payments.values()].map((one) => {
      return { ...one, isReadAsFailed: isReadAsFailed(one.transaction_id) }
    })
}
