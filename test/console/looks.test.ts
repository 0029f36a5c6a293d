import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import axe from 'axe-core'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'
import { ASHA, ROHAN } from '../helper.ts'
import { noBrowser, type Opened, openBrowser, openConsole } from './browser.ts'

const VIEWS = [
  'overview',
  'users',
  `users/${ROHAN}`,
  'payments',
  'deliveries',
  'requests',
  'scenarios',
  'scenarios/default',
  'magic-values',
  'control',
]

/** A client with something to see in every view; answers the views of what was made. */
async function fill({ post, pay, get, origin, advance }: Opened, words: object = {}) {
  const webhook = {
    url: `${origin}/__admin/webhooks/inbox`,
    webhook_secret: 'a-secret-of-the-test',
  }
  await post('/v1/clientWebhook', webhook)
  const id = (await pay({ amount: 12.93, ...words })).body.data[0].transaction_id
  await advance('2s')
  const { deliveries } = (await get('/__admin/webhooks/deliveries')).body
  const { requests } = (await get('/__admin/requests')).body
  return [
    ...VIEWS,
    `payments/${id}`,
    `deliveries/${deliveries[0].delivery_id}`,
    `requests/${requests[0].request_id}`,
  ]
}

/** Goes to a view and waits until what it shows has come. */
async function show({ page, go, settle }: Opened, view: string) {
  await go('nowhere')
  await page.getByText('There is no such view').waitFor()
  await go(view)
  await page.locator('main h2').first().waitFor()
  await settle()
}

