import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { call, run, serve } from './program.ts'

const CONFIG_FILE = 'payout-sandbox.config.json'

/** Starts the program, and reads the assumptions that a start option chose. */
async function chosenAtStart(
  t: Test,
  args: string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
) {
  const { adminUrl, stop } = await serve(t, ['--memory', ...args], options)
  const { body } = await call(`${adminUrl}/assumptions`)
  await stop()
  const chosen = body.assumptions.filter(({ source }: { source: string }) => source === 'start')
  return Object.fromEntries(
    chosen.map(({ name, reading }: { name: string; reading: string }) => [name, reading]),
  )
}

t.test(
  'readings come from --assume, the variable or the config file, the nearest first',
  async (t) => {
    const cwd = t.testdir({
      [CONFIG_FILE]: JSON.stringify({ assume: { list_order: 'oldest_first', utr_form: 'imps' } }),
    })
    t.strictSame(await chosenAtStart(t, [], { cwd }), {
      list_order: 'oldest_first',
      utr_form: 'imps',
    })
    const env = { PAYOUT_SANDBOX_ASSUME: 'idempotency_key=honoured, rate_limit=60/minute' }
    t.strictSame(
      await chosenAtStart(t, [], { cwd, env }),
      { idempotency_key: 'honoured', rate_limit: '60/minute' },
      'several in a variable are separated by commas',
    )
    const flags = ['--assume', 'ifsc_case=refused', '--assume', 'largest_page=20']
    t.strictSame(await chosenAtStart(t, flags, { cwd, env }), {
      ifsc_case: 'refused',
      largest_page: '20',
    })
    t.strictSame(
      await chosenAtStart(t, [], { cwd, env: { PAYOUT_SANDBOX_ASSUME: '' } }),
      { list_order: 'oldest_first', utr_form: 'imps' },
      'an empty variable is not set',
    )
  },
)

t.test('a start with an unknown assumption or reading, or without =, ends with 2', async (t) => {
  const cwd = t.testdir()
  const cases: [text: string, problem: string][] = [
    ['list_oder=oldest_first', 'list_oder is not an assumption (did you mean list_order?)'],
    ['zzz=1', 'zzz is not an assumption (docs/assumptions.md lists them all)'],
    ['list_order=random', 'list_order takes newest_first or oldest_first'],
    ['list_order', 'list_order takes newest_first or oldest_first'],
    ['largest_page=0', 'largest_page takes 100 or N (N is 1 to 10000)'],
  ]
  const form = 'takes NAME=READING, such as idempotency_key=honoured: '
  for (const [text, problem] of cases) {
    const flag = await run(['--memory', '--assume', text], { cwd })
    t.equal(flag.code, 2)
    t.equal(flag.stderr, `payout-sandbox: --assume ${form}${problem}, not ["${text}"]\n`)
    const env = { PAYOUT_SANDBOX_ASSUME: `utr_form=imps,${text}` }
    const variable = await run(['--memory'], { cwd, env })
    t.equal(variable.code, 2)
    t.match(variable.stderr, `PAYOUT_SANDBOX_ASSUME ${form}${problem}, not "utr_form=imps,${text}"`)
  }
  const inFile: [value: unknown, problem: string][] = [
    [{ list_order: 'random' }, `${form}list_order takes newest_first or oldest_first`],
    [{ list_order: 1 }, `${form}list_order takes newest_first or oldest_first`],
    [{ zzz: 'x' }, `${form}zzz is not an assumption`],
    [7, 'takes NAME=READING, such as idempotency_key=honoured, not 7'],
  ]
  for (const [assume, problem] of inFile) {
    writeFileSync(join(cwd, CONFIG_FILE), JSON.stringify({ assume }))
    const { code, stderr } = await run(['--memory'], { cwd })
    t.equal(code, 2)
    t.match(stderr, `payout-sandbox: assume of ${CONFIG_FILE} ${problem}`)
  }
})
