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

/** How a response is broken: the words of `fault`. */
export const FAULTS = ['reset', 'hang', 'empty', 'malformed', 'truncate'] as const

/** The operations that create a row. */
export const CREATING = ['createUser', 'submitKyc', 'addBankAccount', 'createTransaction'] as const

/** Returns the events that a pattern matches: a name, `transaction.*`, or `*`. Returns none for an unknown name. */
export function eventsOf(pattern = '*'): readonly EventName[] {
  if (!pattern.endsWith('*')) return EVENTS.filter((event) => event === pattern)
  return EVENTS.filter((event) => event.startsWith(pattern.slice(0, -1)))
}

/** The parts of a call that `when` can test, besides `operation`. */
export const CALL_PARTS = ['params', 'query', 'headers', 'body', 'item', 'user', 'account'] as const
export type CallPart = (typeof CALL_PARTS)[number]

/** The parts of an event that the `when` of a webhook rule can test, besides `event`. */
export const EVENT_PARTS = ['data', 'user', 'account'] as const
export type EventPart = (typeof EVENT_PARTS)[number]

/** The shortest `every` of a timeline, ms. Each repeat is a timer, so with a shorter one an advance of a month would never end. */
export const MIN_REPEAT_MS = 100
/** The most users that one action creates. */
export const MAX_CREATED_USERS = 1_000
/** The most runs of a repeated entry. */
export const MAX_TIMES = 1_000_000
