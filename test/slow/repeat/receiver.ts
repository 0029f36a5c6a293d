import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Received = { seconds: string; id: string; attempt: string; text: string }

const sorted = (messages: Received[]) =>
  messages.sort(
    (a, b) =>
      a.seconds.localeCompare(b.seconds) ||
      a.id.localeCompare(b.id) ||
      a.attempt.localeCompare(b.attempt) ||
      (a.text < b.text ? -1 : 1),
  )

/** Answers by the event's id and the attempt alone: mostly well, now and then as broken receivers do. */
function answer(response: ServerResponse, chance: number) {
  if (chance < 190) response.writeHead(204).end()
  else if (chance < 215) response.writeHead(500).end('out of order')
  else if (chance < 230) response.writeHead(429, { 'retry-after': '7' }).end()
  else if (chance < 240) response.writeHead(302, { location: '/other' }).end()
  // Half a response: without a byte of one, an attempt on a used connection is sent again, which depends on timing.
  else if (chance < 250)
    response
      .writeHead(200, { 'content-length': '10' })
      .write('half ', () => response.socket?.destroy())
  else response.writeHead(410).end()
}

/** A receiver of webhooks that is the same for every run: what it answers depends on the message alone. */
export async function startReceiver() {
  let received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, rawHeaders, headers } = request
    const id = String(headers['webhook-id'])
    const attempt = String(headers['x-webhook-attempt'])
    received.push({
      seconds: String(headers['webhook-timestamp']),
      id,
      attempt,
      text: `${method} ${url} ${JSON.stringify(rawHeaders)} ${Buffer.concat(chunks).toString('latin1')}`,
    })
    answer(response, createHash('sha256').update(`${id} ${attempt}`).digest()[0]!)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    /** What came since the last time, every byte of it. Those of one second stand by id: they are sent at once. */
    take(): string[] {
      const messages = sorted(received)
      received = []
      return messages.map(({ text }) => text)
    },
    /** Waits until no sender is connected: what they sent has arrived. */
    async isIdle() {
      const count = () =>
        new Promise<number>((resolve) =>
          server.getConnections((_, connections) => resolve(connections ?? 0)),
        )
      while ((await count()) > 0) await new Promise(setImmediate)
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
