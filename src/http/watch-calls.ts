import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestObserver, SentResponse } from '../core/recorder.ts'
import type { ResponseFault } from '../scenarios/compiled.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where calls are watched: tells of the body as it is read, and of an answer that was broken on purpose. */
    watched:
      | {
          read: () => void
          broken: (fault: ResponseFault) => void
          /** The caller closed the connection, and that ended the call. */
          left: () => void
        }
      | undefined
  }
}

/** Pages and documents change nothing, and a recording is no part of itself. */
function isWatched({ is404, routeOptions }: FastifyRequest): boolean {
  const { operation, admin } = routeOptions.config
  return is404 || operation !== undefined || (admin !== undefined && !admin.unrecorded)
}

const bytesOf = (chunk: unknown) =>
  typeof chunk === 'string' ? Buffer.from(chunk) : chunk instanceof Uint8Array ? chunk : undefined

/**
 * Tells what is answered, when it is: status and headers as the sandbox sets them, and every byte of the body. Of a
 * stream, which has no end, only that it began.
 */
function watchResponse(
  raw: ServerResponse,
  isStream: boolean,
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
    const bytes = bytesOf(chunk)
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

/** Tells a watch of the calls of an app as they come, and of their answers; to be added before any other hook. */
export function watchRequests(app: FastifyInstance, watch: RequestObserver) {
  function watchRequest(request: FastifyRequest, reply: FastifyReply) {
    const { raw, originalUrl, headers } = request
    const isStream = request.routeOptions?.config?.admin?.stream !== undefined
    const hasBody =
      headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    const call = watch.onRequest(
      { method: raw.method!, url: originalUrl, http: raw.httpVersion, headers: raw.rawHeaders },
      hasBody,
    )
    const chunks: Buffer[] = []
    let isWhole = !hasBody
    let hasResponse = false
    const broken = watchResponse(reply.raw, isStream, (answer) => {
      if (!isWhole && chunks.length > 0)
        watch.onBody(call, Buffer.concat(chunks), raw.destroyed ? 'left' : 'refused')
      hasResponse = true
      watch.onResponse(call, answer)
    })
    function read() {
      if (!hasBody) return
      raw.on('data', (chunk: Buffer) => chunks.push(chunk))
      // Before the parser hears of it.
      raw.on('end', () => {
        isWhole = true
        // What was refused by its headers is read to its end all the same.
        if (!hasResponse) watch.onBody(call, Buffer.concat(chunks))
      })
    }
    request.watched = { read, broken, left: () => watch.onHangUp(call) }
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (isWatched(request)) watchRequest(request, reply)
    done()
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.watched?.read()
    done(null, payload)
  })
  /** Sees a request that comes by no route: its URL is not well-formed. */
  return watchRequest
}
