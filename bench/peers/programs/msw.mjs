// Mock Service Worker behind its own HTTP middleware. Its users write the state themselves, here in a Map.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from '@mswjs/http-middleware'
import { HttpResponse, http } from 'msw'

const [port, file] = process.argv.slice(2)
const rows = new Map(JSON.parse(readFileSync(file, 'utf8')).map((row) => [row.id, row]))

createServer(
  http.get('/users/:id', ({ params }) => HttpResponse.json(rows.get(params.id))),
  http.get('/users', () => {
    const found = []
    for (const row of rows.values()) if (found.push(row) === 10) break
    return HttpResponse.json(found)
  }),
  http.post('/users', async ({ request }) => {
    const row = { id: randomUUID(), ...(await request.json()) }
    rows.set(row.id, row)
    return HttpResponse.json(row, { status: 201 })
  }),
).listen(Number(port), '127.0.0.1')
