import { randomInt, randomUUID } from 'node:crypto'
import { valueAt } from '../model/issues.ts'
import { rupeesOf } from '../model/money.ts'
import { isRow, type Row, rowsAt } from './lists.ts'
import { isId, readBank, readKyc, readTransaction } from './reads.ts'
import { holdKyc, holdTransaction, sameAs } from './records.ts'
import type { Call, MayRefuse, Session } from './session.ts'
import { writeWebhook } from './webhook.ts'
import { createWriter, type Writer } from './writer.ts'

const PAISE = 150
const IFSC = 'HDFC0000001'
// By these a state may forbid a payment; the contract does not say which.
const FORBIDDEN: MayRefuse = { statuses: [402, 403, 409, 422], tell: 'unseen' }

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('')

/** Somebody who is not there yet. */
const newcomer = () => ({
  email: `conform-${randomUUID()}@example.com`,
  mobile: `+919${digits(9)}`,
})

type User = { userId: string; sent: ReturnType<typeof newcomer>; call: Call }

async function makeUser({ session, findings, create }: Writer): Promise<User | undefined> {
  const sent = newcomer()
  const found = await create('createUser', sent)
  if (!found) return undefined
  const data = valueAt(found.body, ['data'])
  const asSent = sameAs(findings, found.place, 'as sent', { ours: true })
  for (const [name, value] of Object.entries(sent))
    asSent(`data.${name}`, valueAt(data, [name]), value)
  for (const name of ['pid', 'tid', 'bank_id'])
    if (typeof valueAt(data, [name]) === 'string')
      findings.differs(found.place, `data.${name}`, 'null on creation', 'a text')
  const userId = valueAt(data, ['user_id'])
  if (!isId(userId)) return undefined
  const read = await session.succeed('getUser', { params: { userId }, call: 'the user just made' })
  if (read) {
    const same = sameAs(findings, read.place, 'as it was answered when made')
    for (const name of ['user_id', 'created_at', ...Object.keys(sent)])
      same(`data.${name}`, valueAt(read.body, ['data', name]), valueAt(data, [name]))
  }
  return { userId, sent, call: found.call }
}

async function refuseUsers({ refused }: Writer, { sent, call }: User) {
  const id = 'createUser'
  await refused(id, 'validation_failed', 'an empty object', {})
  await refused(id, 'validation_failed', 'mobile is a number', { ...newcomer(), mobile: 12 })
  await refused(id, 'malformed_json', 'a body that is no JSON', '{')
  const asText = { 'content-type': 'text/plain' }
  await refused(id, 'unsupported_media_type', 'a body sent as text', newcomer(), asText)
  await refused(id, 'user_exists', 'a user who is there', sent)
  await refused(id, 'idempotency_mismatch', 'a key used before', newcomer(), call.headers)
}

async function makeKyc(writer: Writer, user_id: string) {
  const { session, findings, create, refused, holdHidden } = writer
  const numbers = { pan: `XXXPX${randomInt(1_000, 10_000)}A`, aadhar: `99999991${digits(4)}` }
  const item = { dateOfBirth: '15-08-1990', Nationality: 'Indian', nameOnCard: 'Asha Verma' }
  const kyc = [
    { document_type: 'tid', document_name: 'pan', document_number: numbers.pan, ...item },
    { document_type: 'pid', document_name: 'aadhar', document_number: numbers.aadhar, ...item },
  ]
  const id = 'submitKyc'
  const found = await create(id, { user_id, kyc })
  await refused(id, 'validation_failed', 'no document', { user_id, kyc: [] })
  const noDay = [{ ...kyc[0], dateOfBirth: '31-02-1990' }]
  await refused(id, 'validation_failed', 'a day that there is not', { user_id, kyc: noDay })
  await refused(id, 'not_found', 'an unknown user', { user_id: randomUUID(), kyc })
  if (!found) return
  const { place, body } = found
  const records = rowsAt(body, 'data')
    .map((entry) => entry['data'])
    .filter(isRow)
  if (records.length !== kyc.length)
    findings.differs(
      place,
      'data',
      `an entry for each of ${kyc.length} documents`,
      `${records.length}`,
    )
  const asSent = sameAs(findings, place, 'as sent')
  for (const record of records) {
    const wanted = { user_id, full_name: item.nameOnCard, dob: '1990-08-15' }
    for (const [name, value] of Object.entries(wanted))
      asSent(`data[].data.${name}`, record[name], value)
    holdKyc(findings, place, record, 'data[].data')
  }
  holdHidden(found, Object.values(numbers))
  holdThere(writer, 'getKyc', 'data.response.data.kycData', 'kyc_id', {
    made: records,
    read: await readKyc(session, user_id),
  })
}

