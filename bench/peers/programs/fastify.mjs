// The upper limit of the framework: Fastify without schemas, with the rows in a Map. It validates and stores nothing.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

const [port, file] = process.argv.slice(2)
const rows = new Map(JSON.parse(readFileSync(file, 'utf8')).map((row) => [row.id, row]))
const app = Fastify()

app.get('/users/:id', ({ params }) => rows.get(params.id))
app.get('/users', () => {
  const found = []
  for (const row of rows.values()) if (found.push(row) === 10) break
  return found
})
app.post('/users', ({ body }, reply) => {
  const row = { id: randomUUID(), ...body }
  rows.set(row.id, row)
  reply.code(201)
  return row
})

await app.listen({ port: Number(port), host: '127.0.0.1' })
