import t from 'tap'
import type { ResponseBody } from '../../../src/admin/caller.ts'
import {
  errorText,
  outcomeText,
  webhookText,
} from '../../../src/tools/console/views/payment-words.ts'
import { receiver, SECRET, status } from '../../receiver.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

type PaymentWithAll = ResponseBody<'readTransaction'>
type Delivery = PaymentWithAll['deliveries'][number]
type ShortRequest = PaymentWithAll['requests'][number]

const NOW = Date.parse('2026-01-01T00:00:10Z')

t.test('what happened, in sentences', async (t) => {
  const words = (
    state: string,
    more: Partial<PaymentWithAll> = {},
    failure?: string,
    outcome = 'failed',
  ) =>
    outcomeText(
      {
        transaction: {
          amount: '8200.00',
          currency_code: 'INR',
          failure: failure === undefined ? null : { description: failure },
          outcome,
          history: { status: state, account_holder_name: 'Sajid Mirza' },
        },
        steps: [],
        timers: [],
        ...more,
      } as unknown as PaymentWithAll,
      NOW,
    )
  const timers = (to: string) =>
    [
      { kind: 'transaction.step', at: '2026-01-01T00:00:12Z', payload: { status: to } },
    ] as unknown as PaymentWithAll['timers']
  const who = '₹8,200.00 to Sajid Mirza'
  t.equal(
    words('PENDING', { timers: timers('PROCESSING') }),
    `${who} is pending. In 2s it becomes PROCESSING.`,
  )
  t.equal(words('PROCESSING'), `${who} is being processed. Nothing is scheduled to change that.`)
  t.equal(words('SUCCESS'), `${who} has settled.`)
  t.equal(
    words('SUCCESS', { timers: timers('FAILED') }),
    `${who} has settled. In 2s it comes back.`,
  )
  t.equal(words('FAILED', {}, 'The account is closed.'), `${who} failed: The account is closed.`)
  t.equal(
    words('FAILED', {}, 'The bank refused.', 'came_back'),
    `${who} came back: The bank refused.`,
  )

  const told = (code: number | null) =>
    errorText({ operation: 'createTransaction', status: code } as ShortRequest)
  t.equal(told(null), 'Your code got no response.')
  t.equal(told(504), 'Your code was told 504.')
  t.equal(told(200), undefined)
  t.equal(errorText(undefined), undefined)

  const delivery = (state: string, codes: number[], next: string | null = null) =>
    ({
      status: state,
      event: 'transaction.success',
      attempts: codes.map((code) => ({ ok: code < 300, status: code, error: null })),
      next_attempt_at: next,
    }) as unknown as Delivery
  const heard = (...all: Delivery[]) => webhookText(all, NOW)
  t.equal(heard(), undefined)
  t.equal(heard(delivery('recorded', [])), 'No webhook was set, so your code heard nothing.')
  t.equal(heard(delivery('delivered', [204])), 'Your webhook accepted 1 event.')
  t.equal(
    // The last attempt was sent by hand.
    heard(delivery('delivered', [204]), delivery('delivered', [500, 204, 204])),
    'Your webhook accepted 2 events, one of them at the second try.',
  )
  t.equal(
    heard(delivery('pending', [500, 500], '2026-01-01T00:01:10Z')),
    "Your webhook hasn't accepted transaction.success after 2 attempts: 500; the next try is in 1m.",
  )
  t.equal(
    heard(delivery('failed', [500])),
    'Your webhook never accepted transaction.success in 1 attempt; the last: 500.',
  )
})