t.test('its files are small, few, and served with a strict policy', async (t) => {
  const folder = join(PACKAGE_ROOT, 'dist/console')
  const sizes = ['index.html', 'app.js', 'app.css'].map(
    (name) => gzipSync(readFileSync(join(folder, name))).length,
  )
  const all = sizes.reduce((sum, size) => sum + size, 0)
  t.ok(all < 40_000, `${all} bytes compressed`)
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
  const { page, settle, origin, assertCalm } = opened
  async function backOf() {
    await settle()
    return page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  }

  await t.test('it is painted within a second', async (t) => {
    const paints: number[] = []
    for (let i = 0; i < 3; i++) {
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

  await t.test('nothing comes from elsewhere', async (t) => {
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await page.reload()
    for (const view of views) await show(opened, view)
    t.ok(urls.length > views.length)
    t.same(
      urls.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:')),
      [],
    )
  })

  await t.test('dark as the system is, or as chosen, which is kept', async (t) => {
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

  // Dark differs in its colours alone.
  for (const [colorScheme, rules] of [
    ['light', '{}'],
    ['dark', `{ runOnly: ['color-contrast'] }`],
  ] as const)
    await t.test(`an accessibility check finds nothing serious: ${colorScheme}`, async (t) => {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(axe.source)
      for (const view of views) {
        await show(opened, view)
        const { violations, passes } = await page.evaluate<{
          violations: { id: string; impact: string; nodes: { html: string }[] }[]
          passes: unknown[]
        }>(`axe.run(${rules})`)
        t.ok(passes.length > (colorScheme === 'light' ? 10 : 0), 'it checks something')
        const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
        t.same(
          serious.map(({ id, nodes }) => [id, nodes[0]!.html]),
          [],
          view,
        )
      }
    })

  await t.test('an accessibility check of a dialog', async (t) => {
    await show(opened, 'requests')
    await page.getByRole('button', { name: 'Empty the log' }).click()
    await page.getByRole('dialog', { name: 'Empty the log?' }).waitFor()
    const { violations } = await page.evaluate<{ violations: { id: string }[] }>('axe.run()')
    t.same(violations, [])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  await t.test('by keys: skip to the content, go to a view, see where one is', async (t) => {
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
  })

  await t.test('on a phone nothing is wider than the screen', async (t) => {
    await page.setViewportSize({ width: 360, height: 640 })
    for (const view of views) {
      await show(opened, view)
      t.ok(
        (await page.evaluate<number>('document.documentElement.scrollWidth')) <= 360,
        `${view} fits`,
      )
    }
    await show(opened, 'payments')
    const row = page.getByRole('table', { name: 'Payments' }).getByRole('row').nth(1)
    await row.getByText('12.93 INR').waitFor()
    t.equal(await row.getByText('2026-01-01').isVisible(), false, 'what is minor makes room')
    await page.getByRole('link', { name: 'Control' }).click()
    await page.getByRole('button', { name: 'Push the rule' }).waitFor()
  })

  await t.test('nothing failed in the page', async (t) => assertCalm(t))
})

t.test('safe', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)

  await t.test('no name or text becomes markup', async (t) => {
    const opened = await openConsole(t, browser)
    const { page, post, put, app, origin, sandbox, assertCalm } = opened
    const evil = `"'><img src=x onerror=hit=1><b class=planted>`
    const script = '</script><script>hit=1</script>'
    await put('/__admin/scenario', {
      definition: {
        title: evil,
        description: script,
        rules: [{ name: evil, when: { operation: 'getKyc' }, then: { respond: { status: 500 } } }],
      },
    })
    const item = {
      document_type: 'tid',
      document_name: 'pan',
      document_number: 'ABCPE1234F',
      dateOfBirth: '01-02-1990',
      Nationality: 'Indian',
      nameOnCard: evil + script,
    }
    t.equal((await post('/v1/kyc', { user_id: ROHAN, kyc: [item] })).status, 201)
    const views = await fill(opened, { remark: evil, reference_id: evil + script })
    await app.inject({ url: `/v1/kyc/${ASHA}` })
    await app.inject({
      method: 'POST',
      url: `/v1/${encodeURIComponent(evil)}?q=${encodeURIComponent(script)}`,
      headers: { 'x-evil': script, host: '127.0.0.1', 'content-type': 'application/json' },
      payload: { [evil]: script },
    })
    await post('/__admin/rules', {
      name: script,
      when: { operation: 'getUser' },
      then: { delay: '1s' },
    })
    sandbox.changeLibrary({ problems: [evil, script] })
    const request = [...sandbox.default.requests.newestFirst()][0]!
    let seen = 0
    for (const view of [...views, 'scenarios/inline', `requests/req_${request.seq}`]) {
      await show(opened, view)
      for (const [what, selector] of [
        ['an image', 'img'],
        ['an element', '.planted, [onerror]'],
        ['a script', 'script:not([src="app.js"])'],
      ])
        t.equal(await page.locator(selector!).count(), 0, `${view} makes ${what} of no text`)
      const text = await page.locator('main').textContent()
      if (/<b class=planted>|<script>/.test(text!)) seen++
    }
    t.ok(seen >= 4, 'the texts are shown as they are')
    t.equal(await page.evaluate('window.hit'), undefined)
    t.match(page.url(), origin)
    assertCalm(t)
  })

  await t.test('its policy lets nothing in', async (t) => {
    const { page, app, get, origin } = await openConsole(t, browser)
    const response = await app.inject({ url: '/__admin/', headers: { host: '127.0.0.1' } })
    t.equal(
      response.headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
    )
    for (const url of ['/__admin/', '/__admin/app.js', '/__admin/app.css'])
      t.equal(
        (await app.inject({ url, headers: { host: '127.0.0.1' } })).headers[
          'x-content-type-options'
        ],
        'nosniff',
      )
    await t.rejects(page.addScriptTag({ content: 'window.hit = 1' }))
    t.equal(await page.evaluate('window.hit'), undefined)
    await page.setContent(`<iframe src="${origin}/__admin/"></iframe>`)
    t.equal(await page.frameLocator('iframe').locator('#console').count(), 0, 'no page frames it')
    t.equal((await get('/__admin/health')).status, 200)
  })

  await t.test('the admin token is asked once and kept for the tab', async (t) => {
    const adminToken = 'the token of the test'
    const { page, context, origin, see } = await openConsole(t, browser, { app: { adminToken } })
    const dialog = page.getByRole('dialog', { name: 'Admin token' })
    await dialog.getByLabel('Token').fill('wrong')
    await dialog.getByRole('button').click()
    await dialog.getByText('The token was refused.').waitFor()
    await dialog.getByLabel('Token').fill(adminToken)
    await page.keyboard.press('Enter')
    await page.getByText('live', { exact: true }).waitFor()
    await see('What comes next')
    t.equal(await dialog.count(), 0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await see('real time')
    t.equal(
      await page.locator('footer').getByRole('button').getAttribute('title'),
      `curl -X POST '${origin}/__admin/clock/resume' -H "X-Admin-Token: $ADMIN_TOKEN"`,
    )
    await page.reload()
    await see('What comes next')
    t.equal(await dialog.count(), 0, 'not asked again')
    t.notMatch(await page.evaluate<string>('JSON.stringify(localStorage)'), adminToken)
    const another = await context.newPage()
    await another.goto(`${origin}/__admin/`)
    await another.getByRole('dialog', { name: 'Admin token' }).waitFor()
  })

  await t.test(
    'each client has a page of its own; a path without its slash leads there',
    async (t) => {
      const { page, origin, see, get } = await openConsole(t, browser, { client: 'worker-1' })
      await page.locator('main').getByText('worker-1', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Resume' }).click()
      await see('real time')
      t.equal((await get('/@worker-1/__admin/clock')).body.mode, 'real')
      t.equal((await get('/__admin/clock')).body.mode, 'frozen')
      await page.goto(`${origin}/@worker-1/__admin`)
      await page.waitForURL(`${origin}/@worker-1/__admin/`)
      await see('real time')
    },
  )
})
