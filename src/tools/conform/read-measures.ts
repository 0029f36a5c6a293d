import { statusWords, unknownId } from '../../assumptions/responses.ts'
import { valueAt } from '../../model/validation-errors.ts'
import { errorFormOf, orderOf, type Row, rowsAt } from './lists.ts'
import {
  compare,
  HISTORY,
  isRefusal,
  LISTS,
  type Measure,
  type Measured,
  type Measures,
  noSuccess,
  pagesOf,
  rowsOf,
  saysNothing,
  successOf,
  unclear,
} from './measuring.ts'
import { type Exchange, isSuccess, type Session } from './session.ts'
import { findUnlisted } from './shape.ts'

const compareUsers = (
  session: Session,
  change: Parameters<typeof compare>[2],
  readings: Parameters<typeof compare>[3],
) =>
  successOf(session, 'listUsers')
    ? compare(session, session.exchanges('listUsers')[0]!, change, readings)
    : noSuccess(session, 'listUsers')

/** The reading that all of these have, or why there is none; without a reading, one shows nothing. */
function agreed<T extends { shownBy: Exchange }>(
  all: readonly T[],
  readingOf: (one: T) => readonly [reading: string, seen: string] | undefined,
  ifNone: string,
): Measured | string {
  const found = all.flatMap((one): Measured[] => {
    const [reading, seen] = readingOf(one) ?? []
    return reading === undefined ? [] : [{ reading, shownBy: one.shownBy, seen }]
  })
  const [first] = found
  if (!first) return ifNone
  return found.every(({ reading }) => reading === first.reading)
    ? first
    : 'the responses differ from each other'
}

/** A measure that looks for a row of history: the first of these readings that one shows. */
const inHistory =
  (
    readings: readonly [reading: string, seen: string, isShown: (row: Row) => boolean][],
    ifNone: string,
  ): Measure =>
  (session) => {
    const rows = rowsOf(session, HISTORY)
    for (const [reading, seen, isShown] of readings) {
      const found = rows.find(({ row }) => isShown(row))
      if (found) return { reading, shownBy: found.shownBy, seen }
    }
    return ifNone
  }

const RECORDS: Readonly<Record<'kyc' | 'bank', Record<string, (body: unknown) => unknown[]>>> = {
  kyc: {
    getKyc: (body) => rowsAt(body, 'data', 'response', 'data', 'kycData'),
    submitKyc: (body) => rowsAt(body, 'data').map((entry) => entry['data']),
  },
  bank: {
    listBankAccounts: (body) => rowsAt(body, 'data'),
    addBankAccount: (body) => [valueAt(body, ['data', 'data'])],
  },
}

const wordsOf = (session: Session, kind: 'kyc' | 'bank') =>
  Object.entries(RECORDS[kind]).flatMap(([id, recordsOf]) =>
    session.exchanges(id).flatMap((shownBy) =>
      recordsOf(shownBy.body).map((record) => {
        return { shownBy, kind, word: valueAt(record, [`${kind}_status`]) }
      }),
    ),
  )

function readingOfWord(kind: 'kyc' | 'bank', word: unknown): string | undefined {
  const [reading, another] = Object.entries(statusWords.readings)
    .filter(([, { value }]) => Object.values(value[kind]).some((one) => one === word))
    .map(([name]) => name)
  return another === undefined ? reading : undefined
}

const UTR_FORMS: readonly [reading: string, form: RegExp][] = [
  // Both can be masked.
  ['imps', /^[\dX]{12}$/],
  ['by_amount', /^(?:[A-Z][A-Z0-9]{15}|[A-Z][A-Z0-9]{21})$/],
]
const isFailed = (row: Row) => row['status'] === 'FAILED'
const PAST_THE_END = 1_000_000
// Up to this amount both readings have the same form.
const FIVE_LAKH = 500_000

/** A page of history without rows, so that the response is small: one past the end, or that of a new user. */
async function emptyHistory(session: Session, limit: number) {
  const id = 'listTransactionHistory'
  if (!successOf(session, id)) return noSuccess(session, id)
  const past = await session.measure(id, { query: { page: PAST_THE_END, limit } })
  if (past?.status !== 404) return past
  const userId = valueAt(successOf(session, 'createUser')?.body, ['data', 'user_id'])
  if (typeof userId !== 'string') return 'a page past the end does not exist'
  const call = { params: { userId }, query: { limit }, call: 'of a user without payments' }
  return session.measure('listUserTransactionHistory', call)
}

