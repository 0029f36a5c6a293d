import type * as z from 'zod'
import type { AddBankAccountResponse } from '../../model/bank-account.ts'
import type { SubmitKycResponse } from '../../model/kyc.ts'
import type { TransactionsResponse } from '../../model/transaction.ts'
import type { CreateUserResponse } from '../../model/user.ts'
import type { UpdatedWebhookResponse } from '../../model/webhook.ts'

// The error of a call that was rejected or got no response.

type FieldError = { field: string; message: string }

/** A call that was rejected, also with what is wrong with each field, or got no response (status 0). */
export class CallError extends Error {
  readonly status: number
  readonly fields: readonly FieldError[]
  constructor(status: number, message: string, fields: readonly FieldError[] = []) {
    super(message)
    this.status = status
    this.fields = fields
  }
}

export const GONE_TEXT = "The sandbox doesn't respond. Is it running?"

export type ErrorBody = {
  message?: string
  error?: string
  /** The wrong fields; `message` names only the first. */
  errors?: readonly FieldError[]
}

/** Returns the body of an error response; an empty object if it is not JSON. */
export async function errorBodyOf(response: Response): Promise<ErrorBody> {
  try {
    return await response.json()
  } catch {
    return {}
  }
}

export const fieldsText = (fields: readonly FieldError[]): string =>
  `${fields.map(({ field, message }) => `${field} ${message}`).join('. ')}.`

export function errorOf(status: number, { message, errors }: ErrorBody): CallError {
  const fields = Array.isArray(errors) ? errors : []
  const all = fields.length > 1 ? fieldsText(fields) : message
  return new CallError(status, all ?? `The server responded with ${status}.`, fields)
}

// Calls of the service, which the page sends as an integration does: rules and faults act on them.

export const SERVICE_ROOT = '/v1'

/** The responses of the calls that the page sends, unless a rule replaces them. */
export type ServiceResponses = {
  createUser: z.output<typeof CreateUserResponse>
  addBankAccount: z.output<typeof AddBankAccountResponse>
  submitKyc: z.output<typeof SubmitKycResponse>
  createTransaction: z.output<typeof TransactionsResponse>
  createWebhook: z.output<typeof UpdatedWebhookResponse>
  updateWebhook: z.output<typeof UpdatedWebhookResponse>
}

export type ServiceCallId = keyof ServiceResponses

const ROUTES: Readonly<Record<ServiceCallId, readonly [method: 'POST' | 'PUT', path: string]>> = {
  createUser: ['POST', '/user'],
  addBankAccount: ['POST', '/bank'],
  submitKyc: ['POST', '/kyc'],
  createTransaction: ['POST', '/transaction'],
  createWebhook: ['POST', '/clientWebhook'],
  updateWebhook: ['PUT', '/clientWebhook'],
}

/** Creates a call of the service; the sandbox validates its body. */
export function serviceCall<Id extends ServiceCallId>(id: Id, body: object) {
  const [method, path] = ROUTES[id]
  return { id, method, root: SERVICE_ROOT, path, body } as const
}

export const isServiceCall = ({ root }: { root: string }): boolean => root === SERVICE_ROOT

let accessToken: string

export const serviceHeaders = () => ({ authorization: `Bearer ${accessToken}` })

export function setAccessToken(token: string) {
  accessToken = token
}

/** Fetches from the service. Throws `CallError`. */
export async function fetchService(url: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, { ...init, headers: { ...init.headers, ...serviceHeaders() } })
  } catch {
    // Only a sandbox that still responds can have ended the connection by a rule.
    const isThere = await fetch('/__admin/health').then(
      () => true,
      () => false,
    )
    throw new CallError(
      0,
      isThere
        ? 'The connection ended without a response. Requests shows whether a rule did this.'
        : GONE_TEXT,
    )
  }
  if (response.ok) return response
  throw errorOf(response.status, await errorBodyOf(response))
}
