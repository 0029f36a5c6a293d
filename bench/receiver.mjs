// A webhook receiver that accepts everything. On a message it returns the headers and body of the last webhook.
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
