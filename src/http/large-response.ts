import { finished, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Gate } from '../core/gate.ts'
import { JSON_TYPE } from './errors.ts'

// A reader that does not take the next piece within this time is cut off, real ms.
const READ_TIMEOUT_MS = 10_000
// What is handed to the connection at once, characters.
const CHUNK_SIZE = 64 * 1024
// The event loop is given back after this much work, real ms.
const SLICE_MS = 8

/** An answer whose JSON text is made piece by piece. */
export class JsonPieces {
  readonly pieces: Iterable<string>
  /** Whether it is made while it is sent; a small one is made at once. */
  readonly isLarge: boolean
  /** Called once, when the answer is sent or given up. */
  readonly done: () => void

  constructor(pieces: Iterable<string>, isLarge: boolean, done: () => void = () => {}) {
    this.pieces = pieces
    this.isLarge = isLarge
    this.done = done
  }
}

/** Joins short pieces to chunks, and lets other calls in between. */
async function* inChunks(pieces: Iterable<string>) {
  let chunk = ''
  let until = performance.now() + SLICE_MS
  for (const piece of pieces) {
    chunk += piece
    if (chunk.length >= CHUNK_SIZE) {
      yield chunk
      chunk = ''
    }
    if (performance.now() < until) continue
    await new Promise(setImmediate)
    until = performance.now() + SLICE_MS
  }
  if (chunk !== '') yield chunk
}

/** Sends a large answer as fast as it is read, and cuts off a reader that stops reading. */
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

/** Sends JSON that is made piece by piece; a few large answers at once. */
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
