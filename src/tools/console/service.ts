import type * as z from 'zod'
import type { AddBankAccountResponse } from '../../model/bank-account.ts'
import type { SubmitKycResponse } from '../../model/kyc.ts'
import type { TransactionsResponse } from '../../model/transaction.ts'
import type { CreateUserResponse } from '../../model/user.ts'
import type { UpdatedWebhookResponse } from '../../model/webhook.ts'

// The error of a call that was rejected or got no response.

/** A call that was rejected, or got no response (status 0). */
export class CallError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The message of a call that reached no sandbox. */
export const GONE_TEXT = "The sandbox doesn't respond. Is it running?"

export type ErrorBody = {
  message?: string
  error?: string
  /** The wrong fields; `message` names only the first. */
  errors?: readonly { field: string; message: string }[]
}

/** Returns the body of an error response; an empty object if it is not JSON. */
export async function errorBodyOf(response: Response): Promise<ErrorBody> {
  try {
    return await response.json()
  } catch {
    return {}
  }
}

/** Returns the error of a rejected call, with the message of each wrong field. */
export function errorOf(status: number, { message, errors }: ErrorBody): CallError {
  const all =
    Array.isArray(errors) && errors.length > 1
      ? `${errors.map((one) => `${one.field} ${one.message}`).join('. ')}.`
      : message
  return new CallError(status, all ?? `The server responded with ${status}.`)
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

/** Sets the access token of all later calls. */
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