t.test('a payment on one axis', { skip: noBrowser }, async (t) => {
  const hook = await receiver(t)
  const opened = await openConsole(t, await openBrowser(t))
  const { page, go, post, pay, get, advance, see, assertNoErrors } = opened
  await post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  const marks = page.locator('.axis .mark')
  const textsOf = async (lane: string) => {
    const texts = await page.locator('.axis > li:not(.tick, .lane)').allTextContents()
    return texts.filter((text) => text.includes(lane)).map((text) => text.slice(text.indexOf(lane)))
  }
  const newPayment = async (more: object = {}): Promise<string> =>
    (await pay(more)).body.data[0].transaction_id
  const open = async (id: string) => {
    await go(`payments/${id}`)
    await marks.first().waitFor()
  }

  await t.test('lanes, now, and what is to come', async (t) => {
    const id = await newPayment({ amount: 123.5 })
    await advance('1s')
    await get(`/v1/transaction/${id}`)
    await get(`/v1/transaction/${id}`)
    await open(id)
    const name = /^₹123\.50 to .* is being processed\. In 2s it becomes SUCCESS\./
    await page.getByRole('heading', { name }).waitFor()
    await see('Your webhook accepted 2 events.')
    t.same(await textsOf('Your calls'), [
      'Your calls POST /transaction',
      'Your calls GET /transaction/… ×2',
    ])
    t.match((await textsOf('Responses'))[0], /^Responses 200, \d+ ms$/)
    t.same(await textsOf('Status'), ['Status PENDING', 'Status PROCESSING', 'Status SUCCESS'])
    t.same(await textsOf('Webhook: pending'), ['Webhook: pending your 204'])
    t.same(await page.locator('.mark.ahead').allTextContents(), ['SUCCESS'])
    t.equal(await page.locator('.axis .is-now').textContent(), '00:00:01 now')
    await page.getByRole('button', { name: 'To its next event' }).click()
    await page.getByRole('heading', { name: /has settled\./ }).waitFor()
    t.equal(await page.locator('.mark.ahead').count(), 0)
  })

  await t.test('arrow keys go through the marks, which lead to calls and deliveries', async (t) => {
    await marks.first().focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowLeft')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'POST /transaction')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'POST /v1/transaction' }).waitFor()
    await page.goBack()
    await page.locator('.mark', { hasText: 'your 204' }).first().click()
    await page.getByRole('heading', { name: 'transaction.pending' }).waitFor()
  })

  await t.test('a lost response, a rule, retries, and a payment that came back', async (t) => {
    await post('/__admin/rules', {
      name: 'trouble: Lose it',
      when: { operation: 'createTransaction' },
      times: 1,
      then: {
        respond: { status: 504 },
        at: 'after',
        transaction: [
          { status: 'PENDING' },
          { status: 'SUCCESS', after: '2s' },
          { status: 'FAILED', after: '1d' },
        ],
      },
    })
    hook.respondWith(status(500))
    t.equal((await pay({ amount: 77, reference_id: 'lost' })).status, 504)
    const id = (await get('/__admin/transactions')).body.transactions[0].transaction_id
    await advance('1m')
    await page.setViewportSize({ width: 1440, height: 800 })
    await open(id)
    await see('a rule: Lose it')
    t.same((await textsOf('Webhook: pending'))[0], 'Webhook: pending 4 tries, all 500')
    t.equal(await page.locator('.axis.down').count(), 0, 'a picture beside the list')
    await see('Your code was told 504.')
    await see(
      /Your webhook hasn't accepted transaction\.\w+ after \d+ attempts?: 500; the next try/,
    )
    await page.locator('.axis').getByRole('link', { name: 'POST /transaction' }).click()
    await page.getByText('nothing: the call was rejected').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'a payment', exact: true }).click()
    await page.locator('.axis').waitFor()
    await see('Your code was told 504.')
    t.same(await textsOf('Decided by'), ['Decided by Lose it'])
    t.ok((await page.locator('.mark.ahead.came').allTextContents()).includes('FAILED: comes back'))
    t.ok((await page.locator('.tick.leap').count()) > 0, 'a day is a leap')
    hook.respondWith(status(204))
    await advance('1d')
    const name = /^Your code was told 504\. ₹77\.00 to .* came back/
    await page.getByRole('heading', { name }).waitFor()
    await page.locator('h2 .chip.came', { hasText: 'came back' }).waitFor()
    t.equal((await textsOf('Status')).at(-1), 'Status FAILED: came back')
  })

  await t.test('the text can be copied; on a phone time runs downwards', async (t) => {
    const title = await page.getByRole('button', { name: 'Copy as text' }).getAttribute('title')
    t.match(title, /^\S+ Your calls: POST \/transaction\n/)
    await page.setViewportSize({ width: 390, height: 800 })
    await page.locator('.axis .when').first().waitFor()
    t.equal(await page.locator('.axis .lane').first().isVisible(), false)
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
