import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import axe from 'axe-core'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { ROHAN } from '../helper.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'
import { fill, show } from './tour.ts'

const PHONE = { width: 360, height: 640 }
const SCREEN = { width: 1200, height: 600 }
// The check takes long for each row, and they are alike: of a list the first rows, of a table also those that are marked.
const ALIKE = [
  'tr:not(.hit):nth-child(n+5)',
  '.rows .body > :nth-child(n+5)',
  '.list > li:not(.active):not(:has([open])):nth-child(n+4)',
  '.card:has(.assumption) ~ .card:not(:has([open]))',
]

type Violation = { id: string; impact: string; html: string }
type AxeResult = { violations: Violation[]; passes: number }

/** Checks the page with axe, all of it or only its colours. */
const axeRun = (onlyColours = false) => `(() => {
  // Hidden, because axe looks also at what it excludes.
  const hidden = new CSSStyleSheet()
  hidden.replaceSync('${ALIKE.join()} { display: none !important }')
  document.adoptedStyleSheets = [hidden]
  return axe.run({
    resultTypes: ['violations'],
    // No rule about style sheets, and no frame.
    preload: false,
    iframes: false,
    ${onlyColours ? `runOnly: ['color-contrast'],` : ''}
  })
  .then(({ violations, passes }) => ({
    violations: violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html })),
    passes: passes.length,
  }))
  .finally(() => { document.adoptedStyleSheets = [] })
})()`

t.test('its files are small, few, and served with a strict policy', async (t) => {
  const folder = join(PACKAGE_ROOT, 'dist/console')
  const sizes = ['index.html', 'app.js', 'app.css'].map(
    (name) => gzipSync(readFileSync(join(folder, name))).length,
  )
  const all = sizes.reduce((sum, size) => sum + size, 0)
  t.ok(all < 90_000, `${all} bytes compressed`)
  for (const name of ['app.js', 'app.css'])
    t.notMatch(
      readFileSync(join(folder, name), 'utf8'),
      /https?:\/\/(?!www\.w3\.org)|sourceMappingURL/,
    )
})

