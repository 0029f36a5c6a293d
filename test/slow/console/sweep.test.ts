import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { createCoverage } from '../../../src/server.ts'
import { SweepDocument, sweepJson } from '../../../src/tools/sweep/report/sweep-json.ts'
import { sweepResult } from '../sweep/result.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

t.test('a sweep.json is opened in the browser', { skip: noBrowser }, async (t) => {
  const { page, go, see, assertNoErrors } = await openConsole(t, await openBrowser(t))
  const sweep = sweepJson(sweepResult())
  const choose = (name: string, text: string) =>
    page
      .getByLabel('Result of a sweep')
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
  await go('sweep')
  // A new format needs a new example: the first command of docs/sweep.md writes it.
  const example = readFileSync(join(PACKAGE_ROOT, 'src/tools/console/example.json'), 'utf8')
  SweepDocument.parse(JSON.parse(example))
  await page.getByRole('button', { name: 'See an example' }).click()
  await page.getByRole('heading', { name: '6 of 25 faults pay ₹25,000.00 twice.' }).waitFor()
  await see('Swept: node payouts.test.mjs, 2026-')
  await choose('sweep.json', JSON.stringify(sweep))
  await see(/^\d+ of \d+ faults pays? /)
  const runs = page.getByRole('region', { name: 'Runs' })
  await runs.getByText('paid twice').waitFor()
  t.match(await runs.textContent(), `${sweep.runs.length} runs, `)
  for (const { id, verdict, level, plan, happened, reproduce } of sweep.findings) {
    const shown = page.getByRole('region', { name: `${id}: ${verdict.replaceAll('_', ' ')}` })
    const text = (await shown.textContent())!
    const inRupees = happened.replace('payment of ', 'payment of ₹')
    for (const part of [level, inRupees, reproduce, ...plan.map(({ what }) => what)])
      t.ok(text.includes(part), `${id} is shown whole`)
  }
  t.equal(await page.getByRole('button', { name: 'Copy the command' }).count(), 4)

  const calls = page.getByRole('region', { name: 'Calls by point' })
  await calls.getByRole('button', { name: 'paid twice' }).click()
  t.equal(await page.evaluate('document.activeElement.id'), 'finding-1')
  await page.getByText(/^money: \d+ of \d+ met/).click()
  const money = page.getByRole('region', { name: 'money' })
  await money.getByText('not met').first().waitFor()
  await money.getByRole('link', { name: 'the amount 100.93, after 5 s' }).click()
  t.equal(await page.getByLabel('Amount', { exact: true }).inputValue(), '100.93')

  await go('sweep')
  await runs.getByText('paid twice').waitFor()

  await choose(
    'sweep.json',
    JSON.stringify({ ...sweep, untried: Array(1234).fill([]), findings: [], flaky: [] }),
  )
  await see('No findings.')
  await see(/1,234 not tried/)
  for (const [name, text] of [
    ['notes.json', '{"findings": 1'],
    ['other.json', '{"runs": [], "verdicts": {}, "findings": [{"id": "finding-1"}]}'],
  ] as const) {
    await choose(name, text)
    await see(`${name} isn't a sweep result of this version. Choose the sweep.json`)
    t.equal(await runs.count(), 0)
  }
  await see('Coverage is off. Restart the sandbox with --coverage')

  await page.evaluate(`(() => {
    const files = new DataTransfer()
    files.items.add(new File([${JSON.stringify(JSON.stringify(sweep))}], 'sweep.json'))
    const drop = new DragEvent('drop', { dataTransfer: files, cancelable: true })
    document.querySelector('.drop').dispatchEvent(drop)
  })()`)
  await runs.getByText('paid twice').waitFor()
  assertNoErrors(t)
})

t.test('coverage grows with each call if it is on', { skip: noBrowser }, async (t) => {
  const sandbox = { coverage: await createCoverage() }
  const box = await openConsole(t, await openBrowser(t), { view: 'sweep', sandbox })
  const met = box.page.getByRole('region', { name: 'What your calls have met since the start' })
  await met.getByText(/^money: 0 of \d+ met/).waitFor()
  await box.pay()
  await met.getByText(/^money: 1 of \d+ met/).waitFor()
  box.assertNoErrors(t)
})
