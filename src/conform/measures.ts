import { valueAt } from '../model/validation-errors.ts'
import { orderOf, pageSpecOf, type Row, rowsAt } from './lists.ts'
import { type ConformCall, type Exchange, isSuccess, type Session } from './session.ts'

/** A reading, the exchange that shows it, and what was seen there (default: the HTTP status). */
type Measured = { reading: string; shownBy: Exchange; seen?: string }

/**
 * Finds the reading of one assumption in the exchanges so far, with further calls if it needs any. A measure that sends
 * a POST repeats one that was made, so that nothing is written without `--write`. `undefined`: nothing shows the reading.
 */
type Measure = (session: Session) => Promise<Measured | undefined> | Measured | undefined

/** Too many requests, or the service failed: the response says nothing about an assumption. */
const saysNothing = ({ status }: Exchange) => status === 429 || status >= 500

const isRefusal = ({ status }: Exchange) => status >= 400 && status <= 499 && status !== 429

/** The first successful exchange of an operation. */
const successOf = (session: Session, id: string) =>
  session.exchanges(id).find(({ op, status }) => op.status === status)

const described = (session: Session, id: string, call: string) =>
  session.exchanges(id).find((one) => one.call.call === call)

/** Fields of a body, without its other values; an empty object if it is none. */
const bodyOf = ({ call }: Exchange): Row => (call.body ?? {}) as Row

/** Sends a call again with a change. The same status is the first reading, and an error 400, 404 or 422 is the second. */
async function compare(
  session: Session,
  base: Exchange | undefined,
  change: ConformCall,
  [same, refused]: readonly [string, string],
): Promise<Measured | undefined> {
  const errors = [400, 404, 422]
  // If the unchanged call is 400 already, the change shows nothing.
  if (!base || base.status === 400 || saysNothing(base)) return undefined
  const shownBy = await session.measure(base.op.id, { ...base.call, ...change })
  if (!shownBy) return undefined
  if (shownBy.status === base.status) return { reading: same, shownBy }
  return errors.includes(shownBy.status) ? { reading: refused, shownBy } : undefined
}

/** Like `compare`, with another value of one field. */
const compareField = (
  session: Session,
  base: Exchange | undefined,
  field: Row,
  call: string,
  readings: readonly [string, string],
) => compare(session, base, { body: { ...(base && bodyOf(base)), ...field }, call }, readings)

/** Sends a successful POST again, without its Idempotency-Key. */
const sendAgain = ({ op, call }: Exchange, session: Session, about: string) =>
  session.measure(op.id, { body: call.body, call: about })

const HISTORY = ['listTransactionHistory', 'listUserTransactionHistory']
const LISTS = ['listUsers', 'listTransactions', ...HISTORY]

/** The successful exchanges of lists, with their rows. */
const pagesOf = (session: Session, ids: readonly string[]) =>
  ids.flatMap((id) => {
    const { rows, op } = pageSpecOf(session.opOf(id))
    return session
      .exchanges(id)
      .filter(({ status }) => status === op.status)
      .map((shownBy) => ({ shownBy, rows: rowsAt(shownBy.body, 'data', rows) }))
  })

/** The first row of a history with this property. */
function historyRow(session: Session, has: (row: Row) => boolean) {
  for (const { shownBy, rows } of pagesOf(session, HISTORY)) {
    const row = rows.find(has)
    if (row) return { shownBy, row }
  }
  return undefined
}

const firstPage = (session: Session) =>
  successOf(session, 'listUsers') && session.exchanges('listUsers')[0]

