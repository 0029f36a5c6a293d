import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { call, run, serve } from './program.ts'

const USER = { email: 'demo@example.com', mobile: '9876500001' }
const HOOK = { url: 'http://127.0.0.1:9/hook', webhook_secret: 'whsec_very-secret' }
const AUTHORIZED = { authorization: 'Bearer sbx_test_token' }

const adminOf = (url: string) => url.replace(/v1$/, '__admin')
const newest = async (url: string): Promise<string> =>
  (await call(`${adminOf(url)}/users?limit=1`)).body.users[0].email
const nowOf = async (url: string) => (await call(`${adminOf(url)}/clock`)).body.now
const reset = (url: string) => call(`${adminOf(url)}/reset`, {})

/** A file with the state of a sandbox that has a user, a webhook, a pending payment, a rule and a scenario of its own. */
async function demo(t: Test) {
  const { url, stop } = await serve(t, ['--memory', '--clock', '2026-03-01T00:00:00Z'])
  t.equal((await call(`${url}/user`, USER)).status, 201)
  t.equal((await call(`${url}/clientWebhook`, HOOK)).status, 200)
  const rule = {
    when: { operation: 'listUsers', query: { page: 9 } },
    then: { respond: { status: 503 } },
  }
  t.equal((await call(`${adminOf(url)}/rules`, rule)).status, 200)
  t.equal((await run(['scenario', 'use', 'late-reversals', '--url', url])).code, 0)
  const exported = await run(['state', 'export', '--url', url])
  t.match(exported, { code: 0, stderr: '' })
  const file = join(t.testdir({}), 'demo.json')
  writeFileSync(file, exported.stdout)
  return { url, stop, file, text: exported.stdout }
}

t.test('state import reads what export wrote, in any sandbox and client', async (t) => {
  const { url, file, text } = await demo(t)
  const imported = await run(['state', 'import', file, '--url', url, '--client', 'w1'])
  t.match(imported, { code: 0, stderr: '' })
  t.match(imported.stdout, /^.*demo\.json imported: \d+ rows, now 2026-03-01T00:00:00.000Z\n$/)
  t.equal((await run(['state', 'export', '--url', url, '--client', 'w1'])).stdout, text)
  const other = await serve(t, ['--memory'])
  t.match(await run(['state', 'import', file, '--url', other.url]), { code: 0 })
  t.equal((await run(['state', 'export', '--url', other.url])).stdout, text)
  t.equal(await newest(other.url), USER.email)
})

t.test('--state starts from a state, and a reset returns to it', async (t) => {
  const { file, text } = await demo(t)
  const { url } = await serve(t, ['--memory', '--state', file])
  t.equal(await newest(url), USER.email)
  t.equal(await nowOf(url), '2026-03-01T00:00:00.000Z')
  const exported = async () => (await run(['state', 'export', '--url', url])).stdout
  t.equal(await exported(), text)
  await call(`${url}/user`, { email: 'later@example.com', mobile: '9876500002' })
  await run(['scenario', 'use', 'default', '--url', url])
  await run(['clock', 'advance', '3d', '--url', url])
  t.not(await exported(), text)
  t.equal((await reset(url)).status, 200)
  t.equal(await exported(), text, 'rows, clock, scenario, rules and series')
  t.equal(readFileSync(file, 'utf8'), text, 'the file is never written')
  t.equal(await newest(`${url.replace(/v1$/, '@w1/v1')}`), USER.email, 'new clients start from it')
  t.equal((await call(`${url}/client/profile`, undefined, AUTHORIZED)).status, 200)
  const second = await run(['state', 'export', '--client', 'second', '--url', url])
  t.match(JSON.parse(second.stdout).profile.name, 'Second Sandbox Traders', 'of the fixtures')
})

t.test('options of the start replace the clock and the scenario of the state', async (t) => {
  const { file } = await demo(t)
  const more = ['--clock', 'frozen', '--scenario', 'slow']
  const { url } = await serve(t, ['--memory', '--state', file, ...more])
  const scenarioOf = async () => (await call(`${adminOf(url)}/scenario`)).body.name
  t.equal(await nowOf(url), '2026-01-01T00:00:00.000Z')
  t.equal(await scenarioOf(), 'slow')
  await run(['clock', 'advance', '1h', '--url', url])
  await run(['scenario', 'use', 'default', '--url', url])
  await reset(url)
  t.equal(await nowOf(url), '2026-01-01T00:00:00.000Z')
  t.equal(await scenarioOf(), 'slow')
  t.equal(await newest(url), USER.email)
})

