import type * as z from 'zod'
import type { Operation } from '../../http/endpoint.ts'
import { ERRORS, type ErrorCode, ErrorResponse } from '../../model/errors.ts'
import { valueAt } from '../../model/validation-errors.ts'
import { OPERATIONS } from '../../routes/v1/operations.ts'
import { createFindings, endpointOf, type Findings, type Source } from './findings.ts'
import {
  type CompleteResponse,
  type ConformCall,
  type HttpClientOptions,
  sendRequest,
} from './http-client.ts'
import { errorFormOf } from './lists.ts'
import { checkShape, visitLists } from './shape.ts'

export type Exchange = CompleteResponse & {
  op: Operation
  call: ConformCall
  /** `undefined` if it is not JSON or very large. */
  body: unknown
}

/** HTTP statuses that the contract allows, and how they are reported; those `ofReadings` are not. */
export type AllowedErrors = {
  statuses: readonly number[]
  reportAs: 'note' | 'unchecked'
  ofReadings?: readonly number[]
}

/** Too many calls had no response; no further call is made. */
export class ConformStopped extends Error {}

const MAX_CALLS_WITHOUT_RESPONSE = 3
// Longer responses are not kept; a page of 100 rows has about 50 kB.
const MAX_KEPT_CHARACTERS = 256 * 1024
const JSON_MEDIA = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

export const isSuccess = (status: number) => status >= 200 && status <= 299

/** What a call is named in the report. */
export const describe = ({ call, query = {} }: ConformCall): string =>
  call ??
  Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// What was found in place of JSON.
const textFound = ({ length }: string) =>
  length === 0 ? 'nothing' : `a string of ${length} characters that is not JSON`

/** Notes where an expected error differs from that of the sandbox; another reading of `error_body` is no difference. */
function checkError(source: Source, errorCode: ErrorCode, { body, headers, text }: Exchange): void {
  const isPermitted = errorFormOf(text, body) !== undefined
  if (!isPermitted && body === undefined) source.note('body', 'JSON', textFound(text))
  else if (!isPermitted)
    checkShape(source, ErrorResponse as z.ZodType, body, { isSandboxDefault: true })
  const note = (field: string, expected: string, found: unknown, name = field) =>
    source.note(field, expected, source.formatValue(found, name))
  const found = valueAt(body, ['error'])
  if (typeof found === 'string' && found !== errorCode)
    note('error', JSON.stringify(errorCode), found)
  const code = valueAt(body, ['code'])
  const [status] = ERRORS[errorCode]
  if (typeof code === 'number' && code !== status) note('code', `${status}`, code)
  const challenge = headers['www-authenticate']
  if (errorCode === 'unauthorized' && !/^bearer\b/i.test(String(challenge)))
    note('WWW-Authenticate', 'Bearer', challenge, '')
}

