import t from 'tap'
import { nextAttempt, sentStatus } from '../../../src/model/feed-kinds.ts'
import { receiver, SECRET, status } from '../../receiver.ts'
import { noBrowser, type Opened, openBrowser, openConsole } from './browser.ts'

/** Presses a button, and returns the line at the bottom when the call has ended. */
async function press({ page }: Opened, name: string) {
  await page.getByRole('button', { name, exact: true }).click()
  // The line shows a call immediately, as busy until its response arrives.
  const line = page.locator('footer [role=status]:not([aria-busy=true])')
  const text = (await line.textContent())!
  return { text, isRed: (await page.locator('footer').getAttribute('class')) === 'failed' }
}

t.test('the result of a webhook that is sent by hand', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  const hook = await receiver(t)
  const opened = await openConsole(t, browser)
  const { page, go, see, post, put, pay, get, assertNoErrors } = opened
  const newest = async () => (await get('/__admin/webhooks/deliveries')).body.deliveries[0]
  let id: string

  async function goToTrigger() {
    await go(`payments/${id}`)
    await page.locator('summary', { hasText: 'Change its status' }).click()
  }

  await t.test('no webhook is set', async (t) => {
    id = (await pay()).body.data[0].transaction_id
    await goToTrigger()
    t.match(await press(opened, 'Trigger'), { text: /rejected \(404\)$/, isRed: true })
    await page.getByRole('alert').getByText('This client has no webhook yet').waitFor()
    const { delivery_id } = await newest()
    await go(`deliveries/${delivery_id}`)
    await see('not sent: no webhook was set')
    t.match(await press(opened, 'Redeliver'), {
      text: /redeliver 404 This client has no webhook yet/,
      isRed: true,
    })
    await goToTrigger()
  })

  await t.test('accepted', async (t) => {
    await post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
    t.match(await press(opened, 'Trigger'), {
      text: /"transaction.success",.*} delivered \(204\)$/,
      isRed: false,
    })
  })

  await t.test('not delivered: why, and when the next attempt is', async (t) => {
    await put('/v1/clientWebhook', { url: 'http://127.0.0.1:1/nobody', webhook_secret: SECRET })
    const { text, isRed } = await press(opened, 'Trigger')
    t.match(text, / pending \(nothing listens on 127\.0\.0\.1:1: the connection was refused\);/)
    const last = await newest()
    const timeText = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
    t.ok(
      isRed && text.endsWith(` ${sentStatus(last)}; ${nextAttempt(last, timeText)}`),
      'in the words of the command line, with the time as the page shows it',
    )
    await go(`deliveries/${last.delivery_id}`)
    await see(/Not delivered after 1 attempt, will be retried: nothing listens on 127\.0\.0\.1:1/)
    await goToTrigger()
  })

  await t.test('each copy of an event', async (t) => {
    await put('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
    await put('/__admin/scenario', {
      definition: { webhooks: [{ when: { event: 'transaction.success' }, then: { copies: 2 } }] },
    })
    hook.respondWith((message, response, count) =>
      status(count % 2 === 0 ? 204 : 500)(message, response, count),
    )
    const { text, isRed } = await press(opened, 'Trigger')
    t.match(text, / 1: .*\. 2: /)
    t.match(text, 'delivered (204)')
    t.match(text, 'pending (responded with 500')
    t.equal(isRed, true)
  })

  await t.test('the deliveries that my 5xx made to be tried again are sent again', async (t) => {
    hook.respondWith(status(503))
    await post('/__admin/webhooks/trigger', { event: 'user.created' })
    hook.respondWith(status(204))
    const query = '/__admin/webhooks/deliveries?tried=5xx'
    const { total, deliveries } = (await get(query)).body
    t.ok(total > 1)
    await go('deliveries')
    await page.getByLabel('Attempts', { exact: true }).selectOption('my 5xx')
    await page.getByText(`${total} deliveries`).waitFor()
    await page.getByRole('button', { name: `Send these ${total} again` }).click()
    await opened.until(`document.body.innerText.includes('Send these ${total} again')`)
    await opened.settle()
    const after = (await get(query)).body.deliveries
    for (const [i, { attempts }] of after.entries())
      t.equal(attempts.length, deliveries[i].attempts.length + 1)
    await page.getByLabel('Attempts', { exact: true }).selectOption('retried')
    const { total: again } = (await get('/__admin/webhooks/deliveries?tried=again')).body
    await page.getByText(`${again} deliveries`).waitFor()
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
