import { randomUUID } from 'node:crypto'
import { valueAt } from '../model/issues.ts'
import { Uuid } from '../model/text.ts'
import { holdNext, holdPage, pagesIn, type Row, rowsAt } from './lists.ts'
import { holdHistory, holdKyc, holdTransaction, sameAs } from './records.ts'
import type { Call, Session } from './session.ts'

const FAR_PAGE = 1_000_000
const UNKNOWN_TOKEN = 'conform-is-no-token'

/** Whether a value of an answer is an id, which can be asked for. */
export const isId = (value: unknown): value is string => Uuid.safeParse(value).success

/** The ids of rows, as far as they are some. */
const idsOf = (rows: readonly Row[], name: string) => rows.map((row) => row[name]).filter(isId)

/** The first row, and the first of each kind, none of them twice. */
const picked = (rows: readonly Row[], ...kinds: readonly ((row: Row) => boolean)[]): Row[] => [
  ...new Set([rows[0], ...kinds.map((kind) => rows.find(kind))].filter((row) => row !== undefined)),
]

/** Reads a list: two pages, one that there is not, other limits, and queries that are refused. */
async function readList(session: Session, id: string, params: Record<string, string> = {}) {
  const { findings } = session
  const pages = pagesIn(session.opOf(id))
  async function page(asked: { page?: number; limit?: number }, more: Call = {}) {
    const found = await session.succeed(id, { params, query: asked, ...more })
    return found && { ...found, rows: holdPage(findings, found.place, pages, found.body, asked) }
  }
  const first = await page({ page: 1 })
  if (!first) return []
  const { usualLimit, limitShown, rows, op } = pages
  if (limitShown) await page({})
  if (first.rows.length >= usualLimit) {
    const second = await page({ page: 2 })
    if (second) holdNext(findings, second.place, pages, first.rows, second.rows)
  }
  if (limitShown) await page({ limit: 1 })
  else await readUnshown(session, id, { params, query: { limit: 1 } }, rows, 1)
  await readUnshown(session, id, { params, query: { page: FAR_PAGE } }, rows, 0)
  await session.refuse(id, 'validation_failed', { params, query: { page: 0 } })
  if (op.query!.shape['type'])
    await session.refuse(id, 'validation_failed', { params, query: { type: 'no-such' } })
  return first.rows
}

/** A page of which the contract says nothing: how many rows it has is a default of ours. */
async function readUnshown(session: Session, id: string, call: Call, list: string, most: number) {
  const asked = await session.succeed(id, call, { statuses: [400, 404, 416, 422], tell: 'note' })
  const { length } = rowsAt(asked?.body, 'data', list)
  if (asked && length > most)
    session.findings.note(
      asked.place,
      `data.${list}`,
      `a list of ${most === 0 ? '0' : `at most ${most}`}`,
      `a list of ${length}`,
    )
}

/** What is answered to an id that there is not, and to one that is none. */
async function readUnknown(session: Session, id: string, name: string) {
  await session.refuse(id, 'not_found', { params: { [name]: randomUUID() }, call: 'an unknown id' })
  await session.refuse(id, 'validation_failed', {
    params: { [name]: 'no-id' },
    call: 'an id that is no UUID',
  })
}

async function readUsers(session: Session): Promise<string[]> {
  const { findings } = session
  const rows = await readList(session, 'listUsers')
  const has = (name: string) => (row: Row) => typeof row[name] === 'string'
  const ids = idsOf(picked(rows, has('tid'), has('pid'), has('bank_id')), 'user_id')
  for (const userId of ids) {
    const params = { userId }
    const user = await session.succeed('getUser', { params })
    if (user) {
      const same = sameAs(findings, user.place, 'as asked for')
      same('data.user_id', valueAt(user.body, ['data', 'user_id']), userId)
    }
    await readKyc(session, userId)
    await readBank(session, userId)
  }
  await readUnknown(session, 'getUser', 'userId')
  await readUnknown(session, 'getKyc', 'userId')
  await readUnknown(session, 'listBankAccounts', 'userId')
  return ids
}

/** Reads a user's KYC records. */
export async function readKyc(session: Session, userId: string): Promise<Row[] | undefined> {
  const { findings } = session
  const kyc = await session.succeed('getKyc', { params: { userId } })
  if (!kyc) return undefined
  const same = sameAs(findings, kyc.place, 'as asked for')
  const inner = ['data', 'response', 'data'] as const
  for (const user of rowsAt(kyc.body, ...inner, 'user'))
    same(`${inner.join('.')}.user[].user_id`, user['user_id'], userId)
  const records = rowsAt(kyc.body, ...inner, 'kycData')
  const field = `${inner.join('.')}.kycData[]`
  for (const record of records) {
    same(`${field}.user_id`, record['user_id'], userId)
    holdKyc(findings, kyc.place, record, field)
  }
  return records
}

