import t from 'tap'
import { call, run, serve } from './program.ts'

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
