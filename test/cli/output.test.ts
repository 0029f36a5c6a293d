import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, PROGRAM, serve, spawned } from './program.ts'

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
