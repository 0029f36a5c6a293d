import { copyFileSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SweepDocument } from '../../../src/tools/sweep/report/sweep-json.ts'
import { run, spawned } from '../../cli/program.ts'
import { hold, pathOf, read } from '../../held-page.ts'

const PAGE = 'docs/sweep.md'
const FOLDER = 'examples/sweep'
const env = { NODE_OPTIONS: `--require=${pathOf('test/short-program.cjs')}` }

t.test('the sweep of docs/sweep.md finds the bugs, and none after they are mended', async (t) => {
  const dir = join(t.testdir(), 'sweep')
  cpSync(pathOf(FOLDER), dir, { recursive: true })
  const words =
    /<!-- command -->\n```console\n(?:.+\n)*?node \.\.\/\.\.\/dist\/bin\.cjs (sweep .+)\n/.exec(
      read(PAGE),
    )![1]!
  const result = () =>
    SweepDocument.parse(JSON.parse(readFileSync(join(dir, 'report/sweep.json'), 'utf8')))
  async function swept(code: number) {
    const told = await spawned(words.split(' '), { cwd: dir, env }).ended
    t.equal(told.code, code, told.stderr)
    // How long the command took is not the same in each run.
    const text = told.stdout.replace(/, \d+\.\d s\n/, ', 0.3 s\n')
    if (code === 0) return result()
    const shown = text.slice(0, text.indexOf('\n\nWhat this') + 1)
    hold(t, PAGE, 'with bugs', `\`\`\`text\n${shown}\`\`\`\n`)
    const findings = text.slice(0, text.indexOf('\n\n', text.indexOf('finding')) + 1)
    // One finding shows what they're like.
    hold(t, 'README.md', 'sweep', `\`\`\`text\n${findings.split('finding-2')[0]}…\n\`\`\`\n`)
    return result()
  }

  const { findings } = await swept(1)
  const found = new Set(findings.map(({ verdict }) => verdict))
  t.strictSame([...found].sort(), ['not_paid', 'not_recovered', 'paid_twice'])
  const [first] = findings
  const shown = first!.reproduce.replace(/^\S*payout-sandbox /, '')
  const again = await run(shown.split(' '), { cwd: dir, env })
  t.equal(again.code, 0, `${shown}: ${again.stdout}`)

  copyFileSync(join(dir, 'mended.mjs'), join(dir, 'payouts.mjs'))
  t.strictSame((await swept(0)).findings, [])
})
