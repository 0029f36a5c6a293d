import { outcomeOf, rupeesOf } from '../../model/payment.ts'
import { requestSummary } from '../../requests/request-log.ts'
import type { AnyFeedEvent } from '../../world/feed.ts'
import type { World } from '../../world/world.ts'

/** What a call got; `made`: the service did something, and the caller was told something else. */
type SessionCall = Pick<
  ReturnType<typeof requestSummary>,
  'method' | 'path' | 'operation' | 'amount' | 'status' | 'reason' | 'rule' | 'traceparent'
> & { made: boolean }

/** Something that happened, at the client's time. Only one of `call`, `payment` and `event` is there. */
export type SessionItem = {
  client: string
  at: string
  call?: SessionCall
  payment?: {
    amount: string
    name: string
    reference: string
    outcome: ReturnType<typeof outcomeOf>
    reason: string | undefined
  }
  event?: { event: string; status: number | null; error: string | undefined; attempt: number }
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

/** Collects what happens in the clients of a sandbox, those that are deleted meanwhile too. */
export class SessionRecorder {
  readonly items: SessionItem[] = []
  leftOut = 0

  #add(item: SessionItem) {
    if (this.items.length < MAX_ITEMS) this.items.push(item)
    else this.leftOut++
  }

  #see(world: World, { kind, subject }: AnyFeedEvent) {
    const client = world.name
    if (kind === 'request') {
      const { at, request_id: _, wall_at: __, duration_ms: ___, ...call } = requestSummary(subject)
      const { method, path, operation, amount, status, reason, rule, traceparent } = call
      const made = subject.made !== undefined && (status === null || status >= 400)
      const shown = { method, path, operation, amount, status, reason, rule, made }
      this.#add({ client, at, call: { ...shown, ...(traceparent && { traceparent }) } })
    }
    if (kind === 'change' && subject.type.startsWith('transaction.')) {
      const row = world.tables.tables.payments.get(subject.resource_id)
      if (!row) return
      const payment = {
        amount: rupeesOf(row.paise),
        name: row.account_name,
        reference: row.client_transaction_id,
        outcome: outcomeOf(row),
        reason: row.failure?.reason,
      }
      this.#add({ client, at: subject.at, payment })
    }
    const last = kind === 'delivery' ? subject.attempts.at(-1) : undefined
    if (kind === 'delivery' && last && subject.timer_id === null) {
      const { status, number: attempt, at, error } = last
      const event = { event: subject.event, status, error: error?.code, attempt }
      this.#add({ client, at, event })
    }
  }

  watch(world: World) {
    world.feed.watch({ onEvent: (event) => this.#see(world, event), onEnd() {} })
  }

  /** The calls that come nearest to an expected operation: those that the service rejected before it counted them. */
  nearestTo(operation: string): string[] {
    const calls = this.items.flatMap(({ call }) => call ?? [])
    const near = calls.filter((call) => call.operation === operation || call.operation === null)
    return near.slice(0, 3).map(({ method, path, status }) => `${method} ${path} got ${status}`)
  }
}
