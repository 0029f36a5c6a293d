import type * as z from 'zod'
import type { Operation } from '../http/operation.ts'
import { ErrorResponse } from '../model/envelope.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import { valueAt } from '../model/validation-errors.ts'
import { createFindings, endpointOf, type FindingSource } from './findings.ts'
import { type ConformResponse, createHttpClient, type HttpClientOptions } from './http-client.ts'
import { checkShape, visitLists } from './shape.ts'

/** A call of an endpoint. */
export type ConformCall = {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | number>>
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Overrides the session's token; `null` sends none. */
  token?: string | null
  /** A description for the report, if the query parameters do not describe the call. */
  call?: string
}

/** HTTP statuses that the contract allows, and how they are reported: as a note, or as an unchecked endpoint. */
export type AllowedErrors = { statuses: readonly number[]; reportAs: 'note' | 'unchecked' }

/** Too many calls had no response; no further call is made. */
export class ConformStopped extends Error {}

const MAX_CALLS_WITHOUT_RESPONSE = 3
const JSON_MEDIA = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

function pathOf({ url }: Operation, { params = {}, query = {} }: ConformCall): string {
  const path = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) search.set(name, String(value))
  return search.size === 0 ? path : `${path}?${search}`
}

const isSuccess = (status: number) => status >= 200 && status <= 299

type JsonResponse = {
  status: number
  headers: Record<string, unknown>
  text: string
  body: unknown
}

