import { isObject } from '../../model/formats.ts'
import type { ConformCall } from './http-client.ts'
import { pageSpecOf, type Row, rowsAt } from './lists.ts'
import { type Exchange, isSuccess, type Session } from './session.ts'

/** A reading, the exchange that shows it, and what was seen there (default: the HTTP status). */
export type Measured = { reading: string; shownBy: Exchange; seen?: string | undefined }

/** Finds the reading of an assumption, or why there is none. One that sends a POST changes one that was made, so none writes without `--write`. */
export type Measure = (session: Session) => Promise<Measured | string> | Measured | string

export type Measures = Readonly<Record<string, Measure>>

/** Why no caller of the service can measure an assumption with a few harmless calls. */
const NO_RECEIVER = 'conform receives no webhooks'
export const NOT_MEASURABLE: Readonly<Record<string, string>> = {
  token_lifetime: 'conform does not wait until a token expires',
  rate_limit: 'its number shows only in a flood of calls, which conform never sends',
  unverified_account: 'a payment to an account that failed its check could lose money',
  webhook_delivery: NO_RECEIVER,
  webhook_order: NO_RECEIVER,
  webhook_signature: NO_RECEIVER,
  webhook_body: NO_RECEIVER,
  late_success: 'conform cannot make a payment fail and succeed later',
}

const WRITE_ONLY = 'measured with --write only'

/** Too many requests, or the service failed: the response says nothing about an assumption. */
export const saysNothing = ({ status }: Exchange) => status === 429 || status >= 500

export const isRefusal = ({ status }: Exchange) => status >= 400 && status <= 499 && status !== 429

export const unclear = (shownBy: Exchange | undefined): string =>
  shownBy ? `no reading has this response: status ${shownBy.status}` : 'there was no response'

export const successOf = (session: Session, id: string) =>
  session.exchanges(id).find(({ op, status }) => op.status === status)

export function noSuccess(session: Session, id: string): string {
  const { method, url } = session.opOf(id)
  const isReadOnly = session.exchanges().every(({ op }) => op.method === 'GET')
  return method !== 'GET' && isReadOnly ? WRITE_ONLY : `no ${method} ${url} was successful`
}

export const bodyOf = ({ call }: Exchange): Row => (isObject(call.body) ? call.body : {})

/** Sends a call again with a change. The same status is the first reading, and an error 400, 404 or 422 is the second. */
export async function compare(
  session: Session,
  base: Exchange,
  change: ConformCall,
  [same, refused]: readonly [string, string],
): Promise<Measured | string> {
  if (base.status === 400 || saysNothing(base))
    return `the call without the change has status ${base.status}`
  const shownBy = await session.measure(base.op.id, { ...base.call, ...change })
  if (!shownBy) return unclear(shownBy)
  if (shownBy.status === base.status) return { reading: same, shownBy }
  return [400, 404, 422].includes(shownBy.status) ? { reading: refused, shownBy } : unclear(shownBy)
}

/** A measure like `compare`, with other values of some fields, of the call that a text describes. */
export const changed =
  (
    [id, described]: readonly [id: string, call: string],
    fields: Row,
    call: string,
    readings: readonly [same: string, refused: string],
  ): Measure =>
  (session) => {
    const base = session.exchange(id, described)
    if (!base) return noSuccess(session, id)
    return compare(session, base, { body: { ...bodyOf(base), ...fields }, call }, readings)
  }

/** A reading and what was seen, or why there is none. */
type Shown = readonly [reading: string, seen?: string] | string

/** A measure that sends a successful POST again, without its Idempotency-Key: what a success shows, and the reading of a refusal. */
export const sentAgain =
  (
    id: string,
    call: string,
    accepted: Shown | ((shownBy: Exchange, first: Exchange) => Shown),
    refused?: string,
    fieldsOf: (first: Exchange) => Row = () => ({}),
  ): Measure =>
  async (session) => {
    const first = successOf(session, id)
    if (!first) return noSuccess(session, id)
    const shownBy = await session.measure(id, {
      body: { ...bodyOf(first), ...fieldsOf(first) },
      call,
    })
    if (shownBy && refused !== undefined && isRefusal(shownBy)) return { reading: refused, shownBy }
    if (!shownBy || !isSuccess(shownBy.status)) return unclear(shownBy)
    const shown = typeof accepted === 'function' ? accepted(shownBy, first) : accepted
    if (typeof shown === 'string') return shown
    const [reading, seen] = shown
    return { reading, shownBy, seen }
  }

export const HISTORY = ['listTransactionHistory', 'listUserTransactionHistory']
export const LISTS = ['listUsers', 'listTransactions', ...HISTORY]

export const pagesOf = (session: Session, ids: readonly string[]) =>
  ids.flatMap((id) => {
    const { rows, op } = pageSpecOf(session.opOf(id))
    return session
      .exchanges(id)
      .filter(({ status }) => status === op.status)
      .map((shownBy) => ({ shownBy, rows: rowsAt(shownBy.body, 'data', rows) }))
  })

export const rowsOf = (session: Session, ids: readonly string[]) =>
  pagesOf(session, ids).flatMap(({ shownBy, rows }) => rows.map((row) => ({ shownBy, row })))
