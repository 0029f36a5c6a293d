// Forms that make something: each sends the call of the service that an integration sends.
import { useEffect, useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf, onResponse } from '../api.ts'
import { useLoaded } from '../data.ts'
import { Choice, Fold, Form, Input, useFields } from '../fields.tsx'
import { hasAccessToken, isServiceCall, serviceCall, setAccessToken } from '../service.ts'
import type { BankAccount, User } from '../types.ts'
import { Problem } from '../ui.tsx'

/** The access token, if the last call of the service was rejected because it is missing or unknown. */
export function AccessToken() {
  const [isNeeded, setNeeded] = useState(hasAccessToken())
  const [token, setToken] = useState('')
  useEffect(
    () =>
      onResponse((sent) => {
        if (isServiceCall(sent) && sent.status === 401) setNeeded(true)
      }),
    [],
  )
  if (!isNeeded) return null
  return (
    <Input
      label="Access token of the client"
      type="password"
      value={token}
      placeholder="printed at the start"
      onInput={(next) => {
        setToken(next)
        setAccessToken(next.trim())
      }}
    />
  )
}

/** Goes to a view, if a rule has not replaced the response that has the id. */
function open(view: 'users' | 'payments', id: string | undefined) {
  if (id !== undefined) location.hash = `#/${view}/${id}`
}

const MAX_USERS = 100

const isVerified = ({ kyc }: User) => kyc.some(({ kyc_status }) => kyc_status === 'success')
const accountText = (user: User, { account_number, bank_status }: BankAccount) =>
  `${user.email}, ${account_number}, ${bank_status}`

function PaymentForm() {
  const { data, problem } = useLoaded(callOf('readUsers', { query: { limit: MAX_USERS } }), [
    'change',
    'request',
  ])
  const { fields, set } = useFields({ from: '', to: '', amount: '100', reference: '', remark: '' })
  if (!data) return <Problem text={problem} />
  const { users } = data
  const payer =
    users.find(({ user_id }) => user_id === fields.from) ?? users.find(isVerified) ?? users[0]
  const accounts = users
    .filter((user) => user !== payer)
    .flatMap((user) => user.bank_accounts.map((account) => ({ user, account })))
  const receiver =
    accounts.find(({ account }) => account.bank_id === fields.to) ??
    accounts.find(({ account }) => account.bank_status === 'success') ??
    accounts[0]
  if (!payer || !receiver)
    return (
      <p class="empty">
        A payment needs two users, and a bank account of the receiver. Make them in{' '}
        <a href="#/users">Users</a>.
      </p>
    )
  const amount = Number(fields.amount)
  const call = serviceCall('createTransaction', {
    from_user_id: payer.user_id,
    to_user_id: receiver.user.user_id,
    benif_bank_id: receiver.account.bank_id,
    // The sandbox says what is wrong with a text that is not a number.
    amount: Number.isNaN(amount) ? fields.amount : amount,
    ...(fields.reference !== '' && { reference_id: fields.reference }),
    ...(fields.remark !== '' && { remark: fields.remark }),
  })
  return (
    <>
      <Form>
        <Choice
          label="From"
          value={payer.user_id}
          values={users.map((user) => [
            user.user_id,
            isVerified(user) ? user.email : `${user.email} (no KYC)`,
          ])}
          onChange={set('from')}
        />
        <Choice
          label="To account"
          value={receiver.account.bank_id}
          values={accounts.map(({ user, account }) => [
            account.bank_id,
            accountText(user, account),
          ])}
          onChange={set('to')}
        />
        <Input short label="Amount" value={fields.amount} onInput={set('amount')} />
        <Input label="Reference" value={fields.reference} onInput={set('reference')} />
        <Input label="Remark" value={fields.remark} onInput={set('remark')} />
        <AccessToken />
        <Act
          submit
          label="Make the payment"
          call={call}
          onDone={({ data: made }) => open('payments', made?.[0]?.transaction_id)}
        />
      </Form>
      <p class="hint">
        The paise and the account can decide what happens: see{' '}
        <a href="#/magic-values">magic values</a>. The lists have the {MAX_USERS} newest users.
      </p>
    </>
  )
}

/** Makes a payment and opens it. */
export const MakePayment = () => (
  <Fold title="Make a payment">
    <PaymentForm />
  </Fold>
)

/** Makes a user and opens it; `count` of the users gives it a number. */
export function MakeUser({ count }: { count: number }) {
  const { fields, set } = useFields({ email: '', mobile: '', type: 'individual' })
  const number = count + 1
  // With one click: an e-mail and a mobile that no user of the fixtures has.
  const email = fields.email || `user${number}@example.com`
  const mobile = fields.mobile || `93${String(number).padStart(8, '0')}`
  return (
    <Fold title="Make a user">
      <Form>
        <Input label="E-mail" value={fields.email} placeholder={email} onInput={set('email')} />
        <Input label="Mobile" value={fields.mobile} placeholder={mobile} onInput={set('mobile')} />
        <Choice
          label="Type"
          value={fields.type}
          values={['individual', 'business']}
          onChange={set('type')}
        />
        <AccessToken />
        <Act
          submit
          label="Make the user"
          call={serviceCall('createUser', { email, mobile, user_type: fields.type })}
          onDone={({ data: made }) => open('users', made?.user_id)}
        />
      </Form>
    </Fold>
  )
}

/** Adds a bank account of a user. */
export function AddAccount({ userId, onDone }: { userId: string; onDone: () => void }) {
  const { fields, set } = useFields({ number: '123456789012', ifsc: 'HDFC0000001' })
  return (
    <Fold title="Add an account">
      <Form>
        <Input label="Account number" value={fields.number} onInput={set('number')} />
        <Input label="IFSC" value={fields.ifsc} onInput={set('ifsc')} />
        <AccessToken />
        <Act
          submit
          label="Add the account"
          call={serviceCall('addBankAccount', {
            user_id: userId,
            account_number: fields.number,
            ifsc_code: fields.ifsc,
          })}
          onDone={onDone}
        />
      </Form>
    </Fold>
  )
}

/** The documents, with a number that has the right form. */
const DOCUMENTS = {
  pan: { type: 'tid', number: 'ABCPE1234F' },
  aadhar: { type: 'pid', number: '234123412346' },
} as const

/** Submits a KYC document of a user. */
export function SubmitKyc({ userId, onDone }: { userId: string; onDone: () => void }) {
  const { fields, set } = useFields({
    document: 'pan',
    number: '',
    name: 'Asha Rao',
    birth: '01-02-1990',
  })
  const document = fields.document as keyof typeof DOCUMENTS
  const { type, number } = DOCUMENTS[document]
  return (
    <Fold title="Submit a document">
      <Form>
        <Choice
          label="Document"
          value={document}
          values={Object.keys(DOCUMENTS)}
          onChange={set('document')}
        />
        <Input label="Number" value={fields.number} placeholder={number} onInput={set('number')} />
        <Input label="Name" value={fields.name} onInput={set('name')} />
        <Input label="Date of birth (DD-MM-YYYY)" value={fields.birth} onInput={set('birth')} />
        <AccessToken />
        <Act
          submit
          label="Submit the document"
          call={serviceCall('submitKyc', {
            user_id: userId,
            kyc: [
              {
                document_type: type,
                document_name: document,
                document_number: fields.number || number,
                dateOfBirth: fields.birth,
                Nationality: 'Indian',
                nameOnCard: fields.name,
              },
            ],
          })}
          onDone={onDone}
        />
      </Form>
    </Fold>
  )
}
