import t from 'tap'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('the overview', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)

  t.test('shows the client, its clock and a control with its effect', async (t) => {
    const { page, get, see, assertCalm } = await openConsole(t, browser)
    await see('Clock')
    await page.getByRole('button', { name: 'Resume' }).click()
    await see('real time')
    t.equal((await get('/__admin/clock')).body.mode, 'real')
    const clock = page.locator('.now time')
    const first = await clock.textContent()
    await page.waitForFunction(
      `document.querySelector('.now time').textContent !== ${JSON.stringify(first)}`,
    )
    assertCalm()
  })
})
