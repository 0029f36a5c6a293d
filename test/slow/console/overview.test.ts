import type { Route } from 'playwright-core'
import t from 'tap'
import { AADHAAR, ASHA, KABIR, PAN } from '../../helper.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

/** A rule that gives the payments of an amount these steps. */
const stepsOf = (amount: number, steps: readonly object[], more: object = {}) => ({
  when: { operation: 'createTransaction', body: { amount } },
  then: { transaction: [{ status: 'PENDING' }, ...steps], ...more },
})
const WATCH_SHIFTS = `window.moved = 0; new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) window.moved += value }).observe({ type: 'layout-shift' })`
/** Keeps each text that is drawn on the first plot, with its place and width. */
const WATCH_TEXTS = `const own = document.querySelector('.plot canvas').getContext('2d')
const { clearRect, fillText } = CanvasRenderingContext2D.prototype
own.clearRect = (...box) => { window.texts = []; clearRect.apply(own, box) }
own.fillText = (text, x, ...more) => {
  texts.push([text, x, own.measureText(text).width])
  fillText.call(own, text, x, ...more)
}`
const DEFINITION = {
  webhooks: [{ when: { event: 'transaction.failed' }, then: { lost_attempts: 1 } }],
  rules: [
    { name: 'down', when: { operation: 'getUser' }, then: { respond: { status: 503 } } },
    stepsOf(8200, [{ status: 'FAILED', after: '4m', reason: 'bank_account_closed' }]),
    stepsOf(78400, [
      { status: 'SUCCESS', after: '1m' },
      { status: 'FAILED', after: '1h', reason: 'beneficiary_bank_rejected' },
    ]),
    stepsOf(9520, [], { respond: { status: 504 }, at: 'after' }),
  ],
}

t.test('a new sandbox says how to begin', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, post, see, go, origin, context, assertNoErrors } = opened
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await see('It moves no money')
  const copied = async (name: string) => {
    await page.getByRole('button', { name: `Copy: ${name}` }).click()
    await see('Copied')
    return page.evaluate<string>('navigator.clipboard.readText()')
  }
  t.equal(await copied('Base URL'), `${origin}/v1`)
  t.equal(await copied('Access token'), 'sbx_test_token')
  const curl = await copied('Your first call')
  await page.getByRole('button', { name: 'Make a first payment' }).click()
  await page.getByRole('heading', { name: /^₹1,500\.50 to/ }).waitFor()
  t.match(page.url(), /#\/payments\/[\w-]{36}$/)
  await go('overview')
  await see('What happened')
  t.equal(await page.getByText('It moves no money').count(), 0)

  const [, body] = /^curl -X POST '.*\/v1\/transaction' .* --data-raw '(.*)'$/.exec(curl)!
  const token = { authorization: /'authorization: (.*?)'/.exec(curl)![1]! }
  const answer = await post('/v1/transaction', JSON.parse(body!), token)
  t.equal(answer.status, 200, 'the curl works')
  await see('2 payments')
  assertNoErrors(t)
})

t.test('a new sandbox with a token, or without users', { skip: noBrowser }, async (t) => {
  const assume = { token: 'strict' }
  const { page, post, see, origin } = await openConsole(t, await openBrowser(t), { assume })
  await see(/-H 'authorization: Bearer sbx_test_token'/)
  await post('/__admin/clients', { name: 'new', fixtures: 'empty' })
  await page.goto(`${origin}/@new/__admin/`)
  await page.getByText('A payment needs two users').waitFor()
})

