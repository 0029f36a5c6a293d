import { Agent, request } from 'node:http'
import { type Call, createDeck } from './deck.ts'
import type { startReceiver } from './receiver.ts'

/** One call of a run: how it was sent, and every byte that must be the same in each run of the same seed. */
export type Played = { call: Call; status: number; line: string }

type Answer = { status: number; headers: readonly string[]; text: string }

// The server's own port differs from run to run, and the request log tells the header.
const HOST = '127.0.0.1:4310'

// What tells real time, and so can't be repeated: how long calls and attempts took, and the clock of the wall.
const REAL_TIME =
  /"duration_ms":[\d.]+|"wall_at":"[^"]*"|"uptime_in_seconds":\d+,"timestamp":"[^"]*"/
const ALL_REAL_TIME = new RegExp(REAL_TIME, 'g')

/** An answer in one line. Its length says nothing new: a body that has not that many bytes would not have arrived. */
function lineOf({ status, headers, text }: Answer): string {
  const untold = ['date', ...(REAL_TIME.test(text) ? ['content-length'] : [])]
  const received = headers.filter((_, i) => !untold.includes(headers[i - (i % 2)]!.toLowerCase()))
  return `${status} ${JSON.stringify(received)} ${text.replace(ALL_REAL_TIME, '<real time>')}`
}

function send(origin: string, agent: Agent, { method, url, body, headers }: Call): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(origin + url, {
      method,
      agent,
      headers: {
        host: HOST,
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...headers,
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.rawHeaders,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    sent.end(text)
  })
}

/**
 * Plays the calls of a run against a sandbox whose clock is frozen, one after the other, over sockets; each line has
 * the answer and what the receiver got meanwhile.
 */
export async function* play(
  origin: string,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  { calls, seed }: { calls: number; seed: number },
): AsyncGenerator<Played> {
  const deck = createDeck(seed, receiver.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  try {
    for (let i = 0; i < calls; i++) {
      const call = deck.next()
      const answer = await send(origin, agent, call).catch(({ code }: NodeJS.ErrnoException) => ({
        status: 0,
        headers: [],
        text: `${code}`,
      }))
      const { status, text } = answer
      deck.remember(call, status, text)
      const head = `${i} ${call.method} ${call.url}`
      yield { call, status, line: [`${head} ${lineOf(answer)}`, ...receiver.take()].join('\n') }
    }
  } finally {
    agent.destroy()
  }
}
