import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { gatherOptions } from '../../src/cli/options.ts'
import { run, runAlone, serve } from './program.ts'

const USER = '{ "users": [{ "email": "a@example.com", "mobile": "9876500001" }] }\n'
const SCENARIO = '# Zoë’s\ntitle: Mine\nextends: slow\n'
const READINGS = `${JSON.stringify({
  format: 'payout-sandbox-readings/1',
  against: 'http://127.0.0.1/Zoë',
  measured_at: '2026-01-01T00:00:00.000Z',
  readings: { idempotency_key: 'honoured' },
})}\n`

const wide = (text: string) => Buffer.from(text, 'utf16le')
/** As an editor of Windows saves a text: with a mark, its line ends, and an empty last line. */
const saved = (text: string) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}\r\n`)
const OTHER: readonly [bytesOf: (text: string) => Buffer, message: RegExp][] = [
  [(text) => wide(`\ufeff${text}`), /isn't UTF-8 text, but UTF-16.*; save it as UTF-8/],
  [(text) => wide(`\ufeff${text}`).swap16(), /isn't UTF-8 text, but UTF-16/],
  [(text) => wide(['\ufeff', ...text, ''].join('\0')), /but UTF-32;/],
  [wide, /isn't UTF-8 text, but UTF-16/],
  [(text) => Buffer.from(`${text} é\n`, 'latin1'), /perhaps Windows-1252; save it as UTF-8/],
]

t.test('each file that people open is read as editors save it, or says what it is', async (t) => {
  const cwd = t.testdir({ folder: {}, made: {} })
  const { url, stop } = await serve(t)
  t.equal((await run(['exec', '--data', 'made/db.json', '--', 'true'], { cwd })).code, 0)
  const exec = (...words: string[]) => ['exec', ...words, '--', 'true']
  const document = readFileSync(join(cwd, 'made/db.json'), 'utf8')
  const exported = await run(['state', 'export', '--url', url])
  const files: [file: string, text: string, words: string[], code?: number][] = [
    ['payout-sandbox.config.json', '{ "random_seed": 7 }\n', exec()],
    ['f.json', USER, exec('--fixtures', 'f.json')],
    ['folder/users.json', JSON.stringify(JSON.parse(USER).users), exec('--fixtures', 'folder')],
    ['own/mine.yaml', SCENARIO, exec('--scenarios', 'own', '--scenario', 'mine')],
    ['db.json', document, exec('--data', 'db.json')],
    ['state.json', exported.stdout, exec('--state', 'state.json')],
    ['import.json', document, ['state', 'import', 'import.json', '--url', url]],
    ['readings.json', READINGS, exec('--assume-file', 'readings.json')],
    ['print/mine.yaml', SCENARIO, ['scenario', 'print', 'mine', '--scenarios', 'print']],
    ['check/mine.yml', SCENARIO, ['validate', 'check/mine.yml']],
    ['check/users.json', USER, ['validate', 'check/users.json']],
    ['sweep.json', '{ "findings": [] }\n', ['sweep', '--baseline', 'sweep.json', '--', 'true'], 2],
  ]
  for (const folder of ['own', 'print', 'check']) mkdirSync(join(cwd, folder))
  for (const [n, [file, text, words, code = 0]] of files.entries()) {
    writeFileSync(join(cwd, file), saved(text))
    const found = await run(words, { cwd })
    t.match(found, { code, stderr: /^(?!.*(UTF-8|cannot be read|not JSON))/s }, file)
    const [bytesOf, message] = OTHER[n % OTHER.length]!
    writeFileSync(join(cwd, file), bytesOf(text))
    const { code: failed, stdout, stderr } = await run(words, { cwd })
    t.ok(failed === 1 || failed === 2 || failed === 4, file)
    t.match(stdout + stderr, message, file)
    if (file.endsWith('.json')) {
      writeFileSync(join(cwd, file), '{\n "hush": x }')
      const wrong = await run(words, { cwd })
      const said = wrong.stdout + wrong.stderr
      t.match(said, /:2:10: is not JSON: |is not JSON at line 2, column 10: /, file)
      t.notMatch(said, 'hush', 'a message has no secret of the file')
    }
    writeFileSync(join(cwd, file), text)
  }
  await stop()
})

t.test('a key that no object can have is named with its place', async (t) => {
  const cwd = t.testdir({})
  t.equal((await run(['exec', '--data', 'made.json', '--', 'true'], { cwd })).code, 0)
  const document = readFileSync(join(cwd, 'made.json'), 'utf8')
  const exec = (...words: string[]) => ['exec', ...words, '--', 'true']
  const inClients = document.replace('"clients":{\n', '"clients":{\n"__proto__":{},\n')
  const inSnapshots = document.replace('"clients":{', '"snapshots":{"__proto__":{}},\n"clients":{')
  for (const [text, words, code] of [
    [inClients, exec('--data', 'f.json'), 4],
    [inSnapshots, exec('--data', 'f.json'), 4],
    [inClients, exec('--state', 'f.json'), 2],
    ['{ "users": [],\n "__proto__": [] }', exec('--fixtures', 'f.json'), 2],
  ] as const) {
    t.not(text, document)
    writeFileSync(join(cwd, 'f.json'), text)
    const stderr = /f\.json:[2-4]:\d+: .*has the key __proto__; use another name/
    t.match(await run(words, { cwd }), { code, stderr })
    t.equal(readFileSync(join(cwd, 'f.json'), 'utf8'), text, 'nothing was changed')
  }
})

t.test('the case of an ending makes no difference', async (t) => {
  const cwd = t.testdir({
    own: { 'UP.YAML': SCENARIO, deep: { 'More.Yml': SCENARIO, 'j.JSON': '{"extends":"up"}' } },
    rows: { 'USERS.JSON': JSON.stringify(JSON.parse(USER).users) },
    bad: { 'Users.Json': '[{}]', 'BAD.YAML': 'titel: x\n' },
  })
  for (const name of ['up', 'more', 'j'])
    t.match(await run(['exec', '--scenarios', 'own', '--scenario', name, '--', 'true'], { cwd }), {
      code: 0,
    })
  t.match(await run(['scenario', 'print', 'up', '--scenarios', 'own'], { cwd }), {
    stdout: SCENARIO,
  })
  t.match(await run(['exec', '--fixtures', 'rows', '--', 'true'], { cwd }), { code: 0 })
  t.match(await run(['validate', 'own', 'rows', 'own/UP.YAML'], { cwd }), {
    code: 0,
    stdout: 'No problem in 4 files.\n',
  })
  t.match((await run(['validate', 'bad'], { cwd })).stdout, /Users\.Json:1.*\n.*BAD\.YAML:1:1: /s)
})

t.test('~/ is the home folder where no shell has replaced it', async (t) => {
  const HOME = t.testdir({ 'f.json': USER, s: { 'mine.yaml': SCENARIO }, 'r.json': READINGS })
  const cwd = join(HOME, 's')
  const flags = ['--data=~/x/db.json', '--fixtures=~/f.json', '--scenarios=~/s']
  t.match(await runAlone(['exec', ...flags, '--', 'true'], { cwd, env: { HOME } }), { code: 0 })
  for (const name of ['data', 'fixtures', 'state', 'scenarios'] as const) {
    const variable = `PAYOUT_SANDBOX_${name.toUpperCase()}`
    t.equal(gatherOptions({}, { [variable]: '~/a/b' })[name], join(homedir(), 'a/b'), name)
  }
  t.ok(readFileSync(join(HOME, 'x/db.json')).length > 0)
  writeFileSync(
    join(cwd, 'payout-sandbox.config.json'),
    '{ "state": "~/x/db.json", "assume_file": "~/r.json" }',
  )
  const words = [
    ['exec', '--coverage=~/report', '--', 'true'],
    ['validate', '~/f.json'],
    ['schema', '--out=~/schema.json'],
  ]
  for (const one of words)
    t.match(await runAlone(one, { cwd, env: { HOME } }), { code: 0 }, one.join(' '))
  for (const file of ['report/coverage.json', 'schema.json'])
    t.ok(readFileSync(join(HOME, file)).length > 0, file)
})

t.test('--out writes what a shell would redirect', async (t) => {
  const cwd = t.testdir({ old: { 'f.txt': 'old' } })
  const { url, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  for (const words of [
    ['state', 'export', '--url', url],
    ['state', 'export', '--json', '--url', url],
    ['openapi', '--contract'],
    ['schema'],
    ['client', 'python'],
    ['generate', '--users', '300'],
    ['scenario', 'print', 'slow'],
  ]) {
    const { stdout } = await run(words, { cwd })
    const written = await run([...words, '--out', 'old/f.txt'], { cwd })
    t.strictSame(written, { code: 0, stdout: '', stderr: '' }, words.join(' '))
    t.ok(stdout.length > 100)
    t.ok(readFileSync(join(cwd, 'old/f.txt'), 'utf8') === stdout, 'the same text')
  }
  const kept = readFileSync(join(cwd, 'old/f.txt'), 'utf8').length
  const failed = await run(['scenario', 'print', 'none', '--out', 'old/f.txt'], { cwd })
  t.equal(failed.code, 2)
  t.equal(
    readFileSync(join(cwd, 'old/f.txt'), 'utf8').length,
    kept,
    'a failure leaves the old file',
  )
  for (const [words, stderr] of [
    [['openapi', '--out', 'no/f'], /--out no\/f cannot be written \(ENOENT\)/],
    [['schema', 'old', '--out', 'f'], /give one of them/],
    [['state', 'import', 'x', '--out', 'f'], /state import does not take --out/],
  ] as const)
    t.match(await run(words, { cwd }), { code: /[12]/, stdout: '', stderr })
  await stop()
})

t.test('a switch takes the words that people use for true and false', async (t) => {
  const memoryOf = (word: string) => gatherOptions({}, { PAYOUT_SANDBOX_MEMORY: word }).memory
  for (const word of ['true', 'TRUE', 'yes', 'Yes', 'on', 'ON', '1']) t.equal(memoryOf(word), true)
  for (const word of ['false', 'False', 'no', 'NO', 'off', '0']) t.equal(memoryOf(word), false)
  t.throws(() => memoryOf('maybe'), /PAYOUT_SANDBOX_MEMORY takes true or false, not "maybe"/)
})
