/** The method and path of each operation, as the contract names it. */
export const ENDPOINT_OF = {
  createUser: 'POST /user',
  getUser: 'GET /user/:userId',
  listUsers: 'GET /users',
  createTransaction: 'POST /transaction',
  listTransactions: 'GET /transaction',
  getTransaction: 'GET /transaction/:transaction_id',
  listTransactionHistory: 'GET /transaction/history',
  listUserTransactionHistory: 'GET /transaction/history/user/:userId',
  submitKyc: 'POST /kyc',
  getKyc: 'GET /kyc/:userId',
  addBankAccount: 'POST /bank',
  listBankAccounts: 'GET /bank/:userId',
  getClientProfile: 'GET /client/profile',
  createWebhook: 'POST /clientWebhook',
  getWebhook: 'GET /clientWebhook',
  updateWebhook: 'PUT /clientWebhook',
} as const
export type OperationId = keyof typeof ENDPOINT_OF
type EndpointName = (typeof ENDPOINT_OF)[OperationId]

/** The operations that a rule can name: the operationIds of the OpenAPI document. */
export const OPERATIONS = Object.keys(ENDPOINT_OF) as [OperationId, ...OperationId[]]
export const ENDPOINTS = Object.values(ENDPOINT_OF) as [EndpointName, ...EndpointName[]]

/** The operationId of an endpoint such as `POST /kyc`; any other value as it is. */
export function operationNamed(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes(' ')) return value
  const endpoint = value
    .trim()
    .replace(/ +(?:\/v1)?/, ' ')
    .replace(/\{(\w+)\}/g, ':$1')
  return OPERATIONS.find((id) => ENDPOINT_OF[id] === endpoint) ?? value
}

/** A condition on the name of an operation, with operationIds in place of endpoints. */
export const operationCondition = (condition: unknown): unknown => {
  if (Array.isArray(condition)) return condition.map(operationNamed)
  if (typeof condition !== 'object' || condition === null) return operationNamed(condition)
  const named = Object.entries(condition).map(([operator, argument]) => [
    operator,
    ['eq', 'ne', 'in'].includes(operator) ? operationCondition(argument) : argument,
  ])
  return Object.fromEntries(named)
}

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

export const FAULTS = ['reset', 'hang', 'empty', 'malformed', 'truncate'] as const

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
export type Part = CallPart | EventPart

/** The shortest `every` of a timeline, ms. Each repeat is a timer, so with a shorter one an advance of a month would never end. */
export const MIN_REPEAT_MS = 100
export const MAX_CREATED_USERS = 1_000
export const MAX_TIMES = 1_000_000
