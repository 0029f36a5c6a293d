import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import t from 'tap'
import type { SessionDocument } from '../../../src/tools/report/session.ts'
import { run } from '../../cli/program.ts'
import { PAYMENT } from '../../helper.ts'
import { noBrowser, openBrowser } from './browser.ts'

/** Two clients, one deleted at the end: a hundred payments, the second without a response, reads, and a bad call. */
const PROGRAM = `
const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin } = process.env
const post = (to, body, method = 'POST') =>
  fetch(to, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }).catch(() => {})
const inbox = 'http://inbox.localhost/__admin/webhooks/inbox'
await post(url + '/clientWebhook', { url: inbox, webhook_secret: 'whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA==' })
await post(admin + '/rules', {
  name: 'lost', when: { operation: 'createTransaction' }, skip: 1, times: 1, then: { fault: 'reset', at: 'after' },
})
for (let i = 0; i < 98; i++) {
  await post(url + '/transaction', { ...${JSON.stringify(PAYMENT)}, amount: i === 5 ? 100.91 : 500 + i, reference_id: 'ref-' + i })
  await fetch(url + '/users')
}
await post(url + '/transaction', {})
await post(admin + '/clients', { name: 'other' })
await post(url.replace('/v1', '/@other/v1') + '/transaction', { ...${JSON.stringify(PAYMENT)}, reference_id: 'gone' })
await post(admin + '/clients/other', undefined, 'DELETE')
await post(admin + '/clock/advance', { by: '1d' })
`
const SCENARIO = 'expect: { requests: { createUser: 2, createTransaction: { at_least: 1 } } }\n'

t.test(
  'session.html explains a run to somebody who was not there',
  { skip: noBrowser },
  async (t) => {
    const cwd = t.testdir({ 'program.mjs': PROGRAM, own: { 'mine.yaml': SCENARIO } })
    const options = ['--clock', 'frozen', '--scenarios', 'own', '--scenario', 'mine']
    const reports = ['--report', 'report', '--coverage', 'coverage']
    const command = ['--', process.execPath, 'program.mjs']
    const ended = await run(['exec', ...options, ...reports, ...command], { cwd })
    t.equal(ended.code, 1, ended.stderr)
    const file = join(cwd, 'report/session.html')
    t.ok(statSync(file).size < 250_000, `${statSync(file).size} bytes for 200 calls`)
    const html = readFileSync(file, 'utf8')
    t.notMatch(html, /(?:src|href)="(?!#)/)
    const data = /<script type="application\/json" id="session">(.+)<\/script>/.exec(html)![1]!
    const { items, unmet }: SessionDocument = JSON.parse(data)
    t.equal(items.filter(({ call }) => call).length, 199)
    t.match(unmet, [{ text: 'scenario mine expects createUser: 2, found 0', nearest: [] }])

    const browser = await openBrowser(t)
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      offline: true,
    })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(String(error)))
    await page.goto(`file://${file}`)
    const text = await page.locator('main').innerText()
    for (const sentence of [
      'exit code 0, 1 unmet expectation',
      'Your POST /v1/transaction of ₹501.00 got no response, by the rule “lost”. The payment was made.',
      'scenario mine expects createUser: 2, found 0.',
      '₹500.00 (ref-0) to ROHAN MEHTA is on its way.',
      '₹500.00 (ref-0) to ROHAN MEHTA settled.',
      '₹100.91 (ref-5) to ROHAN MEHTA failed: bank account invalid.',
      'Your webhook got transaction.success.',
      'Your POST /v1/transaction was refused (400): ',
    ])
      t.ok(text.includes(sentence), sentence)
    const row = page.locator('tr', { hasText: '(gone)' }).first()
    t.match(await row.innerText(), /other\s+₹100\.00 \(gone\)/)
    t.match(text, /calls\s+\d+ of \d+, \d+ %/)
    t.strictSame(problems, [])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(axe.source)
      const { violations } = (await page.evaluate('axe.run()')) as { violations: object[] }
      t.strictSame(violations, [], colorScheme)
    }
    await context.close()
  },
)
