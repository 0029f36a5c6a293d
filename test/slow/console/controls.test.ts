import t from 'tap'
import { KABIR, PAN } from '../../helper.ts'
import { noBrowser, type Opened, openBrowser, openConsole } from './browser.ts'

/** The first button with this name. */
const control = ({ page }: Opened, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).first()

/**
 * Presses a button, and returns the line that shows its call when the response has arrived. All in the page, because some 50
 * buttons are pressed; other tests press some of them with the mouse and by keyboard.
 */
const press = ({ page }: Opened, name: string | RegExp) =>
  page.evaluate<string>(`(async () => {
    const name = ${name instanceof RegExp ? name : JSON.stringify(name)}
    const nameOf = (one) => one.getAttribute('aria-label') ?? one.textContent.trim()
    const isMeant = (one) => (typeof name === 'string' ? nameOf(one) === name : name.test(nameOf(one)))
    async function until(find, what) {
      const end = performance.now() + 10_000
      for (;;) {
        const found = find()
        if (found) return found
        if (performance.now() > end) throw new Error(what + ': ' + name)
        await new Promise(requestAnimationFrame)
      }
    }
    const button = await until(
      () => {
        const first = [...document.querySelectorAll('button')].find(isMeant)
        return first?.checkVisibility() && first.ariaDisabled !== 'true' && first
      },
      'No such button is visible and enabled',
    )
    const call = document.getElementById(button.getAttribute('aria-describedby')).textContent
    button.click()
    await new Promise(requestAnimationFrame)
    await until(() => document.querySelector('footer code')?.textContent.includes(call), 'The call is not shown')
    const line = '[role=status]:not([aria-busy=true])'
    return (await until(() => document.querySelector('footer ' + line), 'The call did not end')).textContent
  })()`)

/** Returns the line of the last call when its response has arrived. */
async function lastCall({ page }: Opened): Promise<string> {
  const line = page.locator('footer [role=status]')
  await line.and(page.locator(':not([aria-busy=true])')).waitFor()
  return (await line.textContent())!
}

/** Presses a button that asks first, and confirms. */
async function pressAndConfirm(opened: Opened, name: string | RegExp): Promise<string> {
  const { page } = opened
  await control(opened, name).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  const call = await dialog.locator('code.call').textContent()
  await dialog.locator('button.danger').click()
  await page.locator('footer code').filter({ hasText: call! }).waitFor()
  return lastCall(opened)
}

