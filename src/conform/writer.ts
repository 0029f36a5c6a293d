import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../model/errors.ts'
import { Uuid } from '../model/formats.ts'
import { valueAt } from '../model/validation-errors.ts'
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

/** The operations that all writes of a run share. */
export function createWriter(session: Session) {
  const { findings } = session
  const created = new Map<string, CreatedResource>()

  /** Stores the ids that a POST created, even if it should have failed. */
  function storeIds(id: string, body: unknown) {
    for (const path of ID_PATHS[id] ?? []) {
      const found = valueAt(body, path)
      if (typeof found === 'string' && Uuid.safeParse(found).success)
        created.set(found, { endpoint: endpointOf(session.opOf(id)), id: found })
    }
  }

  return {
    session,
    findings,
    created: () => [...created.values()],
    /** Sends a POST with an Idempotency-Key, checks the response, and sends it again. */
    async create(id: string, body: object, allowedErrors?: AllowedErrors) {
      const call: ConformCall = { body, headers: { 'idempotency-key': randomUUID() } }
      const found = await session.expectSuccess(id, call, allowedErrors)
      if (!found) return undefined
      storeIds(id, found.body)
      storeIds(id, await session.expectRepeat(id, call, found.text))
      return { ...found, call }
    },
    /** Sends a POST that the sandbox rejects with this error code; `call` describes the error. */
    async expectError(
      id: string,
      errorCode: ErrorCode,
      call: string,
      body: unknown,
      headers?: ConformCall['headers'],
    ) {
      storeIds(
        id,
        await session.expectError(id, errorCode, { body, call, ...(headers && { headers }) }),
      )
    },
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
