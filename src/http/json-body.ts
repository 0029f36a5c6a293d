import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { parse as parseJson } from 'secure-json-parse'
import { SandboxError } from '../model/errors.ts'

const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-?8"?\s*(?:;|$))/i
const PACKED = 'The body has a Content-Encoding, and none is undone here. Send it as it is.'
const notUtf8 = (word: 'malformed_json' | 'unsupported_media_type') =>
  new SandboxError(word, 'The body is not in UTF-8, and JSON is. Send it so.')

/** Bodies are JSON or refused; a form or plain text could be sent by any web page. */
export function takeJsonOnly(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const type = request.headers['content-type']!
    if (OTHER_CHARSET.test(type)) return done(notUtf8('unsupported_media_type'))
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding.toLowerCase() !== 'identity')
      return done(new SandboxError('unsupported_media_type', PACKED))
    if (!isUtf8(body as Buffer)) return done(notUtf8('malformed_json'))
    const text = (body as Buffer).toString('utf8')
    request.bodyText = text
    // A call that takes no body may still be sent as JSON.
    if (text === '') return done(null, undefined)
    try {
      request.sent = parseJson(text, undefined, {
        protoAction: 'error',
        constructorAction: 'error',
      })
      done(null, request.sent)
    } catch {
      done(
        new SandboxError(
          'malformed_json',
          'The body is not valid JSON, or holds a key such as __proto__. Send a JSON object.',
        ),
      )
    }
  })
}
