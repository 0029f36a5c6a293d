import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResponseFault } from '../scenarios/compiled.ts'
import type { SentResponse } from '../world/recorder.ts'
import { depsOf } from './app-deps.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if requests are watched: reports the body as it is read, and a response with an injected fault. */
    watched:
      | {
          read: () => void
          broken: (fault: ResponseFault) => void
          /** Reports that the caller closed the connection and so ended the call. */
          left: () => void
        }
      | undefined
  }
}

/** Pages and documents change nothing, and the recording does not contain its own calls. */
function isWatched({ is404, routeOptions }: FastifyRequest): boolean {
  const { endpoint } = routeOptions.config
  return is404 || (endpoint !== undefined && !endpoint.unrecorded)
}

const bytesOf = (chunk: unknown) =>
  typeof chunk === 'string' ? Buffer.from(chunk) : chunk instanceof Uint8Array ? chunk : undefined

/**
 * Reports a response when it is sent: status and headers as the sandbox sets them, and every byte of the body. A stream
 * is reported when it starts, without a body.
 */
function watchResponse(
  raw: ServerResponse,
  { isStream, isBodiless }: { isStream: boolean; isBodiless: boolean },
  answered: (answer: SentResponse) => void,
) {
  const { writeHead, write, end } = raw as unknown as Record<
    'writeHead' | 'write' | 'end',
    (...args: unknown[]) => unknown
  >
  const chunks: Uint8Array[] = []
  let head: Pick<SentResponse, 'status' | 'headers'> = {}
  let isReported = false
  function collect(chunk: unknown) {
    const bytes = isBodiless ? undefined : bytesOf(chunk)
    if (bytes && !isReported) chunks.push(bytes)
  }
  function report(fault?: ResponseFault) {
    if (isReported) return
    isReported = true
    answered({ ...head, ...(fault && { fault }), body: Buffer.concat(chunks) })
  }
  Object.assign(raw, {
    writeHead(status: number, headers: Record<string, unknown>) {
      head = { status, headers }
      if (isStream && status === 200) report()
      return writeHead.call(raw, status, headers)
    },
    write(chunk: unknown, ...more: unknown[]) {
      collect(chunk)
      return write.call(raw, chunk, ...more)
    },
    end(chunk: unknown, ...more: unknown[]) {
      collect(chunk)
      report()
      return end.call(raw, chunk, ...more)
    },
  })
  return report
}

/** Reports the requests of an app and their responses to its watcher; must be added before any other hook. */
export function watchRequests(app: FastifyInstance) {
  function watchRequest(request: FastifyRequest, reply: FastifyReply) {
    const watch = depsOf(request).watch!
    const { raw, originalUrl, headers } = request
    const isStream = request.routeOptions?.config?.isStream ?? false
    const hasBody =
      headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    const call = watch.onRequest(
      { method: raw.method!, url: originalUrl, http: raw.httpVersion, headers: raw.rawHeaders },
      hasBody,
    )
    const chunks: Buffer[] = []
    let isWhole = !hasBody
    let hasResponse = false
    // Fastify passes on the body of a response to HEAD, and Node leaves it out.
    const isBodiless = raw.method === 'HEAD' && !request.is404
    const broken = watchResponse(reply.raw, { isStream, isBodiless }, (answer) => {
      if (!isWhole && chunks.length > 0)
        watch.onBody(call, Buffer.concat(chunks), raw.destroyed ? 'hang_up' : 'rejected')
      hasResponse = true
      watch.onResponse(call, answer)
    })
    function read() {
      if (!hasBody) return
      raw.on('data', (chunk: Buffer) => chunks.push(chunk))
      // Before the listener of the parser runs.
      raw.on('end', () => {
        isWhole = true
        // A request that was rejected by its headers is still read to its end.
        if (!hasResponse) watch.onBody(call, Buffer.concat(chunks))
      })
    }
    request.watched = { read, broken, left: () => watch.onHangUp(call) }
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (depsOf(request).watch && isWatched(request)) watchRequest(request, reply)
    done()
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.watched?.read()
    done(null, payload)
  })
  /** Also watches a request without a route: its URL is malformed. */
  return watchRequest
}
