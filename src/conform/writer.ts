import { randomUUID } from 'node:crypto'
import type { ErrorWord } from '../model/errors.ts'
import { Uuid } from '../model/text.ts'
import { endpointOf, type Place } from './findings.ts'
import type { Call, MayRefuse, Session } from './session.ts'

/** What was made on the service, and stays there. */
export type Made = { endpoint: string; id: string }

/** What the writing part of a run does again and again. */
export function createWriter(session: Session) {
  const { findings } = session
  const made: Made[] = []
  return {
    session,
    findings,
    made,
    /** Keeps the id of what was made; answers with it where it is one. */
    keep(id: string, found: unknown): string | undefined {
      if (!Uuid.safeParse(found).success) return undefined
      made.push({ endpoint: endpointOf(session.opOf(id)), id: String(found) })
      return String(found)
    },
    /** Sends a POST with a key, holds the answer, and sends it once more. */
    async create(id: string, body: object, mayRefuse?: MayRefuse) {
      const call: Call = { body, headers: { 'idempotency-key': randomUUID() } }
      const found = await session.succeed(id, call, mayRefuse)
      if (found) await session.again(id, call, found.text)
      return found && { ...found, call }
    },
    /** Sends what the sandbox refuses with a word; `call` says what is wrong with it. */
    refused: (
      id: string,
      word: ErrorWord,
      call: string,
      body: unknown,
      headers?: Call['headers'],
    ) => session.refuse(id, word, { body, call, ...(headers && { headers }) }),
    /** No answer shows a number as it was sent. */
    holdHidden({ place, text }: { place: Place; text: string }, numbers: readonly string[]) {
      if (numbers.some((number) => text.includes(number)))
        findings.differs(place, 'body', 'masked numbers', 'a number as it was sent')
    },
  }
}

export type Writer = ReturnType<typeof createWriter>
