import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import axe from 'axe-core'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { readLibrary } from '../../../src/scenarios/read-library.ts'
import type { SweepResult } from '../../../src/tools/sweep/faults-and-findings.ts'
import { SweepDocument, sweepJson } from '../../../src/tools/sweep/report/sweep-json.ts'
import { sweepTable } from '../../../src/tools/sweep/report/sweep-text.ts'
import {
  prepareSweepReport,
  writeSweepReport,
} from '../../../src/tools/sweep/report/write-report.ts'
import { elementsOf } from '../../report/tags.ts'
import { noBrowser, openBrowser } from '../console/browser.ts'
import { HOSTILE, sweepResult } from './result.ts'

const SHIPPED = join(PACKAGE_ROOT, 'scenarios')

function written(t: Test) {
  const dir = join(t.testdir({}), 'out')
  writeSweepReport(sweepResult(), dir)
  return { dir, read: (name: string) => readFileSync(join(dir, name), 'utf8') }
}

t.test('a result fits the schema of sweep.json', async (t) => {
  const document = sweepJson(sweepResult())
  t.strictSame(SweepDocument.parse(document), document)
  t.strictSame(document.verdicts, {
    passed: 1,
    not_reached: 1,
    relies_on: 1,
    paid_twice: 1,
    hung: 1,
    flaky: 1,
  })
  t.strictSame(
    document.runs.map(({ verdict, finding }) => [verdict, finding]),
    [
      ['paid_twice', 'finding-1'],
      ['relies_on', 'finding-2'],
      ['passed', 'finding-1'],
      ['not_paid', 'finding-3'],
      ['hung', 'finding-4'],
      ['not_reached', null],
    ],
  )
  t.equal(document.untried.length, 1)
  t.match(document.flaky, [{ verdict: 'not_paid' }])
  t.equal(document.baseline_failures, 1)
  t.match(
    document.not_proven.join(),
    /1 plan not tried: the 1st payment stays pending, and the service honours an .*The command is flaky: 1 run failed without any fault \(not ok 3 - pays twice\), and 1 run/,
  )
  t.match(document.findings, [
    {
      id: 'finding-1',
      plan: [{ kind: 'call', name: 'reset_after', nth: 1 }],
      same: [[{ kind: 'assumption' }]],
      steps: [{ baseline: { what: String, times: 1 } }],
    },
    { id: 'finding-2' },
    { id: 'finding-3', verdict: 'not_paid', level: 'warning' },
    {
      id: 'finding-4',
      what: /^the 1st payment .*, and the 2nd event transaction.status.update arrives twice$/,
      plan: [{ kind: 'lifecycle' }, { kind: 'webhook' }],
    },
  ])
})

t.test('the page has the result as data, whose hostile texts are no markup', async (t) => {
  const { read } = written(t)
  const html = read('report.html')
  const [, data = ''] = /<script type="application\/json" id="sweep">(.*?)<\/script>/s.exec(html)!
  t.notMatch(data, /[<\u0000-\u0008\u000b-\u001f\u202e\uffff]/)
  t.match(JSON.parse(data).findings, { length: 4 })
  t.equal(html.match(/<script/g)?.length, 2, 'the data and the script of the page')
  const own = html.replace(/<(script|style)\b.*?<\/\1>/gs, '')
  t.notMatch(own, /\ssrc=|<link/)
})

t.test('the page needs no network, and fits a phone', { skip: noBrowser }, async (t) => {
  const { read } = written(t)
  const browser = await openBrowser(t)
  const looks = [
    ['light', 360],
    ['dark', 1200],
  ] as const
  for (const [colorScheme, width] of looks) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 700 } })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const asked: string[] = []
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(String(error)))
    await page.route('**', (route) => {
      asked.push(route.request().url())
      const isPage = asked.length === 1
      return isPage
        ? route.fulfill({ contentType: 'text/html', body: read('report.html') })
        : route.abort()
    })
    await page.goto('http://report.test/')
    const storm = page.getByRole('cell', { name: 'POST /transaction → 503 × 500' })
    await storm.first().waitFor()
    await page.getByText(HOSTILE).first().waitFor()
    t.equal(await page.locator('img').count(), 0, 'hostile texts are shown as texts')
    t.ok((await page.locator('tr.differs').count()) > 0, 'the first difference is marked')
    await page.getByText('changed: rule').first().waitFor()
    const cell = page.locator('.grid').getByRole('button', { name: 'paid twice' }).first()
    await cell.click()
    t.match(await page.evaluate('document.activeElement.id'), /^finding-/)
    t.strictSame(asked, ['http://report.test/'], 'it loads nothing')
    t.strictSame(said, [], 'the policy permits its own style and script')
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    t.equal(await page.evaluate(wide), 0, `no scrolling to the side at ${width}`)
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    t.equal(background, colorScheme === 'dark' ? 'rgb(17, 20, 19)' : 'rgb(246, 245, 241)')
    await page.evaluate(axe.source)
    const violations = await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
    )
    t.strictSame(violations, [], `accessible, ${colorScheme} at ${width}`)
    const shots = process.env['SHOTS']
    if (shots)
      await page.screenshot({ path: `${shots}/${colorScheme}-${width}.png`, fullPage: true })
  }
})

