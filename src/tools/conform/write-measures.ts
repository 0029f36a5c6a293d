import { refusedBankAccount } from '../../assumptions/users.ts'
import { valueAt } from '../../model/validation-errors.ts'
import type { Row } from './lists.ts'
import {
  bodyOf,
  changed,
  type Measured,
  type Measures,
  noSuccess,
  saysNothing,
  sentAgain,
  successOf,
  unclear,
} from './measuring.ts'
import { type Exchange, isSuccess } from './session.ts'
import { newUser } from './writes.ts'

const bankIdOf = ({ body }: Exchange) => valueAt(body, ['data', 'data', 'bank_id'])

const UNKNOWN_USER = ['addBankAccount', 'an unknown user'] as const
const UNKNOWN_ACCOUNT = ['createTransaction', 'an unknown account'] as const
// The sandbox refuses it, and it is unlikely to exist elsewhere.
const REFUSED_NUMBER = '999900000002'

function refusalIn({ body }: Exchange): readonly [reading: string, seen: string] | undefined {
  const result = valueAt(body, ['data', 'data', 'metadata', 'response', 'data'])
  if (valueAt(result, ['result', 'bankTxnStatus']) !== false) return undefined
  const status = valueAt(result, ['status'])
  const readings = Object.entries(refusedBankAccount.readings)
  const found = readings.find(([, { value }]) => value.status === status)
  return found && [found[0], `bankTxnStatus false, inner status ${status}`]
}

