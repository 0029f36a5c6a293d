import t from 'tap'
import { noBrowser, openBrowser, openConsole } from './browser.ts'
import { show } from './tour.ts'

t.test('on a phone', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t))
  const { page, origin, assertNoErrors } = opened

  await t.test('the active tab is visible, without a scrollbar', async (t) => {
    const place = `(() => {
      const { left, right } = document.querySelector('nav [aria-current]').getBoundingClientRect()
      return { left, right, width: innerWidth, scrolled: document.querySelector('.side').scrollLeft }
    })()`
    type Place = { left: number; right: number; width: number; scrolled: number }
    const inSight = `(() => {
      const { left, right, width } = ${place}
      return left >= 0 && right <= width
    })()`
    const scrolled = async () => (await page.evaluate<Place>(place)).scrolled
    for (const [width, views] of [
      [360, ['control', 'assumptions', 'overview', 'scenarios']],
      [390, ['control']],
    ] as const) {
      await page.setViewportSize({ width, height: 640 })
      for (const view of views) {
        await page.goto(`${origin}/__admin/#/${view}`)
        await page.reload()
        await page.locator('main h2').first().waitFor()
        await opened.until(inSight)
      }
    }
    for (const view of ['overview', 'control', 'deliveries', 'users']) {
      await opened.go(view)
      await opened.until(
        `document.querySelector('nav [aria-current]').hash === '#/${view}' && ${inSight}`,
      )
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await show(opened, 'control')
    await opened.until(inSight)
    t.equal(await scrolled(), 0)
    await page.setViewportSize({ width: 390, height: 800 })
    await opened.until(inSight)
    t.ok((await scrolled()) > 0, 'the line scrolled')
    t.equal(
      await page.evaluate(`(() => {
        const { offsetHeight, clientHeight } = document.querySelector('.side')
        return offsetHeight - clientHeight
      })()`),
      1,
      'a border, and no scrollbar',
    )
    t.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('.side')).scrollbarWidth`),
      'none',
    )
  })

  await t.test('a long name of a client fits', async (t) => {
    await page.setViewportSize({ width: 360, height: 640 })
    const name = `worker-${'w'.repeat(56)}`
    t.equal((await opened.post('/__admin/clients', { name })).status, 201)
    await page.goto(`${origin}/@${name}/__admin/`)
    await page.locator('main h2').first().waitFor()
    await page.getByRole('link', { name: `Client ${name}` }).waitFor()
    t.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 360)
    const chip = (await page.locator('header .chip').boundingBox())!
    t.ok(chip.x + chip.width <= 360, 'the state of the connection is visible')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
