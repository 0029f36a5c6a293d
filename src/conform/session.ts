import type * as z from 'zod'
import type { Operation } from '../http/operation.ts'
import { ErrorResponse } from '../model/envelope.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import { valueAt } from '../model/validation-errors.ts'
import { createFindings, endpointOf, type FindingSource, type Findings } from './findings.ts'
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

const sourceOf = (op: Operation, { call, query = {} }: ConformCall): FindingSource => {
  const params = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  return { op, call: call ?? params.join('&') }
}

/** Calls the endpoints of a live service and checks the responses against the schemas of the operations. */
export class Session {
  readonly findings: Findings
  readonly #operations: readonly Operation[]
  readonly #token: string | undefined
  readonly #client: ReturnType<typeof createHttpClient>
  readonly #checked = new Set<Operation>()
  readonly #lists = new Map<string, { op: Operation; field: string; rows: number }>()
  #callsWithoutResponse = 0

  constructor(operations: readonly Operation[], options: HttpClientOptions) {
    this.findings = createFindings(options.token)
    this.#operations = operations
    this.#token = options.token
    this.#client = createHttpClient(options)
  }

  opOf(id: string): Operation {
    return this.#operations.find((op) => op.id === id)!
  }

  callCount(): number {
    return this.#client.callCount()
  }