/** The assumptions that show only in the responses of POSTs, or in a read of what they created. */
export const WRITE_MEASURES: Measures = {
  async idempotency_key(session) {
    let last: Measured | undefined
    // A service can have keys for payments only, or for all but these: the reading must be true of both.
    for (const id of ['createUser', 'createTransaction']) {
      const first = successOf(session, id)
      if (!first) continue
      const call = { ...first.call, call: 'sent again with its Idempotency-Key' }
      const shownBy = await session.measure(id, call)
      if (!shownBy || saysNothing(shownBy)) return unclear(shownBy)
      const isSame = shownBy.status === first.status && shownBy.text === first.text
      if (!isSame) {
        const seen = isSuccess(shownBy.status) ? 'another response' : undefined
        return { reading: 'ignored', shownBy, seen }
      }
      last = { reading: 'honoured', shownBy, seen: 'the same response again' }
    }
    return last ?? noSuccess(session, 'createUser')
  },

  async reference_id(session) {
    const id = 'createTransaction'
    const first = successOf(session, id)
    if (!first) return noSuccess(session, id)
    const shown = valueAt(first.body, ['data', 0, 'reference_id'])
    if (shown === undefined) return 'the payment has no field reference_id'
    if (shown !== bodyOf(first)['reference_id'])
      return { reading: 'ignored', shownBy: first, seen: 'another reference_id' }
    return sentAgain(id, 'a reference_id used before', ['stored'], 'unique')(session)
  },

  own_request_fields: sentAgain(
    'createUser',
    'with user_type business',
    ({ body }) => {
      const shown = valueAt(body, ['data', 'user_type'])
      if (typeof shown !== 'string') return 'the user has no user_type'
      return shown === 'business'
        ? ['accepted', 'the same user_type']
        : ['ignored', 'another user_type']
    },
    undefined,
    () => ({ ...newUser(), user_type: 'business' }),
  ),

  amount_as_text: changed(
    UNKNOWN_ACCOUNT,
    { amount: '1.50' },
    'an amount that is a string, and an unknown account',
    ['accepted', 'refused'],
  ),

  async smallest_amount(session) {
    const [id, described] = UNKNOWN_ACCOUNT
    const base = session.exchange(id, described)
    if (!base) return noSuccess(session, id)
    const pay = (amount: number) => {
      const call = `an amount of ${amount}, and an unknown account`
      return session.measure(id, { body: { ...bodyOf(base), amount }, call })
    }
    const large = await pay(150)
    const half = await pay(0.5)
    if (!half || !large || saysNothing(large)) return unclear(large)
    if (half.status === large.status) return { reading: '0.01', shownBy: half }
    const shownBy = await pay(50)
    if (!shownBy) return unclear(shownBy)
    return { reading: shownBy.status === large.status ? '1.00' : '100.00', shownBy }
  },

  email_format: sentAgain(
    'createUser',
    'an e-mail address with an umlaut in its domain',
    ['lenient'],
    'strict',
    () => {
      const { email, mobile } = newUser()
      return { email: email.replace('@', '@bücher.'), mobile }
    },
  ),

  mobile_format: sentAgain(
    'createUser',
    'a mobile with a space and a hyphen',
    ['lenient'],
    'strict',
    () => {
      const { email, mobile } = newUser()
      return { email, mobile: mobile.replace(/^(\+91)(\d{5})/, '$1 $2-') }
    },
  ),

  account_number_format: changed(
    UNKNOWN_USER,
    { account_number: 'AB12345678' },
    'an account number with letters, and an unknown user',
    ['letters_and_digits', 'digits'],
  ),

  ifsc_case: changed(
    UNKNOWN_USER,
    { ifsc_code: 'hdfc0000001' },
    'an IFSC in lower case, and an unknown user',
    ['accepted', 'refused'],
  ),

  refused_bank_account(session) {
    for (const shownBy of session.exchanges('addBankAccount')) {
      const [reading, seen] = refusalIn(shownBy) ?? []
      if (reading !== undefined && seen !== undefined) return { reading, shownBy, seen }
    }
    return sentAgain(
      'addBankAccount',
      'an account that should not exist',
      (shownBy) => refusalIn(shownBy) ?? 'the service refused no account',
      undefined,
      () => ({ account_number: REFUSED_NUMBER }),
    )(session)
  },

  same_bank_account(session) {
    const id = 'addBankAccount'
    const status = valueAt(successOf(session, id)?.body, ['data', 'data', 'bank_status'])
    if (status !== undefined && status !== 'success') return 'the account is not verified'
    return sentAgain(
      id,
      'an account that exists already',
      (shownBy, first) =>
        bankIdOf(shownBy) === bankIdOf(first)
          ? ['existing', 'the same bank_id']
          : ['new', 'another bank_id'],
      'conflict',
    )(session)
  },

  duplicate_user: sentAgain('createUser', 'a user who exists already', ['allowed'], 'conflict'),

  // The webhook is one that this run created, and it gets the same values.
  second_webhook: sentAgain('createWebhook', 'a second webhook', ['replaced'], 'conflict'),

  async user_history(session) {
    const id = 'createTransaction'
    const payment = successOf(session, id)
    if (!payment) return noSuccess(session, id)
    const userId = String(bodyOf(payment)['to_user_id'])
    const call = { params: { userId }, call: 'of the receiver of a payment' }
    const shownBy = await session.measure('listUserTransactionHistory', call)
    const total = valueAt(shownBy?.body, ['data', 'total_transactions'])
    if (!shownBy || typeof total !== 'number') return unclear(shownBy)
    const seen = `total_transactions ${total}`
    return { reading: total === 0 ? 'payer' : 'both_sides', shownBy, seen }
  },

  kyc_bad_document: sentAgain(
    'submitKyc',
    'a PAN with the name aadhar',
    ({ status, body }) =>
      valueAt(body, ['data', 0, 'data', 'kyc_status']) === 'failed'
        ? ['entry_fails', `status ${status}, kyc_status failed`]
        : `no reading has this response: status ${status}`,
    'call_fails',
    (first) => {
      const [document] = bodyOf(first)['kyc'] as Row[]
      return { kyc: [{ ...document, document_name: 'aadhar' }] }
    },
  ),

  async pid_and_tid(session) {
    const userId = session.exchanges('submitKyc').map((one) => bodyOf(one)['user_id'])[0]
    if (typeof userId !== 'string') return noSuccess(session, 'submitKyc')
    const call = { params: { userId }, call: 'of a user with a KYC record' }
    const shownBy = await session.measure('getUser', call)
    const [pid, tid] = ['pid', 'tid'].map((name) => valueAt(shownBy?.body, ['data', name]))
    if (!shownBy || pid === undefined) return unclear(shownBy)
    if (pid === null && tid === null)
      return { reading: 'never', shownBy, seen: 'pid and tid are null' }
    const records = session.exchanges('submitKyc').flatMap((one) => {
      const record = valueAt(one.body, ['data', 0, 'data'])
      const [id, status] = ['kyc_id', 'kyc_status'].map((name) => valueAt(record, [name]))
      return id === undefined ? [] : [{ id, status }]
    })
    // The bad document of the measure before has failed.
    const failed = records.find(({ status }) => status !== records[0]!.status)
    if (!failed) return 'no document failed, so success and submission look the same'
    const isEarly = [pid, tid].includes(failed.id)
    const seen = `${isEarly ? 'the' : 'not the'} id of a record that failed`
    return { reading: isEarly ? 'on_submission' : 'on_success', shownBy, seen }
  },

  // The bad document of the measure before has failed.
  entry_status(session) {
    for (const shownBy of session.exchanges('submitKyc').toReversed()) {
      const entry = valueAt(shownBy.body, ['data', 0])
      const status = valueAt(entry, ['status'])
      if (valueAt(entry, ['data', 'kyc_status']) !== 'failed' || typeof status !== 'boolean')
        continue
      return { reading: String(status), shownBy, seen: `a failed record beside status ${status}` }
    }
    const { length } = session.exchanges('submitKyc')
    return length === 0 ? noSuccess(session, 'submitKyc') : 'no document failed at once'
  },
}