/** How each assumption is measured. One that is missing cannot be seen in responses, or not by the calls made. */
export const MEASURES: Readonly<Record<string, Measure>> = {
  async idempotency_key(session) {
    let last: Measured | undefined
    // A service can have keys for payments only, or for all but these: the reading must be true of both.
    for (const id of ['createUser', 'createTransaction']) {
      const first = successOf(session, id)
      if (!first) continue
      const call = { ...first.call, call: 'sent again with its Idempotency-Key' }
      const shownBy = await session.measure(id, call)
      if (!shownBy || saysNothing(shownBy)) return undefined
      const isSame = shownBy.status === first.status && shownBy.text === first.text
      if (!isSame) {
        const seen = isSuccess(shownBy.status) ? 'another response' : undefined
        return { reading: 'ignored', shownBy, ...(seen && { seen }) }
      }
      last = { reading: 'honoured', shownBy, seen: 'the same response again' }
    }
    return last
  },

  async reference_id(session) {
    const first = successOf(session, 'createTransaction')
    const shown = valueAt(first?.body, ['data', 0, 'reference_id'])
    if (!first || shown === undefined) return undefined
    if (shown !== bodyOf(first)['reference_id'])
      return { reading: 'ignored', shownBy: first, seen: 'another reference_id' }
    const shownBy = await sendAgain(first, session, 'a reference_id used before')
    if (!shownBy) return undefined
    if (isSuccess(shownBy.status)) return { reading: 'stored', shownBy }
    return isRefusal(shownBy) ? { reading: 'unique', shownBy } : undefined
  },

  amount_as_text: (session) =>
    compareField(
      session,
      described(session, 'createTransaction', 'an unknown account'),
      { amount: '1.50' },
      'an amount that is a text, and an unknown account',
      ['accepted', 'refused'],
    ),

  unknown_request_fields: (session) =>
    compare(session, firstPage(session), { query: { page: 1, conform: 'x' } }, [
      'ignored',
      'refused',
    ]),

  limit_parameter(session) {
    let last: Measured | undefined
    for (const { shownBy, rows } of pagesOf(session, ['listUsers', 'listTransactions'])) {
      if (shownBy.call.query?.['limit'] !== 1 || rows.length === 0) continue
      const seen = `a list of ${rows.length}`
      if (rows.length > 1) return { reading: 'ignored', shownBy, seen }
      const total = valueAt(shownBy.body, ['data', pageSpecOf(shownBy.op).total])
      if (Number(total) > 1) last = { reading: 'honoured', shownBy, seen }
    }
    return last
  },

  async largest_page(session) {
    const asked = 10_001
    if (!successOf(session, 'listTransactionHistory')) return undefined
    // A page past the end has no rows, so that the response is small.
    const query = { page: 1_000_000, limit: asked }
    const shownBy = await session.measure('listTransactionHistory', { query })
    const limit = valueAt(shownBy?.body, ['data', 'limit'])
    if (!shownBy || typeof limit !== 'number' || limit >= asked) return undefined
    return { reading: String(limit), shownBy, seen: `limit ${limit}` }
  },

  empty_query_value: (session) =>
    compare(session, firstPage(session), { query: { page: '' } }, ['missing', 'refused']),

  trailing_slash: (session) =>
    compare(
      session,
      firstPage(session),
      { isWithSlash: true, call: 'with a slash at the end of the path' },
      ['accepted', 'refused'],
    ),

  account_number_format: (session) =>
    compareField(
      session,
      described(session, 'addBankAccount', 'an unknown user'),
      { account_number: 'AB12345678' },
      'an account number with letters, and an unknown user',
      ['letters_and_digits', 'digits'],
    ),

  ifsc_case: (session) =>
    compareField(
      session,
      described(session, 'addBankAccount', 'an unknown user'),
      { ifsc_code: 'hdfc0000001' },
      'an IFSC in lower case, and an unknown user',
      ['accepted', 'refused'],
    ),

  list_order(session) {
    const orders = pagesOf(session, LISTS).map(({ shownBy, rows }) => {
      return { shownBy, order: orderOf(rows) }
    })
    const ordered = orders.filter(({ order }) => order !== 'same')
    const [first] = ordered
    // Lists of different orders have none of the readings.
    if (!first || ordered.some(({ order }) => order !== first.order)) return undefined
    const [reading, which] =
      first.order === 'newest' ? ['newest_first', 'latest'] : ['oldest_first', 'earliest']
    if (first.order === 'none') return undefined
    return { reading, shownBy: first.shownBy, seen: `the ${which} created_at is first` }
  },

  async same_bank_account(session) {
    const first = successOf(session, 'addBankAccount')
    const idOf = (one: Exchange) => valueAt(one.body, ['data', 'data', 'bank_id'])
    if (valueAt(first?.body, ['data', 'data', 'bank_status']) !== 'success') return undefined
    const shownBy = await sendAgain(first!, session, 'an account that exists already')
    if (!shownBy) return undefined
    if (isSuccess(shownBy.status)) {
      const isSame = idOf(shownBy) === idOf(first!)
      const seen = isSame ? 'the same bank_id' : 'another bank_id'
      return { reading: isSame ? 'existing' : 'new', shownBy, seen }
    }
    return isRefusal(shownBy) ? { reading: 'conflict', shownBy } : undefined
  },

  async duplicate_user(session) {
    const first = successOf(session, 'createUser')
    const shownBy = first && (await sendAgain(first, session, 'a user who exists already'))
    if (!shownBy) return undefined
    if (isSuccess(shownBy.status)) return { reading: 'allowed', shownBy }
    return isRefusal(shownBy) ? { reading: 'conflict', shownBy } : undefined
  },

  history_metadata(session) {
    const isFailed = ({ status }: Row) => status === 'FAILED'
    const reason = historyRow(
      session,
      (row) => isFailed(row) && Boolean(valueAt(row['metadata'], ['reason'])),
    )
    if (reason) return { reading: 'reason', shownBy: reason.shownBy, seen: 'a reason' }
    const empty = historyRow(session, (row) => isFailed(row) && row['metadata'] === null)
    return empty && { reading: 'null', shownBy: empty.shownBy, seen: 'null in a FAILED record' }
  },

  missing_remark(session) {
    const found = historyRow(session, ({ remark }) => remark === '' || remark === null)
    if (!found) return undefined
    const isNull = found.row['remark'] === null
    return {
      reading: isNull ? 'null' : 'empty_text',
      shownBy: found.shownBy,
      seen: isNull ? 'remark null' : 'remark ""',
    }
  },

  async user_history(session) {
    const payment = successOf(session, 'createTransaction')
    const userId = payment && bodyOf(payment)['to_user_id']
    if (typeof userId !== 'string') return undefined
    const call = { params: { userId }, call: 'of the receiver of a payment' }
    const shownBy = await session.measure('listUserTransactionHistory', call)
    const total = valueAt(shownBy?.body, ['data', 'total_transactions'])
    if (!shownBy || typeof total !== 'number') return undefined
    const seen = `total_transactions ${total}`
    return { reading: total === 0 ? 'payer' : 'both_sides', shownBy, seen }
  },

  async kyc_bad_document(session) {
    const first = successOf(session, 'submitKyc')
    const documents = first && bodyOf(first)['kyc']
    if (!Array.isArray(documents)) return undefined
    const kyc = [{ ...documents[0], dateOfBirth: '31-02-1990' }]
    const body = { ...bodyOf(first!), kyc }
    const shownBy = await session.measure('submitKyc', { body, call: 'a date that does not exist' })
    if (!shownBy) return undefined
    if (valueAt(shownBy.body, ['data', 0, 'status']) === false && isSuccess(shownBy.status))
      return {
        reading: 'entry_fails',
        shownBy,
        seen: `status ${shownBy.status}, entry status false`,
      }
    return isRefusal(shownBy) ? { reading: 'call_fails', shownBy } : undefined
  },

  async token(session) {
    const without = session.exchanges('getClientProfile').find(({ call }) => call.token === null)
    if (!without || saysNothing(without)) return undefined
    if (isSuccess(without.status)) return { reading: 'off', shownBy: without }
    const shownBy = await session.measure('listUsers', { token: null, call: 'without a token' })
    if (!shownBy || saysNothing(shownBy)) return undefined
    return { reading: isSuccess(shownBy.status) ? 'spec' : 'strict', shownBy }
  },
}