/** What was made is among what is read back. */
function holdThere(
  { session, findings }: Writer,
  id: string,
  field: string,
  name: string,
  { made, read }: { made: readonly Row[]; read: readonly Row[] | undefined },
) {
  if (!read) return
  const ids = new Set(read.map((row) => row[name]))
  if (made.every((row) => ids.has(row[name]))) return
  const place = { op: session.opOf(id), call: 'after one was made' }
  findings.differs(place, field, 'what was just made', 'not all of it')
}

async function makeAccount(writer: Writer, user_id: string): Promise<Row | undefined> {
  const { session, findings, create, refused, holdHidden } = writer
  const id = 'addBankAccount'
  const sent = { user_id, account_number: `9999${randomInt(1e7, 1e8)}`, ifsc_code: IFSC }
  const found = await create(id, sent)
  await refused(id, 'validation_failed', 'a number that is too short', {
    ...sent,
    account_number: '12',
  })
  await refused(id, 'not_found', 'an unknown user', { ...sent, user_id: randomUUID() })
  if (!found) return undefined
  const account = valueAt(found.body, ['data', 'data'])
  if (!isRow(account)) return undefined
  sameAs(findings, found.place, 'as sent')('data.data.user_id', account['user_id'], user_id)
  holdHidden(found, [sent.account_number, sent.ifsc_code])
  const read = await readBank(session, user_id)
  holdThere(writer, 'listBankAccounts', 'data', 'bank_id', { made: [account], read })
  if (account['bank_status'] === 'success')
    await refused(id, 'bank_account_exists', 'an account that is there', sent)
  return account
}

async function makePayment(writer: Writer, payer: string, receiver: string, account: Row) {
  const { session, findings, create, refused } = writer
  const id = 'createTransaction'
  const { bank_id, bank_status } = account
  const reference_id = `conform-${randomUUID()}`
  const parties = { from_user_id: payer, to_user_id: receiver, benif_bank_id: bank_id }
  const sent = { ...parties, amount: PAISE / 100, reference_id }
  await refused(id, 'validation_failed', 'an empty object', {})
  await refused(id, 'validation_failed', 'a third decimal', { ...sent, amount: 1.001 })
  await refused(id, 'not_found', 'an unknown account', { ...sent, benif_bank_id: randomUUID() })
  await refused(id, 'same_user', 'payer and receiver are one', { ...sent, from_user_id: receiver })
  const turned = { ...sent, from_user_id: receiver, to_user_id: payer }
  await refused(id, 'bank_user_mismatch', 'an account of the payer', turned)
  if (bank_status !== 'success')
    return findings.unseen(session.opOf(id), 'the account just made is not verified')
  const found = await create(id, sent, FORBIDDEN)
  if (!found) return
  await refused(id, 'duplicate_reference', 'a reference_id used before', sent)
  const rows = rowsAt(found.body, 'data')
  if (rows.length !== 1)
    findings.differs(found.place, 'data', 'a list of 1', `a list of ${rows.length}`)
  const wanted = { ...parties, amount: rupeesOf(PAISE) }
  const asSent = sameAs(findings, found.place, 'as sent')
  for (const row of rows) {
    for (const [name, value] of Object.entries(wanted)) asSent(`data[].${name}`, row[name], value)
    holdTransaction(findings, found.place, row, 'data[]')
    const { transaction_id } = row
    if (isId(transaction_id)) await readTransaction(session, transaction_id)
  }
  await readPayout(writer, payer, reference_id)
}

/** The payment stands in the payer's history, under its reference by a default of ours. */
async function readPayout({ session, findings }: Writer, userId: string, reference: string) {
  const id = 'listUserTransactionHistory'
  const found = await session.succeed(id, { params: { userId }, call: 'of the payer just made' })
  if (!found) return
  const records = rowsAt(found.body, 'data', 'transactions')
  const payout = records.find((record) => record['client_transaction_id'] === reference)
  const field = 'data.transactions[]'
  if (!payout)
    findings.note(found.place, `${field}.client_transaction_id`, 'the reference_id', 'others only')
  else
    sameAs(findings, found.place, 'as sent')(`${field}.amount`, payout['amount'], rupeesOf(PAISE))
}

/** Makes one of each thing and holds the answers; sends what should be refused. Answers with what stays there. */
export function write(session: Session) {
  const writer = createWriter(session)
  return {
    made: writer.made,
    async run() {
      const payer = await makeUser(writer)
      const receiver = await makeUser(writer)
      if (payer) {
        await refuseUsers(writer, payer)
        await makeKyc(writer, payer.userId)
      }
      const account = receiver && (await makeAccount(writer, receiver.userId))
      if (payer && account) await makePayment(writer, payer.userId, receiver.userId, account)
      // Last, so that little of the above is sent to it.
      await writeWebhook(writer)
    },
  }
}