t.test('every control with its effect', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  const opened = await openConsole(t, browser, { view: 'control' })
  const { page, go, get, post, put, pay, see, origin, assertNoErrors } = opened
  const clock = async () => (await get('/__admin/clock')).body

  await t.test('play, pause, speeds, jumps, next; each shows its call', async (t) => {
    t.equal(await press(opened, 'Play'), 'POST /__admin/clock/resume The clock runs.')
    await see('real time')
    t.match(await press(opened, '×3600'), '/clock/speed {"factor":3600} A second is 1h for this')
    await see('× 3600')
    await page.getByRole('button', { name: '×3600', pressed: true }).waitFor()
    t.equal(await press(opened, 'Pause'), 'POST /__admin/clock/freeze The clock stands still.')
    await see('frozen')
    const before = await clock()
    await page.getByRole('button', { name: '+1 day', exact: true }).click()
    await page.locator('.jump').getByText('1d:').waitFor()
    const after = await clock()
    t.equal(Date.parse(after.now) - Date.parse(before.now), 86_400_000)
    const hasText = after.now.slice(11, 19)
    await page.locator('.now time').filter({ hasText }).waitFor()
    await see('nothing scheduled')
    await page.locator('.jump').getByRole('button', { name: 'Close' }).click()
    await pay()
    const { next_timer_at: nextTimerAt } = await clock()
    t.ok(nextTimerAt)
    await page.locator('.rail button').first().click()
    const pop = page.getByRole('dialog', { name: 'Coming' })
    await pop.getByText('₹100.00 to ROHAN MEHTA: PROCESSING').waitFor()
    await pop.getByRole('button', { name: 'Go there' }).click()
    await page.locator('.jump').getByRole('button', { name: 'Close' }).waitFor()
    t.equal((await clock()).now, nextTimerAt)
    const { next_timer_at: second } = await clock()
    await page.getByRole('button', { name: 'Next event' }).click()
    await page.locator('footer').getByText('POST /__admin/clock/next 200').waitFor()
    t.equal((await clock()).now, second)
  })

  await t.test('after a jump, what it did; each part is a link', async (t) => {
    const start = await clock()
    await pay({ amount: 250 })
    await pay({ amount: 100.93 })
    await page.getByRole('button', { name: '+1 h', exact: true }).dblclick()
    const card = page.locator('.jump')
    await card.getByText('1h:').waitFor()
    const later = await clock()
    t.equal(Date.parse(later.now) - Date.parse(start.now), 3_600_000)
    t.match(await card.textContent(), /^1h:\d settled \(₹[\d,.]+\)1 failed \(₹100\.93\)/)
    await card.getByRole('link', { name: /failed/ }).click()
    await page.waitForURL(/#\/payments\?outcome=failed&since=/)
    await see('1 payment')
    await page.getByRole('button', { name: / to .* ✕/ }).click()
    await page.waitForURL(/#\/payments\?outcome=failed$/)
    await go('payments?outcome=failed&since=2026-13-45')
    await page.getByRole('table', { name: 'Payments' }).getByRole('link').first().waitFor()
    await card.getByRole('button', { name: 'Close' }).click()
    await card.waitFor({ state: 'detached' })
    const busy = { status: 409, json: { error: 'receiver_busy' } }
    await page.route('**/clock/advance', (route) => route.fulfill(busy), { times: 8 })
    await page.getByRole('button', { name: '+1 day', exact: true }).click()
    await card.getByText('Your receiver hasn’t answered yet. It has ten seconds a try.').waitFor()
    await card.getByText('no payment settled or failed, and no event was sent.').waitFor()
    t.equal(Date.parse((await clock()).now) - Date.parse(later.now), 86_400_000)
  })

  await t.test('a long jump shows its progress, and can be stopped', async (t) => {
    const start = Date.parse((await clock()).now)
    let parts = 0
    await page.route('**/__admin/clock/advance', async (route) => {
      // The third part waits until the jump is stopped.
      if (++parts === 3) await page.getByRole('button', { name: 'Stop here' }).click()
      await route.continue()
    })
    await page.getByRole('button', { name: '+1 day', exact: true }).click()
    await page.locator('.jump').getByText('3h:').waitFor()
    await page.unroute('**/__admin/clock/advance')
    t.equal(Date.parse((await clock()).now) - start, 3 * 3_600_000)
  })

  await t.test('write a scenario that extends the active one', async (t) => {
    await go('scenarios')
    await page.locator('summary', { hasText: 'Write one' }).click()
    await page.getByLabel('Scenario', { exact: true }).getByText('extends: default').waitFor()
    await press(opened, 'Activate it')
    t.equal((await pay()).status, 503)
    await put('/__admin/scenario', { name: 'default' })
  })

  await t.test('change the status of a payment, trigger an event for it', async (t) => {
    await put('/__admin/scenario', { name: 'stuck-transactions' })
    const webhook = {
      url: `${origin}/__admin/webhooks/inbox`,
      webhook_secret: 'a-secret-of-the-test',
    }
    await post('/v1/clientWebhook', webhook)
    const id = (await pay()).body.data[0].transaction_id
    await go(`payments/${id}`)
    await page.locator('summary', { hasText: 'Change its status' }).click()
    await page.getByLabel('Failure reason').fill('bank_account_closed')
    t.match(await press(opened, 'FAILED'), '"reason":"bank_account_closed"} 200')
    await page.getByText('The beneficiary account is closed.', { exact: true }).waitFor()
    await see('an admin call that set the status')
    t.equal(await control(opened, 'SUCCESS').isDisabled(), true, 'not possible from FAILED')
    await page.getByLabel('Event', { exact: true }).selectOption('transaction.processing')
    t.match(
      await press(opened, 'Trigger'),
      `"event":"transaction.processing","resource_id":"${id}"} delivered (200)`,
    )
    await page.locator('.axis .lane', { hasText: 'Webhook: processing' }).waitFor()
    await put('/__admin/scenario', { name: 'default' })
  })

  await t.test('set the status of a KYC record and of an account', async (t) => {
    for (const [operation, noun] of Object.entries({ submitKyc: 'kyc', addBankAccount: 'bank' })) {
      const then = { [noun]: [{ status: 'pending' }] }
      await post('/__admin/rules', { when: { operation }, times: 1, then })
    }
    await post('/v1/kyc', { user_id: KABIR, kyc: [PAN] })
    const account = { user_id: KABIR, account_number: '123456789012', ifsc_code: 'HDFC0000001' }
    const { bank_id } = (await post('/v1/bank', account)).body.data.data
    await go(`users/${KABIR}`)
    t.match(await press(opened, 'Fail: pan'), /simulate\/kyc\/\S+ \{"status":"failed"\} 200$/)
    t.equal(
      await press(opened, /Succeed: X+9012/),
      `POST /__admin/simulate/bank-accounts/${bank_id} {"status":"success"} 200`,
    )
    await page.getByRole('region', { name: 'Accounts' }).getByText('success').waitFor()
  })

  await t.test('what loses data asks first, and Back changes nothing', async (t) => {
    await go('requests')
    await control(opened, 'Clear the log').click()
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.ok((await get('/__admin/requests')).body.total > 0)
    t.equal(await pressAndConfirm(opened, 'Clear the log'), 'DELETE /__admin/requests 200')
    await see('The service has not received any calls yet.')
    await go('control')
    const save = page.locator('section', { hasText: 'Snapshots' })
    await save.getByLabel('Name', { exact: true }).fill('one')
    t.equal(
      await press(opened, 'Save a snapshot'),
      'POST /__admin/snapshots {"name":"one"} Snapshot one is saved.',
    )
    const restored = 'POST /__admin/snapshots/one/restore 200'
    t.equal(await pressAndConfirm(opened, 'Restore: one'), restored)
    t.equal(await pressAndConfirm(opened, 'Delete: one'), 'DELETE /__admin/snapshots/one 200')
    t.equal(await pressAndConfirm(opened, 'Reset'), 'POST /__admin/reset Everything is reset.')
  })

  await t.test('the last call as curl', async (t) => {
    const footer = page.locator('footer')
    const title = await footer.getByRole('button').getAttribute('title')
    t.equal(title, `curl -X POST '${origin}/__admin/reset'`)
    await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await footer.getByRole('button').click()
    await footer.getByText('Copied').waitFor()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), title)
  })

  await t.test('a page without the clipboard API shows the text to copy by hand', async (t) => {
    const other = await opened.context.newPage()
    await other.goto(`${origin.replace('127.0.0.1', 'sandbox')}/__admin/#/control`)
    t.equal(await other.evaluate('navigator.clipboard'), undefined)
    await other.getByRole('button', { name: 'Play' }).click()
    const copy = other.getByRole('button', { name: 'Copy as curl' })
    const line = await copy.getAttribute('title')
    await copy.click()
    t.equal(await other.getByLabel('Copy it from here').inputValue(), line)
    await other.close()
    await post('/__admin/clock/freeze')
  })

  await t.test('a new client, as a fork; switch between clients; delete', async (t) => {
    const clients = page.locator('section', { hasText: 'Each client has its own world' })
    await clients.getByLabel('Name', { exact: true }).fill('worker-7')
    await clients.getByLabel('as a fork of default').check()
    await clients.getByRole('button', { name: 'New client' }).click()
    const made = clients.getByRole('status').filter({ hasText: 'Calls with the token' })
    const token = (await made.locator('code').first().textContent())!
    const { body } = await get('/__admin/client', { authorization: `Bearer ${token}` })
    t.equal(body.name, 'worker-7')
    await made.getByRole('button', { name: `Copy: ${token}` }).waitFor()
    await made.getByRole('link', { name: 'Go to worker-7' }).click()
    await page.waitForURL(`${origin}/@worker-7/__admin/#/control`)
    t.equal(await press(opened, 'Play'), 'POST /@worker-7/__admin/clock/resume The clock runs.')
    t.equal((await clock()).mode, 'frozen', 'the default client does not change')
    await go('overview')
    await page.getByRole('link', { name: 'Client worker-7' }).click()
    await clients.getByRole('link', { name: 'default', exact: true }).click()
    await page.waitForURL(`${origin}/__admin/#/control`)
    await see('frozen')
    await go('control')
    await pressAndConfirm(opened, 'Delete: worker-7')
    await clients.getByRole('link', { name: 'worker-7' }).waitFor({ state: 'detached' })
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
