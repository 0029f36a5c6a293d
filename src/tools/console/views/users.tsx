import { Act } from '../act.tsx'
import { type BankAccount, callOf, type KycRecord, type User } from '../api.ts'
import { Choice, SearchField, useSearch } from '../fields.tsx'
import { countText } from '../format.ts'
import { useUrlField } from '../route.ts'
import { AT_WIDTH, type Column, Rows } from '../rows.tsx'
import { At } from '../settings.tsx'
import { Card, Chip, Facts, Heads, Loading, Problem, Scroll } from '../ui.tsx'
import { useLoaded, usePages } from '../use-data.ts'
import { AddAccount, MakeUser, SubmitKyc } from './make.tsx'

const COLUMNS: readonly Column<User>[] = [
  { title: 'E-mail', width: 'minmax(0, 3fr)', show: ({ email }) => email },
  { title: 'Mobile', width: 'minmax(0, 2fr)', minor: true, show: ({ mobile }) => mobile },
  {
    title: 'KYC',
    width: 'minmax(0, 2fr)',
    show: ({ kyc }) =>
      kyc.map(({ kyc_id, document_name, kyc_status }) => (
        <span key={kyc_id} title={document_name}>
          <Chip state={kyc_status} />{' '}
        </span>
      )),
  },
  {
    title: 'Accounts',
    width: 'minmax(0, 2fr)',
    show: ({ bank_accounts }) =>
      bank_accounts.map(({ bank_id, bank_status }) => (
        <span key={bank_id}>
          <Chip state={bank_status} />{' '}
        </span>
      )),
  },
  {
    title: 'Created',
    width: AT_WIDTH,
    show: ({ created_at }) => <At at={created_at} />,
  },
]
const KYC_STATUSES = ['pending', 'success', 'failed', 'none']
const hrefOf = ({ user_id }: User) => `#/users/${user_id}`

/** The list of the users; `count` is their number. */
export function Users({ count }: { count: number }) {
  const search = useSearch()
  const [kyc, setKyc] = useUrlField('kyc', KYC_STATUSES)
  const { total, problem, at, want } = usePages(
    'readUsers',
    { search: search.query, kyc: kyc || undefined },
    (page) => page.users,
    ['change', 'request'],
  )
  return (
    <>
      <h2>Users</h2>
      <MakeUser count={count} />
      <div class="row">
        <SearchField search={search} placeholder="e-mail, mobile, id" />
        <Choice label="KYC" value={kyc} values={[['', 'any'], ...KYC_STATUSES]} onChange={setKyc} />
      </div>
      <Problem text={problem} />
      {total === undefined && problem === undefined && <Loading />}
      {total !== undefined && (
        <p class="hint" aria-live="polite">
          {countText(total, 'user')}
        </p>
      )}
      {total !== undefined && (
        <Rows
          label="Users"
          columns={COLUMNS}
          total={total}
          at={at}
          want={want}
          href={hrefOf}
          empty={
            search.text === '' && kyc === ''
              ? 'No users yet. Make one above, or with POST /v1/user.'
              : 'No user matches.'
          }
        />
      )}
    </>
  )
}

/** Buttons that set the final status of a pending record. */
function SetStatus({
  simulate,
  id,
  state,
  name,
}: {
  simulate: 'simulateKyc' | 'simulateBankAccount'
  id: string
  state: string
  name: string
}) {
  if (state !== 'pending') return null
  return (
    <span class="row tight">
      {(['success', 'failed'] as const).map((status) => (
        <Act
          key={status}
          quiet
          label={status === 'success' ? 'Succeed' : 'Fail'}
          name={name}
          call={callOf(simulate, { params: { id }, body: { status } })}
        />
      ))}
    </span>
  )
}

const Kyc = ({ record }: { record: KycRecord }) => (
  <tr>
    <td>{record.document_name}</td>
    <td>
      <code>{record.document_number}</code>
    </td>
    <td class="long">{record.full_name}</td>
    <td>
      <Chip state={record.kyc_status} />
    </td>
    <td>{record.verified_by}</td>
    <td>
      <SetStatus
        simulate="simulateKyc"
        id={record.kyc_id}
        state={record.kyc_status}
        name={record.document_name}
      />
    </td>
  </tr>
)

const Account = ({ account }: { account: BankAccount }) => (
  <tr>
    <td>
      <code>{account.account_number}</code>
    </td>
    <td>
      <code>{account.ifsc_code}</code>
    </td>
    <td>{account.bank_name ?? '–'}</td>
    <td>
      <Chip state={account.bank_status} />
    </td>
    <td>
      <SetStatus
        simulate="simulateBankAccount"
        id={account.bank_id}
        state={account.bank_status}
        name={account.account_number}
      />
    </td>
  </tr>
)

export function OneUser({ id }: { id: string }) {
  const {
    data: user,
    problem,
    reload,
  } = useLoaded(callOf('readUser', { params: { id } }), ['change', 'request'])
  const done = () => void reload()
  return (
    <>
      <p class="crumbs">
        <a href="#/users">Users</a>
      </p>
      <Problem text={problem} />
      {user && (
        <>
          <h2>{user.email}</h2>
          <div class="cards">
            <Card title="User">
              <Facts
                facts={[
                  ['Id', <code key="id">{user.user_id}</code>],
                  ['Mobile', user.mobile],
                  ['Type', user.user_type],
                  ['Created', <At key="at" at={user.created_at} />],
                ]}
              />
            </Card>
            <Card title="KYC" wide>
              {user.kyc.length === 0 ? (
                <p class="empty">No document was submitted.</p>
              ) : (
                <Scroll label="KYC records">
                  <table class="stack">
                    <Heads
                      titles={['Document', 'Number', 'Name', 'Status', 'Verified by', 'Set status']}
                    />
                    <tbody>
                      {user.kyc.map((record) => (
                        <Kyc key={record.kyc_id} record={record} />
                      ))}
                    </tbody>
                  </table>
                </Scroll>
              )}
              <SubmitKyc userId={user.user_id} onDone={done} />
            </Card>
            <Card title="Bank accounts" wide>
              {user.bank_accounts.length === 0 ? (
                <p class="empty">No account was added.</p>
              ) : (
                <Scroll label="Accounts">
                  <table class="stack">
                    <Heads titles={['Number', 'IFSC', 'Bank', 'Status', 'Set status']} />
                    <tbody>
                      {user.bank_accounts.map((account) => (
                        <Account key={account.bank_id} account={account} />
                      ))}
                    </tbody>
                  </table>
                </Scroll>
              )}
              <AddAccount userId={user.user_id} onDone={done} />
            </Card>
          </div>
        </>
      )}
    </>
  )
}
