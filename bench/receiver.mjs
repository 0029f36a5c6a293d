// A receiver of webhooks that takes everything; it tells the last message's headers and body when asked.
import { createServer } from 'node:http'

let last
const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    last = { headers: request.headers, chunks }
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('message', () => {
  const { host: _, connection: __, ...headers } = last.headers
  process.send({ headers, body: Buffer.concat(last.chunks).toString('utf8') })
})