t.test('what happened', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, get, put, post, pay, go, see, advance, until, assertNoErrors } = opened
  await page.getByRole('button', { name: 'Use the inbox' }).click()
  await page.getByText('No webhook is set').waitFor({ state: 'detached' })
  await put('/__admin/scenario', { definition: DEFINITION })
  for (const amount of [250, 8200, 78400, 9520]) await pay({ amount })
  await pay({ amount: 60, to_user_id: ASHA })
  await get(`/v1/user/${ASHA}`)
  const kyc = await post('/v1/kyc', { user_id: KABIR, kyc: [PAN, AADHAAR] })
  const id = kyc.body.data[1].data.kyc_id
  await post(`/__admin/simulate/kyc/${id}`, { status: 'failed', reason: 'name_mismatch' })
  await advance('2h')
  const feed = page.locator('section', { hasText: 'What happened' })
  const rows = feed.getByRole('listitem')
  const reasons = () => page.getByRole('list', { name: 'Payments by reason' })
  const show = (name: string) => feed.getByRole('button', { name, exact: true }).click()

  await t.test('sentences, newest first, each a link', async (t) => {
    await rows.nth(5).waitFor()
    await feed.getByText('Your webhook got it at the second try.').nth(1).waitFor()
    t.same(await feed.getByRole('link').allTextContents(), [
      '₹78,400.00 to ROHAN MEHTA came back: beneficiary bank rejected. Your webhook got it at the second try.',
      '₹8,200.00 to ROHAN MEHTA failed: bank account closed. Your webhook got it at the second try.',
      '₹250.00 to ROHAN MEHTA settled. Your webhook got it.',
      '₹9,520.00 to ROHAN MEHTA is on its way. Your webhook got it.',
      'KYC of Kabir Singh failed. Your webhook got it.',
      'Kabir Singh passed KYC. Your webhook got it.',
      `Your GET /v1/user/${ASHA} got an error (503), by the rule “inline: down”.`,
      'Your POST /v1/transaction of ₹60.00 was refused (422): from_user_id and to_user_id are the same user. Pay to another user.',
      'Your code was told 504. ₹9,520.00 to ROHAN MEHTA is on its way anyway.',
    ])
    await feed.getByRole('link', { name: '₹8,200.00' }).click()
    await page.getByRole('heading', { name: /^₹8,200\.00 to/ }).waitFor()
    await go('overview')
  })

  await t.test('its filters', async () => {
    for (const [name, count, text] of [
      ['Failed', 1, 'bank account closed'],
      ['Came back', 1, 'beneficiary bank rejected'],
      ['My calls', 7, 'was answered (200)'],
      ['All', 9, 'anyway'],
    ] as const) {
      await show(name)
      await feed.getByText(text).first().waitFor()
      await until(`document.querySelectorAll('.happened')[0].children.length === ${count}`)
      if (name === 'Failed') await page.reload()
    }
    await go('overview?feed=came_back')
    await until("document.querySelector('.seg [aria-pressed=true]').textContent === 'Came back'")
    await go('overview')
  })

  await t.test('the tiles lead to their payments; the numbers', async (t) => {
    for (const [title, amount] of [
      ['Settled', '₹250.00'],
      ['In flight', '₹9,520.00'],
      ['Failed', '₹8,200.00'],
      ['Came back', '₹78,400.00'],
    ]) {
      await page.getByRole('link', { name: `${title} ${amount} 1 payment` }).click()
      const table = page.getByRole('table', { name: 'Payments' })
      await table.getByRole('link', { name: amount! }).waitFor()
      t.equal(await table.getByRole('row').count(), 2)
      t.equal(await page.getByLabel('Outcome').locator('option:checked').textContent(), title)
      await go('overview')
    }
    t.match(await reasons().textContent(), /bank account closed 1/)
    await see('33.3 %')
    const stuck = page.getByRole('region', { name: 'Stuck now' })
    await stuck.getByText('pending for 2h, no step is planned').waitFor()
    await stuck.getByRole('link', { name: '₹9,520.00 to ROHAN MEHTA' }).click()
    await page.getByRole('heading', { name: 'Your code was told 504. ₹9,520.00 to' }).waitFor()
    await go('overview')
  })

  await t.test('the plots: what is below the pointer, its rows, and a table', async (t) => {
    const list = page.getByRole('table', { name: 'Payments' })
    const rows = async (count: number) => {
      await list.getByRole('row').nth(count).waitFor()
      t.equal(await list.getByRole('row').count(), count + 1)
      await go('overview')
    }
    const over = page.getByRole('region', { name: /^Payments per/ })
    const plot = over.getByRole('img', { name: /^Payments per 5m/ })
    const first = { position: { x: 4, y: 60 } }
    await plot.locator('.u-over').hover(first)
    // Red over green: what failed is on top of what settled.
    const tones = await page.evaluate<number>(`new Set(new Uint32Array(
      document.querySelector('.plot canvas').getContext('2d').getImageData(60, 20, 600, 80).data.buffer)).size`)
    t.ok(tones >= 3, `${tones} colours`)
    await over.getByText(/1 settled, 1 failed, 0 came back, ₹250\.00 settled/).waitFor()
    await plot.locator('.u-over').click(first)
    await rows(2)
    await over.getByText('As a table').click()
    await over.locator('tbody tr').nth(1).waitFor()
    t.same(await over.locator('tbody tr td:nth-child(n + 2):nth-child(-n + 4)').allTextContents(), [
      ...['1', '1', '0'],
      ...['0', '0', '1'],
    ])
    const long = page.getByRole('region', { name: 'From created to done' })
    t.match(await long.textContent(), /Settled\s*half in 3s, 95 % in 3s/)
    await long.getByText('As a table').click()
    await long.getByRole('link', { name: '2m to 5m' }).click()
    await rows(1)
    await reasons().getByRole('link').first().click()
    await rows(1)
    const tries = page.getByRole('list', { name: 'Events by the try' })
    t.match(await tries.textContent(), /first try \d+.*second try 2/)
    await page.getByRole('link', { name: '5xx: the service failed' }).click()
    await page.getByRole('table', { name: 'Requests' }).getByText(`/v1/user/${ASHA}`).waitFor()
    await go('overview')
  })

  await t.test('nothing moves under the pointer or the focus', async (t) => {
    const first = rows.first().getByRole('link')
    for (const [amount, hold] of [
      [11, () => first.hover()],
      [12, () => first.focus()],
    ] as const) {
      const before = await first.textContent()
      await hold()
      await pay({ amount })
      await feed.getByText('1 new').waitFor()
      t.equal(await first.textContent(), before)
      await page.mouse.move(0, 0)
      await page.evaluate('document.activeElement.blur()')
      await rows.first().getByText(`₹${amount}.00`).waitFor()
      t.equal(await feed.getByText('1 new').isVisible(), false)
    }
  })
  await t.test('many that settled in a minute are one sentence', async () => {
    for (const amount of [21, 22.5, 23, 20]) await pay({ amount })
    await advance('10s')
    await page.mouse.move(0, 0)
    const one = feed.getByRole('link', {
      name: '6 payments settled, ₹109.50, the largest is ₹23.00',
    })
    await one.click()
    await page.getByRole('table', { name: 'Payments' }).getByText('₹22.50').waitFor()
  })
  await t.test('what is still to come, an outage and a jump', async (t) => {
    const down = { when: { body: { amount: 70 } }, then: { respond: { status: 503 } } }
    const rules = [stepsOf(9000, [{ status: 'SUCCESS', after: '5m' }]), down]
    await put('/__admin/scenario', { definition: { rules } })
    await pay({ amount: 70 })
    await advance('30m')
    for (const amount of [9000, 70, 70, 70]) await pay({ amount })
    await go('overview')
    const come = page.getByRole('region', { name: 'Still to come' })
    await come.getByText('As a table').click()
    await come.getByRole('link', { name: '5m to 10m' }).click()
    await see('settles in 5m to 10m ✕')
    await page.getByText('1 payment', { exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: '+1 h' }).click()
    for (const text of [/^5xx: 1 call got/, /^outage: 3 calls got/, /^jump of 1h$/]) await see(text)
    // The outage has no room before the jump.
    const words = page.locator('.marks i').filter({ visible: true })
    t.same(await words.allTextContents(), ['5xx', '5xx', 'jump of 1h'])
  })
  assertNoErrors(t)
})

