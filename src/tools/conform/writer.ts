import { randomInt, randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../model/errors.ts'
import { Uuid } from '../../model/formats.ts'
import { valueAt } from '../../model/validation-errors.ts'
import { endpointOf, type FindingSource } from './findings.ts'
import type { AllowedErrors, ConformCall, Session } from './session.ts'

/** A resource that was created on the service and not deleted. */
export type CreatedResource = { endpoint: string; id: string }

/** The paths of the created ids in the response of each POST. */
const ID_PATHS: Readonly<Record<string, readonly (readonly PropertyKey[])[]>> = {
  createUser: [['data', 'user_id']],
  submitKyc: [0, 1].map((i) => ['data', i, 'data', 'kyc_id']),
  addBankAccount: [['data', 'data', 'bank_id']],
  createTransaction: [['data', 0, 'transaction_id']],
  createWebhook: [['updatedWebhook', 'response', 'data', 'webhook_id']],
}

/** The resources that POSTs created, also those that should have failed. */
export function createdBy(session: Session): CreatedResource[] {
  const created = new Map<string, CreatedResource>()
  for (const { op, body } of session.exchanges()) {
    for (const path of ID_PATHS[op.id] ?? []) {
      const found = valueAt(body, path)
      if (typeof found === 'string' && Uuid.safeParse(found).success)
        created.set(found, { endpoint: endpointOf(op), id: found })
    }
  }
  return [...created.values()]
}

export const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('')

/** The input of a user that does not exist yet. */
export const newUser = () => ({
  email: `conform-${randomUUID()}@example.com`,
  mobile: `+919${digits(9)}`,
})

/** The operations that all writes of a run share. */
export function createWriter(session: Session) {
  const { findings } = session
  return {
    session,
    findings,
    /** Sends a POST with an Idempotency-Key and checks the response. */
    create(id: string, body: object, allowedErrors?: AllowedErrors) {
      const headers = { 'idempotency-key': randomUUID() }
      return session.expectSuccess(id, { body, headers }, allowedErrors)
    },
    /** Sends a POST that the sandbox rejects with this error code; `call` describes the error. */
    expectError: (
      id: string,
      errorCode: ErrorCode,
      call: string,
      body: unknown,
      headers?: ConformCall['headers'],
    ) => session.expectError(id, errorCode, { body, call, ...(headers && { headers }) }),
    /** Checks that a response contains none of these numbers and secrets unmasked. */
    checkMasked(
      { source, text }: { source: FindingSource; text: string },
      secrets: readonly string[],
    ) {
      if (secrets.some((one) => text.includes(one)))
        findings.addDifference(
          source,
          'body',
          'no unmasked number or secret',
          'a value as it was sent',
        )
    },
  }
}

export type Writer = ReturnType<typeof createWriter>
