// A webhook handler that survives what at-least-once delivery does: repeats and any order.
//
// Two rules make it so. An event is handled once, known by its `webhook-id`, which is the same on every attempt.
// And a payment only moves forward in time, so an old event that comes late changes nothing.
import { createServer } from 'node:http'

/** Which of two events of the same instant is the later one; after both of the last two, the other one can still come. */
const RANK = { pending: 0, processing: 1, success: 2, failed: 2 }

/** What this handler believes of each payment, by transaction_id. A real one keeps both in its database. */
const payments = new Map()
const handled = new Set()

function apply(id, event) {
  if (!id) throw new Error('no webhook-id')
  if (handled.has(id)) return
  const [resource, status] = event.type.split('.')
  if (resource === 'transaction' && status in RANK) {
    const { transaction_id, updated_at } = event.data
    const known = payments.get(transaction_id)
    const isSame = updated_at === known?.updated_at
    if (!known || (isSame ? RANK[status] > RANK[known.status] : updated_at > known.updated_at))
      payments.set(transaction_id, { status, updated_at })
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
    return response.end(JSON.stringify({ status: payments.get(probe[1])?.status ?? null }))
  }
  return response.writeHead(404).end()
})

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`ready on http://127.0.0.1:${server.address().port}`)
})