export class Session {
  readonly findings: Findings
  readonly #options: HttpClientOptions
  #calls = 0
  readonly #checked = new Set<Operation>()
  readonly #lists = new Map<string, { op: Operation; field: string; rows: number }>()
  readonly #exchanges: Exchange[] = []
  #callsWithoutResponse = 0

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.findings = createFindings(options.token)
  }

  opOf(id: string): Operation {
    return OPERATIONS.find((op) => op.id === id)!
  }

  /** Sends a request without checking the response; returns why there is none, if there is none. */
  async send(id: string, call: ConformCall = {}): Promise<Exchange | { problem: string }> {
    const op = this.opOf(id)
    this.#calls++
    const response = await sendRequest(this.#options, op, call)
    if (response.problem !== undefined) {
      this.#callsWithoutResponse++
      return response
    }
    const { text } = response
    const exchange = { op, call, ...response, body: jsonOf(text) }
    const isKept = text.length <= MAX_KEPT_CHARACTERS
    this.#exchanges.push(isKept ? exchange : { ...exchange, text: '', body: undefined })
    return exchange
  }

  /** The complete responses so far, oldest first; those of one operation, or all. */
  exchanges(id?: string): readonly Exchange[] {
    return id === undefined ? this.#exchanges : this.#exchanges.filter(({ op }) => op.id === id)
  }

  /** The response to the call with this description. */
  exchange(id: string, call: string): Exchange | undefined {
    return this.exchanges(id).find((one) => one.call.call === call)
  }

  /** Sends a request whose response is only measured; `undefined` without a complete response. */
  async measure(id: string, call: ConformCall): Promise<Exchange | undefined> {
    const { problem } = await this.send(id, call)
    return problem === undefined ? this.#exchanges.at(-1) : this.#lost(problem)
  }

  /** Throws if too many calls had no response. */
  #lost(problem: string): undefined {
    if (this.#callsWithoutResponse >= MAX_CALLS_WITHOUT_RESPONSE) throw new ConformStopped(problem)
  }

  markUnchecked(id: string, why: string) {
    this.findings.markUnchecked(this.opOf(id), why)
  }

  /** Where to add what a call shows; the description can be a string or the call. */
  sourceOf(id: string, call: string | ConformCall): Source {
    return this.findings.sourceOf(this.opOf(id), typeof call === 'string' ? call : describe(call))
  }

  /** Sends a call. Adds a finding and returns no response if it is incomplete, or successful and not JSON. */
  async #exchange(id: string, call: ConformCall) {
    const op = this.opOf(id)
    const source = this.sourceOf(id, call)
    const response = await this.send(id, call)
    if (response.problem !== undefined) {
      source.differs('response', 'a complete response', response.problem)
      return { op, source, response: this.#lost(response.problem) }
    }
    const { headers, status, text, body } = response
    const type = headers['content-type']
    if (isSuccess(status) && !JSON_MEDIA.test(type ?? ''))
      source.differs('Content-Type', 'application/json', source.formatValue(type, 'content-type'))
    if (body !== undefined || !isSuccess(status)) return { op, source, response }
    source.differs('body', 'JSON', textFound(text))
    return { op, source }
  }

  #statusText(source: Source, { status, body }: Exchange): string {
    const code = valueAt(body, ['error'])
    return typeof code === 'string' ? `${status} ${source.formatValue(code, 'error')}` : `${status}`
  }

  /** Why a call was rejected, if the contract allows it for every endpoint; otherwise `undefined`. */
  #commonRejection(status: number, call: ConformCall): string | undefined {
    if (status === 429) return 'the service responds with 429 (too many requests)'
    const { token = this.#options.token ?? null } = call
    if (status === 401 && token === null) return 'the service requires a token: use --token'
    return undefined
  }

  /** Sends a request that should succeed. Returns the body, even if it has deviations; `undefined` if the request failed. */
  async expectSuccess(id: string, call: ConformCall = {}, allowedErrors?: AllowedErrors) {
    const { op, source, response } = await this.#exchange(id, call)
    if (!response) return undefined
    const { status, body } = response
    if (allowedErrors?.ofReadings?.includes(status)) return undefined
    if (status !== op.status) {
      const found = this.#statusText(source, response)
      const reportAs = allowedErrors?.statuses.includes(status) ? allowedErrors.reportAs : undefined
      const why =
        this.#commonRejection(status, call) ??
        (reportAs === 'unchecked' ? `rejected: ${found}` : '')
      if (why !== '') this.findings.markUnchecked(op, why)
      else {
        const add = reportAs === 'note' ? source.note : source.differs
        add('HTTP status', `${op.status}`, found)
      }
      if (!isSuccess(status)) return undefined
    }
    this.#checked.add(op)
    this.findings.markChecked(op)
    checkShape(source, op.response, body)
    visitLists(op.response, body, (field, length) => {
      const key = `${op.id} ${field}`
      const list = this.#lists.get(key) ?? { op, field, rows: 0 }
      list.rows += length
      this.#lists.set(key, list)
    })
    return { source, body, text: response.text }
  }

  /** Sends a request that the sandbox rejects with this code. `inContract`: the contract requires an error, too, but not which. */
  async expectError(
    id: string,
    errorCode: ErrorCode,
    call: ConformCall,
    { inContract = false, ofReadings = [] as readonly number[] } = {},
  ) {
    const { op, source, response } = await this.#exchange(id, call)
    if (!response) return
    const { status } = response
    const [expected] = ERRORS[errorCode]
    if (ofReadings.includes(status)) return
    if (status === expected) checkError(source, errorCode, response)
    else {
      const why = this.#commonRejection(status, call)
      if (why !== undefined) this.findings.markUnchecked(op, why)
      else {
        const add = inContract && isSuccess(status) ? source.differs : source.note
        add('HTTP status', `${expected} ${errorCode}`, this.#statusText(source, response))
      }
    }
  }

  report(whyUnchecked: (op: Operation) => string) {
    const found = this.findings.report()
    const unchecked = [...found.unchecked]
    // The differences of an endpoint already explain why it was not checked.
    const named = new Set([...unchecked, ...found.differs].map(({ endpoint }) => endpoint))
    for (const { op, field, rows } of this.#lists.values())
      if (rows === 0)
        unchecked.push({ endpoint: endpointOf(op), reason: `${field} was always empty` })
    for (const op of OPERATIONS) {
      const endpoint = endpointOf(op)
      if (!this.#checked.has(op) && !named.has(endpoint))
        unchecked.push({ endpoint, reason: whyUnchecked(op) })
    }
    return {
      calls: this.#calls,
      /** Endpoints with at least one successful response, which was checked. */
      checked: OPERATIONS.filter((op) => this.#checked.has(op)).map(endpointOf),
      ...found,
      unchecked,
    }
  }
}
