// A webhook handler with a planted bug: whichever event comes last wins.
//
// It works as long as events arrive in order, once each. At-least-once delivery promises neither: if an event is late, it
// believes a payment that succeeded to be pending.
import { createServer } from 'node:http'

/** What this handler believes of each payment: transaction_id -> status. */
const statuses = new Map()

function apply(event) {
  const [resource, status] = event.type.split('.')
  if (resource !== 'transaction') return
  statuses.set(event.data.transaction_id, status)
}

const server = createServer(async (request, response) => {
  if (request.method === 'POST' && request.url === '/webhook') {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    try {
      apply(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    } catch {
      return response.writeHead(400).end()
    }
    return response.writeHead(204).end()
  }
  const probe = /^\/state\/([^/?]+)$/.exec(request.url ?? '')
  if (request.method === 'GET' && probe) {
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify({ status: statuses.get(probe[1]) ?? null }))
  }
  return response.writeHead(404).end()
})

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`ready on http://127.0.0.1:${server.address().port}`)
})
