import t from 'tap'
import { ASHA, ROHAN } from '../../helper.ts'
import { noBrowser, type Opened, openBrowser, openConsole } from './browser.ts'

/** Opens a form, and presses its button when the fields are filled. Returns the line of the call. */
async function make(
  { page }: Opened,
  form: string,
  button: string,
  fields: Record<string, string> = {},
) {
  await page.locator('summary', { hasText: form }).click()
  for (const [label, value] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(value)
  return press(page, button)
}

/** Presses a button. Returns the line of its call when the response has arrived. */
async function press(page: Opened['page'], name: string) {
  await page.getByRole('button', { name, exact: true }).click()
  return (await page.locator('footer [role=status]:not([aria-busy=true])').textContent())!
}

t.test('make something by hand', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, go, see, until, assertNoErrors } = opened

  await t.test('the inbox with one click', async (t) => {
    await go('deliveries')
    await see('Nobody receives the events: no webhook is registered')
    t.match(
      await press(page, 'Use the inbox'),
      /^POST \/v1\/clientWebhook .* The inbox receives your events\.$/,
    )
    await page.getByText('Nobody receives').waitFor({ state: 'detached' })
    await page.locator('summary', { hasText: 'Webhook' }).click()
    await see('the built-in inbox. It accepts every event')
  })

  await t.test('a user, with the proposed values or with others', async (t) => {
    await go('users')
    t.match(await make(opened, 'Make a user', 'Make the user'), ' 201')
    await page.getByRole('heading', { name: /^user\d+@example\.com$/ }).waitFor()
    await go('users')
    const fields = { 'E-mail': 'meera@example.com', Mobile: '9812312345' }
    t.match(await make(opened, 'Make a user', 'Make the user', fields), ' 201')
    await page.getByRole('heading', { name: 'meera@example.com' }).waitFor()
  })

  await t.test('a document and an account of the user', async (t) => {
    t.match(await make(opened, 'Submit a document', 'Submit the document'), ' 201')
    t.match(await make(opened, 'Add an account', 'Add the account'), ' 201')
    await page.getByRole('region', { name: 'KYC records' }).getByText('success').waitFor()
    await page.getByRole('region', { name: 'Accounts' }).getByText('success').waitFor()
    await page.getByLabel('Account number', { exact: true }).fill('1')
    t.match(
      await press(page, 'Add the account'),
      /\/v1\/bank .* rejected \(400\)$/,
      'a rejected value',
    )
  })

  await t.test('a payment to this account, decided by a magic value', async (t) => {
    await go('payments')
    await page.locator('summary', { hasText: 'Make a payment' }).click()
    await page.getByLabel('From', { exact: true }).selectOption(ASHA)
    const account = page.getByLabel('To account')
    const option = account.locator('option', { hasText: 'meera@example.com' })
    await account.selectOption((await option.getAttribute('value'))!)
    await page.getByLabel('Amount', { exact: true }).fill('100.91')
    await page.getByLabel('Reference', { exact: true }).fill('rent-may')
    t.match(
      await press(page, 'Make the payment'),
      /POST \/v1\/transaction .* The payment is made\.$/,
    )
    await page.getByRole('heading', { name: /^₹100\.91 to/ }).waitFor()
    await see(/^default: /)
  })

  await t.test('a payment among 100 newer users without accounts; wrong fields', async (t) => {
    const timeline = [{ do: { create_users: 101 } }]
    await opened.put('/__admin/scenario', { definition: { timeline } })
    const made = page.url()
    await go('payments')
    await page.locator('summary', { hasText: 'Make a payment' }).click()
    await see(/^From has the 100 newest of \d+ users/)
    await page.getByLabel('Find the payer').fill(ASHA)
    await page.getByLabel('From', { exact: true }).selectOption(ASHA)
    await page.getByLabel('Find the receiver').fill('MEERA@')
    const account = page.getByLabel('To account')
    await account.locator('option').nth(1).waitFor({ state: 'detached' })
    t.match(await account.textContent(), 'meera@example.com')
    const amount = page.getByLabel('Amount', { exact: true })
    await amount.fill('')
    t.match(await press(page, 'Make the payment'), /rejected \(400\)$/)
    // At its field.
    const problemOf = (label: string) =>
      page.locator('.field', { has: page.getByLabel(label, { exact: true }) }).getByRole('alert')
    await problemOf('Amount').getByText('is required').waitFor()
    await amount.fill('1e3')
    await page.getByLabel('Reference', { exact: true }).fill('x'.repeat(300))
    await press(page, 'Make the payment')
    await problemOf('Amount')
      .getByText(/^must .*found "1e3"/)
      .waitFor()
    await problemOf('Reference')
      .getByText(/^must have at most/)
      .waitFor()
    await page.getByLabel('Reference', { exact: true }).fill('')
    await amount.fill('₹1,00,000')
    t.match(await press(page, 'Make the payment'), /"amount":100000.* The payment is made\.$/)
    await page.getByLabel('Find the payer').waitFor({ state: 'detached' })
    await page.goto(made)
  })

  await t.test(
    'the frozen clock says that nothing happens, and goes to the next event of the payment',
    async (t) => {
      await see('The clock is frozen: nothing happens until you advance it')
      t.match(await press(page, 'To its next event'), 'POST /__admin/clock/advance {"to":')
      await page.locator('.axis .open', { hasText: 'PROCESSING' }).waitFor()
    },
  )

  await t.test('a call that waits says why', async (t) => {
    const push = (fault: string) =>
      opened.post('/__admin/rules', { when: { operation: 'createUser' }, then: { fault } })
    await push('hang')
    await go('users')
    await page.locator('summary', { hasText: 'Make a user' }).click()
    await page.getByRole('button', { name: 'Make the user' }).click()
    await see('A rule may delay this call or hold its connection')
    t.match(await page.locator('footer').textContent(), 'waiting…')
    await go('requests?status=broken')
    const rows = page.getByRole('table', { name: 'Requests' })
    const held = rows.getByRole('row').filter({ hasText: 'fault hang' })
    await held.getByText('no response').waitFor()
    // The browser sends the call once more when its connection ends.
    await push('reset')
    opened.app.server.closeAllConnections()
    await see('The connection ended without a response')
    await until(`!document.querySelector('footer').textContent.includes('waiting')`)
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})

t.test('a client that requires its token', { skip: noBrowser }, async (t) => {
  const assume = { token: 'strict' }
  const opened = await openConsole(t, await openBrowser(t), { view: 'users', assume })
  const { page, assertNoErrors } = opened
  t.match(await make(opened, 'Make a user', 'Make the user'), / 201$/)
  t.match(
    await page.locator('footer').getByRole('button').getAttribute('title'),
    "-H 'authorization: Bearer sbx_test_token'",
  )
  assertNoErrors(t)
})

t.test('search and filter', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, go, get, pay, advance, see, assertNoErrors } = opened
  await pay({ amount: 41, reference_id: 'find-me' })
  await advance('1m')
  await pay({ amount: 42, reference_id: 'not-this' })
  const { email } = (await get(`/__admin/users/${ROHAN}`)).body
  /** The number of rows that a list shows, without its heading. */
  const rowsAre = (label: string, count: number) =>
    opened.until(
      `document.querySelector('[role=table][aria-label="${label}"]')?.ariaRowCount === '${count + 1}'`,
    )

  await t.test('a search of each list is in the URL, and a link has it', async (t) => {
    await go('payments')
    await page.getByLabel('Search').fill('FIND-me 41.00')
    await rowsAre('Payments', 1)
    t.match(page.url(), /#\/payments\?search=FIND-me\+41\.00$/)
    await page.getByRole('table', { name: 'Payments' }).getByRole('link').click()
    await page.getByRole('heading', { name: /^₹41\.00/ }).waitFor()
    await page.goBack()
    await rowsAre('Payments', 1)
    t.equal(await page.getByLabel('Search').inputValue(), 'FIND-me 41.00')
    await page.getByLabel('Outcome', { exact: true }).selectOption('failed')
    await see('No payment matches “FIND-me 41.00”.')
    await page.reload()
    await see('No payment matches “FIND-me 41.00”.')
    t.equal(await page.getByLabel('Outcome', { exact: true }).inputValue(), 'failed')
    await go('overview')
    // Before the first frame of the view.
    await page.evaluate(`new MutationObserver((_, observer) => {
      const select = document.querySelector('main .row select')
      if (!select) return
      observer.disconnect()
      select.value = 'failed'
      select.dispatchEvent(new Event('change'))
    }).observe(document.body, { childList: true, subtree: true }), location.hash = '#/payments'`)
    await see('No payment matches.')

    await pay({ amount: 43, reference_id: '123456789012' })
    for (const [table, search, count, text] of [
      ['Users', email, 1, email],
      ['Requests', 'find-me', 1, '₹41.00, find-me'],
      ['Requests', '123456789012', 1, '123456789012'],
      ['Payments', '123456789012', 1, '123456789012'],
      ['Deliveries', 'find-me', 3, '₹41.00, find-me'],
    ] as const) {
      await go(`${table.toLowerCase()}?search=${search}`)
      await rowsAre(table, count)
      await page.getByRole('table', { name: table }).getByText(text).first().waitFor()
    }
    await go('scenarios?search=no-webhooks')
    await page.getByRole('link', { name: 'no-webhooks' }).waitFor()
    await page.getByRole('link', { name: 'slow', exact: true }).waitFor({ state: 'detached' })
  })

  await t.test('the filters of the lists are in the URL too', async () => {
    await go('users?kyc=pending')
    await rowsAre('Users', (await get('/__admin/users?kyc=pending')).body.total)
    await go('users?kyc=strange')
    await rowsAre('Users', (await get('/__admin/users')).body.total)
    t.equal(await page.getByLabel('KYC', { exact: true }).inputValue(), '')
    await go('requests?status=3')
    await see('No call matches.')
    await page.getByLabel('Status', { exact: true }).selectOption('2')
    await opened.until(`location.hash === '#/requests?status=2'`)
    await go('deliveries?event=kyc.failed')
    await see('No delivery matches.')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
