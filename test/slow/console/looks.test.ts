import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import axe from 'axe-core'
import t from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { ROHAN } from '../../helper.ts'
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

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

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
    runOnly: ${JSON.stringify(onlyColours ? ['color-contrast'] : TAGS)},
  })
  .then(({ violations, passes }) => ({
    violations: violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html })),
    passes: passes.length,
  }))
  .finally(() => { document.adoptedStyleSheets = [] })
})()`

/** The amounts, ids, e-mails and states of a page that are in more than one line. */
const BROKEN = `(() => {
  const broken = []
  for (const part of document.querySelectorAll('.rows, dl, pre, .axis')) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { data } = walker.currentNode
      for (const { 0: text, index } of data.matchAll(/₹[\\d,.]+|[\\w.]+@[\\w.]+|[\\da-f]{8}-[\\da-f-]{27}|[A-Z]{4,}/g)) {
        const range = document.createRange()
        range.setStart(walker.currentNode, index)
        range.setEnd(walker.currentNode, index + text.length)
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(text)
      }
    }
  }
  return broken
})()`

t.test('its files are small, few, and served with a strict policy', async (t) => {
  const folder = join(PACKAGE_ROOT, 'dist/console')
  const sizes = ['index.html', 'app.js', 'app.css'].map(
    (name) => gzipSync(readFileSync(join(folder, name))).length,
  )
  const all = sizes.reduce((sum, size) => sum + size, 0)
  t.ok(all < 110_000, `${all} bytes compressed`)
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

  await t.test('an accessibility check of open forms, which fit on a phone', async (t) => {
    // Of the assumptions one with only named readings, and one with a text field.
    const folds =
      'main :is(.fold > summary, summary:has-text("idempotency_key"), summary:has-text("rate_limit"))'
    for (const view of ['payments', `users/${ROHAN}`, 'scenarios', 'assumptions']) {
      await page.setViewportSize(PHONE)
      await show(opened, view)
      for (const summary of await page.locator(folds).all()) await summary.click()
      await page.locator('main [open] form').last().waitFor()
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

  await t.test('no amount, id or e-mail is broken, and each id can be copied', async (t) => {
    const { transaction_id } = (await opened.pay({ reference_id: 'COPY-1' })).body.data[0]
    const [{ request_id }] = (await opened.get('/__admin/requests')).body.requests
    const [{ delivery_id }] = (await opened.get('/__admin/webhooks/deliveries')).body.deliveries
    const views = [
      `payments/${transaction_id}`,
      `requests/${request_id}`,
      `deliveries/${delivery_id}`,
    ]
    for (const view of views)
      for (const width of [390, 500, 1000, 1440, 1920]) {
        await page.setViewportSize({ width, height: 800 })
        await show(opened, view)
        t.same(await page.evaluate(BROKEN), [], `${view} at ${width}`)
        const id = view.split('/')[1]!
        const copy = page.getByRole('button', { name: `Copy: ${id}` })
        t.equal(await copy.getAttribute('title'), id)
      }
    await page.getByRole('button', { name: 'Copy: Body' }).waitFor()
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
        t.same(await page.evaluate(BROKEN), [], `${view} at ${width}`)
        const left = await page.evaluate<number>(
          `innerHeight - (innerWidth <= 700 ? document.querySelector('.side nav').offsetHeight : 0) -
            document.querySelector('.rows').getBoundingClientRect().bottom`,
        )
        t.ok(left >= 0 && left < 30, `${left} px are left under ${view} at ${width}`)
      }
    }
  })

  await t.test('/docs: dark as the console is, with the token of its client', async (t) => {
    const call = page.locator('#operations-Users-listUsers')
    for (const [theme, colorScheme, dark] of [
      ['system', 'dark', 1],
      ['light', 'dark', 0],
      ['dark', 'light', 1],
      ['system', 'light', 0],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(`localStorage['payout-sandbox theme'] = '${theme}'`)
      await page.goto(`${origin}/@docs/docs`)
      await call.waitFor()
      t.equal(await page.locator('html.dark-mode').count(), dark, `${theme}, ${colorScheme}`)
    }
    const { access_token } = (await opened.get('/@docs/__admin/client')).body
    await page.getByPlaceholder('Filter').fill('users')
    await page.locator('#operations-KYC-submitKyc').waitFor({ state: 'detached' })
    await call.click()
    await call.getByRole('button', { name: 'Execute' }).click()
    await call.locator('.curl-command').getByText(`Bearer ${access_token}`).waitFor()
    await page.getByRole('link', { name: 'Console' }).click()
    await page.waitForURL(`${origin}/@docs/__admin/`)
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
