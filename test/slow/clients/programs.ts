/** Programs of users. Those of the service call every endpoint with a client that a public generator made of the document. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from '../../helper.ts'

/** What a program returns: the HTTP status of each call by operation id, and the error code of a missing user. */
export type Used = { statuses: Record<string, number>; missing: string; words: string[] }
export type Use = (baseUrl: string) => Promise<Used>

const PAYMENT = `{ from_user_id: '${ASHA}', to_user_id: '${ROHAN}', benif_bank_id: '${ROHANS_ACCOUNT}', amount: 12.5 }`
const KYC = `{ user_id: '${ASHA}', kyc: [{ document_type: 'tid', document_name: 'pan', document_number: 'XXXPX1234A', dateOfBirth: '17-05-1990', Nationality: 'Indian', nameOnCard: 'Asha Nair' }] }`
const HOOK = `{ url: 'http://127.0.0.1:9/hook', webhook_secret: 'secret' }`

/** What the types of both clients must allow. */
const READS = `
  const user: string = created.data!.data.user_type
  const pid: string | null = created.data!.data.pid
  const bank: string = added.data!.data.data.metadata?.response.data.result.accountName ?? ''
  const drop: null | object = added.data!.data.data.metadata
  const kyc: string | undefined = checked.data!.data[0]?.data.kyc_status
  const pan: unknown = checked.data!.data[0]?.data.metadata?.response.data.result?.['panStatus']
  const vp: unknown = checked.data!.data[0]?.data.vp
  const code: number = created.data!.code
  const words: string[] = listed.data!.data.transactions.map((row) => row.transaction_status)
  for (const { status } of history.data!.data.transactions) {
    // The contract lists all words of this field.
    const known: 'PENDING' | 'PROCESSING' | 'SUCCESS' | 'FAILED' = status
    words.push(known)
  }
  void [user, pid, bank, drop, kyc, pan, vp, code]
`

export const OPENAPI_FETCH = `
import createClient from 'openapi-fetch'
import type { paths } from './generated'

export async function use(baseUrl: string) {
  const { GET, POST, PUT } = createClient<paths>({ baseUrl, headers: { Authorization: 'Bearer sbx_test_token' } })
  const statuses: Record<string, number> = {}
  const noted = async <T extends { response: Response }>(id: string, call: Promise<T>) => {
    const answer = await call
    statuses[id] = answer.response.status
    return answer
  }
  const created = await noted('createUser', POST('/user', { body: { email: 'new@example.com', mobile: '+919812345678' } }))
  const path = { userId: '${ASHA}' }
  await noted('getUser', GET('/user/{userId}', { params: { path } }))
  await noted('listUsers', GET('/users', { params: { query: { page: 1 } } }))
  const checked = await noted('submitKyc', POST('/kyc', { body: ${KYC} }))
  await noted('getKyc', GET('/kyc/{userId}', { params: { path } }))
  const added = await noted('addBankAccount', POST('/bank', { body: { user_id: '${ASHA}', account_number: '000011112222', ifsc_code: 'HDFC0000001' } }))
  await noted('listBankAccounts', GET('/bank/{userId}', { params: { path } }))
  for (let i = 0; i < 10; i++) await POST('/transaction', { body: ${PAYMENT} })
  const paid = await noted('createTransaction', POST('/transaction', { body: ${PAYMENT} }))
  const listed = await noted('listTransactions', GET('/transaction', { params: { query: { limit: 100 } } }))
  const transaction_id = paid.data!.data[0]!.transaction_id
  await noted('getTransaction', GET('/transaction/{transaction_id}', { params: { path: { transaction_id } } }))
  const history = await noted('listTransactionHistory', GET('/transaction/history', { params: { query: { type: 'debit', limit: 100 } } }))
  await noted('listUserTransactionHistory', GET('/transaction/history/user/{userId}', { params: { path } }))
  await noted('getClientProfile', GET('/client/profile'))
  await noted('createWebhook', POST('/clientWebhook', { body: ${HOOK} }))
  await noted('getWebhook', GET('/clientWebhook'))
  await noted('updateWebhook', PUT('/clientWebhook', { body: { url: 'http://127.0.0.1:9/other' } }))
  ${READS}
  // @ts-expect-error an unknown user type
  void (() => POST('/user', { body: { email: 'x@example.com', mobile: '+919812345679', user_type: 'robot' } }))
  const { error } = await GET('/user/{userId}', { params: { path: { userId: '${ROHANS_ACCOUNT}' } } })
  const missing: string = error!.error
  return { statuses, missing, words }
}
`

