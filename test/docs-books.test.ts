import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, run, serve } from './cli/program.ts'
import { hold, read } from './held-page.ts'
import { PAYMENT } from './helper.ts'

const PAGE = 'docs/books.md'
const BOOKS =
  'reference,amount,status\npaid,100.00,SUCCESS\ncomes-back,100.96,SUCCESS\nnew,50.00,SUCCESS\n'

t.test('docs/books.md shows the example that is run, and what the commands print', async (t) => {
  const example = read('examples/first-payout/books.test.mjs')
  hold(t, PAGE, 'books test', `\`\`\`js\n${/test\([\s\S]+/.exec(example)![0]}\`\`\`\n`)
  const cwd = t.testdir({})
  writeFileSync(join(cwd, 'books.csv'), BOOKS)
  const { url } = await serve(t, ['--memory', '--clock', 'frozen'])
  for (const [reference_id, amount] of [
    ['paid', 100],
    ['comes-back', 100.96],
  ])
    await call(`${url}/transaction`, { ...PAYMENT, reference_id, amount })
  const env = { PAYOUT_SANDBOX_URL: url }
  const shown = async (line: string) => {
    const { stdout } = await run(line.split(' ').slice(1), { cwd, env })
    return `$ ${line}\n${stdout}`
  }
  await run(['clock', 'advance', '2d'], { env })
  const files = `$ cat books.csv\n${BOOKS}${await shown('payout-sandbox reconcile books.csv')}`
  hold(t, PAGE, 'books files', `\`\`\`console\n${files}\`\`\`\n`)
  const statement = await shown('payout-sandbox statement --date 2026-01-01')
  hold(t, PAGE, 'statement', `\`\`\`console\n${statement}\`\`\`\n`)
})
