import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('another site', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  // Another port, and a host name that the sandbox does not have.
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<title>evil</title>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    site.closeAllConnections()
    site.close()
  })
  const { port } = site.address() as AddressInfo

  await t.test('its images, forms and scripts do nothing', async (t) => {
    const { page, origin, sandbox, app, get, assertNoErrors } = await openConsole(t, browser)
    assertNoErrors(t)
    for (const from of [`http://localhost:${port}/`, `http://127.0.0.1:${port}/`]) {
      const other = await page.context().newPage()
      await other.goto(from)
      const statuses: number[] = []
      app.server.on('request', ({ url }, response) => {
        // Ignores the calls of the console itself.
        if (/v1/.test(url!)) response.on('finish', () => statuses.push(response.statusCode))
      })
      await other.evaluate(`(async () => {
        const base = ${JSON.stringify(origin)}
        const image = (url) => new Promise((done) => {
          const one = new Image()
          one.onload = one.onerror = done
          one.src = base + url
        })
        for (let i = 0; i < 5; i++) await image('/@drive' + i + '/v1/users?limit=1')
        const send = (url, options) => fetch(base + url, options).catch(() => {})
        await send('/@drive/v1/users', { mode: 'no-cors' })
        await send('/v1/user', { method: 'POST', mode: 'no-cors', body: '{}' })
        await send('/v1/users')
        await send('/@drive/v1/user', {
          method: 'POST', body: '{}', headers: { 'content-type': 'application/json' },
        })
      })()`)
      t.ok(statuses.length >= 9, `${statuses.length} calls arrive`)
      for (const status of statuses) t.equal(status, 403, from)
      await Promise.all([
        other.waitForURL(/@go/),
        other.evaluate(`location.href = ${JSON.stringify(`${origin}/@go/v1/users`)}`),
      ])
      t.match(await other.textContent('body'), /cross_site_rejected/)
      await other.close()
    }
    t.notOk(
      [...sandbox.clients.keys()].some((name) => /drive|go/.test(name)),
      'no client is created',
    )
    t.equal((await get('/__admin/requests')).body.total, 0, 'no call is in the log')
  })

  await t.test('the docs page and the address bar call the service', async (t) => {
    const { page, origin } = await openConsole(t, browser)
    // The page calls before its script has listed all operations, which takes seconds.
    await page.goto(`${origin}/@mine/docs`, { waitUntil: 'commit' })
    const status = await page.evaluate(
      `fetch('v1/users', { headers: { authorization: 'Bearer sbx_mine' } }).then((response) => response.status)`,
    )
    t.equal(status, 200)
    t.equal((await page.goto(`${origin}/@mine/v1/users`))?.status(), 200)
  })
})