t.test('looks', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  const opened = await openConsole(t, browser)
  const views = await fill(opened)
  const { page, settle, origin, assertNoErrors } = opened
  async function backOf() {
    await settle()
    return page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  }

  await t.test('the first paint is within a second', async (t) => {
    const paints: number[] = []
    // On a busy machine one of three is enough.
    while (paints.length < 3 && !paints.some((ms) => ms < 1_000)) {
      await page.reload()
      await page.locator('main h2').first().waitFor()
      await settle()
      paints.push(
        await page.evaluate<number>(
          `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
        ),
      )
    }
    t.ok(Math.min(...paints) < 1_000, `painted after ${paints.map(Math.round).join(', ')} ms`)
  })

  await t.test('dark like the system, or the stored choice of the user', async (t) => {
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await backOf()
    await page.emulateMedia({ colorScheme: 'dark' })
    const dark = await backOf()
    t.not(dark, light)
    await page.getByLabel('Theme').selectOption('light')
    t.equal(await backOf(), light)
    await page.reload()
    await page.getByLabel('Theme').waitFor()
    t.equal(await backOf(), light)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByLabel('Theme').selectOption('dark')
    t.equal(await backOf(), dark)
    await page.getByLabel('Theme').selectOption('system')
    t.equal(await backOf(), light)
  })

  await t.test('times in UTC, or the stored choice of the local time', async (t) => {
    const now = page.locator('header time')
    t.match(await now.textContent(), /^2026-01-01 00:00:\d\d UTC$/)
    await page.getByLabel('Times').selectOption('local')
    t.match(await now.textContent(), /^2026-01-01 05:30:\d\d IST$/)
    await page.reload()
    await page.getByLabel('Times').waitFor()
    t.match(await now.textContent(), ' IST')
    await show(opened, 'payments')
    await page.getByRole('table', { name: 'Payments' }).getByText('05:30:00 IST').first().waitFor()
    await page.getByLabel('Times').selectOption('utc')
    t.match(await now.textContent(), ' UTC')
  })

  await t.test(
    'each view: from this host, as wide as a phone, accessible, also if dark',
    async (t) => {
      const urls: string[] = []
      page.on('request', (request) => urls.push(request.url()))
      await page.reload()
      await page.evaluate(axe.source)
      const wide: string[] = []
      const serious: unknown[] = []
      const passes = { light: 0, dark: 0 }

      /** Dark differs only in its colours. */
      async function check(view: string, colorScheme: 'light' | 'dark') {
        await page.emulateMedia({ colorScheme })
        const found = await page.evaluate<AxeResult>(axeRun(colorScheme === 'dark'))
        passes[colorScheme] += found.passes
        for (const { id, html } of found.violations)
          serious.push(`${view}, ${colorScheme}: ${id} ${html}`)
      }
      for (const view of views) {
        await page.setViewportSize(PHONE)
        await show(opened, view)
        if ((await page.evaluate<number>('document.documentElement.scrollWidth')) > PHONE.width)
          wide.push(view)
        await page.setViewportSize(SCREEN)
        for (const colorScheme of ['dark', 'light'] as const) await check(view, colorScheme)
      }
      t.ok(urls.length > views.length)
      t.same(
        urls.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:')),
        [],
        'nothing is loaded from other hosts',
      )
      t.same(wide, [], 'on a phone nothing is wider than the screen')
      t.same(serious, [], 'an accessibility check finds nothing')
      t.ok(passes.light > 10 * views.length && passes.dark === views.length, 'it checks something')
    },
  )

  await t.test('an accessibility check of a dialog', async (t) => {
    await show(opened, 'requests')
    await page.getByRole('button', { name: 'Clear the log' }).click()
    await page.getByRole('dialog', { name: 'Clear the log?' }).waitFor()
    const { violations } = await page.evaluate<AxeResult>(axeRun())
    t.same(violations, [])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  await t.test('an accessibility check of open assumptions', async (t) => {
    await show(opened, 'assumptions')
    // One with only named readings, and one with a text field.
    for (const name of ['idempotency_key', 'rate_limit'])
      await page.locator('summary', { hasText: name }).click()
    const { violations } = await page.evaluate<AxeResult>(axeRun())
    t.same(violations, [])
  })

  await t.test('an accessibility check of open forms, which fit on a phone', async (t) => {
    for (const view of ['payments', `users/${ROHAN}`]) {
      await page.setViewportSize(PHONE)
      await show(opened, view)
      for (const summary of await page.locator('main .fold > summary').all()) await summary.click()
      await page.locator('main .fold form').last().waitFor()
      await settle()
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width, view)
      await page.setViewportSize(SCREEN)
      const { violations } = await page.evaluate<AxeResult>(axeRun())
      t.same(violations, [], view)
    }
  })

  await t.test(
    'by keyboard: skip to the content, go to a view, see which view is active',
    async (t) => {
      await page.goto(`${origin}/__admin/`)
      await page.getByRole('link', { name: 'Users', exact: true }).waitFor()
      await page.keyboard.press('Tab')
      const focused = () => page.evaluate<string>('document.activeElement.textContent')
      t.equal(await focused(), 'Skip to the content')
      await page.keyboard.press('Enter')
      t.equal(await page.evaluate('document.activeElement.id'), 'main')
      const link = page.getByRole('link', { name: 'Payments', exact: true })
      await link.focus()
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Tab')
      t.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')
      await page.keyboard.press('Enter')
      await page.getByRole('table', { name: 'Payments' }).waitFor()
      t.equal(await link.getAttribute('aria-current'), 'page')
    },
  )

  await t.test('on a phone a list shows its main columns', async (t) => {
    await page.setViewportSize(PHONE)
    await show(opened, 'payments')
    const row = page.getByRole('table', { name: 'Payments' }).getByRole('row').nth(1)
    await row.getByText('₹100.93').waitFor()
    t.equal(
      await row.getByText('asha.nair@example.com').isVisible(),
      false,
      'minor columns are hidden',
    )
    t.equal(await row.getByText('2026-01-01').isVisible(), true)
    await page.getByRole('link', { name: 'Control' }).click()
    await page.getByRole('button', { name: 'Save a snapshot' }).waitFor()
  })

  await t.test('the docs page has one font', async (t) => {
    const docs = await opened.context.newPage()
    // The operations and schemas of the real document take seconds to render, and have the fonts of Swagger UI.
    await docs.route('**/openapi.json', async (route) => {
      const response = await route.fetch()
      const { openapi, info } = await response.json()
      await route.fulfill({ response, json: { openapi, info, paths: {} } })
    })
    await docs.goto(`${origin}/docs`)
    await docs.locator('.swagger-ui .info').waitFor()
    const fonts = await docs.evaluate<string[]>(
      `['label', '#api', '.swagger-ui .info p'].map((one) =>
        getComputedStyle(document.querySelector(one)).fontFamily)`,
    )
    t.same(fonts, ['sans-serif', 'sans-serif', 'sans-serif'])
    await docs.close()
  })

  await t.test('on a phone the active tab, the time and the last call stay visible', async (t) => {
    const isInSight = (selector: string) =>
      page.evaluate<boolean>(`(() => {
        const { left, right, top, bottom } = document.querySelector('${selector}').getBoundingClientRect()
        return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
      })()`)
    await show(opened, 'trouble')
    t.equal(await isInSight('nav [aria-current]'), true, 'the active tab')
    await page.getByRole('button', { name: 'Push the rule' }).click()
    await page.locator('footer').getByText('The rule is active.').waitFor()
    await page.evaluate('scrollTo(0, 700)')
    for (const selector of ['footer code', '.now time', 'header .chip'])
      t.equal(await isInSight(selector), true, selector)
    await opened.pay()
    await page.locator('.coming > summary').click()
    const cancel = page.getByRole('button', { name: /^Cancel/ }).first()
    const { x, width } = (await cancel.boundingBox())!
    t.ok(x + width <= 360)
  })

  await t.test('no important cell is cut, and lists fill the height', async (t) => {
    await opened.pay({ amount: 9999999999.99 })
    for (const view of ['payments', 'deliveries', 'requests', 'users']) {
      await show(opened, view)
      for (const width of [360, 740, 1000, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await settle()
        const cut = await page.evaluate<string[]>(`(() => {
          const matters = /₹|PROC|PEND|\\d\\d:\\d\\d:\\d\\d|transaction/
          return [...document.querySelectorAll('.rows .body .line > span')]
            .filter((cell) => cell.scrollWidth > cell.clientWidth && matters.test(cell.textContent))
            .map((cell) => cell.textContent)
        })()`)
        t.same(cut, [], `${view} at ${width}`)
        const left = await page.evaluate<number>(
          `document.querySelector('footer').getBoundingClientRect().top -
            document.querySelector('.rows').getBoundingClientRect().bottom`,
        )
        t.ok(left >= 0 && left < 30, `${left} px are left under ${view} at ${width}`)
      }
    }
  })

  await t.test('a long name leaves room for the buttons', async (t) => {
    await opened.post('/__admin/rules', {
      when: { operation: 'submitKyc' },
      times: 1,
      then: { kyc: [{ status: 'pending' }] },
    })
    const kyc = {
      document_type: 'tid',
      document_name: 'pan',
      document_number: 'ABCPE1234F',
      dateOfBirth: '01-02-1990',
      Nationality: 'Indian',
      nameOnCard: 'W'.repeat(120),
    }
    t.equal((await opened.post('/v1/kyc', { user_id: ROHAN, kyc: [kyc] })).status, 201)
    await show(opened, `users/${ROHAN}`)
    for (const width of [360, 740, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const { x, width: wide } = (await page
        .getByRole('button', { name: 'Fail: pan' })
        .boundingBox())!
      t.ok(x + wide <= width, `${x + wide} of ${width}`)
    }
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
