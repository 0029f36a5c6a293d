import t from 'tap'
import { WEBHOOK_EVENT_BODIES } from '../../src/model/webhook.ts'
import { EVENTS } from '../../src/scenarios/operations-and-events.ts'
import { start } from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

type Kind = keyof typeof WEBHOOK_EVENT_BODIES
const schemaOf = (type: string) => WEBHOOK_EVENT_BODIES[type.split('.')[0] as Kind]

const WHEN: Record<Kind, string> = {
  transaction: 'Sent when a payment gets this status.',
  kyc: 'Sent when a KYC record gets this status.',
  bank: 'Sent when a bank account gets this status.',
  user: 'Sent only when you trigger it.',
  webhook: 'Sent only when you trigger it.',
}

t.test('the document shows every event, and its examples fit the schemas', async (t) => {
  const { get } = await start(t)
  const { webhooks, components } = (await get('/openapi.json')).body
  t.same(Object.keys(webhooks), EVENTS)
  for (const type of EVENTS) {
    const { schema, example } = webhooks[type].post.requestBody.content['application/json']
    t.ok(components.schemas[schema.$ref.split('/').pop()], type)
    t.equal(example.type, type)
    t.match(webhooks[type].post.summary, WHEN[type.split('.')[0] as Kind])
    const { error } = schemaOf(type).safeParse(example)
    t.notOk(error, `${type} ${error?.message}`)
  }
})

t.test('a sent event matches its schema', async (t) => {
  const hook = await receiver(t)
  const box = await start(t)
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  for (const event of EVENTS) await box.post('/__admin/webhooks/trigger', { event })
  await box.pay({ amount: '100.91' })
  await box.advance('10s')
  t.equal(hook.received.length, EVENTS.length + 3)
  for (const { type, body, headers } of hook.received) {
    const { error } = schemaOf(type!).safeParse(JSON.parse(body))
    t.notOk(error, `${type} ${error?.message}`)
    const { webhooks } = (await box.get('/openapi.json')).body
    for (const { name } of webhooks[type!].post.parameters) t.ok(headers[name], name)
  }
})
