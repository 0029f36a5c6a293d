import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readLibrary } from '../../../src/scenarios/read-library.ts'
import { ASHA } from '../../helper.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

const MINE = `title: Mine
rules:
  - name: first
    when: { operation: getUser }
    then: { respond: { status: 500 } }
`

t.test('scenarios that change', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)

  await t.test(
    'a changed and rejected file: the active version is shown, with its hits',
    async (t) => {
      const folder = t.testdir({ 'mine.yaml': MINE, 'default.yaml': 'title: Nothing\nrules: []\n' })
      const read = readLibrary([folder])
      if (!read.ok) throw new Error(read.problems[0]!.message)
      const opened = await openConsole(t, browser, { sandbox: { library: read.library } })
      const { page, see, go, get, put, assertNoErrors } = opened
      await put('/__admin/scenario', { name: 'mine' })
      await get(`/v1/user/${ASHA}`)
      await go('scenarios/mine')
      const hits = page.getByRole('region', { name: 'Source' }).locator('tr.hit')
      await hits.getByText('name: first').waitFor()
      writeFileSync(join(folder, 'mine.yaml'), 'rules: {')
      await page.reload()
      await see('The file has changed or was deleted')
      await hits.getByText('1 ×').waitFor()
      t.equal(await page.getByText('rules: {', { exact: true }).count(), 0)
      await see('"first"')
      rmSync(join(folder, 'mine.yaml'))
      assertNoErrors(t)
    },
  )

  await t.test('a scenario is activated on its page, and a copy of it is edited', async (t) => {
    const opened = await openConsole(t, browser, { view: 'scenarios/slow' })
    const { page, assertNoErrors } = opened
    const urls: string[] = []
    page.on('request', (request) => urls.push(new URL(request.url()).pathname))
    const loads = () => urls.filter((path) => path.endsWith('/editor.js')).length
    await page.getByRole('button', { name: 'Activate: slow' }).click()
    await page.getByText('The scenario slow is active.').waitFor()
    const copy = page.locator('summary', { hasText: 'Copy and edit it' })
    t.equal(loads(), 0)
    await copy.click()
    const text = page.getByLabel('Scenario', { exact: true })
    await text.getByText('Every response takes').waitFor()
    t.equal(loads(), 1)
    async function write(yaml: string) {
      await text.press('ControlOrMeta+a')
      await text.press('Delete')
      await page.keyboard.insertText(yaml)
    }
    const said = text.locator('.cm-line[data-problem]')
    const alert = page.getByRole('alert')
    const activate = page.getByRole('button', { name: 'Activate it' })

    await write('title: Mine\nruls: []\n')
    await text.locator('.cm-line:nth-child(2)[data-problem="There is no ruls here."]').waitFor()
    await activate.click()
    await alert.getByText(/line 2, column 1: .*rules/).waitFor()
    t.match(await said.getAttribute('data-problem'), 'unknown key "ruls"; did you mean "rules"')

    await write('title: Mine\nrules:\n  - when: { ')
    await alert.waitFor({ state: 'detached' })
    const offered = { op: 'operation', getU: 'getUser', ' }\nth': 'then', '{ res': 'respond' }
    for (const [typed, option] of Object.entries(offered)) {
      await page.keyboard.type(typed)
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    await page.keyboard.type('{ status: 503 } }')
    await said.first().waitFor({ state: 'detached' })
    await text.press('Escape')
    await text.press('Tab')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Activate it')

    await page.getByRole('link', { name: 'Payments', exact: true }).click()
    await page.getByRole('table', { name: 'Payments' }).waitFor()
    await page.goBack()
    await copy.click()
    await text.getByText('title: Mine').waitFor()
    await activate.click()
    await page.getByText('Your scenario is active').waitFor()
    const { rules } = (await opened.get('/__admin/scenario')).body.definition
    t.match(rules, [{ when: { operation: 'getUser' }, then: { respond: { status: 503 } } }])
    assertNoErrors(t)
  })

  await t.test('a scenario that was defined by an API call', async (t) => {
    const opened = await openConsole(t, browser)
    const { page, go, get, put, assertNoErrors } = opened
    const definition = {
      title: 'Down',
      rules: [{ when: { operation: 'getUser' }, times: 1, then: { respond: { status: 502 } } }],
    }
    await put('/__admin/scenario', { definition })
    await get(`/v1/user/${ASHA}`)
    await go('scenarios')
    const active = page.locator('li.active')
    await active.getByText('Down', { exact: true }).waitFor()
    t.equal(await active.count(), 1)
    await active.getByRole('link', { name: 'inline' }).click()
    await page.locator('tr.hit').getByText('1 ×').waitFor()
    await go('scenarios')
    const hits = async () => (await get('/__admin/scenario')).body.rules[0].hits
    t.equal(await hits(), 1)
    await page.getByRole('button', { name: 'Restart: inline' }).click()
    await page.locator('footer').getByText('The scenario inline is active.').waitFor()
    t.equal(await hits(), 0, 'its hits start again at 0')
    await page.getByRole('button', { name: 'Activate: rate-limited' }).click()
    await page.getByRole('dialog').getByText('is in no file, and is lost').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await page.getByRole('button', { name: 'Restart: rate-limited' }).waitFor()
    await page.getByRole('button', { name: 'Restart: inline' }).waitFor({ state: 'detached' })
    t.equal(await active.count(), 1)
    assertNoErrors(t)
  })
})
