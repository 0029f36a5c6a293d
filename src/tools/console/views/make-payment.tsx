// The form that makes a payment, with the call of the service that an integration sends.
import { useRef } from 'preact/hooks'
import { Act } from '../act.tsx'
import { callOf, type Payment, type User } from '../api.ts'
import { Choice, Fold, Form, Input, useFields } from '../fields.tsx'
import { numberText, typedAmount } from '../format.ts'
import { useUrlFields } from '../route.ts'
import { openMade, serviceCall } from '../service.ts'
import { Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { MagicValues } from './make.tsx'

const MAX_USERS = 100

const isVerified = ({ kyc }: User) => kyc.some(({ kyc_status }) => kyc_status === 'success')

/** Returns the newest users that match a search, or the previous ones until they arrive. Later users don't change the list. */
export function useFound(search: string, bank?: 'any') {
  const query = { limit: MAX_USERS, search: search || undefined, bank }
  const { data, problem } = useLoaded(callOf('readUsers', { query }))
  const first = useRef<{ search: string; users: User[]; total: number }>()
  const isKept = first.current?.search === search && first.current.total > 0
  if (data && !isKept) first.current = { search, ...data }
  return { users: first.current?.users ?? [], total: first.current?.total ?? 0, data, problem }
}

type Test<T> = (one: T) => boolean

function candidates<T>(all: readonly T[], isChosen: Test<T>, isGood: Test<T>) {
  const chosen = all.find(isChosen)
  return chosen ? [chosen] : [...all.filter(isGood), ...all]
}

const FINDER = { type: 'search', placeholder: 'e-mail, mobile, id' } as const

const Cut = ({ list, total }: { list: string; total: number }) =>
  total <= MAX_USERS ? null : (
    <p class="hint">
      {list} has the {MAX_USERS} newest of {numberText(total)} users. Type an e-mail, a mobile or an
      id to find the others.
    </p>
  )

/** The form; `like`: with the payer, the receiver and the amount of another payment; or with an amount. */
export function PaymentForm({ like, amount }: { like?: Payment; amount?: string }) {
  const { fields, field } = useFields({
    payers: like?.from_user_id ?? '',
    receivers: like?.to_user_id ?? '',
    from: like?.from_user_id ?? '',
    to: like?.benif_bank_id ?? '',
    amount: amount ?? like?.amount ?? '100',
    reference: '',
    remark: like?.history.remark ?? '',
  })
  const payers = useFound(fields.payers)
  const receivers = useFound(fields.receivers, 'any')
  const accounts = receivers.users.flatMap((user) =>
    user.bank_accounts.map((account) => ({ user, account })),
  )
  const from = candidates(payers.users, (one) => one.user_id === fields.from, isVerified)
  const to = candidates(
    accounts,
    ({ account }) => account.bank_id === fields.to,
    ({ account }) => account.bank_status === 'success',
  )
  // Payer and receiver must differ: the one that wasn't chosen changes.
  const receiver = to.find(({ user }) => from.some((one) => one.user_id !== user.user_id))
  const payer = from.find(({ user_id }) => receiver && user_id !== receiver.user.user_id)
  return (
    <>
      <Form>
        <Input label="Find the payer" {...FINDER} {...field('payers')} />
        <Choice
          label="From"
          value={payer?.user_id ?? ''}
          onInput={(id) => {
            field('from').onInput(id)
            if (id === receiver?.user.user_id) field('to').onInput('')
          }}
          values={payers.users.map((user) => [
            user.user_id,
            isVerified(user) ? user.email : `${user.email} (no KYC)`,
          ])}
        />
        <Input label="Find the receiver" {...FINDER} {...field('receivers')} />
        <Choice
          label="To account"
          value={receiver?.account.bank_id ?? ''}
          onInput={(id) => {
            field('to').onInput(id)
            const { user } = accounts.find(({ account }) => account.bank_id === id)!
            if (user.user_id === payer?.user_id) field('from').onInput('')
          }}
          values={accounts.map(({ user, account: { bank_id, account_number, bank_status } }) => [
            bank_id,
            `${user.email}, ${account_number}, ${bank_status}`,
          ])}
        />
        <Input short label="Amount" name="amount" {...field('amount')} />
        <Input label="Reference" name="reference_id" {...field('reference')} />
        <Input label="Remark" name="remark" {...field('remark')} />
        {payer && receiver && (
          <Act
            submit
            label="Make the payment"
            effect="The payment is made."
            // A list of the search before must not decide who pays.
            disabled={!payers.data || !receivers.data}
            call={serviceCall('createTransaction', {
              from_user_id: payer.user_id,
              to_user_id: receiver.user.user_id,
              benif_bank_id: receiver.account.bank_id,
              amount: typedAmount(fields.amount),
              ...(fields.reference !== '' && { reference_id: fields.reference }),
              ...(fields.remark !== '' && { remark: fields.remark }),
            })}
            onDone={openMade('createTransaction')}
          />
        )}
      </Form>
      <Problem text={payers.problem ?? receivers.problem} />
      {payers.data && receivers.data && !(payer && receiver) && (
        <p class="empty">
          {fields.payers !== '' || fields.receivers !== ''
            ? 'The search finds no payer, or no other user with a bank account.'
            : 'A payment needs two users, and a bank account of the receiver. Make them in '}
          {fields.payers === '' && fields.receivers === '' && <a href="#/users">Users</a>}
        </p>
      )}
      <Cut list="From" total={payers.total} />
      <Cut list="To account" total={receivers.total} />
      <MagicValues of="createTransaction" />
    </>
  )
}

/** Makes a payment and opens it; `make` in the URL opens the form, and can be its amount. */
export function MakePayment() {
  const make = useUrlFields().get('make') ?? ''
  return (
    <Fold title="Make a payment" isOpen={make !== ''}>
      <PaymentForm {...(/^\d/.test(make) && { amount: make })} />
    </Fold>
  )
}
