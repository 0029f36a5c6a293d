import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { verifySignature } from '../src/webhooks/signatures.ts'
import { portOf } from './listening.ts'

export const SECRET = 'whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA=='

export type Received = {
  id: string
  /** The event's type, where the body is whole. */
  type: string | undefined
  resource: string | undefined
  attempt: number
  headers: IncomingHttpHeaders
  body: string
  verdict: ReturnType<typeof verifySignature>
}

type Reply = (message: Received, response: ServerResponse, count: number) => void

/** A receiver of webhooks on a free port: keeps what comes, and answers 204 or as a test says. */
export async function receiver(
  t: Test,
  reply: Reply = (_, response) => response.writeHead(204).end(),
) {
  const received: Received[] = []
  const state = { reply }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    let event: { type?: string; data?: Record<string, string> } = {}
    try {
      event = JSON.parse(body.toString('utf8'))
    } catch {
      // A body that was cut on purpose.
    }
    const { data = {} } = event
    const message: Received = {
      id: String(request.headers['webhook-id']),
      type: event.type,
      resource: data['transaction_id'] ?? data['kyc_id'] ?? data['user_id'],
      attempt: Number(request.headers['x-webhook-attempt']),
      headers: request.headers,
      body: body.toString('utf8'),
      verdict: verifySignature({
        headers: request.headers,
        body,
        secret: SECRET,
        now: Math.floor(Date.now() / 1_000),
      }),
    }
    received.push(message)
    state.reply(message, response, received.length)
  })
  const port = await portOf(t, server)
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    port,
    server,
    received,
    types: () => received.map(({ type }) => type),
    respondWith(next: Reply) {
      state.reply = next
    },
  }
}

/** An answer with a status and nothing else. */
export const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    response.writeHead(code, headers).end()

/** One of the example handlers, as a process of its own. */
export async function exampleHandler(t: Test, name: string): Promise<string> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(PACKAGE_ROOT, 'examples/webhook-handler', name)],
    { env: {}, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.teardown(() => child.kill('SIGKILL'))
  return new Promise((resolve) => {
    child.stdout!.once('data', (text: Buffer) => resolve(/http:\S+/.exec(text.toString())![0]))
  })
}
