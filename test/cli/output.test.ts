import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, lstatSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
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
t.test('output that a full disk does not take is one sentence, and exit 1', { skip }, async (t) => {
  const { url, stop } = await serve(t, ['--memory'])
  const [command, ...first] = PROGRAM
  for (const words of [
    ['help'],
    ['openapi'],
    ['validate'],
    ['generate', '--users', '200'],
    ['state', 'export', '--url', url],
    ['requests', '--json', '--url', url],
    ['start', '--memory', '--port', '0'],
    ['openapi', '--out', '/dev/full'],
  ]) {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(command, [...first, ...words], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    const lines = stderr.split('\n').filter((line) => line.startsWith('payout-sandbox: '))
    t.equal(status, 1, words.join(' '))
    t.equal(lines.length, 1, words.join(' '))
    t.match(lines[0], /cannot be written \(ENOSPC\)\. /)
    t.notMatch(stderr, /^ +at /m)
  }
  await stop()
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
    [['all.har'], ['requests', 'export', '--har', 'all.har', '--url', url]],
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
