import { randomUUID } from 'node:crypto'
import { unknownId } from '../../assumptions/responses.ts'
import { Uuid } from '../../model/formats.ts'
import { valueAt } from '../../model/validation-errors.ts'
import { checkNextPage, checkPage, pageSpecOf, type Row, rowsAt } from './lists.ts'
import type { AllowedErrors, Session } from './session.ts'
import { checkFields, checkHistory, checkKyc, checkTransaction } from './shape.ts'

const PAGE_PAST_END = 1_000_000
// The contract does not define such a page.
const UNDEFINED_PAGE: AllowedErrors = { statuses: [400, 404, 416, 422], reportAs: 'note' }
const UNKNOWN_TOKEN = 'conform-unknown-token'
const REQUESTED = 'the requested value'

/** Whether a value of a response is an id, which a request can use. */
export const isId = (value: unknown): value is string => Uuid.safeParse(value).success

const idsOf = (rows: readonly Row[], name: string) => rows.map((row) => row[name]).filter(isId)

const sampleRows = (rows: readonly Row[], ...kinds: readonly ((row: Row) => boolean)[]): Row[] => [
  ...new Set([rows[0], ...kinds.map((kind) => rows.find(kind))].filter((row) => row !== undefined)),
]

/** Reads a list: two pages, a page past the end, other limits, and invalid queries. Returns the rows of the first page. */
async function readList(session: Session, id: string, params: Record<string, string> = {}) {
  const spec = pageSpecOf(session.opOf(id))
  async function readPage(query: { page?: number; limit?: number }) {
    const found = await session.expectSuccess(id, { params, query })
    return found && { ...found, rows: checkPage(found.source, spec, found.body, query) }
  }
  const first = await readPage({ page: 1 })
  if (!first) return []
  const { defaultLimit, isLimitInContract, rows, op } = spec
  if (isLimitInContract) await readPage({})
  if (first.rows.length >= defaultLimit) {
    const second = await readPage({ page: 2 })
    if (second) checkNextPage(second.source, spec, first.rows, second.rows)
  }
  if (isLimitInContract) await readPage({ limit: 1 })
  else await session.expectSuccess(id, { params, query: { limit: 1 } }, UNDEFINED_PAGE)
  await readPagePastEnd(session, id, params, rows)
  await session.expectError(id, 'validation_failed', { params, query: { page: 0 } })
  if (op.query!.shape['type'])
    await session.expectError(id, 'validation_failed', { params, query: { type: 'no-such' } })
  return first.rows
}

/** Reads a page past the end. If it exists, it is empty: a default of the sandbox. */
async function readPagePastEnd(
  session: Session,
  id: string,
  params: Record<string, string>,
  list: string,
) {
  const call = { params, query: { page: PAGE_PAST_END } }
  const found = await session.expectSuccess(id, call, { ...UNDEFINED_PAGE, ofReadings: [404] })
  const { length } = rowsAt(found?.body, 'data', list)
  if (found && length > 0) found.source.note(`data.${list}`, 'a list of 0', `a list of ${length}`)
}

async function readUnknown(session: Session, id: string, name: string) {
  const unknown = { params: { [name]: randomUUID() }, call: 'an unknown id' }
  const ofReadings = unknownId.concerns.includes(id) ? [200] : []
  await session.expectError(id, 'not_found', unknown, { ofReadings })
  const invalid = { params: { [name]: 'not-an-id' }, call: 'an id that is not a UUID' }
  await session.expectError(id, 'validation_failed', invalid, { ofReadings: [404, ...ofReadings] })
}

async function readUsers(session: Session): Promise<string[]> {
  const rows = await readList(session, 'listUsers')
  const has = (name: string) => (row: Row) => typeof row[name] === 'string'
  const ids = idsOf(sampleRows(rows, has('tid'), has('pid'), has('bank_id')), 'user_id')
  for (const userId of ids) {
    const params = { userId }
    const user = await session.expectSuccess('getUser', { params })
    const data = valueAt(user?.body, ['data'])
    if (user) checkFields(user.source, REQUESTED, ['data', data], { user_id: userId })
    await readKyc(session, userId)
    await readBank(session, userId)
  }
  await readUnknown(session, 'getUser', 'userId')
  await readUnknown(session, 'getKyc', 'userId')
  await readUnknown(session, 'listBankAccounts', 'userId')
  return ids
}

const KYC_DATA = 'data.response.data'

