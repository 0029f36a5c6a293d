import type { ComponentChildren } from 'preact'
import { Act } from '../act.tsx'
import { callOf, type User } from '../api.ts'
import { Choice, SearchField, useSearch } from '../fields.tsx'
import { useUrlField } from '../route.ts'
import { AT_WIDTH, type Column, PagedRows } from '../rows.tsx'
import { Ago, At } from '../settings.tsx'
import { Card, Chip, Crumbs, Facts, Heads, Scroll } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { kycReason } from './feed.tsx'
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
  { title: 'Created', width: AT_WIDTH, show: ({ created_at }) => <At at={created_at} /> },
]
const KYC_STATUSES = ['pending', 'success', 'failed', 'none']
const hrefOf = ({ user_id }: User) => `#/users/${user_id}`

export function Users() {
  const search = useSearch()
  const [kyc, setKyc] = useUrlField('kyc', KYC_STATUSES)
  return (
    <>
      <h2>Users</h2>
      <MakeUser />
      <div class="row">
        <SearchField search={search} placeholder="e-mail, mobile, id" />
        <Choice label="KYC" value={kyc} values={[['', 'any'], ...KYC_STATUSES]} onInput={setKyc} />
      </div>
      <PagedRows
        id="readUsers"
        filter={{ kyc }}
        search={search}
        noun="user"
        label="Users"
        columns={COLUMNS}
        href={hrefOf}
        none="No users yet. Make one above, or with POST /v1/user."
      />
    </>
  )
}

/** A record that is verified: its cells, and while it is pending, buttons that set its final status. */
type Verified = { id: string; name: string; state: string; cells: readonly ComponentChildren[] }

const Records = ({
  label,
  heads,
  rows,
  simulate,
  none,
}: {
  label: string
  heads: readonly string[]
  rows: readonly Verified[]
  simulate: 'simulateKyc' | 'simulateBankAccount'
  none: string
}) =>
  rows.length === 0 ? (
    <p class="empty">{none}</p>
  ) : (
    <Scroll label={label}>
      <table class="stack">
        <Heads titles={[...heads, 'Status', 'Set status']} />
        <tbody>
          {rows.map(({ id, name, state, cells }) => (
            <tr key={id}>
              {cells.map((cell, i) => (
                <td key={heads[i]} class="long">
                  {cell}
                </td>
              ))}
              <td>
                <Chip state={state} />
              </td>
              <td>
                <span class="bar">
                  {state === 'pending' &&
                    (['success', 'failed'] as const).map((status) => (
                      <Act
                        key={status}
                        label={status === 'success' ? 'Succeed' : 'Fail'}
                        name={name}
                        call={callOf(simulate, { params: { id }, body: { status } })}
                      />
                    ))}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )

export function OneUser({ id }: { id: string }) {
  const { data: user, problem } = useLoaded(callOf('readUser', { params: { id } }))
  return (
    <>
      <Crumbs list="Users" problem={problem} />
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
                  ['Created', <Ago key="at" at={user.created_at} />],
                ]}
              />
            </Card>
            <Card title="KYC" wide>
              <Records
                none="No document was submitted."
                label="KYC records"
                heads={['Document', 'Number', 'Name', 'Verified by', 'Reason']}
                simulate="simulateKyc"
                rows={user.kyc.map((one) => ({
                  id: one.kyc_id,
                  name: one.document_name,
                  state: one.kyc_status,
                  cells: [
                    one.document_name,
                    one.document_number,
                    one.full_name,
                    one.verified_by,
                    kycReason(one) ?? '–',
                  ],
                }))}
              />
              <SubmitKyc userId={user.user_id} />
            </Card>
            <Card title="Bank accounts" wide>
              <Records
                none="No account was added."
                label="Accounts"
                heads={['Number', 'IFSC', 'Bank']}
                simulate="simulateBankAccount"
                rows={user.bank_accounts.map((one) => ({
                  id: one.bank_id,
                  name: one.account_number,
                  state: one.bank_status,
                  cells: [one.account_number, one.ifsc_code, one.bank_name ?? '–'],
                }))}
              />
              <AddAccount userId={user.user_id} />
            </Card>
          </div>
        </>
      )}
    </>
  )
}