export const HEY_API = `
import { createClient } from './generated/client'
import * as sdk from './generated/sdk.gen'

export async function use(baseUrl: string) {
  const client = createClient({ baseUrl, headers: { Authorization: 'Bearer sbx_test_token' } })
  const statuses: Record<string, number> = {}
  const noted = async <T extends { response?: Response }>(id: string, call: Promise<T>) => {
    const answer = await call
    statuses[id] = answer.response?.status ?? 0
    return answer
  }
  // An invalid response throws.
  const common = { client, throwOnError: true } as const
  const path = { userId: '${ASHA}' }
  const created = await noted('createUser', sdk.createUser({ ...common, body: { email: 'new@example.com', mobile: '+919812345678' } }))
  await noted('getUser', sdk.getUser({ ...common, path }))
  await noted('listUsers', sdk.listUsers({ ...common, query: { page: 1 } }))
  const checked = await noted('submitKyc', sdk.submitKyc({ ...common, body: ${KYC} }))
  await noted('getKyc', sdk.getKyc({ ...common, path }))
  const added = await noted('addBankAccount', sdk.addBankAccount({ ...common, body: { user_id: '${ASHA}', account_number: '000011112222', ifsc_code: 'HDFC0000001' } }))
  await noted('listBankAccounts', sdk.listBankAccounts({ ...common, path }))
  for (let i = 0; i < 10; i++) await sdk.createTransaction({ ...common, body: ${PAYMENT} })
  const paid = await noted('createTransaction', sdk.createTransaction({ ...common, body: ${PAYMENT} }))
  const listed = await noted('listTransactions', sdk.listTransactions({ ...common, query: { limit: 100 } }))
  const transaction_id = paid.data.data[0]!.transaction_id
  await noted('getTransaction', sdk.getTransaction({ ...common, path: { transaction_id } }))
  const history = await noted('listTransactionHistory', sdk.listTransactionHistory({ ...common, query: { type: 'debit', limit: 100 } }))
  await noted('listUserTransactionHistory', sdk.listUserTransactionHistory({ ...common, path }))
  await noted('getClientProfile', sdk.getClientProfile(common))
  await noted('createWebhook', sdk.createWebhook({ ...common, body: ${HOOK} }))
  await noted('getWebhook', sdk.getWebhook(common))
  await noted('updateWebhook', sdk.updateWebhook({ ...common, body: { url: 'http://127.0.0.1:9/other' } }))
  ${READS}
  // @ts-expect-error an unknown user type
  void (() => sdk.createUser({ client, body: { email: 'x@example.com', mobile: '+919812345679', user_type: 'robot' } }))
  const { error } = await sdk.getUser({ client, path: { userId: '${ROHANS_ACCOUNT}' } })
  const missing: string = error!.error
  return { statuses, missing, words }
}
`

export const ADMIN = `
import { createClient } from './generated/client'
import { advanceClock, getClock, listRules, pushRule, setScenario, simulateTransaction } from './generated/sdk.gen'
import type { Clock, FiredResponse } from './generated/types.gen'

export async function use(baseUrl: string) {
  const client = createClient({ baseUrl, headers: { 'X-Admin-Token': 'secret' } })
  const clock: Clock | undefined = (await getClock({ client })).data
  const moved: FiredResponse | undefined = (await advanceClock({ client, body: { by: '2d' } })).data
  const rule = await pushRule({ client, body: { name: 'one', when: { operation: 'listUsers' }, then: { respond: { status: 503 } } } })
  const rules = await listRules({ client })
  const scenario = await setScenario({ client, body: { name: 'slow' } })
  const refused = await simulateTransaction({ client, path: { id: '${ROHAN}' }, body: { status: 'SUCCESS' } })
  // @ts-expect-error an unknown status
  await simulateTransaction({ client, path: { id: '${ROHAN}' }, body: { status: 'LOST' } })
  return {
    mode: clock?.mode,
    now: moved?.now,
    rules: rules.data?.rules.map(({ rule_id }) => rule_id === rule.data?.rule_id),
    scenario: scenario.data?.name,
    refused: refused.error?.error,
  }
}
`

/** The TypeScript of docs/first-payout.md; `types.test.ts` checks the type of the library. */
export const ON_PAGE = `
${/```ts\n([\s\S]*?)```/
  .exec(readFileSync(join(PACKAGE_ROOT, 'docs/first-payout.md'), 'utf8'))![1]!
  .replace("'./payouts'", "'./generated'")
  .replace(
    /import type { RunningSandbox }.*/,
    'type RunningSandbox = { url: string; token: string }',
  )}
export async function use(url: string) {
  const { data } = await payoutsOf({ url, token: 'sbx_test_token' }).GET('/client/profile')
  return data?.data.name
}
`

/** Knows no address but that of its document. */
export const SERVED = `
import { listUsers } from './generated/sdk.gen'

export const use = async () => (await listUsers()).data?.data.total_users
`
