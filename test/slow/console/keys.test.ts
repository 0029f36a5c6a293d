import t from 'tap'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

/** The accessible name of the focused element. */
const FOCUSED = `(() => {
    const at = document.activeElement
    const id = at.getAttribute('aria-labelledby')
    return at.getAttribute('aria-label') ?? (id ? document.getElementById(id).textContent : at.textContent)
  })()`

t.test('by keyboard alone', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  const opened = await openConsole(t, browser, { view: 'control' })
  const { page, go, post, pay, get, see, settle, until, assertNoErrors } = opened

  /** Waits until the focused element has this name. */
  const focusIs = (name: string) => until(`${FOCUSED} === ${JSON.stringify(name)}`)

  async function press(name: string) {
    const button = page.getByRole('button', { name, exact: true }).first()
    // It may still be disabled.
    await button.click({ trial: true })
    await button.focus()
    await page.keyboard.press('Enter')
  }

  await t.test('a button that was pressed keeps the focus', async (t) => {
    await press('+1 h')
    await see('1h:')
    await focusIs('+1 h')
    await pay()
    await press('Next event')
    await page.locator('footer code').filter({ hasText: 'clock/next' }).waitFor()
    await post('/__admin/reset', {})
    await see('nothing scheduled')
    await focusIs('Next event')
    const before = (await get('/__admin/clock')).body
    await page.keyboard.press('Enter')
    await settle()
    t.same((await get('/__admin/clock')).body, before, 'a disabled button does nothing')
  })

  await t.test('when a row is removed, its part gets the focus', async () => {
    await go('trouble')
    const rule = { when: { operation: 'getKyc' }, then: { delay: '1s' } }
    const { rule_id } = (await post('/__admin/rules', rule)).body
    const button = page.getByRole('button', { name: `Delete: ${rule_id}` })
    await button.focus()
    await page.keyboard.press('Enter')
    await button.waitFor({ state: 'detached' })
    await focusIs('Pushed rules')
  })

  await t.test('a dialog returns the focus', async () => {
    await go('control')
    await see('Save a snapshot')
    await press('Reset')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await focusIs('Reset')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('footer code').filter({ hasText: '/reset' }).waitFor()
    await focusIs('Reset')
  })

  await t.test('another view starts at its top', async (t) => {
    await go('scenarios')
    await page.getByRole('link', { name: 'slow' }).waitFor()
    await page.evaluate('scrollTo(0, 1e6)')
    t.ok((await page.evaluate<number>('scrollY')) > 0)
    await page.getByRole('link', { name: 'Sweep' }).focus()
    await page.keyboard.press('Enter')
    await until(`document.activeElement.tagName === 'H2'`)
    await focusIs('Sweep and coverage')
    t.equal(await page.evaluate('scrollY'), 0)
  })

  await t.test('c copies a call as curl', async (t) => {
    await get('/v1/users')
    const [{ request_id }] = (await get('/__admin/requests')).body.requests
    await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await go(`requests/${request_id}`)
    const copy = page.getByTitle(/users'.*Bearer sbx_/).and(page.locator('button'))
    const line = await copy.first().getAttribute('title')
    const copied = () => page.evaluate('navigator.clipboard.readText()')
    for (let n = 0; n < 50 && (await copied()) !== line; n++) await page.keyboard.press('c')
    t.equal(await copied(), line)
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
