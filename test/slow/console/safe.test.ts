import t from 'tap'
import { ASHA, PAN, ROHAN } from '../../helper.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'
import { fill, show } from './tour.ts'

t.test('safe', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)

  await t.test('no name or text becomes markup', async (t) => {
    const opened = await openConsole(t, browser)
    const { page, post, put, app, origin, sandbox, assertNoErrors } = opened
    const evil = `"'><img src=x onerror=hit=1><b class=planted>`
    const script = '</script><script>hit=1</script>'
    await put('/__admin/scenario', {
      definition: {
        title: evil,
        description: script,
        rules: [{ name: evil, when: { operation: 'getKyc' }, then: { respond: { status: 500 } } }],
      },
    })
    const kyc = [{ ...PAN, nameOnCard: evil + script }]
    t.equal((await post('/v1/kyc', { user_id: ROHAN, kyc })).status, 201)
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
      const { text, ...made } = await page.evaluate<Record<string, unknown>>(`({
        images: document.querySelectorAll('img').length,
        elements: document.querySelectorAll('.planted, [onerror]').length,
        scripts: document.querySelectorAll('script:not([src="app.js"])').length,
        text: document.querySelector('main').textContent,
      })`)
      t.same(made, { images: 0, elements: 0, scripts: 0 }, `${view} makes no markup of a text`)
      if (/<b class=planted>|<script>/.test(text as string)) seen++
    }
    t.ok(seen >= 4, 'the texts are shown unchanged')
    t.equal(await page.evaluate('window.hit'), undefined)
    t.match(page.url(), origin)
    assertNoErrors(t)
  })

  await t.test('its policy blocks everything else', async (t) => {
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
    t.equal(
      await page.frameLocator('iframe').locator('#console').count(),
      0,
      'another page cannot show it in a frame',
    )
    t.equal((await get('/__admin/health')).status, 200)
  })

  await t.test('the page asks for the admin token once and stores it for the tab', async (t) => {
    const adminToken = 'the token of the test'
    const { page, context, origin, see } = await openConsole(t, browser, {
      view: 'control',
      app: { adminToken },
    })
    const dialog = page.getByRole('dialog', { name: 'Admin token' })
    await dialog.getByLabel('Token').fill('wrong')
    await dialog.getByRole('button').click()
    await dialog.getByText('The server rejected the token.').waitFor()
    await dialog.getByLabel('Token').fill(adminToken)
    await page.keyboard.press('Enter')
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Next event' }).waitFor()
    t.equal(await dialog.count(), 0)
    await page.getByRole('button', { name: 'Play' }).click()
    await see('real time')
    t.equal(
      await page.locator('footer').getByRole('button').getAttribute('title'),
      `curl -X POST '${origin}/__admin/clock/resume' -H "X-Admin-Token: $ADMIN_TOKEN"`,
    )
    await page.reload()
    await page.getByRole('button', { name: 'Next event' }).waitFor()
    t.equal(await dialog.count(), 0, 'not asked again')
    t.notMatch(await page.evaluate<string>('JSON.stringify(localStorage)'), adminToken)
    const another = await context.newPage()
    await another.goto(`${origin}/__admin/`)
    await another.getByRole('dialog', { name: 'Admin token' }).waitFor()
  })

  await t.test('cancel the dialog, or enter an invalid token', async (t) => {
    const adminToken = 'the token of the test'
    const { page, see, assertNoErrors } = await openConsole(t, browser, {
      view: 'control',
      app: { adminToken },
    })
    const dialog = page.getByRole('dialog', { name: 'Admin token' })
    for (let i = 0; i < 2; i++) {
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('alert').getByText('The console needs the admin token').waitFor()
      await see('locked')
      t.equal(await page.getByRole('alert').count(), 1, 'nothing says that the sandbox is gone')
      await page.getByRole('button', { name: 'Enter the token' }).click()
    }
    await dialog.getByLabel('Token').fill('Schlüssel ✓')
    await page.keyboard.press('Enter')
    await dialog.getByText('This is not a valid token').waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 0, 'only a valid token is stored')
    await dialog.getByLabel('Token').fill(adminToken)
    await page.keyboard.press('Enter')
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Next event' }).waitFor()
    t.equal(await page.getByRole('alert').count(), 0)
    assertNoErrors(t)
  })
})
