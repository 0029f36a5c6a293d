import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, lstatSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { progressBar, supportsColour } from '../../src/cli/output.ts'
import { startSandbox } from '../../src/index.ts'
import { call, PROGRAM, run, serve, spawned } from './program.ts'

/** Runs a command whose reader of this output is gone before it writes. */
async function unread(output: 'stdout' | 'stderr', args: readonly string[], cwd?: string) {
  const { child, ended } = spawned(args, cwd === undefined ? {} : { cwd })
  child[output].destroy()
  return ended
}

t.test('a command whose reader is gone ends quietly, with the code of its work', async (t) => {
  const { url, stop } = await serve(t, ['--memory'])
  const cwd = t.testdir({ 'bad.yaml': 'titel: x\n' })
  const cases: [string[], number][] = [
    [['--help'], 0],
    [['openapi'], 0],
    [['validate'], 0],
    [['validate', 'bad.yaml'], 1],
    [['scenario', 'list', '--url', url], 0],
    [['requests', '--url', url], 0],
    [['generate', '--users', '3'], 0],
    [['health', '--port', '1'], 1],
  ]
  for (const [args, code] of cases)
    t.strictSame(
      await unread('stdout', args, cwd),
      { code, stdout: '', stderr: '' },
      args.join(' '),
    )
  t.equal((await unread('stderr', ['scenario', 'use', 'none', '--url', url])).code, 1)
  t.equal((await unread('stderr', ['--port', 'x'])).code, 2)
  await stop()
})

t.test('a server goes on without the readers of its output, and stops cleanly', async (t) => {
  const data = join(t.testdir(), 'db.json')
  const { port, child, stop } = await serve(t, ['--data', data], { alone: true })
  child.stderr!.destroy()
  child.stdout!.destroy()
  // Each new client is a line of the log.
  for (const name of ['w1', 'w2', 'w3'])
    t.equal((await call(`http://127.0.0.1:${port}/@${name}/v1/users`)).status, 200)
  t.equal((await stop()).code, 0)
  t.notOk(existsSync(`${data}.lock`), 'no lock is left')
})

