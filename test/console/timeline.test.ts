import t from 'tap'
import { GUARDED } from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('a payment as one line of time', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  const hook = await receiver(t)
  const opened = await openConsole(t, browser, GUARDED)
  const { page, go, post, put, pay, get, advance, see, assertNoErrors } = opened
  await post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  const lines = page.locator('.timeline > li')

  /** Shows a payment, and returns its lines when there are this many. */
  async function lineOf(id: string, count: number) {
    await go('payments')
    await page.getByRole('table', { name: 'Payments' }).waitFor()
    await go(`payments/${id}`)
    await lines.nth(count - 1).waitFor()
    const texts = await lines.allInnerTexts()
    t.equal(texts.length, count, texts.join('\n'))
    return texts.map((text) => text.replace(/\s+/g, ' ').trim())
  }
  const newPayment = async (more: object = {}): Promise<string> =>
    (await pay(more)).body.data[0].transaction_id

  await t.test('statuses with their events, now, and the pending steps', async (t) => {
    const id = await newPayment({ amount: 123.5 })
    await advance('1s')
    t.same(await lineOf(id, 5), [
      '2026-01-01 UTC',
      '00:00:00 PENDING created, ₹123.50 transaction.pending delivered (204)',
      '00:00:01 +1s PROCESSING transaction.processing delivered (204)',
      '00:00:01 now (the clock is frozen: nothing happens until you advance it)',
      '00:00:03 in 2s becomes SUCCESS',
    ])
    t.equal(await page.locator('.timeline .ahead').count(), 1)
    await advance('2d')
    const after = await lineOf(id, 6)
    t.match(after[3], /^00:00:03 \+3s SUCCESS UTR \d{12} transaction.success delivered \(204\)$/)
    t.same(after.slice(4), [
      '2026-01-03 UTC',
      '00:00:01 now: no steps left, the payment stays SUCCESS',
    ])
  })

  await t.test('in one instant, lines are in the order of the changes', async (t) => {
    await put('/__admin/scenario', { name: 'stuck-transactions' })
    const id = await newPayment()
    for (const status of ['PROCESSING', 'SUCCESS', 'FAILED'])
      await post(`/__admin/simulate/transactions/${id}`, {
        status,
        ...(status === 'FAILED' && { reason: 'bank_account_closed' }),
      })
    await advance('0s')
    const texts = await lineOf(id, 6)
    for (const [i, status] of ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'].entries())
      t.match(texts[i + 1], new RegExp(`${status} .*transaction.${status.toLowerCase()} delivered`))
    t.match(texts[4], 'bank_account_closed: The beneficiary account is closed.')
    t.notMatch(texts[4], '+', 'no time has passed')

    await post('/__admin/reset', { parts: ['deliveries'] })
    await see('the payment stays FAILED')
    const kept = await lineOf(id, 6)
    t.match(kept[2], 'PROCESSING', 'a status stays when its event is deleted')
    t.notMatch(kept.join(), 'transaction.')
  })

  await t.test('an event triggered by hand does not look like a status', async (t) => {
    await post('/__admin/rules', {
      when: { operation: 'createTransaction' },
      times: 1,
      then: { transaction: [{ status: 'PENDING' }] },
    })
    const id = await newPayment()
    await advance('5s')
    await post('/__admin/webhooks/trigger', { event: 'transaction.success', resource_id: id })
    const texts = await lineOf(id, 4)
    t.match(
      texts[2],
      '+5s Event triggered by hand; the payment was PENDING. transaction.success delivered (204)',
    )
    t.equal(await page.locator('.timeline .chip').count(), 1, 'only a status has a colour')
  })

  await t.test('rejected attempts are listed below their event', async (t) => {
    await put('/__admin/scenario', { name: 'default' })
    await put('/__admin/assumptions', { webhook_order: 'per_resource' })
    hook.respondWith(status(500))
    const id = await newPayment()
    await advance('1500ms')
    const texts = await lineOf(id, 6)
    t.match(
      texts[1],
      /transaction.pending not delivered after 2 attempts, will be retried attempt 1 at [\d:.]+: rejected \(500\) attempt 2 at [\d:.]+: rejected \(500\)$/,
    )
    t.match(texts[2], 'PROCESSING transaction.processing waits for the previous event')
    t.match(texts.slice(4), [/becomes SUCCESS/, /attempt 3 of transaction.pending/])
    t.equal(await page.locator('.attempts .failed').count(), 2)
    await advance('1h')
    const later = await lineOf(id, 5)
    for (const event of ['pending', 'processing', 'success'])
      t.match(later.join(), `transaction.${event} delivery failed after 5 attempts`)
    t.equal(await page.locator('.attempts .failed').count(), 15)
    await put('/v1/clientWebhook', { url: 'http://127.0.0.1:1/nobody', webhook_secret: SECRET })
    const lost = await newPayment()
    await advance('1s')
    t.match(
      (await lineOf(lost, 6))[1],
      /attempt 1 at [\d:.]+: failed: nothing listens on 127\.0\.0\.1:1: the connection was refused/,
    )
    await go('deliveries')
    const chip = page.getByRole('table', { name: 'Deliveries' }).locator('.chip.bad')
    await chip.getByText('refused', { exact: true }).first().waitFor()
    await put('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
    await go(`payments/${id}`)
    await lines.nth(4).waitFor()
    hook.respondWith(status(204))
    const { deliveries } = (await get(`/__admin/transactions/${id}`)).body
    await post(`/__admin/webhooks/deliveries/${deliveries[0].delivery_id}/redeliver`)
    await page.locator('.timeline').getByText('delivered after 6 attempts').waitFor()
    await put('/__admin/assumptions', { webhook_order: null })
  })

  await t.test('instants within one second are distinguished', async (t) => {
    const id = await newPayment()
    await advance('250ms')
    await post('/__admin/webhooks/trigger', { event: 'transaction.pending', resource_id: id })
    const texts = await lineOf(id, 6)
    t.match(texts[1], /^\d\d:\d\d:\d\d\.\d{3} PENDING/)
    t.match(texts[2], /^\d\d:\d\d:\d\d\.\d{3} \+250ms Event triggered by hand/)
  })

  await t.test('events without a webhook are no copies', async (t) => {
    const other = await openConsole(t, browser)
    const { transaction_id } = (await other.pay()).body.data[0]
    await other.advance('5s')
    await other.go(`payments/${transaction_id}`)
    const lines = other.page.locator('.delivery-lines')
    await lines.nth(2).waitFor()
    const texts = (await lines.allInnerTexts()).map((text) => text.trim())
    const ids = (await other.get('/__admin/webhooks/deliveries')).body.deliveries.map(
      ({ delivery_id }: { delivery_id: string }) => delivery_id,
    )
    t.same(ids, ['rec_3', 'rec_2', 'rec_1'], 'these numbers do not count copies')
    t.same(
      texts,
      ['pending', 'processing', 'success'].map(
        (status) => `transaction.${status} not sent: no webhook was set`,
      ),
    )
  })

  await t.test('copies, and an event that a rule drops', async (t) => {
    await put('/__admin/scenario', {
      definition: {
        webhooks: [
          { when: { event: 'transaction.pending' }, then: { copies: 2 } },
          { name: 'lost', when: { event: 'transaction.processing' }, then: { drop: true } },
        ],
      },
    })
    const id = await newPayment()
    await advance('1s')
    const texts = (await lineOf(id, 5)).join()
    t.match(texts, 'transaction.pending delivered (204) transaction.pending (copy 2) delivered')
    t.match(texts, 'transaction.processing not sent: dropped by inline: lost')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
