import t from 'tap'
import { PAN, ROHAN } from '../../helper.ts'
import { receiver, SECRET, status } from '../../receiver.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

const USER = { email: 'gateway@example.com', mobile: '9812312399', user_type: 'individual' }

t.test('make trouble', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t), { view: 'trouble' })
  const { page, go, get, post, put, pay, advance, app, assertNoErrors } = opened
  const card = (title: string) => page.getByRole('region', { name: title, exact: true })
  const arm = async (title: string, option?: string) => {
    if (option !== undefined) await card(title).getByRole('combobox').selectOption(option)
    await card(title).getByRole('button', { name: 'Arm' }).click()
  }
  const banner = (text: RegExp) => page.locator('.banner', { hasText: text })
  const rules = async () => (await get('/__admin/rules')).body.rules.length

  await t.test('armed, counted in every view, and undone', async (t) => {
    await arm('Lose the next response')
    const armed = banner(/Armed: Lose the next response\. Waits for your next POST \/transaction\./)
    await armed.waitFor()
    await go('users')
    await page.getByRole('link', { name: /^Trouble 1 armed$/ }).click()
    await armed.getByRole('button', { name: 'Undo' }).click()
    await armed.waitFor({ state: 'detached' })
    t.equal(await rules(), 0)
    await page.getByRole('link', { name: 'Trouble', exact: true }).waitFor()
  })

  await t.test('a response that the page itself loses: made once', async (t) => {
    const { total } = (await get('/__admin/transactions')).body
    await arm('Lose the next response')
    await banner(/^Armed/).waitFor()
    await go('payments?make=yes')
    const from = page.getByLabel('From', { exact: true })
    await page.getByRole('button', { name: 'Make the payment' }).waitFor()
    const payer = await from.inputValue()
    const read = page.waitForResponse(/__admin\/users/)
    await post('/v1/user', { ...USER, email: 'newest@example.com' })
    await read
    await opened.settle()
    t.equal(await from.inputValue(), payer, 'a new user does not change who pays')
    const to = page.getByLabel('To account')
    const receiver = await to.locator('option:checked').textContent()
    await from.selectOption({ label: receiver!.split(',')[0]! })
    t.not(await to.locator('option:checked').textContent(), receiver, 'nobody pays themselves')
    await page.getByRole('button', { name: 'Make the payment' }).click()
    await page.locator('footer').getByText('The connection ended without a response.').waitFor()
    t.equal((await get('/__admin/transactions')).body.total, total + 1)
    await go('trouble')
    await banner(/^Hit/).getByRole('button', { name: 'Close' }).click()
    await banner(/^Hit/).waitFor({ state: 'detached' })
  })

  await t.test('the scenario’s own calls do not use it up', async (t) => {
    const timeline = [{ after: '1s', do: { call: 'createTransaction' } }]
    await put('/__admin/scenario', { definition: { timeline } })
    await arm('504 although paid')
    const armed = banner(/^Armed.* Calls of the scenario don’t use it up\./)
    await armed.waitFor()
    await advance('1s')
    const [called] = (await get('/__admin/requests?by=scenario')).body.requests
    t.match(called, { operation: 'createTransaction', rule: null })
    await armed.getByRole('link', { name: 'Make a payment that hits it' }).click()
    await page.getByRole('button', { name: 'Make the payment' }).click()
    await opened.see(/got 504/)
    await go('trouble')
    await banner(/^Hit/).getByRole('button', { name: 'Close' }).click()
    await put('/__admin/scenario', { name: 'default' })
  })

  await t.test('each pushes its rule', async (t) => {
    const all = { operation: 'createTransaction' }
    const when = { ...all, headers: { 'user-agent': { ne: 'payout-sandbox' } } }
    const pending = { status: 'PENDING' }
    const processing = { status: 'PROCESSING', after: '1s' }
    const rejected = { status: 'FAILED', after: '50m', reason: 'beneficiary_bank_rejected' }
    const offline = { status: 'FAILED', after: '2s', reason: 'beneficiary_bank_offline' }
    for (const [title, option, rule] of [
      ['504 although paid', 'createUser', { then: { respond: { status: 504 }, at: 'after' } }],
      ['Payment stuck', '100', { when, times: 100, then: { transaction: [pending, processing] } }],
      ['Bank outage', '2h', { when: all, for: '2h', then: { transaction: [pending, offline] } }],
      [
        'Payment comes back',
        '50m',
        {
          when,
          times: 1,
          then: {
            transaction: [pending, processing, { status: 'SUCCESS', after: '2s' }, rejected],
          },
        },
      ],
      [
        'KYC fails for this person',
        ROHAN,
        { when: { operation: 'submitKyc', body: { user_id: ROHAN } }, times: 1 },
      ],
    ] as const) {
      await arm(title, option)
      await banner(new RegExp(`Armed: ${title}`)).waitFor()
      const [{ definition }] = (await get('/__admin/rules')).body.rules
      t.match(definition, { name: `trouble: ${title}`, ...rule })
    }
    await advance('2h')
    await banner(/Over: Bank outage\. No call met it\./).waitFor()
    await post('/v1/kyc', { user_id: ROHAN, kyc: [PAN] })
    await banner(/Hit: POST \/v1\/kyc/).waitFor()
  })

  await t.test('events twice or out of order, until it is undone', async (t) => {
    await app.inject({ method: 'POST', url: '/__admin/reset', payload: { parts: ['scenario'] } })
    await arm('Events twice, at once or out of order', 'twice')
    await banner(/No webhook is set, so no event is sent: use the inbox\./).waitFor()
    await banner(/Armed: Events/)
      .getByRole('button', { name: 'Undo' })
      .click()
    await banner(/Events/).waitFor({ state: 'detached' })
    const hook = await receiver(t)
    hook.respondWith(status(204))
    await post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
    await arm('Events twice, at once or out of order', 'twice')
    await banner(/Armed: Events twice/).waitFor()
    await pay()
    await advance('0s')
    await banner(/Hit: 1 event\./).waitFor()
    t.equal(hook.received.length, 2)
    await arm('Events twice, at once or out of order', 'together')
    await banner(/Armed: Events twice/).waitFor()
    await pay()
    await advance('5s')
    await banner(/Hit: \d events?\./).waitFor()
    await arm('Event before the response', 'createTransaction')
    const late = pay()
    t.equal((await late).status, 200)
    await banner(/Hit: POST \/v1\/transaction/).waitFor()
    await arm('Events twice, at once or out of order', 'order')
    await banner(/Armed: Events twice/).waitFor()
    await pay()
    await advance('5s')
    t.equal(hook.types().at(-1), 'transaction.processing', 'without the rule it is the success')
    await banner(/^Hit/).getByRole('button', { name: 'Undo' }).click()
    await banner(/Events/).waitFor({ state: 'detached' })
    t.equal((await get('/__admin/scenario')).body.name, 'default')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