/** Calls the endpoints of a live service and checks the responses against the schemas of the operations. */
export function createSession(operations: readonly Operation[], options: HttpClientOptions) {
  const { token } = options
  const client = createHttpClient(options)
  const findings = createFindings(token)
  const checked = new Set<Operation>()
  const lists = new Map<string, { op: Operation; field: string; rows: number }>()
  let callsWithoutResponse = 0

  const opOf = (id: string) => operations.find((op) => op.id === id)!
  const sourceOf = (op: Operation, { call, query = {} }: ConformCall): FindingSource => {
    const params = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    return { op, call: call ?? params.join('&') }
  }

  async function send(op: Operation, call: ConformCall): Promise<ConformResponse> {
    const { body, headers, token: otherToken } = call
    const response = await client.send({
      method: op.method,
      path: pathOf(op, call),
      body,
      ...(headers && { headers }),
      ...(otherToken !== undefined && { token: otherToken }),
    })
    if (response.problem !== undefined) callsWithoutResponse++
    return response
  }

  /** Returns the response with its parsed body. Adds a finding and returns `undefined` if it is incomplete or not JSON. */
  function parseResponse(
    source: FindingSource,
    response: ConformResponse,
  ): JsonResponse | undefined {
    if (response.problem !== undefined) {
      findings.addDifference(source, 'response', 'a complete response', response.problem)
      if (callsWithoutResponse >= MAX_CALLS_WITHOUT_RESPONSE)
        throw new ConformStopped(response.problem)
      return undefined
    }
    const { headers, text } = response
    const type = headers['content-type']
    if (!JSON_MEDIA.test(type ?? ''))
      findings.addDifference(
        source,
        'Content-Type',
        'application/json',
        findings.formatValue(type, 'content-type'),
      )
    try {
      return { ...response, body: JSON.parse(text) }
    } catch {
      const length = text.length
      const found = length === 0 ? 'nothing' : `a text of ${length} characters that is not JSON`
      findings.addDifference(source, 'body', 'JSON', found)
      return undefined
    }
  }

  const statusText = (status: number, body: unknown) => {
    const code = valueAt(body, ['error'])
    return typeof code === 'string'
      ? `${status} ${findings.formatValue(code, 'error')}`
      : `${status}`
  }

  /** Why a call was rejected, if the contract allows it for every endpoint; otherwise `undefined`. */
  function commonRejection(status: number, call: ConformCall): string | undefined {
    if (status === 429) return 'the service responds with 429 (too many requests)'
    const hasNoToken = call.token === null || (call.token === undefined && token === undefined)
    if (status === 401 && hasNoToken) return 'the service requires a token: use --token'
    return undefined
  }

  return {
    opOf,
    findings,
    callCount: client.callCount,
    /** Sends a request without checking the response. */
    send: (id: string, call: ConformCall = {}) => send(opOf(id), call),

    /**
     * Sends a request that should succeed and checks the response. Returns the body, even if it has deviations;
     * `undefined` if the request failed.
     */
    async expectSuccess(id: string, call: ConformCall = {}, allowedErrors?: AllowedErrors) {
      const op = opOf(id)
      const source = sourceOf(op, call)
      const response = parseResponse(source, await send(op, call))
      if (!response) return undefined
      const { status, body } = response
      if (status !== op.status) {
        const found = statusText(status, body)
        const reportAs = allowedErrors?.statuses.includes(status)
          ? allowedErrors.reportAs
          : undefined
        const why =
          commonRejection(status, call) ?? (reportAs === 'unchecked' ? `rejected: ${found}` : '')
        if (why !== '') findings.markUnchecked(op, why)
        else {
          const add = reportAs === 'note' ? findings.addNote : findings.addDifference
          add(source, 'HTTP status', `${op.status}`, found)
        }
        if (!isSuccess(status)) return undefined
      }
      checked.add(op)
      findings.markChecked(op)
      checkShape(findings, source, op.response, body)
      visitLists(op.response, body, (field, length) => {
        const key = `${op.id} ${field}`
        const list = lists.get(key) ?? { op, field, rows: 0 }
        list.rows += length
        lists.set(key, list)
      })
      return { source, body, text: response.text }
    },

    /**
     * Sends a request that the sandbox rejects with this error code, which is a default of the sandbox. `inContract`: the
     * contract also requires an error, but does not define which one. Returns the body.
     */
    async expectError(
      id: string,
      errorCode: ErrorCode,
      call: ConformCall,
      { inContract = false } = {},
    ) {
      const op = opOf(id)
      const source = sourceOf(op, call)
      const response = parseResponse(source, await send(op, call))
      if (!response) return undefined
      const { status, body, headers } = response
      const [expected] = ERRORS[errorCode]
      const why = status === expected ? undefined : commonRejection(status, call)
      if (why !== undefined) {
        findings.markUnchecked(op, why)
        return body
      }
      if (status !== expected) {
        const add = inContract && isSuccess(status) ? findings.addDifference : findings.addNote
        add(source, 'HTTP status', `${expected} ${errorCode}`, statusText(status, body))
        return body
      }
      checkShape(findings, source, ErrorResponse as z.ZodType, body, { isSandboxDefault: true })
      const found = valueAt(body, ['error'])
      if (typeof found === 'string' && found !== errorCode)
        findings.addNote(
          source,
          'error',
          JSON.stringify(errorCode),
          findings.formatValue(found, 'error'),
        )
      const code = valueAt(body, ['code'])
      if (typeof code === 'number' && code !== expected)
        findings.addNote(source, 'code', `${expected}`, findings.formatValue(code, 'code'))
      if (errorCode === 'unauthorized' && !/^bearer\b/i.test(String(headers['www-authenticate'])))
        findings.addNote(
          source,
          'WWW-Authenticate',
          'Bearer',
          findings.formatValue(headers['www-authenticate'], ''),
        )
      return body
    },

    /** Sends a POST again with the same Idempotency-Key: by default the sandbox repeats the stored response. Returns the body. */
    async expectRepeat(id: string, call: ConformCall, first: string) {
      const op = opOf(id)
      const source = sourceOf(op, { call: 'sent again with its Idempotency-Key' })
      const response = parseResponse(source, await send(op, call))
      if (!response) return undefined
      if (response.status !== op.status || response.text !== first)
        findings.addNote(
          source,
          'body',
          'the same response again',
          response.status === op.status
            ? 'another response'
            : statusText(response.status, response.body),
        )
      const replayed = response.headers['idempotency-replayed']
      if (replayed !== 'true')
        findings.addNote(source, 'Idempotency-Replayed', 'true', findings.formatValue(replayed, ''))
      return response.body
    },

    /** Returns the report. `whyUnchecked` explains an endpoint without any checked response. */
    report(whyUnchecked: (op: Operation) => string) {
      const found = findings.report()
      const unchecked = [...found.unchecked]
      // The differences of an endpoint already explain why it was not checked.
      const named = new Set([...unchecked, ...found.differs].map(({ endpoint }) => endpoint))
      for (const { op, field, rows } of lists.values())
        if (rows === 0)
          unchecked.push({ endpoint: endpointOf(op), reason: `${field} was always empty` })
      for (const op of operations) {
        const endpoint = endpointOf(op)
        if (!checked.has(op) && !named.has(endpoint))
          unchecked.push({ endpoint, reason: whyUnchecked(op) })
      }
      return {
        calls: client.callCount(),
        checked: operations.filter((op) => checked.has(op)).map(endpointOf),
        ...found,
        unchecked,
      }
    },
  }
}

export type Session = ReturnType<typeof createSession>
