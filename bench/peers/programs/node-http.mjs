// The upper limit: plain node:http with the rows in a Map. It validates and stores nothing.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)
const rows = new Map(JSON.parse(readFileSync(file, 'utf8')).map((row) => [row.id, row]))
const firstTen = () => {
  const found = []
  for (const row of rows.values()) if (found.push(row) === 10) break
  return found
}

createServer((request, response) => {
  const answer = (status, value) => {
    const text = JSON.stringify(value)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }
  if (request.method === 'GET') {
    const row = rows.get(request.url.slice('/users/'.length))
    return answer(200, row ?? firstTen())
  }
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const row = { id: randomUUID(), ...JSON.parse(Buffer.concat(chunks)) }
    rows.set(row.id, row)
    answer(201, row)
  })
}).listen(Number(port), '127.0.0.1')
