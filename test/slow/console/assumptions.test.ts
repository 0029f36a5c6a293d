import t from 'tap'
import { ASSUMPTIONS } from '../../../src/assumptions/readings.ts'
import { noBrowser, type Opened, openBrowser, openConsole } from './browser.ts'

/** The part of the page that shows an assumption. */
const itemOf = ({ page }: Opened, name: string) =>
  page.locator('.assumption').filter({ has: page.getByText(name, { exact: true }) })

/** The reading in force of an assumption, as the page shows it, with its mark. */
const shown = async (opened: Opened, name: string) =>
  (await itemOf(opened, name).locator('.in-force').textContent())!.trim()

/** Waits until the line at the bottom has this text. */
const callIs = ({ page }: Opened, text: string | RegExp) =>
  page.locator('footer [role=status]').filter({ hasText: text }).waitFor()

t.test('assumptions', { skip: noBrowser }, async (t) => {
  const opened = await openConsole(t, await openBrowser(t), {
    view: 'assumptions',
    assume: { list_order: 'oldest_first' },
  })
  const { page, put, assertNoErrors } = opened
  const all = ASSUMPTIONS.length
  await page.getByText('live', { exact: true }).waitFor()

  await t.test('each is listed with its reading, and says what each reading does', async (t) => {
    await page.getByText(`${all} of ${all} assumptions`).waitFor()
    const items = await page.evaluate<[name: string, reading: string, text: string][]>(
      `[...document.querySelectorAll('.assumption')].map((one) =>
        [one.querySelector('h3'), one.querySelector('.in-force'), one].map((part) => part.textContent.trim()))`,
    )
    for (const { name, readings, form, default: usual } of ASSUMPTIONS) {
      const [, reading, text] = items.find((one) => one[0] === name)!
      t.equal(reading, name === 'list_order' ? 'chosen at the start oldest_first' : usual)
      // The page shows codes and links of the docs without their marks.
      for (const { does } of [...Object.values(readings), ...(form ? [form] : [])])
        t.ok(text.includes(does.replaceAll('`', '').replace(/\[(.*?)\]\(.*?\)/, '$1')), does)
    }
  })

  await t.test('choose a named reading by keyboard, and undo it', async (t) => {
    const item = itemOf(opened, 'idempotency_key')
    await item.locator('summary').focus()
    await page.keyboard.press('Enter')
    const choose = (reading: string) =>
      item.getByRole('button', { name: `Choose: idempotency_key=${reading}` })
    t.equal(await choose('ignored').getAttribute('aria-disabled'), 'true')
    await choose('honoured').focus()
    await page.keyboard.press('Enter')
    await callIs(opened, 'PUT /__admin/assumptions {"idempotency_key":"honoured"}')
    await page.getByText('idempotency_key is read as honoured.').waitFor()
    await item.getByText('changed').waitFor()
    t.equal(await shown(opened, 'idempotency_key'), 'changed honoured')
    await item.getByRole('button', { name: 'Undo' }).click()
    await callIs(opened, 'PUT /__admin/assumptions {"idempotency_key":null} 200')
    await item.getByText('changed').waitFor({ state: 'detached' })
    t.equal(await choose('ignored').getAttribute('aria-disabled'), 'true')
  })

  await t.test('a reading with a number: a rejected text changes nothing', async (t) => {
    const item = itemOf(opened, 'largest_page')
    await item.locator('summary').click()
    const text = item.getByRole('textbox', { name: 'N', exact: true })
    const choose = item.getByRole('button', { name: 'Choose: largest_page=N' })
    t.equal(await choose.getAttribute('aria-disabled'), 'true')
    await text.fill('many')
    await choose.click()
    await callIs(opened, '{"largest_page":"many"} rejected (400)')
    await item.getByRole('alert').getByText('takes 100 or N').waitFor()
    t.equal(await page.locator('footer').getAttribute('class'), 'failed')
    await text.fill('1000')
    await page.keyboard.press('Enter')
    await callIs(opened, '{"largest_page":"1000"}')
    await item.getByText('changed').waitFor()
    t.equal(await text.inputValue(), '1000')
  })

  await t.test('a reading that another program chooses is shown immediately', async (t) => {
    await put('/__admin/assumptions', { error_body: 'html' })
    await itemOf(opened, 'error_body').getByText('changed').waitFor()
    t.equal(await shown(opened, 'error_body'), 'changed html')
    const reading = itemOf(opened, 'error_body').locator('li', { hasText: 'html' })
    await reading.getByText('in force').waitFor({ state: 'attached' })
    await put('/__admin/scenario', { name: 'no-webhooks' })
    await itemOf(opened, 'webhook_delivery').getByText('by the scenario').waitFor()
    t.equal(await shown(opened, 'webhook_delivery'), 'by the scenario never')
  })

  await t.test('a filter by text, and only those that have changed', async (t) => {
    const names = () => page.locator('.assumption h3').allTextContents()
    const filter = page.getByLabel('Search')
    await filter.fill('429 refilled')
    t.same(await names(), ['rate_limit'])
    await filter.fill('nothing like this')
    await page.getByText('No assumption matches “nothing like this”.').waitFor()
    await filter.fill('')
    await page.getByLabel('only changed').check()
    t.same(await names(), ['list_order', 'webhook_delivery', 'error_body', 'largest_page'])
  })

  await t.test('undo all changes: the start and the scenario are in force again', async (t) => {
    await page.getByRole('button', { name: 'Undo all changes' }).click()
    await page.getByRole('dialog').locator('button.danger').click()
    await callIs(opened, 'POST /__admin/reset {"parts":["assumptions"]} 200')
    await page.getByText(`2 of ${all} assumptions`).waitFor()
    t.equal(await shown(opened, 'list_order'), 'chosen at the start oldest_first')
    t.equal(await shown(opened, 'webhook_delivery'), 'by the scenario never')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