export async function readKyc(session: Session, userId: string): Promise<Row[] | undefined> {
  const kyc = await session.expectSuccess('getKyc', { params: { userId } })
  if (!kyc) return undefined
  const { source, body } = kyc
  const recordsIn = (name: string) => {
    const records = rowsAt(body, 'data', 'response', 'data', name)
    for (const record of records)
      checkFields(source, REQUESTED, [`${KYC_DATA}.${name}[]`, record], { user_id: userId })
    return records
  }
  recordsIn('user')
  const records = recordsIn('kycData')
  for (const record of records) checkKyc(source, record, `${KYC_DATA}.kycData[]`)
  return records
}

export async function readBank(session: Session, userId: string): Promise<Row[] | undefined> {
  const bank = await session.expectSuccess('listBankAccounts', { params: { userId } })
  if (!bank) return undefined
  const accounts = rowsAt(bank.body, 'data')
  for (const account of accounts)
    checkFields(bank.source, REQUESTED, ['data[]', account], { user_id: userId })
  return accounts
}

export async function readTransaction(session: Session, transaction_id: string): Promise<void> {
  const one = await session.expectSuccess('getTransaction', { params: { transaction_id } })
  if (!one) return
  const rows = rowsAt(one.body, 'data')
  const data = valueAt(one.body, ['data'])
  if (Array.isArray(data) && data.length === 0)
    one.source.differs('data', 'the transaction', 'an empty list')
  for (const row of rows) {
    checkFields(one.source, REQUESTED, ['data[]', row], { transaction_id })
    checkTransaction(one.source, row, 'data[]')
  }
}

async function readTransactions(session: Session) {
  const source = session.sourceOf('listTransactions', 'page=1')
  const rows = await readList(session, 'listTransactions')
  for (const row of rows) checkTransaction(source, row, 'data.transactions[]')
  const hasStatus = (status: string) => (row: Row) => row['transaction_status'] === status
  for (const id of idsOf(
    sampleRows(rows, hasStatus('success'), hasStatus('pending')),
    'transaction_id',
  ))
    await readTransaction(session, id)
  await readUnknown(session, 'getTransaction', 'transaction_id')
}

/** Calls an endpoint without a token. The contract requires an error, but does not define which one. */
async function readWithoutToken(session: Session, id: string, params: Record<string, string> = {}) {
  const rejectsToken = (token: string | null, call: string) =>
    session.expectError(id, 'unauthorized', { params, token, call }, { inContract: true })
  await rejectsToken(null, 'without a token')
  await rejectsToken(UNKNOWN_TOKEN, 'with an unknown token')
}

async function readHistory(session: Session, userIds: readonly string[]) {
  const checkRows = (id: string, rows: readonly Row[], userId?: string) => {
    const source = session.sourceOf(id, 'page=1')
    const field = 'data.transactions[]'
    for (const row of rows) {
      checkHistory(source, row, field)
      if (userId !== undefined) checkFields(source, REQUESTED, [field, row], { user_id: userId })
    }
  }
  const all = 'listTransactionHistory'
  await readWithoutToken(session, all)
  const rows = await readList(session, all)
  checkRows(all, rows)
  if (rows.length > 0) await session.expectSuccess(all, { query: { type: 'debit' } })
  const ofUser = 'listUserTransactionHistory'
  const userId = [...idsOf(rows, 'user_id'), ...userIds][0]
  await readWithoutToken(session, ofUser, { userId: userId ?? randomUUID() })
  if (userId !== undefined) checkRows(ofUser, await readList(session, ofUser, { userId }), userId)
  await readUnknown(session, ofUser, 'userId')
}

/** Sends all read requests, with the ids from the lists. Changes nothing. */
export async function runReads(session: Session): Promise<void> {
  const userIds = await readUsers(session)
  await readTransactions(session)
  await readHistory(session, userIds)
  await readWithoutToken(session, 'getClientProfile')
  await session.expectSuccess('getClientProfile')
  await readWebhook(session)
}

/** Reads the webhook: `none` if the service has none, `undefined` if the response is not usable. */
export async function readWebhook(session: Session): Promise<{ url: string } | 'none' | undefined> {
  const response = await session.send('getWebhook')
  if (response.problem === undefined && response.status === 404) {
    await session.expectError('getWebhook', 'not_found', { call: 'no webhook is set' })
    session.markUnchecked('getWebhook', 'no webhook is set')
    return 'none'
  }
  const found = await session.expectSuccess('getWebhook')
  if (valueAt(found?.body, ['data']) === null) return 'none'
  const url = valueAt(found?.body, ['data', 'url'])
  return typeof url === 'string' ? { url } : undefined
}
