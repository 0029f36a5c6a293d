import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM, run, serve } from './program.ts'

const NODE = [process.execPath, '-e']
const CALL = 'fetch(process.env.PAYOUT_SANDBOX_URL + "/users").then(() => {})'

t.test('no command writes through a link: it writes a file in the place of the link', async (t) => {
  const cwd = t.testdir({ victim: 'precious', report: {}, mine: {} })
  const at = ['--memory', '--record', join(cwd, 'all.ndjson')]
  const { url, token } = await serve(t, at)
  const against = ['--against', url, '--token', token]
  const exec = ['exec', '--report', 'report', '--', ...NODE]
  for (const [files, args] of [
    [['readings.json'], ['conform', ...against, '--save', 'readings.json']],
    [['run.ndjson'], ['record', 'export', 'run.ndjson', '--url', url]],
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
  const record = await run(['exec', '--record', 'report/x', '--', ...NODE, ''], { cwd })
  t.equal(record.code, 0)
  symlinkSync('nowhere', join(cwd, 'new.ndjson'))
  t.match(await run(['exec', '--record', 'new.ndjson', '--', ...NODE, ''], { cwd }), {
    code: 5,
    stderr: /new\.ndjson already exists/,
  })
  t.notOk(existsSync(join(cwd, 'nowhere')))
})

t.test('a recording can go to standard output', { skip: !existsSync('/dev/stdout') }, async (t) => {
  const cwd = t.testdir()
  const { url } = await serve(t, ['--memory', '--record', join(cwd, 'all.ndjson')])
  const words = [...PROGRAM, 'record', 'export', '/dev/stdout', '--url', url]
  const { stdout } = spawnSync('sh', ['-c', '"$0" "$@" | cat', ...words], { encoding: 'utf8' })
  t.match(stdout, /^\{.*\n\d+ lines written/s)
})