t.test('junit.xml has a test for each run', async (t) => {
  const { read } = written(t)
  const elements = elementsOf(read('junit.xml'))
  const [, suite] = elements
  t.match(suite!.attributes, / tests="6" failures="2" errors="0" skipped="3" /)
  t.match(elements.find(({ name }) => name === 'failure')!.attributes, / type="paid_twice" /)
  t.match(elements.map(({ attributes }) => attributes).join(), 'message="not_reached: it happened')
})

t.test('summary.md contains no markup but its own', async (t) => {
  const { read } = written(t)
  const summary = read('summary.md')
  const text = summary.replace(/^```sh\n.*\n```$/gm, 'BLOCK')
  t.notMatch(text, /<(?!\/?b>)|(?<!\\)\[|:\/\//)
  t.equal(text.match(/^## finding-\d: .*\n\n(.+\n)+\nBLOCK$/gm)?.length, 4)
  t.match(text, /^## finding-1: paid\\_twice \(error\)\n\nIt happened .*\nThe response of the 1st/m)
})

t.test('each finding is a scenario that shows it again', async (t) => {
  const { dir, read } = written(t)
  const result = readLibrary([dir, SHIPPED])
  if (!result.ok) throw new Error(JSON.stringify(result.problems))
  const { library } = result
  t.strictSame(result.warnings, [])
  const names = library.names.filter((name) => name.startsWith('finding-'))
  t.strictSame(names, ['finding-1', 'finding-2', 'finding-3', 'finding-4'])
  const both = library.layersOf(library.get('finding-4')!)
  t.strictSame(
    both.map(({ name }) => name),
    ['finding-4', 'mine', 'slow', 'default'],
  )
  t.match(both[0], { rules: { length: 1 }, webhooks: { length: 1 } }, 'all faults of its plan')
  const [comments = ''] = read('finding-scenarios/finding-1.yaml').split('\n\n')
  for (const line of comments.split('\n')) t.match(line, /^# /)
  t.match(comments, /# What happened \(paid_twice\): It happened/)
})

t.test('a second report replaces the first one, and no other file', async (t) => {
  const { dir } = written(t)
  t.ok(prepareSweepReport(dir), 'there was one')
  writeFileSync(join(dir, 'notes.txt'), 'mine')
  const clean = sweepResult()
  const summaryOf = (more: Partial<SweepResult>) => {
    writeSweepReport({ ...clean, findings: [], flaky: [], ...more }, dir)
    return readFileSync(join(dir, 'summary.md'), 'utf8')
  }
  const { flaky } = clean
  t.match(summaryOf({ flaky }), /\nNo finding came again, but 1 run had one.*: not\\_paid, it/s)
  t.match(summaryOf({ isStopped: true }), /\nThe sweep was stopped; the 6 runs before showed no/)
  t.match(summaryOf({}), /\nNo findings\.\n/)
  t.strictSame(readdirSync(join(dir, 'finding-scenarios')), ['mine.yaml'])
  t.ok(existsSync(join(dir, 'notes.txt')))

  writeFileSync(join(dir, '../victim'), 'precious')
  const file = (name: string) => (path: string) => writeFileSync(path, `# ${name}\n`)
  for (const [name, make] of [
    ['summary.md', file('payout-sandbox conform')],
    ['summary.md', (path: string) => symlinkSync('../victim', path)],
    ['report.html', (path: string) => mkdirSync(path)],
    ['finding-scenarios/mine.yaml', file('mine')],
    ['finding-scenarios/mine', (path: string) => mkdirSync(path)],
  ] as const) {
    const path = join(dir, name)
    rmSync(path, { recursive: true, force: true })
    make(path)
    t.throws(() => prepareSweepReport(dir), {
      message: `--report ${dir}: no sweep wrote ${path}. Move it away, or name another folder.`,
    })
    t.ok(existsSync(join(dir, 'junit.xml')), 'nothing is removed then')
    rmSync(path, { recursive: true })
  }
  prepareSweepReport(dir)
  t.notOk(existsSync(join(dir, 'junit.xml')))
  t.equal(readFileSync(join(dir, '../victim'), 'utf8'), 'precious')
})

t.test('the table on the terminal has a row and a command for each finding', async (t) => {
  const { findings } = sweepResult()
  const text = sweepTable(findings, 'No findings.')
  const lines = stripVTControlCharacters(text).trimEnd().split('\n')
  t.match(lines[0], /^finding +level +verdict +what happened, and what to change$/)
  t.match(lines[1], /^finding-1 +error +paid_twice +It happened/)
  t.match(
    lines.join(' ').replace(/ +/g, ' '),
    / The same if the service honours an Idempotency-Key\. First, POST \/transaction was sent again\. Look for the payment by its reference/,
  )
  const tooLong = lines.filter((line) => line.length > 100 && !/payout-sandbox|<script>/.test(line))
  t.strictSame(tooLong, [])
  t.match(
    lines.at(-1),
    /^ {2}finding-4 {2}payout-sandbox exec --scenarios report --scenario finding-4/,
  )
  t.notMatch(text, /[\u0000\u202e]/)
  t.equal(lines.filter((line) => line.startsWith('finding-')).length, 4)
})
