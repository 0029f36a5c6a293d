import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { open } from '../exchange.ts'

// A page of 100 rows takes a twentieth of it; what is larger is no answer of this service.
const MAX_BYTES = 1024 * 1024
const ANSWER_MS = 10_000

export type Question = {
  method: 'GET' | 'POST' | 'PUT'
  /** Below the base URL, with its query. */
  path: string
  /** Text goes as it is, all else as JSON. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** In place of the token that was given; `null`: none. */
  token?: string | null
}

/** An answer as it came, or why none came whole. */
export type Answer =
  | { status: number; headers: IncomingHttpHeaders; text: string; problem?: undefined }
  | { problem: string }

export type AskerDeps = {
  /** Ends in `/v1`. */
  base: string
  token: string | undefined
  /** Real ms for a whole call; 10,000 unless told. */
  answerMs?: number | undefined
}

/** Calls a live service, whatever it may be: one deadline a call, at most 1 MiB of an answer, no redirects, no unpacking. */
export function createAsker({ base, token: ownToken, answerMs = ANSWER_MS }: AskerDeps) {
  let calls = 0

  async function read(question: Question, signal: AbortSignal): Promise<Answer> {
    const { method, path, body, token = ownToken ?? null } = question
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
      ...question.headers,
    }
    const answer = await open(new URL(base + path), { method, headers, signal }, text)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer) {
      size += chunk.length
      if (size > MAX_BYTES) return { problem: 'an answer of more than 1 MiB' }
      chunks.push(chunk)
    }
    const bytes = Buffer.concat(chunks)
    const { statusCode = 0, headers: answered } = answer
    if (!/^(identity)?$/i.test(answered['content-encoding'] ?? ''))
      return { problem: 'a packed answer, which was not asked for' }
    if (!isUtf8(bytes)) return { problem: 'an answer that is not in UTF-8' }
    return { status: statusCode, headers: answered, text: bytes.toString('utf8') }
  }

  return {
    /** How many calls were made. */
    calls: () => calls,
    /** Makes one call; it never rejects. */
    async ask(question: Question): Promise<Answer> {
      calls++
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(), answerMs)
      try {
        return await read(question, late.signal)
      } catch (error) {
        if (late.signal.aborted) return { problem: `no whole answer within ${answerMs / 1_000} s` }
        const { code, message } = error as NodeJS.ErrnoException
        return { problem: `no answer (${code ?? message})` }
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
