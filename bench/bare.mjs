// The baseline for throughput: a bare Fastify server that returns the same bytes from memory and stores nothing.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

const [seedFile] = process.argv.slice(2)
const { users, transactions, clientId } = JSON.parse(readFileSync(seedFile, 'utf8'))
const userById = new Map(users.users.map((user) => [user.user_id, user]))
const payments = new Map()
const account = transactions.transactions[0].benif_bank

const done = (code, message, data) => ({ status: true, code, message, data })
const app = Fastify()

app.get('/v1/user/:userId', ({ params }) =>
  done(200, 'User fetched successfully', userById.get(params.userId)),
)

app.get('/v1/users', ({ query }) => {
  const limit = Number(query.limit ?? 50)
  const page = Number(query.page ?? 1)
  return done(200, 'Users fetched successfully', {
    total_users: users.total_users,
    page,
    limit,
    users: users.users.slice((page - 1) * limit, page * limit),
  })
})

app.get('/v1/transaction', ({ query }) => {
  const limit = Number(query.limit ?? 10)
  const page = Number(query.page ?? 1)
  const total = transactions.total_transation
  return done(200, 'Transactions fetched successfully', {
    total_transation: total,
    page,
    limit,
    total_pages: Math.ceil(total / limit),
    transactions: transactions.transactions.slice((page - 1) * limit, page * limit),
  })
})

app.post('/v1/user', ({ body }, reply) => {
  const now = new Date().toISOString()
  const user = {
    user_id: randomUUID(),
    client_id: clientId,
    user_type: body.user_type ?? 'individual',
    email: body.email,
    mobile: body.mobile,
    pid: null,
    tid: null,
    bank_id: null,
    created_at: now,
    updated_at: now,
  }
  userById.set(user.user_id, user)
  reply.code(201)
  return done(201, 'User created successfully', user)
})

app.post('/v1/transaction', ({ body }) => {
  const now = new Date().toISOString()
  const payment = {
    transaction_id: randomUUID(),
    client_id: clientId,
    reference_id: body.reference_id ?? null,
    from_user_id: body.from_user_id,
    to_user_id: body.to_user_id,
    benif_bank_id: body.benif_bank_id,
    currency_code: 'INR',
    transaction_type: 'debit',
    amount: body.amount.toFixed(2),
    utr: null,
    transaction_status: 'pending',
    created_at: now,
    updated_at: now,
    benif_bank: account,
  }
  payments.set(payment.transaction_id, payment)
  return done(200, 'Transaction initiated successfully', [payment])
})

await app.listen({ port: 0, host: '127.0.0.1' })
process.send(app.server.address().port)
