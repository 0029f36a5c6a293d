import t from 'tap'
import { start } from '../helper.ts'

const definition = { timeline: [{ do: { set_webhook: 'inbox' } }] }
const OWN = 'http://inbox.localhost/__admin/webhooks/inbox'

t.test('a timeline registers the inbox, which receives by any port', async (t) => {
  const { get, post, put, pay, advance, listen } = await start(t)
  const urlOf = async (base = '') => (await get(`${base}/__admin/client`)).body.webhook_url
  t.equal((await put('/__admin/scenario', { definition })).status, 200)
  t.equal(await urlOf(), OWN, 'before there is a port')
  await listen()
  await pay()
  await advance('1m')
  const { messages } = (await get('/__admin/webhooks/inbox')).body
  t.equal(messages.length, 3)
  t.ok(messages.every(({ verified }: { verified: boolean }) => verified))

  await t.test('another client has its own inbox', async (t) => {
    await put('/@other/__admin/scenario', { definition })
    t.equal(await urlOf('/@other'), OWN.replace('/__admin', '/@other/__admin'))
  })

  await t.test('a receiver of your own replaces it, and stays', async (t) => {
    const mine = { url: 'http://127.0.0.1:1/', webhook_secret: 'a-secret-of-the-test' }
    t.equal((await post('/v1/clientWebhook', mine)).status, 200)
    await put('/__admin/scenario', { definition })
    t.equal(await urlOf(), mine.url)
    t.equal((await post('/v1/clientWebhook', mine)).status, 409)
  })
  const wrong = { timeline: [{ do: { set_webhook: 'me' } }] }
  t.equal((await put('/__admin/scenario', { definition: wrong })).status, 400)
})