  async #send(op: Operation, call: ConformCall): Promise<ConformResponse> {
    const { body, headers, token: otherToken } = call
    const response = await this.#client.send({
      method: op.method,
      path: pathOf(op, call),
      body,
      ...(headers && { headers }),
      ...(otherToken !== undefined && { token: otherToken }),
    })
    if (response.problem !== undefined) this.#callsWithoutResponse++
    return response
  }

  /** Returns the response with its parsed body. Adds a finding and returns `undefined` if it is incomplete or not JSON. */
  #parse(source: FindingSource, response: ConformResponse): JsonResponse | undefined {
    if (response.problem !== undefined) {
      this.findings.addDifference(source, 'response', 'a complete response', response.problem)
      if (this.#callsWithoutResponse >= MAX_CALLS_WITHOUT_RESPONSE)
        throw new ConformStopped(response.problem)
      return undefined
    }
    const { headers, text } = response
    const type = headers['content-type']
    if (!JSON_MEDIA.test(type ?? ''))
      this.findings.addDifference(
        source,
        'Content-Type',
        'application/json',
        this.findings.formatValue(type, 'content-type'),
      )
    try {
      return { ...response, body: JSON.parse(text) }
    } catch {
      const length = text.length
      const found = length === 0 ? 'nothing' : `a text of ${length} characters that is not JSON`
      this.findings.addDifference(source, 'body', 'JSON', found)
      return undefined
    }
  }

  #statusText(status: number, body: unknown): string {
    const code = valueAt(body, ['error'])
    return typeof code === 'string'
      ? `${status} ${this.findings.formatValue(code, 'error')}`
      : `${status}`
  }

  /** Why a call was rejected, if the contract allows it for every endpoint; otherwise `undefined`. */
  #commonRejection(status: number, call: ConformCall): string | undefined {
    if (status === 429) return 'the service responds with 429 (too many requests)'
    const hasNoToken =
      call.token === null || (call.token === undefined && this.#token === undefined)
    if (status === 401 && hasNoToken) return 'the service requires a token: use --token'
    return undefined
  }

  /** Sends a request without checking the response. */
  send(id: string, call: ConformCall = {}): Promise<ConformResponse> {
    return this.#send(this.opOf(id), call)
  }

  /**
   * Sends a request that should succeed and checks the response. Returns the body, even if it has deviations;
   * `undefined` if the request failed.
   */
  async expectSuccess(id: string, call: ConformCall = {}, allowedErrors?: AllowedErrors) {
    const op = this.opOf(id)
    const source = sourceOf(op, call)
    const response = this.#parse(source, await this.#send(op, call))
    if (!response) return undefined
    const { status, body } = response
    if (status !== op.status) {
      const found = this.#statusText(status, body)
      const reportAs = allowedErrors?.statuses.includes(status) ? allowedErrors.reportAs : undefined
      const why =
        this.#commonRejection(status, call) ??
        (reportAs === 'unchecked' ? `rejected: ${found}` : '')
      if (why !== '') this.findings.markUnchecked(op, why)
      else {
        const add = reportAs === 'note' ? this.findings.addNote : this.findings.addDifference
        add(source, 'HTTP status', `${op.status}`, found)
      }
      if (!isSuccess(status)) return undefined
    }
    this.#checked.add(op)
    this.findings.markChecked(op)
    checkShape(this.findings, source, op.response, body)
    visitLists(op.response, body, (field, length) => {
      const key = `${op.id} ${field}`
      const list = this.#lists.get(key) ?? { op, field, rows: 0 }
      list.rows += length
      this.#lists.set(key, list)
    })
    return { source, body, text: response.text }
  }

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
    const op = this.opOf(id)
    const source = sourceOf(op, call)
    const response = this.#parse(source, await this.#send(op, call))
    if (!response) return undefined
    const { status, body, headers } = response
    const [expected] = ERRORS[errorCode]
    const why = status === expected ? undefined : this.#commonRejection(status, call)
    if (why !== undefined) {
      this.findings.markUnchecked(op, why)
      return body
    }
    if (status !== expected) {
      const add =
        inContract && isSuccess(status) ? this.findings.addDifference : this.findings.addNote
      add(source, 'HTTP status', `${expected} ${errorCode}`, this.#statusText(status, body))
      return body
    }
    checkShape(this.findings, source, ErrorResponse as z.ZodType, body, { isSandboxDefault: true })
    const found = valueAt(body, ['error'])
    if (typeof found === 'string' && found !== errorCode)
      this.findings.addNote(
        source,
        'error',
        JSON.stringify(errorCode),
        this.findings.formatValue(found, 'error'),
      )
    const code = valueAt(body, ['code'])
    if (typeof code === 'number' && code !== expected)
      this.findings.addNote(source, 'code', `${expected}`, this.findings.formatValue(code, 'code'))
    if (errorCode === 'unauthorized' && !/^bearer\b/i.test(String(headers['www-authenticate'])))
      this.findings.addNote(
        source,
        'WWW-Authenticate',
        'Bearer',
        this.findings.formatValue(headers['www-authenticate'], ''),
      )
    return body
  }

  /** Sends a POST again with the same Idempotency-Key: by default the sandbox repeats the stored response. Returns the body. */
  async expectRepeat(id: string, call: ConformCall, first: string) {
    const op = this.opOf(id)
    const source = sourceOf(op, { call: 'sent again with its Idempotency-Key' })
    const response = this.#parse(source, await this.#send(op, call))
    if (!response) return undefined
    if (response.status !== op.status || response.text !== first)
      this.findings.addNote(
        source,
        'body',
        'the same response again',
        response.status === op.status
          ? 'another response'
          : this.#statusText(response.status, response.body),
      )
    const replayed = response.headers['idempotency-replayed']
    if (replayed !== 'true')
      this.findings.addNote(
        source,
        'Idempotency-Replayed',
        'true',
        this.findings.formatValue(replayed, ''),
      )
    return response.body
  }

  /** Returns the report. `whyUnchecked` explains an endpoint without any checked response. */
  report(whyUnchecked: (op: Operation) => string) {
    const found = this.findings.report()
    const unchecked = [...found.unchecked]
    // The differences of an endpoint already explain why it was not checked.
    const named = new Set([...unchecked, ...found.differs].map(({ endpoint }) => endpoint))
    for (const { op, field, rows } of this.#lists.values())
      if (rows === 0)
        unchecked.push({ endpoint: endpointOf(op), reason: `${field} was always empty` })
    for (const op of this.#operations) {
      const endpoint = endpointOf(op)
      if (!this.#checked.has(op) && !named.has(endpoint))
        unchecked.push({ endpoint, reason: whyUnchecked(op) })
    }
    return {
      calls: this.callCount(),
      checked: this.#operations.filter((op) => this.#checked.has(op)).map(endpointOf),
      ...found,
      unchecked,
    }
  }
}
