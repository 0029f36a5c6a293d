import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ASHA } from '../helper.ts'
import { call, run, serve } from './program.ts'

t.test('requests lists, finds, counts, verifies and clears', async (t) => {
  const { url } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = (...words: string[]) => run(['requests', ...words, '--url', url])
  const listed = async (...words: string[]) =>
    JSON.parse((await at(...words, '--json')).stdout).requests
  t.equal((await at()).stdout, 'no matching requests\n')
  await call(`${url}/users`)
  await call(`${url}/user/${ASHA}`)
  const refused = await call(`${url}/user`, { email: 'new@example.com' })
  const { stdout } = await at()
  t.match(stdout, /^at +method +path +operation +status +ms +rule\n2026-01-01T00:00:00.000Z +POST /)
  t.match(stdout, new RegExp(`\\n\\S+ +GET +/v1/user/${ASHA} +getUser +200 +[\\d.]+ +-\\n`))
  t.match(await listed('--operation', 'getUser'), [{ path: `/v1/user/${ASHA}` }])
  t.match(await listed('--method', 'POST'), [{ operation: 'createUser' }])
  t.match(await listed('--path', '/v1/users'), [{ operation: 'listUsers' }])
  t.match(await listed('--status', String(refused.status)), [{ operation: 'createUser' }])
  t.equal((await listed('--status', '200')).length, 2)
  t.match((await at('--limit', '1')).stdout, /\n… and 2 more; --limit shows more\n$/)

  const match = '{"body":{"email":"new@example.com"}}'
  t.match(await listed('find', match), [{ operation: 'createUser' }])
  t.equal((await listed('find', '{}', '--limit', '2')).length, 2)
  t.equal((await at('count', match)).stdout, '1\n')

  const get = '{"operation":"getUser"}'
  t.match(await at('verify', get), { code: 0, stdout: 'ok, 1 found\n' })
  t.equal((await at('verify', get, '--exactly', '1')).code, 0)
  t.equal((await at('verify', '{"method":"GET"}', '--at-most', '2')).code, 0)
  for (const [flag, count] of [
    ['--exactly', '2'],
    ['--at-least', '2'],
    ['--at-most', '0'],
  ] as const)
    t.match(await at('verify', get, flag, count), {
      code: 1,
      stdout: '',
      stderr: new RegExp(`Expected .*${count}.*, found 1 `),
    })
  t.match(await at('verify', '{"operation":"getKyc"}'), { code: 1, stderr: /found 0/ })
  const missed = await at('verify', '{"operation":"getKyc"}', '--json')
  t.match(JSON.parse(missed.stdout), { error: 'verification_failed', errors: [{ field: /./ }] })

  for (let i = 0; i < 120; i++) await call(`${url}/users?limit=1`)
  for (const words of [[], ['find', '{}']]) {
    t.equal((await listed(...words, '--limit', '500')).length, 123, 'of all pages')
    t.match((await at(...words, '--limit', '110')).stdout, /\n… and 13 more; --limit shows more\n$/)
  }

  t.equal((await at('clear')).stdout, '123 deleted\n')
  t.equal((await listed()).length, 0)
})

t.test('requests export writes an archive that only its owner can read', async (t) => {
  const cwd = t.testdir({ 'all.har': 'earlier', folder: {} })
  chmodSync(join(cwd, 'all.har'), 0o666)
  const { url } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = (...words: string[]) => run(['requests', 'export', ...words, '--url', url], { cwd })
  await call(`${url}/users?limit=1`)
  await call(url.replace('/v1', '/@w1/v1/users?limit=1'))
  t.match(await at('--har', 'all.har'), { code: 0, stdout: '2 calls written to all.har\n' })
  const read = () => JSON.parse(readFileSync(join(cwd, 'all.har'), 'utf8')).log.entries
  t.match(read(), [{ _client: 'default', request: { method: 'GET' } }, { _client: 'w1' }])
  t.equal(statSync(join(cwd, 'all.har')).mode & 0o777, 0o600)
  const one = await at('--har', 'all.har', '--client', 'w1', '--operation', 'listUsers', '--json')
  t.strictSame(JSON.parse(one.stdout), { file: 'all.har', calls: 1 })
  t.equal(read().length, 1)

  t.match(await at(), { code: 2, stderr: /requests export needs --har FILE/ })
  for (const file of ['none/all.har', 'folder'])
    t.match(await at('--har', file), {
      code: 1,
      stdout: '',
      stderr: new RegExp(`--har ${file} cannot be written \\(E`),
    })
  const refused = await at('--har', 'all.har', '--status', 'nope')
  t.match(refused, { code: 2, stderr: /status/ })
  t.strictSame(readdirSync(cwd).sort(), ['all.har', 'folder'], 'no draft is left')
  t.equal(read().length, 1, 'and the earlier file')
})

t.test('without a client, requests is about all clients, deleted ones too', async (t) => {
  const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = (...words: string[]) => run(['requests', ...words, '--url', url])
  const of = (name: string) => url.replace('/v1', `/@${name}/v1`)
  await call(`${url}/users`)
  for (const name of ['a', 'b']) await call(`${of(name)}/users`)
  await call(`${adminUrl}/clients/b`, undefined, {}, 'DELETE')
  const { stdout } = await at()
  t.match(
    stdout,
    /^at +client +method +path .*\n\S+ +b +GET .*\n\S+ +a +GET .*\n\S+ +default +GET /,
  )
  t.equal((await at('count', '{}')).stdout, '3\n')
  t.match(JSON.parse((await at('find', '{}', '--json')).stdout).requests, [{ client: 'b' }])
  t.match(await at('verify', '{"operation":"listUsers"}', '--exactly', '3'), { code: 0 })
  for (const named of [
    ['--client', 'a'],
    ['--client', 'default'],
  ])
    t.equal((await at('count', '{}', ...named)).stdout, '1\n')
  t.equal((await run(['requests', 'count', '{}', '--url', of('a')])).stdout, '1\n')
  const missed = await at('verify', '{}', '--client', 'c')
  t.match(missed, {
    code: 1,
    stderr: /@c had no calls; @b had 1, @a had 1, the default client had 1/,
  })
  t.equal((await at('clear', '--client', 'a')).stdout, '1 deleted\n')
  t.equal((await at('clear')).stdout, '2 deleted\n')
  t.equal((await at('count', '{}')).stdout, '0\n')

  const shown = ['scenario', 'show', '--url', url]
  await call(`${adminUrl}/scenario`, { name: 'slow' }, {}, 'PUT')
  t.match((await run(shown)).stdout, /^slow: /)
  t.match((await run([...shown, '--all'])).stdout, /^default: /)
})

t.test('a wrong call of requests ends with 2', async (t) => {
  const cases: [string[], RegExp][] = [
    [['find'], /requests find needs MATCH/],
    [['find', 'getUser'], /requests find takes a JSON object in quotes, not "getUser"/],
    [['verify', '{}', '--exactly', '-1'], /--exactly/],
    [['--limit', '0'], /--limit takes a whole number from 1 to 1000/],
    [['clear', '--limit', '1'], /requests clear does not take --limit/],
    [['list'], /unexpected argument "list" for requests/],
  ]
  for (const [words, message] of cases)
    t.match(await run(['requests', ...words]), { code: 2, stdout: '', stderr: message })
})
