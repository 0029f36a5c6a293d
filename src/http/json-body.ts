import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parse } from 'secure-json-parse'
import { faultIn, placeAt } from '../config/files.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The received body as text, if it was read. */
    bodyText: string | undefined
    /** The parsed body, before validation removes fields or adds defaults. */
    sentBody: unknown
  }
}

const MIB = 1024 * 1024
export const BODY_LIMIT = MIB
/** The same of a whole state. */
export const STATE_LIMIT: number = 32 * MIB

// A body with more values can take longer than 200 ms to validate. `JSON.parse` makes shapes of the names of fields: each
// new name costs a hundred times the memory of its text.
const LIMITS = { depth: 32, values: 100_000, names: 10_000 }
// A state contains whole scenarios, rules and timers, each of which can be as deep as a body. 32 MiB of rows have fewer
// values, and as many clients and snapshots as fit into them have fewer names.
const LIMITS_OF_STATE = { depth: LIMITS.depth + 8, values: 1_500_000, names: 50_000 }

export const LENGTH_MISMATCH = 'The length of the body does not match its Content-Length.'
export const TOO_LARGE = `The body is too large. The maximum is ${BODY_LIMIT / MIB} MiB, or ${STATE_LIMIT / MIB} MiB for a whole state or books. Send less.`

export const NOT_JSON = 'The body must be JSON: send it with Content-Type: application/json.'

export const BODY_ERRORS: readonly ErrorCode[] = [
  'malformed_json',
  'json_too_deep',
  'payload_too_large',
  'unsupported_media_type',
]

const OTHER_CHARSET = /;\s*charset\s*=(?!\s*(?:utf-?8|"utf-?8")\s*(?:;|$))/i

function rejectOtherForms({ headers }: FastifyRequest) {
  if (OTHER_CHARSET.test(headers['content-type']!))
    throw new SandboxError(
      'unsupported_media_type',
      'The charset of the Content-Type is not UTF-8. Send the body in UTF-8, without a charset or with charset=utf-8.',
    )
  const { 'content-encoding': encoding = 'identity' } = headers
  if (encoding.toLowerCase() !== 'identity')
    throw new SandboxError(
      'unsupported_media_type',
      'Content-Encoding is not supported. Send the body uncompressed.',
    )
}

/** Returns the nesting of a JSON text, about how many values it has, and whether it has more than `most` different names. */
function measureJson(text: string, most: number) {
  const names = new Set<string>()
  let quote = 0
  let depth = 0
  let deepest = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const mark = text[i]
    if (mark === '"') {
      quote = i
      // Brackets and commas inside a string are none.
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i++
    } else if (mark === ':') {
      if (names.size <= most) names.add(text.slice(quote, i))
      // In a body that isn't JSON, a colon can have no name in front; no part is read twice.
      quote = i
    } else if (mark === ',') values++
    else if (mark === '[' || mark === '{') {
      values++
      deepest = Math.max(deepest, ++depth)
    } else if (mark === ']' || mark === '}') depth--
  }
  return { depth: deepest, values, hasTooManyNames: names.size > most }
}

/** Rejects a body before it's parsed: deep values would overflow the stack, and many take long to validate. */
function rejectTooComplex(text: string, most: typeof LIMITS) {
  const { depth, values, hasTooManyNames } = measureJson(text, most.names)
  if (depth > most.depth)
    throw new SandboxError(
      'json_too_deep',
      `The JSON of the body is nested ${depth} levels deep; the maximum is ${most.depth}. Send JSON with fewer levels.`,
    )
  if (values > most.values)
    throw new SandboxError(
      'payload_too_large',
      `The JSON of the body has ${values} values; the maximum is ${most.values}. Send fewer values.`,
    )
  if (hasTooManyNames)
    throw new SandboxError(
      'payload_too_large',
      `The JSON of the body has more than ${most.names} different names of fields, the maximum. Send fewer names.`,
    )
}

/** The error for a body that isn't JSON or has a key that would change a prototype. */
function malformed(text: string, { message }: Error): SandboxError {
  const error = (what: string) => new SandboxError('malformed_json', `${what}. Send a JSON object.`)
  if (message.startsWith('Object contains forbidden')) {
    const at = text.search(/"(?:__proto__|constructor)"\s*:/)
    const { line, column } = placeAt(text, at)
    const where = at < 0 ? '' : `, at line ${line}, column ${column}`
    return error(`The body has a forbidden key, such as __proto__${where}`)
  }
  // Finding the position means parsing the body about twenty times.
  if (text.length > BODY_LIMIT) return error('The body is not JSON')
  const { line, column, why } = faultIn(text, message)
  return error(`The body is not JSON at line ${line}, column ${column}: ${why}`)
}

async function parseBody(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  // A request without a body may still have the content type of JSON.
  if (bytes.length === 0) return undefined
  rejectOtherForms(request)
  if (!isUtf8(bytes))
    throw new SandboxError('malformed_json', 'The request body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  request.bodyText = text
  rejectTooComplex(text, request.routeOptions.bodyLimit > BODY_LIMIT ? LIMITS_OF_STATE : LIMITS)
  try {
    request.sentBody = parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw malformed(text, error as Error)
  }
  return request.sentBody
}

/** Accepts only JSON bodies: any web page could send a form or plain text. */
export function acceptJsonOnly(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, parseBody)
  // HTTP libraries give an empty POST the type of a form.
  app.addContentTypeParser('*', (_request, payload, done) => {
    const end = () => done(null)
    payload.once('end', end).once('data', () => {
      payload.off('end', end)
      done(new SandboxError('unsupported_media_type', NOT_JSON))
    })
  })
}