t.test('with a data file, --state makes a new one, to whose state a reset returns', async (t) => {
  const { file, text } = await demo(t)
  const dir = dirname(file)
  const data = join(dir, 'db.json')
  const first = await serve(t, ['--data', data, '--state', file])
  await call(`${first.url}/user`, { email: 'later@example.com', mobile: '9876500002' })
  await first.stop()
  const again = await run(['--port', '0', '--data', data, '--state', file])
  t.match(again, { code: 2, stdout: '', stderr: /db\.json exists already.*--memory.*--reset/ })
  t.ok(readFileSync(data, 'utf8').includes('later@example.com'), 'it is untouched')
  const next = await serve(t, ['--data', data])
  t.equal(await newest(next.url), 'later@example.com')
  t.notMatch(next.stderr(), /other fixtures/)
  await reset(next.url)
  t.equal((await run(['state', 'export', '--url', next.url])).stdout, text)
  await next.stop()
  const fresh = await serve(t, ['--data', data, '--state', file, '--reset'])
  t.equal(await newest(fresh.url), USER.email)
  await fresh.stop('SIGKILL')
  t.ok(readdirSync(dir).some((name) => name.startsWith('db.json.replaced-')))
  const killed = await serve(t, ['--data', data])
  t.equal((await run(['state', 'export', '--url', killed.url])).stdout, text)
})

t.test('--state takes a whole db.json, with all its clients', async (t) => {
  const data = join(t.testdir({}), 'db.json')
  const first = await serve(t, ['--data', data, '--clock', 'frozen'])
  const w1 = first.url.replace(/v1$/, '@w1/v1')
  await call(`${first.url}/user`, USER)
  await call(`${w1}/user`, { email: 'worker@example.com', mobile: '9876500002' })
  const made = { name: 'made', access_token: 'token-of-made', clock: '2027-01-01T00:00:00Z' }
  t.equal((await call(`${adminOf(first.url)}/clients`, made)).status, 201)
  await first.stop()
  const before = readFileSync(data, 'utf8')
  t.ok(before.includes('"payments":"payments-'), 'some rows are shared')
  const { url } = await serve(t, ['--memory', '--state', data])
  const next = (name: string) => url.replace(/v1$/, `@${name}/v1`)
  t.equal(await newest(url), USER.email)
  t.equal(await newest(next('w1')), 'worker@example.com')
  t.equal(await nowOf(next('made')), '2027-01-01T00:00:00.000Z')
  const profile = await call(`${url}/client/profile`, undefined, {
    authorization: 'Bearer token-of-made',
  })
  t.match(profile.body.data, { name: 'Sandbox client made' })
  t.equal(readFileSync(data, 'utf8'), before)
  const fixtures = await serve(t, ['--memory'])
  const at = ['--url', fixtures.url]
  t.match(await run(['state', 'import', data, ...at, '--client', 'w1']), { code: 0 })
  t.equal(await newest(fixtures.url.replace(/v1$/, '@w1/v1')), 'worker@example.com')
  t.match(await run(['state', 'import', data, ...at, '--client', 'w9']), { code: 0 })
  t.equal(await newest(fixtures.url.replace(/v1$/, '@w9/v1')), USER.email, 'else of default')
})

t.test('a state that is wrong is refused with all problems, by import and by start', async (t) => {
  const { url, file, text } = await demo(t)
  const late = '"late-reversals"'
  const wrong: [content: string, ...said: RegExp[]][] = [
    [
      text.replace(USER.email, 'no address').replace(late, '7'),
      /demo\.json:6:\d+: scenario\.name: .*found 7/,
      /demo\.json:\d+:\d+: tables\.users\[\d+\]\.email: /,
    ],
    [text.replace('"frozen"', '"stopped"'), /demo\.json:3:\d+: clock\.mode: .*stopped/],
    ['{"users": []}', /demo\.json:1:\d+: tables: /],
    ['{', /demo\.json:1:2: is not JSON: the text ends too early/],
  ]
  const start = ['--port', '0', '--memory', '--state']
  for (const [content, ...said] of wrong) {
    writeFileSync(file, content)
    for (const words of [
      ['state', 'import', file, '--url', url],
      [...start, file],
    ]) {
      const { code, stderr } = await run(words)
      t.equal(code, 2)
      for (const message of said) t.match(stderr, message)
    }
  }
  writeFileSync(file, text.replace(late, '"late-reversal"'))
  t.match(await run([...start, file]), {
    code: 2,
    stderr:
      /demo\.json:6:\d+: scenario\.name: there is no scenario .*did you mean "late-reversals"\?/,
  })
  for (const words of [
    ['state', 'import', `${file}.no`, '--url', url],
    [...start, `${file}.no`],
  ])
    t.match(await run(words), { code: 2, stderr: /ENOENT/ })
  t.equal(await newest(url), USER.email, 'nothing was changed')
})