export const READ_MEASURES: Measures = {
  unknown_request_fields: (session) =>
    compareUsers(session, { query: { page: 1, conform: 'x' } }, ['ignored', 'refused']),

  limit_parameter(session) {
    let last: Measured | undefined
    const pages = pagesOf(session, ['listUsers', 'listTransactions'])
    for (const { shownBy, rows } of pages) {
      if (shownBy.call.query?.['limit'] !== 1 || rows.length === 0) continue
      const seen = `a list of ${rows.length}`
      if (rows.length > 1) return { reading: 'ignored', shownBy, seen }
      // One row is less than a page only if there are pages with more.
      const isMore = pages.some((one) => one.shownBy.op === shownBy.op && one.rows.length > 1)
      if (isMore) last = { reading: 'honoured', shownBy, seen }
    }
    return last ?? 'no page of GET /users and GET /transaction has more than one row'
  },

  async largest_page(session) {
    const asked = 10_001
    const shownBy = await emptyHistory(session, asked)
    if (typeof shownBy === 'string') return shownBy
    const limit = valueAt(shownBy?.body, ['data', 'limit'])
    if (!shownBy || typeof limit !== 'number') return unclear(shownBy)
    if (limit >= asked) return `a page of ${limit} rows is more than any reading has`
    return { reading: String(limit), shownBy, seen: `limit ${limit}` }
  },

  empty_query_value: (session) =>
    compareUsers(session, { query: { page: '' } }, ['missing', 'refused']),

  trailing_slash: (session) =>
    compareUsers(session, { isWithSlash: true, call: 'with a slash at the end of the path' }, [
      'accepted',
      'refused',
    ]),

  page_past_the_end: (session) =>
    compareUsers(session, { query: { page: PAST_THE_END } }, ['empty', 'not_found']),

  malformed_id(session) {
    const shownBy = session.exchange('getUser', 'an id that is not a UUID')
    if (!shownBy || !isRefusal(shownBy)) return unclear(shownBy)
    if (shownBy.status === 404) return { reading: 'not_found', shownBy }
    return [400, 422].includes(shownBy.status)
      ? { reading: 'bad_request', shownBy }
      : unclear(shownBy)
  },

  unknown_id(session) {
    const shown = unknownId.concerns.map((id) => session.exchange(id, 'an unknown id'))
    const shownBy = shown.find((one) => one !== undefined)
    if (shownBy?.status === 404) return { reading: 'not_found', shownBy }
    const data = valueAt(shownBy?.body, ['data'])
    const isEmpty = shownBy?.status === 200 && Array.isArray(data) && data.length === 0
    return isEmpty ? { reading: 'empty', shownBy, seen: 'a list of 0' } : unclear(shownBy)
  },

  missing_webhook(session) {
    const [shownBy] = session.exchanges('getWebhook')
    if (shownBy?.status === 404) return { reading: 'not_found', shownBy }
    const isNull = shownBy?.status === 200 && valueAt(shownBy.body, ['data']) === null
    return isNull ? { reading: 'null', shownBy, seen: 'data null' } : 'the client has a webhook'
  },

  processing_status(session) {
    const payments = rowsOf(session, ['listTransactions'])
    const direct = payments.find(({ row }) => row['transaction_status'] === 'processing')
    if (direct) return { reading: 'processing', shownBy: direct.shownBy, seen: 'status processing' }
    for (const { row: record } of rowsOf(session, HISTORY)) {
      if (record['status'] !== 'PROCESSING') continue
      const same = payments.filter(({ row }) =>
        ['amount', 'created_at'].every((name) => row[name] === record[name]),
      )
      const ids = new Set(same.map(({ row }) => row['transaction_id']))
      if (ids.size === 1 && same[0]!.row['transaction_status'] === 'pending')
        return { reading: 'pending', shownBy: same[0]!.shownBy, seen: 'PROCESSING is pending' }
    }
    return 'no payment that is PROCESSING was seen in GET /transaction'
  },

  status_words: (session) =>
    agreed(
      [...wordsOf(session, 'kyc'), ...wordsOf(session, 'bank')],
      ({ kind, word }) => {
        const reading = readingOfWord(kind, word)
        return reading === undefined ? undefined : [reading, `${kind}_status ${word}`]
      },
      'no record has a status on which the readings differ',
    ),

  list_order(session) {
    const readings = {
      newest: ['newest_first', 'the latest created_at is first'],
      oldest: ['oldest_first', 'the earliest created_at is first'],
      same: undefined,
      none: ['', ''],
    } as const
    const measured = agreed(
      pagesOf(session, LISTS),
      ({ rows }) => readings[orderOf(rows)],
      'no list has two rows of different times',
    )
    if (typeof measured === 'string' || measured.reading !== '') return measured
    return 'the lists have another order'
  },

  history_metadata: inHistory(
    [
      [
        'reason',
        'a reason',
        (row) => isFailed(row) && Boolean(valueAt(row['metadata'], ['reason'])),
      ],
      ['null', 'null in a FAILED record', (row) => isFailed(row) && row['metadata'] === null],
    ],
    'no FAILED record was seen',
  ),

  missing_remark: inHistory(
    [
      ['empty_text', 'remark ""', ({ remark }) => remark === ''],
      ['null', 'remark null', ({ remark }) => remark === null],
    ],
    'no record without a remark was seen',
  ),

  history_utr: (session) =>
    agreed(
      rowsOf(session, HISTORY),
      ({ row: { utr } }) => {
        if (typeof utr !== 'string' || utr.length < 5) return undefined
        const reading = /^[X*]+.{4}$/.test(utr) ? 'masked' : 'whole'
        return [reading, `a ${reading} UTR`]
      },
      'no record with a UTR was seen',
    ),

  utr_form: (session) =>
    agreed(
      rowsOf(session, HISTORY),
      ({ row: { amount, utr } }) => {
        const form = UTR_FORMS.find(([, one]) => one.test(String(utr)))
        const isLarge = Number(amount) > FIVE_LAKH
        return form && isLarge ? [form[0], `a UTR of ${String(utr).length} characters`] : undefined
      },
      'no payment of more than 5 lakh rupees with a UTR was seen',
    ),

  utr_of_success: inHistory(
    [
      [
        'later',
        'SUCCESS with utr null',
        (row) => row['status'] === 'SUCCESS' && row['utr'] === null,
      ],
    ],
    'every SUCCESS that was seen has a UTR, which it can have got later',
  ),

  error_body(session) {
    // An unknown path can have an error of a gateway before the service.
    const errors = session.exchanges().filter((one) => isRefusal(one) && !one.call.isWithSlash)
    const measured = agreed(
      errors.map((shownBy) => ({ shownBy })),
      ({ shownBy: { status, text, body } }) => [
        errorFormOf(text, body) ?? '',
        `status ${status}, a body of this form`,
      ],
      'there was no error',
    )
    if (typeof measured === 'string' || measured.reading !== '') return measured
    return 'the body of an error has another form'
  },

  new_words(session) {
    const successes = session.exchanges().filter(({ op, status }) => op.status === status)
    for (const shownBy of successes) {
      const found = findUnlisted(shownBy.op.response, shownBy.body)
      if (found === undefined) continue
      return { reading: 'some', shownBy, seen: `${session.findings.formatKey(found)} is new` }
    }
    const [shownBy] = successes
    if (!shownBy) return 'no call was successful'
    return {
      reading: 'none',
      shownBy,
      seen: `no new field or word in ${successes.length} responses`,
    }
  },

  async token(session) {
    const without = session.exchanges('getClientProfile').find(({ call }) => call.token === null)
    if (!without || saysNothing(without)) return unclear(without)
    if (isSuccess(without.status)) return { reading: 'off', shownBy: without }
    const call = { token: null, call: 'without a token' }
    const shownBy: Exchange | undefined = await session.measure('listUsers', call)
    if (!shownBy || saysNothing(shownBy)) return unclear(shownBy)
    return { reading: isSuccess(shownBy.status) ? 'spec' : 'strict', shownBy }
  },
}
