// The baseline: a bare Fastify that returns the same bytes from memory, validates nothing and stores nothing on disk. With
// only a port it has one route, for the start. POST /send sends webhooks with node:http, 64 at once.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import Fastify from 'fastify'

const [port, seedFile] = process.argv.slice(2)
const app = Fastify()
app.get('/', () => ({ ok: true }))

function post(agent, { port, headers, body }) {
  return new Promise((resolve, reject) => {
    const options = { agent, host: '127.0.0.1', port, path: '/', method: 'POST', headers }
    const request = http.request(options, (response) => response.resume().on('end', resolve))
    request.on('error', reject).end(body)
  })
}

function addRoutes({ users, transactions, clientId }) {
  const done = (code, message, data) => ({ status: true, code, message, data })
  const byId = new Map(users.users.map((user) => [user.user_id, user]))
  const payments = new Map()
  app.get('/v1/user/:id', ({ params }) =>
    done(200, 'User fetched successfully', byId.get(params.id)),
  )
  app.get('/v1/transaction', ({ query }) => {
    const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 10)]
    const total = transactions.total_transation
    const rows = transactions.transactions.slice((page - 1) * limit, page * limit)
    return done(200, 'Transactions fetched successfully', {
      total_transation: total,
      page,
      limit,
      total_pages: Math.ceil(total / limit),
      transactions: rows,
    })
  })
  app.post('/v1/user', ({ body }, reply) => {
    const now = new Date().toISOString()
    const ids = { user_id: randomUUID(), client_id: clientId, user_type: 'individual' }
    const empty = { pid: null, tid: null, bank_id: null, created_at: now, updated_at: now }
    const user = { ...ids, email: body.email, mobile: body.mobile, ...empty }
    byId.set(user.user_id, user)
    reply.code(201)
    return done(201, 'User created successfully', user)
  })
  app.post('/v1/transaction', ({ body }) => {
    const now = new Date().toISOString()
    const payment = {
      ...transactions.transactions[0],
      ...body,
      transaction_id: randomUUID(),
      transaction_status: 'pending',
      created_at: now,
      updated_at: now,
    }
    payments.set(payment.transaction_id, payment)
    return done(200, 'Transaction initiated successfully', [payment])
  })
  app.post('/send', async ({ body: { count, ...message } }) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
    await Promise.all(Array.from({ length: count }, () => post(agent, message)))
    agent.destroy()
    return {}
  })
}
if (seedFile !== undefined) addRoutes(JSON.parse(readFileSync(seedFile, 'utf8')))
await app.listen({ port: Number(port), host: '127.0.0.1' })
