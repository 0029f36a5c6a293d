import { Act } from '../act.tsx'
import { callOf, type User } from '../api.ts'
import { Detail } from '../detail.tsx'
import { numberText, rupeesText } from '../format.ts'
import { AT_WIDTH, type Column, type Filter, PagedList } from '../rows.tsx'
import { Ago, At } from '../settings.tsx'
import { Card, Chip, Facts, stateOf, Table } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { kycReason } from './feed.tsx'
import { AddAccount, MakeUser, SubmitKyc } from './make.tsx'

const chip = (id: string, state: string, title?: string) => (
  <span key={id} title={title}>
    <Chip state={state} />{' '}
  </span>
)
/** The name of a document; without one, the e-mail. */
export function nameOf({ kyc, email }: User): string {
  return kyc[0]?.full_name ?? email
}

const COLUMNS: readonly Column<User>[] = [
  { title: 'Name', width: 'minmax(0, 2fr)', show: nameOf },
  { title: 'E-mail', width: 'minmax(0, 3fr)', minor: true, show: ({ email }) => email },
  { title: 'Mobile', width: 'minmax(0, 2fr)', minor: true, show: ({ mobile }) => mobile },
  {
    title: 'KYC',
    width: 'minmax(0, 2fr)',
    show: ({ kyc }) => kyc.map((one) => chip(one.kyc_id, one.kyc_status, one.document_name)),
  },
  {
    title: 'Accounts',
    width: 'minmax(0, 2fr)',
    show: ({ bank_accounts }) => bank_accounts.map((one) => chip(one.bank_id, one.bank_status)),
  },
  { title: 'Created', width: AT_WIDTH, show: ({ created_at }) => <At at={created_at} /> },
]
const FILTERS: Readonly<Record<string, Filter>> = {
  kyc: { label: 'KYC', values: ['pending', 'success', 'failed', 'none'] },
}

export const Users = () => (
  <>
    <h2>Users</h2>
    <MakeUser />
    <PagedList
      id="readUsers"
      label="Users"
      noun="user"
      placeholder="name, e-mail, mobile, id"
      filters={FILTERS}
      columns={COLUMNS}
      href={({ user_id }) => `#/users/${user_id}`}
      none="No users yet. Make one above, or with POST /v1/user."
    />
  </>
)

type RecordsProps = {
  label: string
  /** The first cell names the record. */
  rows: readonly { id: string; state: string; cells: Readonly<Record<string, string | null>> }[]
  simulate: 'simulateKyc' | 'simulateBankAccount'
  none: string
}

const Records = ({ label, rows, simulate, none }: RecordsProps) =>
  rows.length === 0 ? (
    <p class="empty">{none}</p>
  ) : (
    <Table
      label={label}
      titles={[...Object.keys(rows[0]!.cells), 'Status', 'Set status']}
      class="stack"
      rows={rows.map(({ id, state, cells }) => [
        ...Object.values(cells).map((cell) => <div class="long">{cell}</div>),
        <Chip state={state} />,
        state === 'pending' && (
          <span class="bar">
            {(['success', 'failed'] as const).map((status) => (
              <Act
                key={status}
                label={status === 'success' ? 'Succeed' : 'Fail'}
                name={Object.values(cells)[0]!}
                call={callOf(simulate, { params: { id }, body: { status } })}
              />
            ))}
          </span>
        ),
      ])}
    />
  )

const SHOWN = 10

/** The newest payments that a user made or got. */
function PaymentsOf({ id }: { id: string }) {
  const { data } = useLoaded(callOf('readTransactions', { query: { search: id, limit: SHOWN } }))
  const { total = 0, transactions = [] } = data ?? {}
  return (
    <Card
      title="Payments"
      beside={total > 0 && <a href={`#/payments?search=${id}`}>All {numberText(total)}</a>}
    >
      {total === 0 && <p class="empty">None, neither made nor received.</p>}
      <ul class="list">
        {transactions.map((one) => (
          <li key={one.transaction_id}>
            <a href={`#/payments/${one.transaction_id}`}>
              {rupeesText(one.amount)} {one.from_user_id === id ? 'to' : 'received by'}{' '}
              {one.history.account_holder_name}
            </a>{' '}
            <Chip state={stateOf(one)} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

export const OneUser = ({ id }: { id: string }) => (
  <Detail list="Users" call={callOf('readUser', { params: { id } })}>
    {(user) => (
      <>
        <h2>{nameOf(user)}</h2>
        <div class="cards">
          <Card title="User">
            <Facts
              facts={{
                'E-mail': user.email,
                Id: <code>{user.user_id}</code>,
                Mobile: user.mobile,
                Type: user.user_type,
                Created: <Ago at={user.created_at} />,
              }}
            />
          </Card>
          <PaymentsOf id={user.user_id} />
          <Card title="KYC" wide>
            <Records
              none="No document was submitted."
              label="KYC records"
              simulate="simulateKyc"
              rows={user.kyc.map((one) => ({
                id: one.kyc_id,
                state: one.kyc_status,
                cells: {
                  Document: one.document_name,
                  Number: one.document_number,
                  Name: one.full_name,
                  'Verified by': one.verified_by,
                  Reason: kycReason(one) ?? '–',
                },
              }))}
            />
            <SubmitKyc userId={user.user_id} />
          </Card>
          <Card title="Bank accounts" wide>
            <Records
              none="No account was added."
              label="Accounts"
              simulate="simulateBankAccount"
              rows={user.bank_accounts.map((one) => ({
                id: one.bank_id,
                state: one.bank_status,
                cells: {
                  Number: one.account_number,
                  IFSC: one.ifsc_code,
                  Bank: one.bank_name ?? '–',
                },
              }))}
            />
            <AddAccount userId={user.user_id} />
          </Card>
        </div>
      </>
    )}
  </Detail>
)
