import t from 'tap'
import type { World } from '../../../src/world/world.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from '../../helper.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

/** Creates PENDING payments of 1.00, 2.00 and so on. */
const payments = (count: number) => (world: World) => {
  const input = {
    from_user_id: ASHA,
    to_user_id: ROHAN,
    benif_bank_id: ROHANS_ACCOUNT,
    currency_code: 'INR',
  } as const
  world.tables.change(() => {
    for (let i = 1; i <= count; i++)
      world.payouts.payments.create({ ...input, amount: `${i}.00` }, [
        { status: 'PENDING', after_ms: 0 },
      ])
  })
}

t.test('live', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)

  await t.test('rows appear and change as it happens', async (t) => {
    const opened = await openConsole(t, browser, { view: 'payments' })
    const { page, go, pay, get, post, put, advance, see, assertNoErrors } = opened
    await page.getByText('live', { exact: true }).waitFor()
    let loads = 0
    page.on('framenavigated', () => loads++)
    const first = page.getByRole('table', { name: 'Payments' }).getByRole('row').nth(1)
    await pay({ amount: 4321, remark: 'live' })
    await first.getByText('₹4,321.00').waitFor()
    await first.getByText('PENDING').waitFor()
    await advance('1m')
    await first.getByText('SUCCESS').waitFor()
    // Another program advanced the clock.
    await page.locator('.now time').filter({ hasText: '00:01:00' }).waitFor()
    await post('/__admin/clock/speed', { factor: 7 })
    await post('/__admin/clock/resume')
    await see('× 7')
    t.equal(loads, 0)

    await go('requests')
    const requests = page.getByRole('table', { name: 'Requests' })
    await requests.getByRole('row').nth(1).waitFor()
    await get(`/v1/user/${ASHA}`)
    await requests.getByRole('row').nth(1).getByText(`/v1/user/${ASHA}`).waitFor()

    await go('scenarios')
    await page.locator('li.active').getByRole('link', { name: 'default' }).waitFor()
    await put('/__admin/scenario', { name: 'slow' })
    await page.locator('li.active').getByRole('link', { name: 'slow' }).waitFor()

    await go('trouble')
    await see('Pushed rules')
    await post('/__admin/rules', { when: { operation: 'getKyc' }, then: { delay: '1s' } })
    await page.getByText('"operation":"getKyc"').waitFor()

    await go('deliveries')
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByRole('row').nth(1).waitFor()
    const before = await deliveries.getAttribute('aria-rowcount')
    const account = { user_id: ASHA, account_number: '123456789012', ifsc_code: 'HDFC0000001' }
    await post('/v1/bank', account)
    await deliveries.getByRole('row').nth(1).getByText('bank.success').waitFor()
    t.equal(Number(await deliveries.getAttribute('aria-rowcount')), Number(before) + 1)
    assertNoErrors(t)
  })

  await t.test('a lost connection is shown, restored silently, and loses nothing', async (t) => {
    const opened = await openConsole(t, browser, { view: 'requests', wired: true })
    const { page, app, get, pay, see, wire } = opened
    await page.getByText('live', { exact: true }).waitFor()
    const eventIds: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/events')) eventIds.push(request.headers()['last-event-id'])
    })
    await get('/v1/users')
    await see(/^1 call$/)
    await wire.cut()
    await page.getByText('lost', { exact: true }).waitFor()
    await pay()
    await get(`/v1/user/${ASHA}`)
    await wire.restore()
    await page.getByText('live', { exact: true }).waitFor()
    await see(/^3 calls$/)
    t.ok(
      eventIds.length > 0 && eventIds.every((id) => id !== undefined),
      'continued at the last event',
    )
    // The page repeats the failed reads.
    await page.getByRole('alert').waitFor({ state: 'detached' })
    t.equal(await page.getByRole('dialog').count(), 0)

    await wire.cut()
    await page.getByText('lost', { exact: true }).waitFor()
    // More events than the server stores for a reconnect.
    for (let i = 0; i < 1_100; i++) await app.inject({ url: `/v1/user/${ROHAN}` })
    await wire.restore()
    await see(/^the newest 1,000 calls$/)
    await page.getByRole('table').getByRole('row').nth(1).getByText(ROHAN).waitFor()
  })

  await t.test('new rows do not move the visible rows', async (t) => {
    const opened = await openConsole(t, browser, { view: 'payments', prepare: payments(500) })
    const { page, pay, post, settle, assertNoErrors } = opened
    const table = page.getByRole('table', { name: 'Payments' })
    const link = (text: string) => table.getByRole('link', { name: text, exact: true })
    const topOf = async (text: string) => (await link(text).boundingBox())!.y
    await page.getByText('live', { exact: true }).waitFor()
    await link('₹500.00').waitFor()
    // From here on, the page knows the newest row.
    await settle()

    await link('₹498.00').focus()
    const before = await topOf('₹498.00')
    for (let i = 0; i < 30; i++) await pay({ amount: 7000 + i })
    await page.getByRole('button', { name: '30 new ↑' }).waitFor()
    t.equal(await page.evaluate('document.activeElement.textContent'), '₹498.00')
    t.equal(await topOf('₹498.00'), before, 'with the focus on a row')

    await page.getByRole('button', { name: '30 new ↑' }).click()
    await link('₹7,029.00').waitFor()
    t.equal(await page.locator('.news').count(), 0)
    await page.evaluate('document.activeElement.blur()')
    await link('₹7,029.00').hover()
    const under = await topOf('₹7,029.00')
    const { body } = await pay({ amount: 8001 })
    await page.getByRole('button', { name: '1 new ↑' }).waitFor()
    t.equal(await topOf('₹7,029.00'), under, 'under the pointer')
    const call = { status: 'FAILED', reason: 'bank_account_closed' }
    await page.getByRole('button', { name: '1 new ↑' }).click()
    await link('₹8,001.00').hover()
    await pay({ amount: 8001.5 })
    await page.getByRole('button', { name: '1 new ↑' }).waitFor()
    await post(`/__admin/simulate/transactions/${body.data[0].transaction_id}`, call)
    await table.getByRole('row').nth(1).getByText('FAILED').waitFor()
    await page.getByRole('button', { name: '1 new ↑' }).click()
    await page.evaluate('document.activeElement.blur()')
    await page.mouse.move(0, 0)
    await pay({ amount: 8002 })
    await link('₹8,002.00').waitFor()
    t.equal(
      await page.evaluate(`document.querySelector('.rows').scrollTop`),
      0,
      'at the top, new rows are visible',
    )
    assertNoErrors(t)
  })

  await t.test('back from a row, the list is where it was', async (t) => {
    const opened = await openConsole(t, browser, { view: 'payments', prepare: payments(500) })
    const { page, post, until, see } = opened
    await page.setViewportSize({ width: 1000, height: 700 })
    const table = page.getByRole('table', { name: 'Payments' })
    await table.getByText('₹500.00').waitFor()
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    const link = table.getByRole('link', { name: '₹405.00' })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '₹405.00' }).waitFor()
    await page.goBack()
    await see(/^Page 2 of \d+$/)
    await until(`document.activeElement.textContent === '₹405.00'`)
    const { y } = (await link.boundingBox())!
    t.ok(y > 0 && y < 700, 'it is in sight')
    await page.getByLabel('Outcome').selectOption('In flight')
    await see(/^Page 1 of \d+$/)
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await see(/^Page 2 of \d+$/)
    await page.getByLabel('Outcome').selectOption('any')
    await see(/^Page 1 of \d+$/)
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await table.getByText('₹405.00').waitFor()
    await post('/__admin/reset', {})
    await table.getByText('₹405.00').waitFor({ state: 'detached' })
    // The first page of what is left.
    await table.getByRole('link').first().waitFor()
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('table', { name: 'Users' }).waitFor()
    await page.getByRole('link', { name: 'Payments', exact: true }).click()
    await table.getByRole('link').first().waitFor()
  })
})
