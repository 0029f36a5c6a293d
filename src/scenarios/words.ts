/** The operations that a rule can name: the operationIds of the OpenAPI document. */
export const OPERATIONS = [
  'createUser',
  'getUser',
  'listUsers',
  'createTransaction',
  'listTransactions',
  'getTransaction',
  'listTransactionHistory',
  'listUserTransactionHistory',
  'submitKyc',
  'getKyc',
  'addBankAccount',
  'listBankAccounts',
  'getClientProfile',
  'createWebhook',
  'getWebhook',
  'updateWebhook',
] as const
export type OperationId = (typeof OPERATIONS)[number]

/** All event types. */
export const EVENTS = [
  'transaction.pending',
  'transaction.processing',
  'transaction.success',
  'transaction.failed',
  'kyc.pending',
  'kyc.success',
  'kyc.failed',
  'bank.pending',
  'bank.success',
  'bank.failed',
  'user.created',
  'webhook.test',
] as const
export type EventName = (typeof EVENTS)[number]

/** The operators of conditions. An object whose keys are all operators is a comparison. */
export const OPERATORS = [
  'eq',
  'ne',
  'in',
  'gt',
  'gte',
  'lt',
  'lte',
  'starts_with',
  'ends_with',
  'contains',
  'matches',
  'empty',
  'absent',
  'paise',
] as const
export type Operator = (typeof OPERATORS)[number]

/** The parts of a call that `when` can test, besides `operation`. */
export const CALL_PARTS = ['params', 'query', 'headers', 'body', 'item', 'user', 'account'] as const
export type CallPart = (typeof CALL_PARTS)[number]

/** The parts of an event that the `when` of a webhook rule can test, besides `event`. */
export const EVENT_PARTS = ['data', 'user', 'account'] as const
export type EventPart = (typeof EVENT_PARTS)[number]

const USER = [
  'user_id',
  'user_type',
  'email',
  'mobile',
  'pid',
  'tid',
  'bank_id',
  'created_at',
  'updated_at',
]
const ACCOUNT = [
  'bank_id',
  'user_id',
  'account_number',
  'ifsc_code',
  'bank_status',
  'account_name',
  'created_at',
  'updated_at',
]
const ITEM = [
  'document_type',
  'document_name',
  'document_number',
  'dateOfBirth',
  'Nationality',
  'nameOnCard',
]
const PAYMENT = [
  'from_user_id',
  'to_user_id',
  'benif_bank_id',
  'amount',
  'reference_id',
  'remark',
  'currency_code',
]

const BODY: Partial<Record<OperationId, readonly string[]>> = {
  createUser: ['email', 'mobile', 'user_type'],
  createTransaction: PAYMENT,
  submitKyc: ['user_id', 'kyc'],
  addBankAccount: ['user_id', 'account_number', 'ifsc_code'],
  createWebhook: ['url', 'webhook_secret'],
  updateWebhook: ['url', 'webhook_secret'],
}
const PARAMS: Partial<Record<OperationId, readonly string[]>> = {
  getUser: ['userId'],
  getTransaction: ['transaction_id'],
  listUserTransactionHistory: ['userId'],
  getKyc: ['userId'],
  listBankAccounts: ['userId'],
}
const QUERY: Partial<Record<OperationId, readonly string[]>> = {
  listUsers: ['page', 'limit'],
  listTransactions: ['page', 'limit'],
  listTransactionHistory: ['type', 'page', 'limit'],
  listUserTransactionHistory: ['page', 'limit'],
}

const fieldsIn = (
  table: Partial<Record<OperationId, readonly string[]>>,
  operations: readonly OperationId[],
) => [...new Set(operations.flatMap((operation) => table[operation] ?? []))]

/**
 * Returns the fields that the contract defines for one part of the calls of these operations.
 *
 * `closed`: the part has no other fields. Returns `undefined` for a part that may have any fields.
 */
export function fieldsOf(
  part: CallPart | EventPart,
  operations: readonly OperationId[],
): { fields: readonly string[]; closed: boolean } | undefined {
  if (part === 'user') return { fields: USER, closed: true }
  if (part === 'account') return { fields: ACCOUNT, closed: true }
  if (part === 'item') return { fields: ITEM, closed: false }
  if (part === 'params') return { fields: fieldsIn(PARAMS, operations), closed: true }
  if (part === 'query') return { fields: fieldsIn(QUERY, operations), closed: false }
  if (part === 'body') return { fields: fieldsIn(BODY, operations), closed: false }
  return undefined
}

/** Whether a field contains text that can look like a number, such as an account number; such a value must be quoted in a file. */
export const isTextField = (field: string): boolean =>
  /(?:_id|_number|_code|_type|Id)$|^(?:utr|mobile|pid|tid|pan|aadhaar|aadhar|dateOfBirth|email)$/.test(
    field,
  )
