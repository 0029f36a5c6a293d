import t from 'tap'
import { run, runAlone, serve } from './program.ts'

// The other tests of the command line run most command lines in a process that they share. This one checks that a command
// in a process of its own prints the same, and ends by itself.
t.test('a command as a process of its own ends with the same output and exit code', async (t) => {
  const { url, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  const cwd = t.testdir({
    'good.yaml': 'expect: { requests: { listUsers: 2 } }\n',
    'bad.yaml': 'titel: x\n',
  })
  const commands: [code: number, ...words: string[]][] = [
    [0, 'scenario', 'list', '--url', url],
    [0, 'clock', 'show', '--json', '--url', url],
    [0, 'requests', '--url', url],
    [0, 'reset', '--url', url],
    [0, 'health', '--url', url],
    [0, 'validate', 'good.yaml'],
    [1, 'validate', 'bad.yaml'],
    [1, 'scenario', 'use', 'no-such', '--url', url],
    [2, 'clock', 'advance', '--by', '1d'],
    [2, 'start', 'foo'],
    [3, 'exec', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'],
    [0, 'help'],
  ]
  for (const [code, ...words] of commands) {
    const alone = await runAlone(words, { cwd })
    t.equal(alone.code, code, `${words.join(' ')} ${alone.stderr}`)
    t.strictSame(await run(words, { cwd }), alone, words.join(' '))
  }
  await stop()
})
