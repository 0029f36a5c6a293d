import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../model/errors.ts'
import { isObject } from '../../model/formats.ts'
import { rupeesOf } from '../../model/payment.ts'
import { valueAt } from '../../model/validation-errors.ts'
import type { ConformCall } from './http-client.ts'
import { type Row, rowsAt } from './lists.ts'
import { isId, readBank, readKyc, readTransaction, readWebhook } from './reads.ts'
import type { AllowedErrors, Session } from './session.ts'
import { checkFields, checkKyc, checkTransaction } from './shape.ts'

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('')

export const newUser = () => ({
  email: `conform-${randomUUID()}@example.com`,
  mobile: `+919${digits(9)}`,
})

const create = (session: Session, id: string, body: object, allowedErrors?: AllowedErrors) =>
  session.expectSuccess(id, { body, headers: { 'idempotency-key': randomUUID() } }, allowedErrors)

/** Returns a function that sends a POST which the sandbox rejects with an error code; `call` describes the error. */
const refusals =
  (session: Session, id: string) =>
  (code: ErrorCode, call: string, body: unknown, more: Pick<ConformCall, 'headers'> = {}) =>
    session.expectError(id, code, { body, call, ...more })

type Found = NonNullable<Awaited<ReturnType<typeof create>>>

function checkMasked({ source, text }: Found, secrets: readonly string[]) {
  if (!secrets.some((one) => text.includes(one))) return
  source.differs('body', 'no unmasked number or secret', 'a value as it was sent')
}

// A reserved name (RFC 2606) that never resolves, so no event is sent to a third party.
const UNREACHABLE_URL = 'https://example.invalid/payout-sandbox-conform'
// The contract does not say that one of the two fields can be sent alone; the sandbox allows it.
const ONE_FIELD: AllowedErrors = { statuses: [400, 422], reportAs: 'unchecked' }
const SENT = 'the sent value'

async function checkUrl(session: Session, { source, body }: Found, url: string) {
  const path = ['updatedWebhook', 'response', 'data']
  checkFields(source, SENT, [path.join('.'), valueAt(body, path)], { url })
  const read = await readWebhook(session)
  const later = session.sourceOf('getWebhook', 'after an update')
  if (read === 'none') later.differs('HTTP status', '200', '404')
  else if (read) checkFields(later, SENT, ['data', read], { url })
}

async function changeUrl(session: Session, url: string, secret?: string) {
  const body = { url, ...(secret !== undefined && { webhook_secret: secret }) }
  const allowedErrors = secret === undefined ? ONE_FIELD : undefined
  const found = await session.expectSuccess('updateWebhook', { body }, allowedErrors)
  if (found) await checkUrl(session, found, url)
}

/** Changes the URL of the webhook and restores it, or creates one, which stays: the contract has no endpoint to delete it. */
async function writeWebhook(session: Session): Promise<void> {
  const before = await readWebhook(session)
  const id = 'createWebhook'
  if (before === undefined)
    return session.markUnchecked(id, 'the current webhook could not be read')
  if (before !== 'none') {
    session.markUnchecked(id, 'a webhook exists already, and its secret could not be restored')
    try {
      await changeUrl(session, UNREACHABLE_URL)
    } finally {
      // Even after a failure: a call without a response can have changed the URL.
      await changeUrl(session, before.url)
    }
    return
  }
  const webhook_secret = `whsec_${randomBytes(24).toString('base64')}`
  const invalid = { url: 'nowhere', webhook_secret }
  await refusals(session, id)('validation_failed', 'an invalid URL', invalid)
  const found = await create(session, id, { url: UNREACHABLE_URL, webhook_secret })
  if (!found) return
  checkMasked(found, [webhook_secret])
  await checkUrl(session, found, UNREACHABLE_URL)
  await refusals(session, 'updateWebhook')('validation_failed', 'an empty object', {})
  await changeUrl(session, `${UNREACHABLE_URL}/2`, webhook_secret)
}

const PAISE = 150
const IFSC = 'HDFC0000001'
// A service can reject a payment because of its state; the contract does not define the status.
const PAYMENT_ERRORS: AllowedErrors = { statuses: [402, 403, 409, 422], reportAs: 'unchecked' }

async function createUser(session: Session): Promise<string | undefined> {
  const sent = newUser()
  const found = await create(session, 'createUser', sent)
  if (!found) return undefined
  const data = valueAt(found.body, ['data'])
  const isSandboxDefault = true
  checkFields(found.source, SENT, ['data', data], sent, { isSandboxDefault })
  for (const name of ['pid', 'tid', 'bank_id'])
    if (typeof valueAt(data, [name]) === 'string')
      found.source.differs(`data.${name}`, 'null on creation', 'a string')
  const userId = valueAt(data, ['user_id'])
  if (!isId(userId)) return undefined
  const read = await session.expectSuccess('getUser', {
    params: { userId },
    call: 'the user just created',
  })
  const names = ['user_id', 'created_at', ...Object.keys(sent)]
  const returned = Object.fromEntries(names.map((name) => [name, valueAt(data, [name])]))
  const now = valueAt(read?.body, ['data'])
  if (read)
    checkFields(read.source, 'the value that its creation returned', ['data', now], returned)
  return userId
}

async function sendInvalidUsers(session: Session) {
  const refused = refusals(session, 'createUser')
  await refused('validation_failed', 'an empty object', {})
  await refused('validation_failed', 'mobile is a number', { ...newUser(), mobile: 12 })
  await refused('malformed_json', 'a body that is not JSON', '{')
  await refused('unsupported_media_type', 'a body with Content-Type text/plain', newUser(), {
    headers: { 'content-type': 'text/plain' },
  })
}

