import t from 'tap'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('on a phone', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, origin, assertNoErrors } = opened

  await t.test('five tabs at the bottom, and the other views behind the last', async (t) => {
    for (const width of [360, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await opened.go('overview')
      const tabs = page.locator('.side nav a:visible')
      t.strictSame(
        (await tabs.allTextContents()).map((one) => one.trim()),
        ['Overview', 'Payments', 'Requests', 'Trouble', 'More'],
      )
      for (const box of [await tabs.first().boundingBox(), await tabs.last().boundingBox()])
        t.ok(box!.x >= 0 && box!.x + box!.width <= width && box!.y + box!.height <= 844)
      t.match(await tabs.first().getAttribute('aria-current'), 'page')
      await tabs.last().click()
      await page.locator('main').getByRole('link', { name: 'Assumptions' }).click()
      await page.locator('main h2', { hasText: 'Assumptions' }).waitFor()
      t.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= width)
    }
  })

  await t.test('amounts fit into their tiles, and the first event is in sight', async (t) => {
    await opened.pay({ amount: 9_999_999_999.99 })
    await opened.go('overview')
    const event = page.locator('.happened li').first()
    await event.waitFor()
    t.ok((await event.boundingBox())!.y < 700)
    const fits = 'b.scrollWidth <= b.parentElement.clientWidth'
    t.ok(await page.evaluate(`[...document.querySelectorAll('.tiles b')].every((b) => ${fits})`))
  })

  await t.test('a long name of a client fits', async (t) => {
    await page.setViewportSize({ width: 360, height: 640 })
    const name = `worker-${'w'.repeat(56)}`
    t.equal((await opened.post('/__admin/clients', { name })).status, 201)
    await page.goto(`${origin}/@${name}/__admin/`)
    await page.locator('main h2').first().waitFor()
    t.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 360)
    const chip = (await page.locator('.side .chip').boundingBox())!
    t.ok(chip.x + chip.width <= 360, 'the state of the connection is visible')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
