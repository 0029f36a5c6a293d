// The receiver of webhooks: verifies, stores each event once, and only then answers.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const TOLERANCE_S = 300
const MAX_BYTES = 1 << 20

const isEqual = (a, b) => a.length === b.length && timingSafeEqual(a, b)

async function bodyOf(request) {
  const chunks = []
  let length = 0
  for await (const chunk of request) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_BYTES) throw new Error('the body is too long')
  }
  return Buffer.concat(chunks)
}

export const receiver = (app) => ({
  stored: new Set(),
  /** Work that goes on after an answer. */
  background: new Set(),

  isFresh: (timestamp) => Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_S,

  /** Standard Webhooks: the id, the time and the body are signed. */
  isStandard(headers, body) {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
    const keys = [Buffer.from(app.secret), Buffer.from(app.secret.replace(/^whsec_/, ''), 'base64')]
    const signed = keys.map((key) =>
      createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest(),
    )
    const given = headers['webhook-signature']
      .split(' ')
      .filter((one) => one.startsWith('v1,'))
      .map((one) => Buffer.from(one.slice(3), 'base64'))
    return (
      signed.some((right) => given.some((one) => isEqual(one, right))) && app.isFresh(timestamp)
    )
  },

  /** Only the body is signed. */
  isPlain: (headers, body) =>
    isEqual(
      Buffer.from(headers['x-webhook-signature'], 'hex'),
      createHmac('sha256', app.secret).update(body).digest(),
    ),

  /** Whether an event is genuine. An event without a signature is not: polling finds what it says. */
  isGenuine(headers, body) {
    if (headers['webhook-signature']) return app.isStandard(headers, body)
    return headers['x-webhook-signature'] ? app.isPlain(headers, body) : false
  },

  /** The answer to an event that is not genuine. */
  rejectedStatus: 401,

  readEvent(headers, body) {
    const { id, type = '', data } = JSON.parse(body.toString('utf8'))
    const [kind, word] = type.split('.')
    return {
      id: headers['webhook-id'] ?? id,
      isPayment: kind === 'transaction',
      transactionId: data?.transaction_id,
      status: app.statusOf(data?.history?.status ?? word),
      utr: data?.history?.utr ?? null,
    }
  },

  isRepeat: ({ id }) => app.stored.has(id),

  /** Stores an event with its effect. Nothing happens between the two. */
  storeEvent(event) {
    app.stored.add(event.id)
    const payment = app.payments.find(({ id }) => id === event.transactionId)
    if (event.isPayment && payment) app.applyEvent(payment, event)
  },

  applyEvent: (payment, { status, utr }) => app.move(payment, status, utr),

  /** Handles one event; `answer` sends the status. */
  handle(event, answer) {
    if (!app.isRepeat(event)) app.storeEvent(event)
    answer(200)
  },

  async receive(request, response) {
    const answer = (status) => {
      response.statusCode = status
      response.end()
    }
    try {
      const body = await bodyOf(request)
      if (!app.isGenuine(request.headers, body)) return answer(app.rejectedStatus)
      app.handle(app.readEvent(request.headers, body), answer)
    } catch (error) {
      app.log(`an event was not stored: ${error.message}`)
      answer(500)
    }
  },

  async startReceiver() {
    const server = createServer((request, response) => app.receive(request, response))
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${server.address().port}/webhook`
  },
})
