import t from 'tap'
import { ASHA } from '../../helper.ts'
import { SECRET } from '../../receiver.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('lists beside their details', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, go, get, post, put, pay, advance, origin, assertNoErrors } = opened
  await page.setViewportSize({ width: 1440, height: 900 })
  await pay({ amount: 41, reference_id: 'first' })
  await pay({ amount: 42 })
  await post('/v1/transaction', { from_user_id: ASHA })
  const rowsOf = (name: string) => page.getByRole('table', { name }).getByRole('link')

  await t.test('arrow keys go through the rows, and open them beside the list', async (t) => {
    await go('payments?search=4')
    const rows = rowsOf('Payments')
    await rows.filter({ hasText: '₹42.00' }).click()
    await page.getByRole('heading', { name: /^₹42\.00 to/ }).waitFor()
    t.match(page.url(), /\/payments\/[\w-]+\?search=4$/)
    await rows.filter({ hasText: '₹42.00' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { name: /^₹41\.00 to/ }).waitFor()
    t.equal(await page.getByLabel('Search').inputValue(), '4', 'the list keeps its search')
    await page.keyboard.press('ArrowUp')
    await page.getByRole('heading', { name: /^₹42\.00 to/ }).waitFor()
    await page.getByText('Pay again with a change').click()
    await page.getByLabel('Amount', { exact: true }).fill('777')
    await page.setViewportSize({ width: 1000, height: 900 })
    await page.getByRole('table', { name: 'Payments' }).waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('table', { name: 'Payments' }).waitFor()
    t.equal(await page.getByLabel('Amount', { exact: true }).inputValue(), '777')
  })

  await t.test(
    'the reason of a rejected call stands in the list, and first on its page',
    async () => {
      const [{ reason }] = (await get('/__admin/requests')).body.requests
      t.match(reason, /^to_user_id is required/)
      await go('requests')
      const row = page.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1)
      await row.getByText(reason).waitFor()
      // Anywhere in the row.
      const { x, y } = (await row.boundingBox())!
      await page.mouse.click(x + 500, y + 20)
      await page.locator('.detail').getByText(reason, { exact: true }).first().waitFor()
    },
  )

  await t.test('a call with a wrong token or without /v1 is there, with who made it', async (t) => {
    const unknown = { authorization: 'Bearer wrong' }
    await post('/v1/transaction', {}, unknown)
    await post('/transaction', {})
    await go('requests?by=code')
    const table = page.getByRole('table', { name: 'Requests' })
    await table
      .getByRole('row', { name: /POST \/v1\/transaction 401 .*token is unknown/ })
      .waitFor()
    await table.getByRole('row', { name: /POST \/transaction 404 .*Your code/ }).waitFor()
    await page.getByLabel('By').selectOption('This page')
    await page.getByText('No call matches.').waitFor()
    t.match(page.url(), /by=console/)
  })

  await t.test(
    'the statement of a day has what the bank says, and what it gets wrong',
    async () => {
      await pay({ amount: 44, reference_id: 'booked' })
      await advance('1m')
      await go('statement?date=2026-01-01')
      const said = page.getByRole('region', { name: 'What the bank says' })
      await said.getByRole('row', { name: /booked debit ₹44\.00 \d{12}/ }).waitFor()
      await said.getByText(/net ₹\d+\.00/).waitFor()
      const truth = page.getByRole('region', { name: 'What really happened' })
      t.equal(await truth.count(), 0)
      const books = (text: string) =>
        page
          .getByLabel('A CSV with reference')
          .setInputFiles({ name: 'books.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
      const yours = page.getByRole('region', { name: 'Your books of this day' })
      await books('\uFEFFReference_id;amount;note\r\n"booked";"45,00";"a ""b""\nc"\r\n')
      await yours.getByText(/^books\.csv: .*isn't an amount/).waitFor()
      await books('reference_id,amount\nbooked,"1,045.00"\nunknown,7\n')
      const row = yours.getByRole('row', { name: /^amount/ })
      t.match(await row.textContent(), /1,045\.00.*₹44\.00/)
      await yours.getByRole('row', { name: /^missing in statement ₹7\.00/ }).waitFor()
      await books('name\nx')
      await yours.getByText('books.csv: The first line has no columns').waitFor()
      const rule = { name: 'hidden', when: { reference: 'booked' }, then: { omit: true } }
      await put('/__admin/scenario', { definition: { statement: [rule] } })
      await truth.getByRole('row', { name: /booked debit ₹44\.00 \d{12} inline: hidden/ }).waitFor()
      await said.getByRole('link', { name: 'booked' }).waitFor({ state: 'detached' })
      await page.getByLabel('Day in India').fill('2026-01-02')
      await said.getByText('0 debits of ₹0.00, 0 returns of ₹0.00: net ₹0.00').waitFor()
      t.match(page.url(), /date=2026-01-02/)
      await put('/__admin/scenario', { name: 'default' })
    },
  )

  await t.test('the inbox has what the built-in receiver got', async () => {
    const url = `${origin}/__admin/webhooks/inbox`
    await post('/v1/clientWebhook', { url, webhook_secret: SECRET })
    await pay({ amount: 43 })
    await advance('1s')
    await go('inbox')
    const { total } = (await get('/__admin/webhooks/inbox')).body
    await page.getByText(`${total} messages, ${total} new`).waitFor()
    const pending = rowsOf('Inbox').filter({ hasText: '↳ transaction.pending' })
    await pending.click()
    const detail = page.locator('.detail')
    await detail.getByRole('heading', { name: 'transaction.pending valid signature' }).waitFor()
    await detail.getByText('webhook-timestamp').waitFor()
    await detail.getByRole('link', { name: /^evt_/ }).click()
    await rowsOf('Deliveries').filter({ hasText: 'transaction.pending' }).waitFor()
    await page.goBack()
    await detail.getByRole('link', { name: /^[\da-f-]{36}$/ }).click()
    await page.getByRole('heading', { name: /^₹43\.00 to/ }).waitFor()
    await page.goBack()
    await detail.getByRole('heading', { name: 'transaction.pending' }).waitFor()
    await page.keyboard.press('Escape')
    await detail.waitFor({ state: 'detached' })
    await page.getByText(`${total - 1} new`).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Back to the list').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByLabel('Search').fill('processing')
    await pending.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear the inbox' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear the inbox' }).click()
    await page.getByText('No messages yet.').waitFor()
  })

  await t.test('/ searches everything', async (t) => {
    await page.locator('h2').first().focus()
    await page.keyboard.press('/')
    await page.getByRole('heading', { name: 'Search everything' }).waitFor()
    await page.keyboard.type('first')
    const payments = page.getByRole('region', { name: 'Payments' })
    await payments.getByText(/^₹41\.00 to/).waitFor()
    await page.getByRole('region', { name: 'Deliveries' }).getByRole('link').first().waitFor()
    await page.getByRole('region', { name: 'Requests' }).getByText('POST /v1/transaction').waitFor()
    await page.getByLabel('Search').fill('asha')
    await page.getByRole('region', { name: 'Users' }).getByRole('link').first().waitFor()
    await page.getByLabel('Search').fill('xyzzy 1')
    await page.getByText('Nothing matches “xyzzy 1”.').waitFor()
    await page.getByLabel('Search').fill('no-webhooks')
    await page.getByRole('region', { name: 'Scenarios' }).getByText('no-webhooks').waitFor()
    await page.getByLabel('Search').fill('transaction')
    const deliveries = page.getByRole('region', { name: 'Deliveries' })
    await deliveries.getByText(/^All \d+$/).click()
    await page.getByRole('table', { name: 'Deliveries' }).waitFor()
    t.match(page.url(), /#\/deliveries\?search=transaction$/)
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})

t.test(
  'a search shows what matched, the exact one first, and acts',
  { skip: noBrowser },
  async (t) => {
    const { page, pay, get, until, go, see } = await openConsole(t, await openBrowser(t))
    for (const reference_id of ['INV-500', 'INV-5001', 'INV-5002'])
      await pay({ amount: 55, reference_id })
    await page.keyboard.press('Control+k')
    const field = page.getByLabel('Search')
    await field.fill('inv-500')
    const hits = page.getByRole('region', { name: 'Payments' }).getByRole('listitem')
    await hits.nth(2).waitFor()
    t.match(await hits.allTextContents(), [/INV-500\D/, /INV-5002/, /INV-5001/])
    await field.press('Enter')
    await see(/INV-500$/)
    await go('search')
    await field.fill('arm 504')
    await page.getByRole('button', { name: /^Arm: 504/ }).waitFor()
    await field.press('Enter')
    await until("document.querySelector('nav').textContent.includes('1 armed')")
    t.equal((await get('/__admin/rules')).body.rules.length, 1)
  },
)

t.test('users have names and their payments, failures a reason', { skip: noBrowser }, async (t) => {
  const { page, put, pay, go, advance } = await openConsole(t, await openBrowser(t))
  const steps = [{ status: 'PENDING' }, { status: 'FAILED', after: '1s', reason: 'gateway_down' }]
  const rules = [{ when: { operation: 'createTransaction' }, then: { transaction: steps } }]
  await put('/__admin/scenario', { definition: { rules } })
  await pay({ amount: 777 })
  await advance('2s')
  await go('payments?outcome=failed')
  const list = page.getByRole('table', { name: 'Payments' })
  await list.getByRole('columnheader', { name: 'Why' }).waitFor()
  await list.getByText('gateway down').waitFor()
  await go('users?search=asha+nair')
  await page.getByRole('table', { name: 'Users' }).getByRole('link', { name: 'Asha Nair' }).click()
  await page.getByRole('heading', { name: 'Asha Nair' }).waitFor()
  await page.getByRole('region', { name: 'Payments' }).getByText('₹777.00 to ROHAN MEHTA').click()
  await page.getByRole('heading', { name: /^₹777\.00 to/ }).waitFor()
  t.pass('its page')
})
