import type { AddressInfo } from 'node:net'
import t from 'tap'
import { start } from '../../helper.ts'
import { noBrowser, openBrowser } from './browser.ts'

t.test('what a user sees first', { skip: noBrowser }, async (t) => {
  const { app } = await start(t)
  t.teardown(() => app.server.closeAllConnections())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const browser = await openBrowser(t)
  const context = await browser.newContext({ timezoneId: 'Asia/Kolkata' })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${port}/__admin/#/users`)

  await t.test('times are local, with their zone', async () => {
    const time = page.locator('header time')
    await time.filter({ hasText: /^2026-01-01 05:30:00 IST$/ }).waitFor()
    await page.getByLabel('Times').selectOption('UTC')
    await time.filter({ hasText: '00:00:00 UTC' }).waitFor()
  })

  await t.test('a button says what it did; its call is shown on demand', async (t) => {
    await page.locator('summary', { hasText: 'Make a user' }).click()
    const button = page.getByRole('button', { name: 'Make the user' })
    t.equal(await button.getAttribute('title'), null)
    const result = page.locator('footer [role=status]')
    await page.getByLabel('E-mail').fill('nobody')
    await button.click()
    await page.getByRole('alert').waitFor()
    t.equal(await result.textContent(), '', 'an error has one message')
    await page.getByLabel('E-mail').fill('')
    await button.click()
    await result.filter({ hasText: /^Make the user: done$/ }).waitFor()
    await page.getByLabel('Show calls').check()
    await result.getByText(/^POST \/v1\/user \{/).waitFor()
    await page.goBack()
    await page.locator('summary', { hasText: 'Make a user' }).click()
    t.match(await button.getAttribute('title'), /^POST \/v1\/user \{/)
  })

  await t.test('a server that is gone is one banner, and the clock stops', async (t) => {
    await fetch(`http://127.0.0.1:${port}/__admin/clock/resume`, { method: 'POST' })
    await page.locator('.now').getByText('real time').waitFor()
    await page.getByLabel('E-mail').fill('late@example.com')
    const listening = app.server
    listening.closeAllConnections()
    listening.close()
    listening.closeAllConnections()
    await page.getByRole('alert').waitFor()
    const time = await page.locator('header time').textContent()
    await page.getByRole('button', { name: 'Make the user' }).click()
    await page.locator('footer').getByText("The sandbox doesn't respond. Is it running?").waitFor()
    t.equal(await page.getByRole('alert').count(), 1)
    t.notMatch(await page.locator('body').textContent(), 'whether a rule did this')
    t.equal(await page.locator('header time').textContent(), time)
    t.equal(await page.getByLabel('E-mail').inputValue(), 'late@example.com')
  })
})