const skip = existsSync('/dev/full') ? false : 'no /dev/full here'
t.test('output that cannot be written for another reason is an error', { skip }, async (t) => {
  const full = openSync('/dev/full', 'w')
  const [command, ...first] = PROGRAM
  const { status, stderr } = spawnSync(command, [...first, 'openapi'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  t.match({ status, stderr }, { status: 1, stderr: /ENOSPC/ })
})

t.test('colours come on a terminal, unless NO_COLOR is set', async (t) => {
  const terminal = { isTTY: true }
  t.ok(supportsColour(terminal, { TERM: 'xterm' }))
  t.notOk(supportsColour(terminal, { NO_COLOR: '1' }))
  t.notOk(supportsColour(terminal, { TERM: 'dumb' }))
  t.notOk(supportsColour({}, {}), 'a pipe')
  t.ok(supportsColour({}, { FORCE_COLOR: '1' }))
  t.notOk(supportsColour(terminal, { FORCE_COLOR: '0' }))
  t.notOk(supportsColour(terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }))
})

t.test(
  'a table shows its head and its errors by colour, and is the same text without',
  async (t) => {
    const sandbox = await startSandbox()
    t.teardown(sandbox.close)
    await fetch(`${sandbox.url}/user/nobody`)
    const listed = (env: Record<string, string>) =>
      run(['requests', '--url', sandbox.url], {
        env: { NO_COLOR: '', FORCE_COLOR: '', PAYOUT_SANDBOX_URL: '', ...env },
      })
    const plain = (await listed({})).stdout
    t.notMatch(plain, /\u001b/)
    t.equal((await listed({ NO_COLOR: '1', FORCE_COLOR: '1' })).stdout, plain)
    const shown = (await listed({ FORCE_COLOR: '1' })).stdout
    t.match(shown, /\u001b\[1mat\u001b\[22m/)
    t.match(shown, /\u001b\[31m400\u001b\[39m/)
    t.equal(shown.replaceAll(/\u001b\[\d+m/g, ''), plain)
  },
)

const drawn = (isTTY: boolean, total: number) => {
  const lines: string[] = []
  const bar = progressBar({ isTTY, write: (text) => lines.push(text) }, total, 'of 9 users')
  for (let i = 0; i < total; i++) bar.step()
  bar.end()
  return lines
}

t.test('a terminal sees a bar that fills once and goes', async (t) => {
  const lines = drawn(true, 10_000)
  t.equal(lines.length, 102, 'one write a percent, and one to end')
  t.equal(lines[0], `\r[${'-'.repeat(30)}]   0 % of 9 users`)
  t.equal(lines[50], `\r[${'#'.repeat(15)}${'-'.repeat(15)}]  50 % of 9 users`)
  t.equal(lines[100], `\r[${'#'.repeat(30)}] 100 % of 9 users`)
  t.equal(lines[101], '\r\u001b[2K')
})

t.test('what is no terminal sees nothing', async (t) => {
  t.strictSame(drawn(false, 100), [])
})

const EVIL = '\u202egnp.exe\u2066\u200f'
const MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

t.test('marks that turn a text around do not get out of a command', async (t) => {
  const { url, stop } = await serve(t, ['--memory', '--log-format', 'pretty'])
  await call(`${url}/${encodeURIComponent(EVIL)}`, { a: EVIL })
  await call(`${url.replace('/v1', '')}/__admin/rules`, {
    name: `rule ${EVIL}`,
    when: { operation: 'listUsers' },
    then: { respond: { status: 503 } },
  })
  await call(`${url}/users`)
  const cwd = t.testdir({ [`bad${EVIL}.yaml`]: `title: x\n"${EVIL}": 1\n` })
  const commands: [args: string[], shows: RegExp][] = [
    [['requests', '--url', url], /rule/],
    [['requests', '--url', url, '--json'], /\\u202egnp/],
    [['requests', 'find', '{"path":{"contains":"gnp"}}', '--url', url], /404/],
    [['scenario', 'show', '--url', url], /rule/],
    [['validate', '.'], /gnp\.exe/],
    [['validate', '.', '--json'], /gnp\.exe/],
    [['validate', EVIL], /gnp\.exe/],
    [[EVIL], /gnp\.exe/],
    [['start', '--memory', '--scenario', EVIL], /gnp\.exe/],
  ]
  for (const [args, shows] of commands) {
    const { stdout, stderr } = await run(args, { cwd })
    t.match(stdout + stderr, shows, args.join(' '))
    t.notMatch(stdout + stderr, MARKS, args.join(' '))
  }
  const { stderr } = await stop()
  t.notMatch(stderr, MARKS)
})

const NODE = [process.execPath, '-e']
const CALL = 'fetch(process.env.PAYOUT_SANDBOX_URL + "/users").then(() => {})'

t.test('no command writes through a link: it writes a file in the place of the link', async (t) => {
  const cwd = t.testdir({ victim: 'precious', report: {}, mine: {} })
  const { url, token } = await serve(t)
  const against = ['--against', url, '--token', token]
  const exec = ['exec', '--report', 'report', '--', ...NODE]
  for (const [files, args] of [
    [['readings.json'], ['conform', ...against, '--save', 'readings.json']],
    [['mine/scenario.schema.json'], ['schema', 'mine']],
    [
      ['report/junit.xml', 'report/summary.md'],
      [...exec, CALL],
    ],
  ] as const) {
    for (const name of files) symlinkSync(join(cwd, 'victim'), join(cwd, name))
    const { code, stderr } = await run(args, { cwd })
    t.equal(code, 0, stderr)
    for (const name of files) {
      t.ok(lstatSync(join(cwd, name)).isFile(), name)
      t.not(readFileSync(join(cwd, name), 'utf8').length, 0)
    }
    t.equal(readFileSync(join(cwd, 'victim'), 'utf8'), 'precious', args[0])
  }
  const link = 'fs.symlinkSync("../victim", "report/junit.xml")'
  t.equal((await run([...exec, link], { cwd })).code, 0, 'nor through one that the program makes')
  t.ok(lstatSync(join(cwd, 'report/junit.xml')).isFile())
  t.equal(readFileSync(join(cwd, 'victim'), 'utf8'), 'precious')
})