async function createKyc(session: Session, user_id: string) {
  const numbers = { pan: `XXXPX${randomInt(1_000, 10_000)}A`, aadhar: `99999991${digits(4)}` }
  const item = { dateOfBirth: '15-08-1990', Nationality: 'Indian', nameOnCard: 'Asha Verma' }
  const kyc = [
    { document_type: 'tid', document_name: 'pan', document_number: numbers.pan, ...item },
    { document_type: 'pid', document_name: 'aadhar', document_number: numbers.aadhar, ...item },
  ]
  const id = 'submitKyc'
  const refused = refusals(session, id)
  const found = await create(session, id, { user_id, kyc })
  await refused('validation_failed', 'no document', { user_id, kyc: [] })
  const invalidDate = { user_id, kyc: [{ ...kyc[0], dateOfBirth: 19900231 }] }
  await refused('validation_failed', 'a date that is a number', invalidDate)
  await refused('not_found', 'an unknown user', { user_id: randomUUID(), kyc })
  if (!found) return
  const { source, body } = found
  const records = rowsAt(body, 'data')
    .map((entry) => entry['data'])
    .filter(isObject)
  if (records.length !== kyc.length)
    source.differs('data', `an entry for each of ${kyc.length} documents`, `${records.length}`)
  const field = 'data[].data'
  const expected = { user_id, full_name: item.nameOnCard, dob: '1990-08-15' }
  for (const record of records) {
    checkFields(source, SENT, [field, record], expected)
    checkKyc(source, record, field)
  }
  checkMasked(found, Object.values(numbers))
  checkListed(session, 'getKyc', 'data.response.data.kycData', 'kyc_id', {
    created: records,
    read: await readKyc(session, user_id),
  })
}

function checkListed(
  session: Session,
  id: string,
  field: string,
  name: string,
  { created, read }: { created: readonly Row[]; read: readonly Row[] | undefined },
) {
  if (!read) return
  const ids = new Set(read.map((row) => row[name]))
  if (created.every((row) => ids.has(row[name]))) return
  const source = session.sourceOf(id, 'after a creation')
  source.differs(field, 'all rows that were just created', 'some of them are missing')
}

async function createAccount(session: Session, user_id: string): Promise<Row | undefined> {
  const id = 'addBankAccount'
  const sent = { user_id, account_number: `9999${randomInt(1e7, 1e8)}`, ifsc_code: IFSC }
  const refused = refusals(session, id)
  const found = await create(session, id, sent)
  const short = { ...sent, account_number: '12' }
  await refused('validation_failed', 'an account number that is too short', short)
  await refused('not_found', 'an unknown user', { ...sent, user_id: randomUUID() })
  if (!found) return undefined
  const account = valueAt(found.body, ['data', 'data'])
  if (!isObject(account)) return undefined
  checkFields(found.source, SENT, ['data.data', account], { user_id })
  checkMasked(found, [sent.account_number, sent.ifsc_code])
  const read = await readBank(session, user_id)
  checkListed(session, 'listBankAccounts', 'data', 'bank_id', { created: [account], read })
  return account
}

async function createPayment(session: Session, payer: string, receiver: string, account: Row) {
  const id = 'createTransaction'
  const { bank_id, bank_status } = account
  const reference_id = `conform-${randomUUID()}`
  const parties = { from_user_id: payer, to_user_id: receiver, benif_bank_id: bank_id }
  const sent = { ...parties, amount: PAISE / 100, reference_id }
  const refused = refusals(session, id)
  await refused('validation_failed', 'an empty object', {})
  await refused('validation_failed', 'a third decimal', { ...sent, amount: 1.001 })
  await refused('not_found', 'an unknown account', { ...sent, benif_bank_id: randomUUID() })
  const toOneself = { ...sent, from_user_id: receiver }
  await refused('same_user', 'payer and receiver are the same user', toOneself)
  const swapped = { ...toOneself, to_user_id: payer }
  await refused('bank_user_mismatch', 'an account of the payer', swapped)
  if (bank_status !== 'success')
    return session.markUnchecked(id, 'the account just created is not verified')
  const found = await create(session, id, sent, PAYMENT_ERRORS)
  if (!found) return
  const rows = rowsAt(found.body, 'data')
  if (rows.length !== 1) found.source.differs('data', 'a list of 1', `a list of ${rows.length}`)
  const expected = { ...parties, amount: rupeesOf(PAISE) }
  for (const row of rows) {
    checkFields(found.source, SENT, ['data[]', row], expected)
    checkTransaction(found.source, row, 'data[]')
    const { transaction_id } = row
    if (isId(transaction_id)) await readTransaction(session, transaction_id)
  }
  await readPayout(session, payer, reference_id)
}

/** Checks the payment in the payer's history, if it is there under its reference (a default of the sandbox). */
async function readPayout(session: Session, userId: string, reference: string) {
  const id = 'listUserTransactionHistory'
  const found = await session.expectSuccess(id, {
    params: { userId },
    call: 'of the payer just created',
  })
  if (!found) return
  const records = rowsAt(found.body, 'data', 'transactions')
  const payout = records.find((record) => record['client_transaction_id'] === reference)
  if (!payout) return
  const at = ['data.transactions[]', payout] as const
  checkFields(found.source, SENT, at, { amount: rupeesOf(PAISE) })
}

/** Creates one resource of each kind and checks the responses; also sends invalid requests. */
export async function runWrites(session: Session): Promise<void> {
  const payer = await createUser(session)
  const receiver = await createUser(session)
  if (payer) {
    await sendInvalidUsers(session)
    await createKyc(session, payer)
  }
  const account = receiver && (await createAccount(session, receiver))
  if (payer && account) await createPayment(session, payer, receiver, account)
  // Last, so that the webhook gets few of the events above.
  await writeWebhook(session)
}
