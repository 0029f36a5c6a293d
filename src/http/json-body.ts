import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LargeJson } from '../json/large-json.ts'
import { MAX_DEPTH, malformed, parseJson, rejectTooComplex } from '../json/parse-json.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'
import { MAX_BODY } from '../runtime/heap-limits.ts'
import { depsOf } from './app-deps.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The received body as text, if it was read. */
    bodyText: string | undefined
    /** The parsed body, before validation removes fields or adds defaults. */
    sentBody: unknown
  }
}

const OTHER_CHARSET = /;\s*charset\s*=(?!\s*(?:utf-?8|"utf-?8")\s*(?:;|$))/i
const CONTENT_ENCODED = 'Content-Encoding is not supported. Send the body uncompressed.'
const OTHER_CHARSET_TEXT =
  'The charset of the Content-Type is not UTF-8. Send the body in UTF-8, without a charset or with charset=utf-8.'
const NOT_UTF8 = 'The request body is not valid UTF-8.'

/** The message for a body with a wrong Content-Length. */
export const LENGTH_MISMATCH = 'The length of the body does not match its Content-Length.'

/** A body up to this size is parsed without a pause, bytes. */
export const SMALL_BODY = 1024 * 1024
// A body with more values can take longer than 200 ms to validate.
const SMALL = { depth: MAX_DEPTH, values: 100_000 }
// A state contains whole scenarios, rules and timers, each of which can be as deep as a body. It is validated in slices,
// so it can have any number of values.
const STATE = { depth: MAX_DEPTH + 8, values: Number.POSITIVE_INFINITY }

/** The error codes of a body that cannot be read. */
export const BODY_ERRORS: readonly ErrorCode[] = [
  'malformed_json',
  'json_too_deep',
  'payload_too_large',
  'unsupported_media_type',
]

const maxText = `${Math.floor(MAX_BODY / 1024 / 1024)} MiB`
/** The message for a body that is too large. */
export const TOO_LARGE = `The body is too large. The maximum is 1 MiB, or ${maxText} for a whole state. Send less.`

function rejectOtherForms({ headers }: FastifyRequest) {
  if (OTHER_CHARSET.test(headers['content-type']!))
    throw new SandboxError('unsupported_media_type', OTHER_CHARSET_TEXT)
  const { 'content-encoding': encoding = 'identity' } = headers
  if (encoding.toLowerCase() !== 'identity')
    throw new SandboxError('unsupported_media_type', CONTENT_ENCODED)
}

/** Parses a small body without a pause. */
function parseSmall(request: FastifyRequest, bytes: Buffer, most: typeof SMALL): unknown {
  if (!isUtf8(bytes)) throw malformed(NOT_UTF8)
  rejectTooComplex(bytes, most)
  const text = bytes.toString('utf8')
  request.bodyText = text
  // A request without a body may still have the content type of JSON.
  if (text === '') return undefined
  request.sentBody = parseJson(text)
  return request.sentBody
}

/** Accepts only JSON bodies: any web page could send a form or plain text. */
export function acceptJsonOnly(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      rejectOtherForms(request)
      done(null, parseSmall(request, body as Buffer, SMALL))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Collects a body of at most `MAX_BODY` bytes; calls `enter` as soon as the body is known to be large. */
function collect(
  { headers }: FastifyRequest,
  payload: IncomingMessage,
  enter: () => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(headers['content-length'] ?? 0)
    let bytes = Buffer.alloc(0)
    let size = 0
    function reserve(most: number) {
      if (most > MAX_BODY) throw new SandboxError('payload_too_large', TOO_LARGE)
      if (most > SMALL_BODY) enter()
      if (most <= bytes.length) return
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * bytes.length))
      bytes.copy(larger, 0, 0, size)
      bytes = larger
    }
    function take(chunk: Buffer) {
      try {
        reserve(size + chunk.length)
        chunk.copy(bytes, size)
        size += chunk.length
      } catch (error) {
        fail(error)
      }
    }
    /** Rejects, and drops the rest of the body, so that its sender reads the response. */
    function fail(error: unknown) {
      payload.off('data', take)
      payload.resume()
      reject(error)
    }
    payload.on('data', take)
    payload.on('end', () => {
      if (declared === 0 || declared === size) resolve(bytes.subarray(0, size))
      else reject(malformed(LENGTH_MISMATCH))
    })
    payload.on('error', () => reject(malformed(LENGTH_MISMATCH)))
    payload.on('close', () => reject(malformed(LENGTH_MISMATCH)))
    try {
      reserve(declared)
    } catch (error) {
      fail(error)
    }
  })
}

/** Also accepts large bodies, one at a time: such a body is a `LargeJson`, to be read in slices. */
export function acceptLargeJson(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      rejectOtherForms(request)
      let leave: (() => void) | undefined
      try {
        const bytes = await collect(request, payload, () => {
          leave ??= depsOf(request).largeBodies.enter()
        })
        if (bytes.length > SMALL_BODY) {
          request.releaseGate = leave
          return new LargeJson(bytes, STATE.depth)
        }
        leave?.()
        return parseSmall(request, bytes, STATE)
      } catch (error) {
        leave?.()
        throw error
      }
    },
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Releases the gate for the next large body. */
    releaseGate: (() => void) | undefined
  }
}
