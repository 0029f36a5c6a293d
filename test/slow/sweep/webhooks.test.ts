import t from 'tap'
import { faultsWith, short, smallClient } from './small-client.ts'

/** A client with a receiver. `isGenuine` and `store` are what differs; a status that comes by polling counts too if `polls`. */
const receiving = ({
  isGenuine,
  store,
  polls,
}: {
  isGenuine: string
  store: string
  polls: boolean
}) => `
const { createHmac } = await import('node:crypto')
const secret = 'whsec_dGhlLXN3ZWVwLWlzLXRlc3RlZC1oZXJl'
const key = Buffer.from(secret.slice(6), 'base64')
const signedBy = ({ 'webhook-id': id, 'webhook-timestamp': at }, body) =>
  'v1,' + createHmac('sha256', key).update(id + '.' + at + '.' + body).digest('base64')
const isSigned = (headers, body) => (headers['webhook-signature'] ?? '').split(' ').includes(signedBy(headers, body))
const isFresh = (headers) => Math.abs(Date.now() / 1000 - headers['webhook-timestamp']) < 300
const seen = new Set()
const WORDS = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']
let status = 'PENDING'
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => {
    const { headers } = request
    try {
      if (!(${isGenuine})) throw new Error('not genuine')
      const event = JSON.parse(body)
      const id = headers['webhook-id']
      const word = event.type.split('.')[1].toUpperCase()
      ${store}
      response.end()
    } catch {
      response.writeHead(401).end()
    }
  })
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const address = 'http://127.0.0.1:' + receiver.address().port
await call('POST', '/clientWebhook', { url: address, webhook_secret: secret })
try {
  const { transaction_id: id } = await pay()
  for (const by of ['10s', '1h']) await pass(by)
  if (${polls}) status = (await get(id)).transaction_status.toUpperCase()
  if (status !== 'SUCCESS') throw new Error(status)
} finally {
  receiver.close()
  receiver.closeAllConnections()
}
`

const CAREFUL = {
  isGenuine: 'isSigned(headers, body) && isFresh(headers)',
  store: 'if (WORDS.indexOf(word) > WORDS.indexOf(status)) status = word',
  polls: true,
}

t.test(
  'a receiver that verifies, orders and polls passes under each fault of its events',
  async (t) => {
    const result = await smallClient(t, receiving(CAREFUL)).sweep({
      only: ['transaction.success', 'hold_until', 'webhook_delivery'],
    })
    t.strictSame(short(result), [])
    // Also where no event is sent at all: the fault happened, though there is no delivery.
    t.strictSame(
      result.runs.filter(({ verdict }) => verdict !== 'passed').map(({ plan }) => plan[0]!.name),
      [],
    )
    t.ok(result.runs.some(({ plan }) => plan[0]!.name === 'webhook_delivery=never'))
    t.ok(result.runs.some(({ plan }) => plan[0]!.name === 'hold_until'))
  },
)

t.test('a receiver that verifies nothing accepts forged events', async (t) => {
  const careless = { ...CAREFUL, isGenuine: 'true' }
  const only = ['transaction.success']
  const result = await smallClient(t, receiving(careless)).sweep({ only })
  t.strictSame(faultsWith(result, 'accepted_forged'), [
    'signature_wrong',
    'signature_missing',
    'timestamp_stale',
  ])
  t.equal(result.findings[0]!.happened, 'the receiver answered 200 to this transaction.success')
})

t.test(
  'a receiver that takes the last event and never polls relies on order and delivery',
  async (t) => {
    const careless = {
      ...CAREFUL,
      store: "if (seen.has(id)) status = 'REPEATED'; else status = word; seen.add(id)",
      polls: false,
    }
    const result = await smallClient(t, receiving(careless)).sweep({
      only: ['hold_until', 'copies', 'drop', 'webhook_delivery'],
    })
    t.strictSame([...new Set(faultsWith(result, 'relies_on'))].sort(), [
      ...['copies', 'drop', 'hold_until', 'webhook_delivery=never'],
    ])
  },
)