/** Reads a user's bank accounts. */
export async function readBank(session: Session, userId: string): Promise<Row[] | undefined> {
  const bank = await session.succeed('listBankAccounts', { params: { userId } })
  if (!bank) return undefined
  const accounts = rowsAt(bank.body, 'data')
  const same = sameAs(session.findings, bank.place, 'as asked for')
  for (const account of accounts) same('data[].user_id', account['user_id'], userId)
  return accounts
}

/** Reads one transaction, which must be there. */
export async function readTransaction(session: Session, transaction_id: string): Promise<void> {
  const { findings } = session
  const one = await session.succeed('getTransaction', { params: { transaction_id } })
  if (!one) return
  const rows = rowsAt(one.body, 'data')
  const data = valueAt(one.body, ['data'])
  if (Array.isArray(data) && data.length === 0)
    findings.differs(one.place, 'data', 'the transaction', 'an empty list')
  const same = sameAs(findings, one.place, 'as asked for')
  for (const row of rows) {
    same('data[].transaction_id', row['transaction_id'], transaction_id)
    holdTransaction(findings, one.place, row, 'data[]')
  }
}

async function readTransactions(session: Session) {
  const place = { op: session.opOf('listTransactions'), call: 'page=1' }
  const rows = await readList(session, 'listTransactions')
  for (const row of rows) holdTransaction(session.findings, place, row, 'data.transactions[]')
  const is = (status: string) => (row: Row) => row['transaction_status'] === status
  for (const id of idsOf(picked(rows, is('success'), is('pending')), 'transaction_id'))
    await readTransaction(session, id)
  await readUnknown(session, 'getTransaction', 'transaction_id')
}

/** The history endpoints want a token, says the contract; how they refuse a call without one is ours. */
async function readWithoutToken(session: Session, id: string, params: Record<string, string> = {}) {
  const refused = (token: string | null, call: string) =>
    session.refuse(id, 'unauthorized', { params, token, call }, { contract: true })
  await refused(null, 'without a token')
  await refused(UNKNOWN_TOKEN, 'with an unknown token')
}

async function readHistory(session: Session, userIds: readonly string[]) {
  const { findings } = session
  const hold = (id: string, rows: readonly Row[], userId?: string) => {
    const place = { op: session.opOf(id), call: 'page=1' }
    const same = sameAs(findings, place, 'as asked for')
    for (const row of rows) {
      holdHistory(findings, place, row, 'data.transactions[]')
      if (userId !== undefined) same('data.transactions[].user_id', row['user_id'], userId)
    }
  }
  const all = 'listTransactionHistory'
  await readWithoutToken(session, all)
  const rows = await readList(session, all)
  hold(all, rows)
  if (rows.length > 0) await session.succeed(all, { query: { type: 'debit' } })
  const ofUser = 'listUserTransactionHistory'
  const userId = [...idsOf(rows, 'user_id'), ...userIds][0]
  await readWithoutToken(session, ofUser, { userId: userId ?? randomUUID() })
  if (userId !== undefined) hold(ofUser, await readList(session, ofUser, { userId }), userId)
  await readUnknown(session, ofUser, 'userId')
}

/** Reads all that a service lets be read, each thing by the ids of the lists. It changes nothing. */
export async function read(session: Session): Promise<void> {
  const userIds = await readUsers(session)
  await readTransactions(session)
  await readHistory(session, userIds)
  await readWithoutToken(session, 'getClientProfile')
  await session.succeed('getClientProfile')
  await readWebhook(session)
}

/** The webhook as it is; `none` where the service says that there is none, `undefined` where it can't be known. */
export async function readWebhook(session: Session): Promise<{ url: string } | 'none' | undefined> {
  const answer = await session.ask('getWebhook')
  if (answer.problem === undefined && answer.status === 404) {
    await session.refuse('getWebhook', 'not_found', { call: 'no webhook is set' })
    session.findings.unseen(session.opOf('getWebhook'), 'no webhook is set')
    return 'none'
  }
  const found = await session.succeed('getWebhook')
  const url = valueAt(found?.body, ['data', 'url'])
  return typeof url === 'string' ? { url } : undefined
}
