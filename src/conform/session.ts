import type * as z from 'zod'
import type { Operation } from '../http/operation.ts'
import { ErrorResponse } from '../model/envelope.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import { valueAt } from '../model/issues.ts'
import { type Answer, type AskerDeps, createAsker } from './ask.ts'
import { createFindings, endpointOf, type Place } from './findings.ts'
import { holdShape, visitLists } from './shape.ts'

/** How an endpoint is asked. */
export type Call = {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | number>>
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** In place of the token that was given; `null`: none. */
  token?: string | null
  /** In words, where it is not asked plainly. */
  call?: string
}

/** Statuses that are no difference from the contract: a note, or a reason why nothing was seen. */
export type MayRefuse = { statuses: readonly number[]; tell: 'note' | 'unseen' }

/** Nothing more is asked. */
export class StoppedAsking extends Error {}

const MAX_UNANSWERED = 3
const JSON_MEDIA = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

function pathOf({ url }: Operation, { params = {}, query = {} }: Call): string {
  const path = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) search.set(name, String(value))
  return search.size === 0 ? path : `${path}?${search}`
}

const isSuccess = (status: number) => status >= 200 && status <= 299

type Whole = { status: number; headers: Record<string, unknown>; text: string; body: unknown }

/** Asks the endpoints of a live service and holds what they answer against their operations. */
export function createSession(operations: readonly Operation[], deps: AskerDeps) {
  const { token } = deps
  const asker = createAsker(deps)
  const findings = createFindings(token)
  const held = new Set<Operation>()
  const lists = new Map<string, { op: Operation; field: string; rows: number }>()
  let unanswered = 0

  const opOf = (id: string) => operations.find((op) => op.id === id)!
  const placeOf = (op: Operation, { call, query = {} }: Call): Place => {
    const asked = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    return { op, call: call ?? asked.join('&') }
  }

  async function ask(op: Operation, call: Call): Promise<Answer> {
    const { body, headers, token: other } = call
    const answer = await asker.ask({
      method: op.method,
      path: pathOf(op, call),
      body,
      ...(headers && { headers }),
      ...(other !== undefined && { token: other }),
    })
    if (answer.problem !== undefined) unanswered++
    return answer
  }

  /** An answer that is whole and JSON, as all bodies are; what is wrong with it is told. */
  function whole(place: Place, answer: Answer): Whole | undefined {
    if (answer.problem !== undefined) {
      findings.differs(place, 'answer', 'a whole answer', answer.problem)
      if (unanswered >= MAX_UNANSWERED) throw new StoppedAsking(answer.problem)
      return undefined
    }
    const { headers, text } = answer
    const type = headers['content-type']
    if (!JSON_MEDIA.test(type ?? ''))
      findings.differs(
        place,
        'Content-Type',
        'application/json',
        findings.shown(type, 'content-type'),
      )
    try {
      return { ...answer, body: JSON.parse(text) }
    } catch {
      const length = text.length
      const found = length === 0 ? 'nothing' : `a text of ${length} characters that is no JSON`
      findings.differs(place, 'body', 'JSON', found)
      return undefined
    }
  }

  const statusText = (status: number, body: unknown) => {
    const word = valueAt(body, ['error'])
    return typeof word === 'string' ? `${status} ${findings.shown(word, 'error')}` : `${status}`
  }

  /** Why a call was refused for a reason that the contract leaves open; `undefined` for any other. */
  function allowedRefusal(status: number, call: Call): string | undefined {
    if (status === 429) return 'it answers 429, too many calls'
    const sentNone = call.token === null || (call.token === undefined && token === undefined)
    if (status === 401 && sentNone) return 'it wants a token: give --token'
    return undefined
  }

  return {
    opOf,
    findings,
    calls: asker.calls,
    /** The first call of all: what it answers, held against nothing. */
    ask: (id: string, call: Call = {}) => ask(opOf(id), call),

    /**
     * Asks for what should succeed and holds the answer. `mayRefuse`: statuses that the contract leaves room for, and
     * how they are told. Answers with the body, however wrong; `undefined` where it did not succeed.
     */
    async succeed(id: string, call: Call = {}, mayRefuse?: MayRefuse) {
      const op = opOf(id)
      const place = placeOf(op, call)
      const answer = whole(place, await ask(op, call))
      if (!answer) return undefined
      const { status, body } = answer
      if (status !== op.status) {
        const found = statusText(status, body)
        const may = mayRefuse?.statuses.includes(status) ? mayRefuse.tell : undefined
        const open = allowedRefusal(status, call) ?? (may === 'unseen' ? `refused: ${found}` : '')
        if (open !== '') findings.unseen(op, open)
        else {
          const tell = may === 'note' ? findings.note : findings.differs
          tell(place, 'HTTP status', `${op.status}`, found)
        }
        if (!isSuccess(status)) return undefined
      }
      held.add(op)
      findings.seen(op)
      holdShape(findings, place, op.response, body)
      visitLists(op.response, body, (field, length) => {
        const key = `${op.id} ${field}`
        const list = lists.get(key) ?? { op, field, rows: 0 }
        list.rows += length
        lists.set(key, list)
      })
      return { place, body, text: answer.text }
    },

    /**
     * Asks for what the sandbox refuses with a word, which is a default of ours. `contract`: the contract itself says
     * that it is refused, though not how. Answers with the body.
     */
    async refuse(id: string, word: ErrorCode, call: Call, { contract = false } = {}) {
      const op = opOf(id)
      const place = placeOf(op, call)
      const answer = whole(place, await ask(op, call))
      if (!answer) return undefined
      const { status, body, headers } = answer
      const [wanted] = ERRORS[word]
      const open = status === wanted ? undefined : allowedRefusal(status, call)
      if (open !== undefined) {
        findings.unseen(op, open)
        return body
      }
      if (status !== wanted) {
        const tell = contract && isSuccess(status) ? findings.differs : findings.note
        tell(place, 'HTTP status', `${wanted} ${word}`, statusText(status, body))
        return body
      }
      holdShape(findings, place, ErrorResponse as z.ZodType, body, { allOurs: true })
      const told = valueAt(body, ['error'])
      if (typeof told === 'string' && told !== word)
        findings.note(place, 'error', JSON.stringify(word), findings.shown(told, 'error'))
      const code = valueAt(body, ['code'])
      if (typeof code === 'number' && code !== wanted)
        findings.note(place, 'code', `${wanted}`, findings.shown(code, 'code'))
      if (word === 'unauthorized' && !/^bearer\b/i.test(String(headers['www-authenticate'])))
        findings.note(
          place,
          'WWW-Authenticate',
          'Bearer',
          findings.shown(headers['www-authenticate'], ''),
        )
      return body
    },

    /** Sends a POST again with the key that it had: by our defaults the stored answer comes again. Answers with the body. */
    async again(id: string, call: Call, first: string) {
      const op = opOf(id)
      const place = placeOf(op, { call: 'sent again with its Idempotency-Key' })
      const answer = whole(place, await ask(op, call))
      if (!answer) return undefined
      if (answer.status !== op.status || answer.text !== first)
        findings.note(
          place,
          'body',
          'the same answer again',
          answer.status === op.status ? 'another one' : statusText(answer.status, answer.body),
        )
      const replayed = answer.headers['idempotency-replayed']
      if (replayed !== 'true')
        findings.note(place, 'Idempotency-Replayed', 'true', findings.shown(replayed, ''))
      return answer.body
    },

    /** What was found, and what could not be looked at. */
    told(why: (op: Operation) => string) {
      const told = findings.told()
      const unseen = [...told.unseen]
      // What is wrong with an endpoint says enough of why nothing was held.
      const named = new Set([...unseen, ...told.differs].map(({ endpoint }) => endpoint))
      for (const { op, field, rows } of lists.values())
        if (rows === 0) unseen.push({ endpoint: endpointOf(op), why: `${field} was always empty` })
      for (const op of operations) {
        const endpoint = endpointOf(op)
        if (!held.has(op) && !named.has(endpoint)) unseen.push({ endpoint, why: why(op) })
      }
      return {
        calls: asker.calls(),
        held: operations.filter((op) => held.has(op)).map(endpointOf),
        ...told,
        unseen,
      }
    },
  }
}

export type Session = ReturnType<typeof createSession>
