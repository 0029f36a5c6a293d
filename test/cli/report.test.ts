import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ASHA } from '../helper.ts'
import { readReport } from '../report/read-report.ts'
import { call, run, serve } from './program.ts'

const HOSTILE = '<b>&"|`x` [y](z)'

t.test('exec: the program and the expectations are tests', async (t) => {
  const cwd = t.testdir({ 'mine.yaml': 'expect: { requests: { listUsers: 2 } }\n' })
  const report = join(cwd, 'new/report')
  const exec = (code: string, ...options: string[]) =>
    run(
      [
        'exec',
        '--clock',
        'frozen',
        ...options,
        '--',
        process.execPath,
        '-e',
        `${code} // ${HOSTILE}`,
      ],
      { cwd },
    )
  const list = 'fetch(process.env.PAYOUT_SANDBOX_URL + "/users").then(() => process.exit(3))'
  const mine = ['--scenarios', '.', '--scenario', 'mine']
  const wrong = await exec(list, ...mine, '--report', 'new/report')
  t.equal(wrong.code, 3, 'the exit code is that without a report')
  const first = readReport(report)
  t.strictSame(first.counts, [2, 2, 0])
  t.match(first.suite, /^payout-sandbox exec: \S+node -e fetch.*&lt;b&gt;&amp;&quot;\|`x` /)
  t.match(first.failures, [
    { type: 'exit_code', message: 'exit code 3' },
    { type: 'expectation', message: 'found 1' },
  ])
  t.match(first.cases[1]!['name'], 'scenario mine expects listUsers: 2')
  t.ok(Number(first.cases[0]!['time']) > 0)
  t.match(
    first.summary,
    /^# payout-sandbox exec\n\n.+\n\nexit code 3, 1 unmet expectation\n\n\| test \|/,
  )
  const [, row = ''] = /^(\| .* \| failed \| exit code 3 \|)$/m.exec(first.summary)!
  t.match(row, '&lt;b\\>&amp;"\\|\\`x\\` \\[y\\](z)')
  t.equal(row.match(/(?<!\\)\|/g)?.length, 4, 'three cells')

  const right = await exec('process.exit(0)', '--report', report)
  t.equal(right.code, 0)
  t.strictSame(readReport(report).counts, [1, 0, 0])
  t.notMatch(readReport(report).summary, /\|---/, 'the earlier report is gone')
})

t.test('verify and conform: what differs is in the report', async (t) => {
  const cwd = t.testdir()
  const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen', '--auth', 'off'])
  const at = (...args: string[]) => run([...args, '--report', 'report'], { cwd })
  const report = () => readReport(join(cwd, 'report'))
  await call(`${url}/users`)
  await call(`${url}/user/${ASHA}`)
  const verify = (...matches: string[]) => at('requests', 'verify', ...matches, '--url', url)
  const [list, get] = ['{"operation":"listUsers"}', '{"operation":"getUser"}']
  t.match(await verify(list, '--exactly', '1'), { code: 0, stdout: 'ok, 1 found\n' })
  t.strictSame(report().counts, [1, 0, 0])
  t.match(report().suite, 'listUsers&quot;},&quot;exactly&quot;:1}')
  t.match(await verify(list, get), { code: 0, stdout: 'ok, 2 found\n' })
  const wrong = await verify(get, list)
  t.match(wrong, {
    code: 1,
    stderr: /Step 2 of 2, .* did not come after req_2 GET .*It came too early: req_1/,
  })
  t.match(report().failures, [
    {
      type: 'verification_failed',
      message: /^Step 2 of 2/,
      text: /^req_1: req_1 GET \/v1\/users matches/,
    },
  ])
  t.match(await verify(get, list, '--exactly', '1'), { code: 2, stderr: /with one MATCH only/ })
  t.match(await verify('{"nope":1}'), { code: 2 })
  t.notOk(existsSync(join(cwd, 'report/junit.xml')), 'no result, and no older report')

  const conform = await at('conform', '--against', url, '--token', 'sbx_test_token')
  t.equal(conform.code, 1)
  const { counts, failures, cases, summary } = report()
  t.ok(counts[0]! >= 10, `${counts}`)
  t.equal(counts[1], 3)
  t.match(
    failures[0]!.message,
    'without a token: HTTP status: expected 401 unauthorized, found 200',
  )
  t.match(
    cases.find(({ name }) => name === 'GET /transaction/history'),
    { classname: 'conform' },
  )
  t.match(summary, /\n## Open points of the contract\n\n\| assumption \| reading \| shown by \|\n/)
  t.match(summary, /\| GET \/clientWebhook \| skipped \| no webhook is set \|/)
  t.equal((await call(`${adminUrl}/health`)).status, 200)
})

t.test('a folder that cannot be written is an error before anything is done', async (t) => {
  const cwd = t.testdir({ file: 'mine' })
  const touch = ['--', process.execPath, '-e', 'fs.writeFileSync("touched", "")']
  const nobody = ['--url', 'http://127.0.0.1:9']
  for (const args of [
    ['exec', '--report', 'file', ...touch],
    ['requests', 'verify', '{}', '--report', 'file', ...nobody],
    ['conform', '--against', 'http://127.0.0.1:9', '--report', 'file'],
  ])
    t.match(await run(args, { cwd }), {
      code: 2,
      stdout: '',
      stderr:
        'payout-sandbox: --report file cannot be written (ENOTDIR); name a folder, or a new one\n',
    })
  t.notOk(existsSync(join(cwd, 'touched')))
  t.equal(readFileSync(join(cwd, 'file'), 'utf8'), 'mine')
})

t.test('a report that cannot be written at the end changes no exit code', async (t) => {
  const cwd = t.testdir()
  const code = 'fs.mkdirSync("report/junit.xml"); process.exit(7)'
  const ended = await run(['exec', '--report', 'report', '--', process.execPath, '-e', code], {
    cwd,
  })
  t.match(ended, { code: 7, stderr: /the report in report could not be written \(EISDIR\)/ })
})

t.test('a report is there even if the program removes its folder', async (t) => {
  const cwd = t.testdir()
  const code = 'fs.rmSync("build", { recursive: true })'
  const words = ['exec', '--report', 'build/report', '--', process.execPath, '-e', code]
  const ended = await run(words, { cwd })
  t.equal(ended.code, 0)
  t.notMatch(ended.stderr, /report/)
  t.strictSame(readReport(join(cwd, 'build/report')).counts, [1, 0, 0])
})
