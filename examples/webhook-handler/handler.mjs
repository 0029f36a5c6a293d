// A webhook handler that survives what at-least-once delivery does: repeats and any order.
//
// Two rules make it so. An event is handled once, known by its `webhook-id`, which is the same on every attempt.
// And a payment's status only moves forward, so an old event that comes late changes nothing.
import { createServer } from 'node:http'

/** How far along each status is; `failed` beats `success`, since only a late reversal can follow a success. */
const RANK = { pending: 0, processing: 1, success: 2, failed: 3 }

/** What this handler believes of each payment: transaction_id -> status. A real one keeps both in its database. */
const statuses = new Map()
const handled = new Set()

function apply(id, event) {
  if (!id) throw new Error('no webhook-id')
  if (handled.has(id)) return
  const [resource, status] = event.type.split('.')
  if (resource === 'transaction' && status in RANK) {
    const known = statuses.get(event.data.transaction_id)
    if (known === undefined || RANK[status] > RANK[known])
      statuses.set(event.data.transaction_id, status)
  }
  // Remembered only now: an event that could not be handled must be handled when it comes again.
  handled.add(id)
}

const server = createServer(async (request, response) => {
  if (request.method === 'POST' && request.url === '/webhook') {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    try {
      // A real handler verifies the signature first: see docs/webhooks.md.
      apply(request.headers['webhook-id'], JSON.parse(Buffer.concat(chunks).toString('utf8')))
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
