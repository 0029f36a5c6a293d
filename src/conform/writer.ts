import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../model/errors.ts'
import { valueAt } from '../model/issues.ts'
import { Uuid } from '../model/text.ts'
import { endpointOf, type Place } from './findings.ts'
import type { Call, MayRefuse, Session } from './session.ts'

/** What was made on the service, and stays there. */
export type Made = { endpoint: string; id: string }

/** Where the answer of a POST tells the ids of what it made. */
const IDS_AT: Readonly<Record<string, readonly (readonly PropertyKey[])[]>> = {
  createUser: [['data', 'user_id']],
  submitKyc: [0, 1].map((i) => ['data', i, 'data', 'kyc_id']),
  addBankAccount: [['data', 'data', 'bank_id']],
  createTransaction: [['data', 0, 'transaction_id']],
  createWebhook: [['updatedWebhook', 'response', 'data', 'webhook_id']],
}

/** What the writing part of a run does again and again. */
export function createWriter(session: Session) {
  const { findings } = session
  const made = new Map<string, Made>()

  /** Keeps what a POST made, also where it should have been refused. */
  function keep(id: string, body: unknown) {
    for (const path of IDS_AT[id] ?? []) {
      const found = valueAt(body, path)
      if (typeof found === 'string' && Uuid.safeParse(found).success)
        made.set(found, { endpoint: endpointOf(session.opOf(id)), id: found })
    }
  }

  return {
    session,
    findings,
    made: () => [...made.values()],
    /** Sends a POST with a key, holds the answer, and sends it once more. */
    async create(id: string, body: object, mayRefuse?: MayRefuse) {
      const call: Call = { body, headers: { 'idempotency-key': randomUUID() } }
      const found = await session.succeed(id, call, mayRefuse)
      if (!found) return undefined
      keep(id, found.body)
      keep(id, await session.again(id, call, found.text))
      return { ...found, call }
    },
    /** Sends what the sandbox refuses with a word; `call` says what is wrong with it. */
    async refused(
      id: string,
      word: ErrorCode,
      call: string,
      body: unknown,
      headers?: Call['headers'],
    ) {
      keep(id, await session.refuse(id, word, { body, call, ...(headers && { headers }) }))
    },
    /** No answer shows a number or a secret as it was sent. */
    holdHidden({ place, text }: { place: Place; text: string }, hidden: readonly string[]) {
      if (hidden.some((one) => text.includes(one)))
        findings.differs(place, 'body', 'no number or secret in full', 'one as it was sent')
    },
  }
}

export type Writer = ReturnType<typeof createWriter>
