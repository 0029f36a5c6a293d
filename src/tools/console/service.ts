// The error of a call that was rejected or got no response.
import { ENDPOINT_OF, type OperationId } from '../../scenarios/operations-and-events.ts'

type FieldError = { field: string; message: string }

/** A call that was rejected, also with what is wrong with each field, or got no response (status 0). */
export class CallError extends Error {
  readonly status: number
  readonly fields: readonly FieldError[]
  /** The code of the error, such as `receiver_busy`. */
  readonly code: string | undefined
  constructor(status: number, message: string, fields: readonly FieldError[] = [], code?: string) {
    super(message)
    this.status = status
    this.fields = fields
    this.code = code
  }
}

export const GONE_TEXT = "The sandbox doesn't respond. Is it running?"
const BROKEN_TEXT =
  'The connection ended without a response. Requests shows whether a rule did this.'

export type ErrorBody = {
  message?: string
  error?: string
  /** The wrong fields; `message` names only the first. */
  errors?: readonly FieldError[]
}

export const errorBodyOf = (response: Response): Promise<ErrorBody> =>
  response.json().catch(() => ({}))

export const fieldsText = (fields: readonly FieldError[]): string =>
  `${fields.map(({ field, message }) => `${field} ${message}`).join('. ')}.`

export function errorOf(status: number, { message, error, errors }: ErrorBody): CallError {
  const fields = Array.isArray(errors) ? errors : []
  const all = fields.length > 1 ? fieldsText(fields) : message
  return new CallError(status, all ?? `The server responded with ${status}.`, fields, error)
}

// Calls of the service, which the page sends as an integration does: rules and faults act on them.

export const SERVICE_ROOT = '/v1'

/** What operations make: its name, its view, and where the response has its id. */
const MADE: Readonly<Record<string, readonly [noun: string, view: string, ...string[]]>> = {
  createTransaction: ['a payment', 'payments', 'data', '0', 'transaction_id'],
  createUser: ['a user', 'users', 'data', 'user_id'],
  addBankAccount: ['a bank account of a user', 'users', 'data', 'data', 'user_id'],
  submitKyc: ['a KYC record of a user', 'users', 'data', '0', 'data', 'user_id'],
}

/** What a call of an operation has made, and its address, if the response has its id: a rule may have replaced it by anything. */
export function madeBy(operation: string | null, response: unknown) {
  const [noun, view, ...path] = MADE[operation ?? ''] ?? []
  const at = (value: unknown, name: string) => (value as Record<string, unknown> | null)?.[name]
  const id = path.reduce(at, response)
  return noun === undefined
    ? undefined
    : { noun, href: typeof id === 'string' ? `#/${view}/${id}` : undefined }
}

export const openMade = (operation: OperationId) => (response: unknown) => {
  const { href } = madeBy(operation, response) ?? {}
  if (href !== undefined) location.hash = href
}

/** A call that has no parameter in its path. */
export function serviceCall<Id extends OperationId>(id: Id, body: object) {
  const [method = '', path = ''] = ENDPOINT_OF[id].split(' ')
  return { id, method, root: SERVICE_ROOT, path, body } as const
}

export const isServiceCall = ({ root }: { root: string }): boolean => root === SERVICE_ROOT

let accessToken: string

export const serviceHeaders = () => ({ authorization: `Bearer ${accessToken}` })

export function setAccessToken(token: string) {
  accessToken = token
}

export async function fetchService(url: string, init: RequestInit): Promise<Response> {
  const headers = { ...init.headers, ...serviceHeaders() }
  const response = await fetch(url, { ...init, headers }).catch(async () => {
    // Only a sandbox that still responds can have ended the connection by a rule.
    const isThere = await fetch('/__admin/health').catch(() => undefined)
    throw new CallError(0, isThere ? BROKEN_TEXT : GONE_TEXT)
  })
  if (response.ok) return response
  throw errorOf(response.status, await errorBodyOf(response))
}
