import t from 'tap'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('changes by other tabs and programs', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)

  await t.test(
    'another program sends calls: the page shows it at the next focus or comment of the stream',
    async (t) => {
      const opened = await openConsole(t, browser, { view: 'control', wired: true })
      const { page, post, call, get, see, wire } = opened
      await page.getByText('live', { exact: true }).waitFor()
      await see('Save a snapshot')
      const restore = (name: string) => page.getByRole('button', { name: `Restore: ${name}` })
      await post('/__admin/snapshots', { name: 'first' })
      await page.evaluate(`dispatchEvent(new Event('focus'))`)
      await restore('first').waitFor()
      await post('/__admin/snapshots', { name: 'second' })
      wire.send(': still here\n\n')
      await restore('second').waitFor()
      await page.evaluate(`location.hash = '#/requests'`)
      await get('/v1/users')
      await see(/^1 call$/)
      await call('DELETE', '/__admin/requests')
      wire.send(': still here\n\n')
      await see('The service has not received any calls yet.')
    },
  )

  await t.test('a silent server: the connection is lost, and a call waits', async (t) => {
    const opened = await openConsole(t, browser, { view: 'control', wired: true, ownPage: true })
    const { page, see, settle, wire } = opened
    await page.clock.install()
    await page.reload()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    await page.clock.fastForward(1_000)
    await settle()
    wire.mute()
    await page.getByRole('button', { name: 'Play' }).click()
    await see('waiting…')
    await page.clock.fastForward(20_000)
    const recheck = page.waitForRequest('**/clients')
    wire.send(': still here\n\n')
    await page.clock.fastForward(1_000)
    await recheck
    // The comment restarted the wait.
    await page.clock.fastForward(20_000)
    t.equal(await page.getByText('live', { exact: true }).count(), 1)
    await page.clock.fastForward(36_000)
    await page.getByText('lost', { exact: true }).waitFor()
  })

  await t.test('a deleted client is not created again by the page', async (t) => {
    const client = { client: 'worker-9', ownPage: true }
    const opened = await openConsole(t, browser, { ...client, view: 'requests' })
    const { page, get, call, see, go, settle } = opened
    await page.clock.install()
    await page.reload()
    await page.getByText('live', { exact: true }).waitFor()
    await see('The service has not received any calls yet.')
    // The page reads again after the stream has opened. A call that is under way would create the client again.
    await page.clock.fastForward(1_000)
    await settle()
    await call('DELETE', '/__admin/clients/worker-9')
    await page.getByRole('heading', { name: 'This client was deleted' }).waitFor()
    await page.getByText('deleted', { exact: true }).waitFor()
    await go('payments')
    await settle()
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await page.getByRole('link', { name: 'default client' }).waitFor()
    await settle()
    const names = async () =>
      (await get('/__admin/clients')).body.clients.map(({ name }: { name: string }) => name)
    t.notOk((await names()).includes('worker-9'))
    await page.getByRole('button', { name: 'Create it again' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    t.ok((await names()).includes('worker-9'))
  })
})
