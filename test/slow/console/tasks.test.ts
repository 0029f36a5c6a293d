// What two people do with the console, from start to end: each with the mouse, with the keyboard alone, and on a phone.
import type { Locator } from 'playwright-core'
import t, { type Test } from 'tap'
import type { StartOptions } from '../../helper.ts'
import { SECRET } from '../../receiver.ts'
import { noBrowser, type Opened, openBrowser, openConsole } from './browser.ts'

/** How a person acts on what they see. */
type Hand = {
  press: (target: Locator) => Promise<void>
  type: (field: Locator, text: string) => Promise<void>
  /** Chooses an option of a select by its text. */
  choose: (select: Locator, text: string) => Promise<void>
  search: () => Promise<void>
}
// More stops than any view has before what a task needs.
const MAX_TABS = 150

const mouse = ({ page }: Opened): Hand => ({
  press: (target) => target.click(),
  async type(field, text) {
    await field.click({ clickCount: 3 })
    await page.keyboard.type(text)
  },
  choose: async (select, text) => void (await select.selectOption(text)),
  search: () => page.getByRole('link', { name: 'Search' }).click(),
})

const phone = ({ page }: Opened): Hand => ({
  ...mouse({ page } as Opened),
  press: (target) => target.tap(),
  async type(field, text) {
    await field.tap()
    await field.fill(text)
  },
})

function keyboard({ page }: Opened): Hand {
  /** Goes forward to an element, as Tab does. */
  async function tabTo(target: Locator) {
    await target.waitFor()
    const focused = target.and(page.locator(':focus'))
    for (let i = 0; i < MAX_TABS && (await focused.count()) === 0; i++)
      await page.keyboard.press('Tab')
    if ((await focused.count()) === 0) throw new Error(`Tab does not reach ${target}`)
  }
  return {
    async press(target) {
      await tabTo(target)
      await page.keyboard.press('Enter')
    },
    async type(field, text) {
      await tabTo(field)
      await page.keyboard.press('Control+A')
      await page.keyboard.type(text)
    },
    async choose(select, text) {
      await tabTo(select)
      await page.keyboard.type(text)
    },
    search: () => page.keyboard.press('/'),
  }
}

const HANDS = { mouse, keyboard, phone }

/** Does a task with each hand. */
function task(
  name: string,
  options: StartOptions,
  run: (t: Test, opened: Opened, hand: Hand) => Promise<void>,
) {
  t.test(name, { skip: noBrowser }, async (t) => {
    const browser = await openBrowser(t)
    for (const [by, handOf] of Object.entries(HANDS))
      await t.test(by, async (t) => {
        const opened = await openConsole(t, browser, { ...options, phone: by === 'phone' })
        if (by !== 'phone') await opened.page.setViewportSize({ width: 1440, height: 900 })
        await run(t, opened, handOf(opened))
        const isWide = 'document.documentElement.scrollWidth > innerWidth'
        t.equal(await opened.page.evaluate(isWide), false, 'nothing is wider than the screen')
        opened.assertNoErrors(t)
      })
  })
}

task(
  'who shows payouts for ten minutes',
  { begin: { scenario: 'live-demo', clock: 'real', clockSpeed: 60 } },
  async (t, { page, get, see }, { press, choose }) => {
    const main = page.locator('main')
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const view = (name: string) => page.locator('nav a:visible').filter({ hasText: name })
    await page.getByText('live', { exact: true }).waitFor()

    // Time.
    for (const count of [1, 2]) {
      await press(button('+1 h'))
      const jump = page.locator('.jump')
      await jump.locator('b', { hasText: /^1h/ }).waitFor({ timeout: 30_000 })
      await jump.getByRole('link', { name: /settled/ }).waitFor()
      if (count === 1) await press(jump.getByRole('button', { name: 'Close' }))
    }

    // The newest failure.
    await press(button('Failed'))
    await press(main.getByRole('link', { name: / failed: / }).first())
    await page.getByRole('heading', { name: /^₹.* failed: / }).waitFor()

    // What came back.
    await press(view('Payments'))
    await choose(page.getByLabel('Outcome'), 'Came back')
    // Until the response arrives, the list has other payments.
    const cameBack = page.locator('.rows .line', { hasText: 'came back' })
    await press(cameBack.getByRole('link').first())
    await page.getByRole('heading', { name: /^₹.* came back: / }).waitFor()

    await press(button('Pause'))
    await see('frozen')

    // Trouble.
    const banner = page.locator('.banner')
    await press(view('Trouble'))
    await press(button('Arm: 504 although paid'))
    await banner.getByText('Armed: 504 although paid.').waitFor()
    await press(view('Payments'))
    await press(main.locator('summary', { hasText: 'Make a payment' }))
    await press(button('Make the payment'))
    await see('got 504; it may have been carried out')
    await press(view('Trouble'))
    await banner.getByText(/^Hit: POST \/v1\/transaction/).waitFor()
    await press(button('Arm again: 504 although paid'))
    await press(button('Undo: 504 although paid'))
    await banner.getByText('Armed').waitFor({ state: 'detached' })
    await press(button('Close: 504 although paid'))
    await banner.waitFor({ state: 'detached' })
    t.notMatch((await get('/__admin/rules')).text, 'trouble: ', 'its rules are gone')

    // Again from the start.
    const before = (await get('/__admin/transactions?limit=1')).body.total
    if ((await view('More').count()) > 0) await press(view('More'))
    await press(view('Control'))
    await press(button('Reset'))
    await press(page.getByRole('dialog').getByRole('button', { name: 'Reset' }))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await press(view('Overview'))
    await see(/^Make a first payment$|^What happened$/)
    t.ok((await get('/__admin/transactions?limit=1')).body.total < before / 2, 'it starts anew')
  },
)

task(
  'who asks why a payment failed',
  {},
  async (_t, { page, post, pay, advance, origin, see }, hand) => {
    const { press, type, search } = hand
    const url = `${origin}/__admin/webhooks/inbox`
    await post('/v1/clientWebhook', { url, webhook_secret: SECRET })
    await pay({ amount: 100.91, reference_id: 'INV-2041' })
    await advance('1h')
    await page.getByText('live', { exact: true }).waitFor()

    await search()
    await type(page.getByLabel('Search', { exact: true }), 'inv-2041')
    await press(page.getByRole('region', { name: 'Payments' }).getByRole('link').first())
    await page.getByRole('heading', { name: /^₹100\.91 to .* failed: / }).waitFor()
    await see(/Decided by a magic value: .*Your webhook accepted \d events/)
    const marks = page.locator('.axis > li:not(.tick, .lane)')
    for (const text of [
      'Your calls POST /transaction',
      'Responses 200',
      'Webhook: failed your 200',
    ])
      await marks.filter({ hasText: text }).first().waitFor()
    await marks.filter({ hasText: 'Status FAILED' }).getByText('FAILED').waitFor()

    await press(page.getByRole('button', { name: 'Send its last event again' }))
    await page.locator('footer').getByText('delivered (200)').waitFor()

    await press(page.locator('summary', { hasText: 'Pay again with a change' }))
    await type(page.getByLabel('Amount', { exact: true }), '120')
    await press(page.getByRole('button', { name: 'Make the payment' }))
    await page.getByRole('heading', { name: /^₹120\.00 to .* is pending\./ }).waitFor()
  },
)