t.test('a new sandbox shows what it can do', { skip: noBrowser }, async (t) => {
  const { page, see, get, go, until } = await openConsole(t, await openBrowser(t))
  await page.getByRole('link', { name: 'Make trouble', exact: true }).click()
  await see('Bank outage')
  await go('overview')
  await page.getByRole('button', { name: 'Start the live demo' }).click()
  await page.getByRole('link', { name: 'live-demo', exact: true }).waitFor()
  await until("document.querySelector('.speeds [aria-pressed=true]')?.textContent === '×60'")
  t.equal((await get('/__admin/clock')).body.speed, 60)
})

t.test('a slow start has a skeleton; news move nothing', { skip: noBrowser }, async (t) => {
  const { page, pay, advance, until } = await openConsole(t, await openBrowser(t))
  const waiting = async (route: Route) => {
    await page.locator('main .skeleton').waitFor()
    await route.continue()
  }
  await page.route(/__admin\/client$/, waiting, { times: 1 })
  await page.reload()
  for (const amount of [20, 21, 22]) {
    await pay({ amount })
    await page.locator('.happened').first().getByText(`₹${amount}.00`).waitFor()
    if (amount === 20) await page.evaluate(WATCH_SHIFTS)
  }
  t.ok((await page.evaluate<number>('window.moved')) < 0.02)
  await page.evaluate(WATCH_TEXTS)
  for (const amount of [23, 24, 25, 26, 27]) await pay({ amount })
  for (const [by, tick] of Object.entries({ '26s': '00:00:24', '30h': '01-02 00:00' })) {
    await advance(by)
    await until(`window.texts?.some(([text]) => text === '${tick}')`)
    const bad = `texts.filter(([text, x, width], i) =>
      /\\./.test(text) || (i > 0 && /:/.test(text) && x - texts[i - 1][1] < width + 8))`
    t.same(await page.evaluate(bad), [])
  }
})
