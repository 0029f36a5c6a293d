import { outcomeOf, rupeesOf } from '../../model/payment.ts'
import { requestSummary } from '../../requests/request-log.ts'
import { DEFAULT_CLIENT } from '../../world/client-rows.ts'
import type { AnyFeedEvent } from '../../world/feed.ts'
import type { World } from '../../world/world.ts'

/** What a call got; `made`: the service did something, and the caller was told something else. */
type SessionCall = Pick<ReturnType<typeof requestSummary>, 'method' | 'path' | 'status'> & {
  [Field in 'operation' | 'amount' | 'reference_id' | 'reason' | 'rule']?: string
} & { made?: true }

/** Something that happened: only one of `call`, `payment` and `event` is there. */
export type SessionItem = {
  /** Its client, if it isn't the default one, and the client's time, if it isn't that of the item before. */
  client?: string
  at?: string
  call?: SessionCall
  payment?: {
    amount: string
    name: string
    reference: string
    outcome: ReturnType<typeof outcomeOf>
    reason?: string
  }
  event?: { event: string; status: number | null; error?: string; attempt: number }
}

/** What `session.html` shows of a program that ran with a sandbox. */
export type SessionDocument = {
  command: string
  exit_code: number
  result: string
  items: readonly SessionItem[]
  /** How many more items there were. */
  left_out: number
  unmet: readonly { text: string; nearest: readonly string[] }[]
  coverage: readonly (readonly string[])[]
}

// With more, nobody finds anything, and the page takes long to open.
const MAX_ITEMS = 2_000
const SHOWN = ['operation', 'amount', 'reference_id', 'reason', 'rule'] as const

/** Collects what happens in the clients of a sandbox, those that are deleted meanwhile too. */
export class SessionRecorder {
  readonly items: SessionItem[] = []
  leftOut = 0
  #at = ''

  #add(client: string, at: string, item: SessionItem) {
    if (this.items.length === MAX_ITEMS) this.leftOut++
    else {
      const where = { ...(client !== DEFAULT_CLIENT && { client }), ...(at !== this.#at && { at }) }
      this.items.push({ ...where, ...item })
      this.#at = at
    }
  }

  #see(world: World, { kind, subject }: AnyFeedEvent) {
    if (kind === 'request') {
      const { at, method, path, status, ...call } = requestSummary(subject)
      const made = subject.made !== undefined && (status === null || status >= 400)
      const shown = Object.fromEntries(
        SHOWN.flatMap((name) => (call[name] ? [[name, call[name]]] : [])),
      )
      this.#add(world.name, at, { call: { method, path, status, ...shown, ...(made && { made }) } })
    }
    if (kind === 'change' && subject.type.startsWith('transaction.')) {
      const row = world.tables.tables.payments.get(subject.resource_id)
      if (!row) return
      const payment = {
        amount: rupeesOf(row.paise),
        name: row.account_name,
        reference: row.client_transaction_id,
        outcome: outcomeOf(row),
        ...(row.failure && { reason: row.failure.reason }),
      }
      this.#add(world.name, subject.at, { payment })
    }
    const last = kind === 'delivery' ? subject.attempts.at(-1) : undefined
    if (kind === 'delivery' && last && subject.timer_id === null) {
      const { status, number: attempt, at, error } = last
      const event = { event: subject.event, status, attempt, ...(error && { error: error.code }) }
      this.#add(world.name, at, { event })
    }
  }

  watch(world: World) {
    world.feed.watch({ onEvent: (event) => this.#see(world, event), onEnd() {} })
  }

  /** The calls that come nearest to an expected operation: those that the service rejected before it counted them. */
  nearestTo(operation: string): string[] {
    const calls = this.items.flatMap(({ call }) => call ?? [])
    const near = calls.filter((call) => call.operation === operation || !call.operation)
    return near.slice(0, 3).map(({ method, path, status, amount, reference_id: reference }) => {
      const of = [amount && `of ${amount}`, reference && `(${reference})`].filter(Boolean).join(' ')
      return `${method} ${path} ${of}${of && ' '}got ${status ?? 'no response'}`
    })
  }
}
