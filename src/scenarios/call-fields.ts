// scenarios/: the language of scenarios: its schemas and messages, its operators, how a rule matches a call or an event,
// and what is decided about it. It knows no client; that is active-scenario/.

import * as z from 'zod'
import { AddBankAccount, BankAccountRow } from '../model/bank-account.ts'
import { KycItem, SubmitKyc } from '../model/kyc.ts'
import {
  CreateTransaction,
  HistoryQuery,
  TransactionQuery,
  UserHistoryQuery,
} from '../model/transaction.ts'
import { CreateUser, UserQuery, UserRow } from '../model/user.ts'
import { fieldErrors, safeParse } from '../model/validation-errors.ts'
import { CreateWebhook, UpdateWebhook } from '../model/webhook.ts'
import { OPERATIONS, type OperationId, type Part } from './operations-and-events.ts'

type Fields = { readonly shape: z.core.$ZodShape }
type ByOperation = Readonly<Partial<Record<OperationId, Fields>>>

const BODY: ByOperation = {
  createUser: CreateUser,
  createTransaction: CreateTransaction,
  submitKyc: SubmitKyc,
  addBankAccount: AddBankAccount,
  createWebhook: CreateWebhook,
  updateWebhook: UpdateWebhook,
}
const QUERY: ByOperation = {
  listUsers: UserQuery,
  listTransactions: TransactionQuery,
  listTransactionHistory: HistoryQuery,
  listUserTransactionHistory: UserHistoryQuery,
}
const UserPath = z.object({ userId: z.string() })
const PARAMS: ByOperation = {
  getUser: UserPath,
  getTransaction: z.object({ transaction_id: z.string() }),
  listUserTransactionHistory: UserPath,
  getKyc: UserPath,
  listBankAccounts: UserPath,
}

/** The operations that have a part, for the parts that not all operations have. */
export const OPERATIONS_WITH: Readonly<
  Record<'body' | 'user' | 'account', readonly OperationId[]>
> = {
  body: Object.keys(BODY) as OperationId[],
  user: [
    'createTransaction',
    'submitKyc',
    'addBankAccount',
    'getUser',
    'getKyc',
    'listBankAccounts',
    'listUserTransactionHistory',
  ],
  account: ['createTransaction'],
}

/** The schemas of each part: the same for every operation, or by operation. Another part may have any fields. */
const SCHEMAS_OF: Readonly<Partial<Record<Part, (one: OperationId) => Fields | undefined>>> = {
  user: () => UserRow,
  account: () => BankAccountRow,
  item: () => KycItem,
  params: (one) => PARAMS[one],
  query: (one) => QUERY[one],
  body: (one) => BODY[one],
}
/** The parts that have no other fields than these. */
const CLOSED = new Set<Part>(['user', 'account', 'params'])

/** Returns the fields that the contract defines for one part of the calls of these operations; `undefined` for a part that may have any fields. */
export function fieldsOf(part: Part, operations: readonly OperationId[]) {
  const schemaOf = SCHEMAS_OF[part]
  if (!schemaOf) return undefined
  const fields = operations.flatMap((one) => Object.keys(schemaOf(one)?.shape ?? {}))
  return { fields: [...new Set(fields)], closed: CLOSED.has(part) }
}

/** What is wrong with a value of a field of a body or a document, if no call of these operations can have it. */
export function problemOfValue(
  part: Part,
  operations: readonly OperationId[],
  field: string,
  value: unknown,
): string | undefined {
  const schemaOf = part === 'body' || part === 'item' ? SCHEMAS_OF[part] : undefined
  const parts = operations.flatMap((one) => schemaOf?.(one) ?? [])
  const schemas = parts.flatMap(({ shape }) => (shape[field] as z.ZodType | undefined) ?? [])
  const problems = schemas.map((schema) => safeParse(schema, value).error)
  const [first] = problems
  return first && problems.every(Boolean) ? fieldErrors(first, value)[0]!.message : undefined
}

/** Whether a field of this part has a plain value in every call, so that a condition on it has no fields. Only `kyc` is a list. */
export const isPlainField = (part: Part, field: string): boolean =>
  field !== 'kyc' && fieldsOf(part, OPERATIONS)?.fields.includes(field) === true

/** Whether a field contains text that can look like a number, such as an account number; such a value must be quoted in a file. */
export const isTextField = (field: string): boolean =>
  /(?:_id|_number|_code|_type|Id)$|^(?:utr|mobile|pid|tid|pan|aadhaar|aadhar|dateOfBirth|email)$/.test(
    field,
  )
