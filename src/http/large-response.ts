import { finished, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { isSliceOver, ownTurn } from '../runtime/slices.ts'
import type { Gate } from './concurrency-limit.ts'
import { JSON_TYPE } from './errors.ts'

// A reader that does not read the next chunk within this time is disconnected, real ms.
const READ_TIMEOUT_MS = 10_000
// Characters per write.
const CHUNK_SIZE = 64 * 1024

/** A response whose JSON text is generated in pieces. */
export class JsonPieces {
  readonly pieces: Iterable<string>
  /** Whether the text is generated while it is sent; a small one is generated first. */
  readonly isLarge: boolean
  /** Called once, when the response is sent or aborted. */
  readonly done: () => void

  constructor(pieces: Iterable<string>, isLarge: boolean, done: () => void = () => {}) {
    this.pieces = pieces
    this.isLarge = isLarge
    this.done = done
  }
}

/** Joins short pieces to chunks, and yields to other calls in between. */
async function* inChunks(pieces: Iterable<string>) {
  let chunk = ''
  for (const piece of pieces) {
    chunk += piece
    if (chunk.length >= CHUNK_SIZE) {
      yield chunk
      chunk = ''
    }
    if (isSliceOver()) await ownTurn()
  }
  if (chunk !== '') yield chunk
}

/** Sends a large response as fast as it is read, and disconnects a reader that stops reading. */
function stream(reply: FastifyReply, pieces: Iterable<string>, readTimeoutMs: number) {
  const { raw } = reply
  let patience: NodeJS.Timeout | undefined
  const waitForReader = () => {
    patience = setTimeout(() => raw.destroy(), readTimeoutMs)
  }
  async function* watched() {
    for await (const chunk of inChunks(pieces)) {
      waitForReader()
      yield chunk
      clearTimeout(patience)
    }
    waitForReader()
  }
  finished(raw, () => clearTimeout(patience))
  return reply.send(Readable.from(watched(), { objectMode: false }))
}

/** Sends JSON that is generated in pieces; `gate` limits concurrent large responses. */
export function sendPieces(
  reply: FastifyReply,
  { pieces, isLarge, done }: JsonPieces,
  { gate, patienceMs = READ_TIMEOUT_MS }: { gate: Gate; patienceMs?: number | undefined },
) {
  reply.code(200).header('content-type', JSON_TYPE)
  let release = () => {}
  try {
    if (!isLarge) {
      const text = [...pieces].join('')
      done()
      return reply.send(text)
    }
    release = gate.enter()
  } catch (error) {
    done()
    throw error
  }
  finished(reply.raw, () => {
    release()
    done()
  })
  return stream(reply, pieces, patienceMs)
}
