import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, serve } from './program.ts'

t.test('conform ends with 0 where nothing differs, and with 1 where something does', async (t) => {
  const { url, token } = await serve(
    t,
    '--memory --clock frozen --assume idempotency_key=honoured'.split(' '),
  )
  const clean = await run(['conform', '--against', url, '--token', token])
  t.equal(clean.code, 0, clean.stderr)
  t.match(
    clean.stdout,
    /^Not checked\n\nendpoint +reason\nGET \/clientWebhook +no webhook is set\n/,
  )
  t.match(
    clean.stdout,
    new RegExp(`\n\nNo differences: \\d+ calls to ${url}, 9 endpoints checked\n$`),
  )
  const written = await run(['conform', '--against', url, '--token', token, '--write'])
  t.equal(written.code, 0, written.stderr)
  t.match(written.stdout, /^Created, and not deleted\n\nendpoint +id\nPOST \/user +[0-9a-f-]{36}\n/)
  t.match(written.stdout, /, 16 endpoints checked\n$/)

  const open = await serve(t, ['--memory', '--auth', 'off'])
  const differing = await run(['conform', '--against', open.url, '--token', token])
  t.equal(differing.code, 1)
  t.match(
    differing.stdout,
    /^Differs from the contract\n\nendpoint +request +field +expected +found +times\nGET \/transaction\/history +without a token +HTTP status +401 unauthorized +200 +2\n/,
  )
  t.match(differing.stdout, /\n3 differences: \d+ calls to /)
  const json = await run(['conform', '--against', open.url, '--token', token, '--json'])
  t.equal(json.code, 1)
  t.equal(json.stdout.indexOf('\n'), json.stdout.length - 1)
  t.match(JSON.parse(json.stdout), {
    ok: false,
    against: open.url,
    differs: [{ call: 'without a token', expected: '401 unauthorized', times: 2 }, {}, {}],
  })
  const { assumptions } = JSON.parse(json.stdout)
  t.match(
    assumptions.filter(({ name }: { name: string }) => name === 'token'),
    [{ reading: 'off', evidence: 'GET /client/profile (without a token): status 200' }],
  )
  t.match(differing.stdout, /\n\npayout-sandbox start --assume token=off\n\n3 differences: /)
  t.notMatch(clean.stdout, '--assume')
  t.match(clean.stdout, /\nOpen points of the contract\n\nassumption +reading +shown by\n/)
  t.match(clean.stdout, /\nidempotency_key +not measured +measured with --write only\n/)
  t.match(written.stdout, /\nidempotency_key +honoured +POST \/transaction .+: the same response/)
})

t.test('conform saves the readings of a service, and a sandbox starts with them', async (t) => {
  const folder = t.testdir({ 'old.json': 'old' })
  const file = join(folder, 'old.json')
  const assume = ['idempotency_key=honoured', 'list_order=oldest_first'].flatMap((one) => [
    '--assume',
    one,
  ])
  const { url, token } = await serve(t, ['--memory', ...assume])
  const against = ['conform', '--against', url, '--token', token]
  const saved = await run([...against, '--write', '--save', file])
  t.equal(saved.code, 0, saved.stderr)
  t.ok(saved.stdout.endsWith(`saved; use them with payout-sandbox start --assume-file ${file}\n`))
  const { measured_at, ...document } = JSON.parse(readFileSync(file, 'utf8'))
  t.match(document, {
    format: 'payout-sandbox-readings/1',
    against: url,
    readings: { idempotency_key: 'honoured', list_order: 'oldest_first', token: 'spec' },
  })
  t.equal(new Date(measured_at).toISOString(), measured_at)
  t.notMatch(readFileSync(file, 'utf8'), token)
  const env = { PAYOUT_SANDBOX_ASSUME_FILE: file, PAYOUT_SANDBOX_ASSUME: 'token=strict' }
  const same = await serve(t, ['--memory'], { env })
  const again = await run([
    'conform',
    '--against',
    same.url,
    '--token',
    token,
    '--write',
    '--json',
    '--save',
    file,
  ])
  t.equal(again.stdout.indexOf('\n'), again.stdout.length - 1)
  const { readings } = JSON.parse(readFileSync(file, 'utf8'))
  t.strictSame(readings, { ...document.readings, token: 'strict' })
  t.strictSame(readdirSync(folder), ['old.json'])
})

t.test('with --baseline, conform reports only what is new since a file of --save', async (t) => {
  const dir = t.testdir({ 'none.json': '{}' })
  const conformTo = async (options: readonly string[], ...more: string[]) => {
    const { url, token } = await serve(t, ['--memory', '--clock', 'frozen', ...options])
    return run(['conform', '--against', url, '--token', token, ...more], { cwd: dir })
  }
  const open = ['--auth', 'off']
  for (const [file, options, more = []] of [
    ['spec.json', []],
    ['open.json', open],
    ['write.json', [], ['--write']],
  ] as const)
    await conformTo(options, ...more, '--save', file)
  const since = ` since ${new Date().toISOString().slice(0, 10)}`
  const anyOf = (line: string) => new RegExp(`^${line}`, 'm')
  for (const [file, options, code, ...lines] of [
    ['spec.json', [], 0, `No differences${since}: `],
    ['open.json', open, 0, `No differences${since}: `],
    // A difference that is gone is no news, but its reading is.
    ['open.json', [], 1, 'open point +- +token +off +spec, shown by ', `1 difference${since}: `],
    [
      ...['spec.json', open, 1],
      ...['GET /client/profile +without a token +HTTP status +401 unauthorized +200 +2'],
      ...['open point +- +token +spec +off, shown by GET /client', `4 differences${since}: `],
    ],
    ['write.json', [], 1, 'POST /user +- +check +checked +checked with --write only'],
    ['none.json', [], 2],
    ['missing.json', [], 2],
  ] as [string, string[], number, ...string[]][]) {
    const ended = await conformTo(options, '--baseline', file, '--report', 'report')
    t.equal(ended.code, code, `${file} ${ended.stderr}`)
    for (const line of lines) t.match(ended.stdout, anyOf(line), file)
    t.notMatch(ended.stdout, /^Open points|^Not checked/m)
    if (code === 2) t.match(ended.stderr, `--baseline ${file} `)
    else
      t.equal(/failures="0"/.test(readFileSync(join(dir, 'report/junit.xml'), 'utf8')), code === 0)
  }
})

t.test('a file that conform cannot save is rejected before a call, and kept', async (t) => {
  const folder = t.testdir({ 'old.json': 'old' })
  const against = ['conform', '--against', 'http://127.0.0.1:1']
  const none = await run([...against, '--save', join(folder, 'none', 'r.json')])
  t.equal(none.code, 1)
  t.match(none.stderr, /--save .*r\.json cannot be written \(ENOENT\)\. Use a file in a folder/)
  t.match((await run([...against, '--save', folder])).stderr, /cannot be written \(EISDIR\)/)
  const file = join(folder, 'old.json')
  t.match((await run([...against, '--save', file])).stderr, /No service responds/)
  t.equal(readFileSync(file, 'utf8'), 'old')
  t.strictSame(readdirSync(folder), ['old.json'])
})

t.test('conform adds the version segment, and takes its token from a variable', async (t) => {
  const { port, token } = await serve(t, ['--memory', '--auth', 'strict'])
  const env = { PAYOUT_SANDBOX_TOKEN: token }
  for (const path of ['', '/', '/v1', '/v1/', '/@worker-3', '/@worker-3/v1']) {
    const own = path.startsWith('/@') ? ['--token', 'sbx_worker-3'] : []
    const against = `http://127.0.0.1:${port}${path}`
    const { code, stdout } = await run(['conform', '--against', against, ...own], { env })
    t.equal(code, 0, stdout)
    t.match(stdout, /, 9 endpoints checked\n$/)
  }
  const { code, stdout } = await run(['conform', '--against', `http://127.0.0.1:${port}`])
  t.equal(code, 0)
  t.match(stdout, /GET \/users +the service requires a token: use --token\n/)
  t.match(stdout, /, 0 endpoints checked\n$/)
})

t.test('conform ends with 1 where nobody answers, with 2 on a wrong command', async (t) => {
  t.match(await run(['conform', '--against', 'http://127.0.0.1:1']), {
    code: 1,
    stdout: '',
    stderr:
      /^payout-sandbox: No service responds at http:\/\/127\.0\.0\.1:1\/v1: no response \(ECONNREFUSED\)\. Set its base URL with --against\.\n$/,
  })
  const base = 'http://127.0.0.1:1'
  const cases: [string[], RegExp][] = [
    [['conform'], /conform needs --against URL, such as /],
    [['conform', base], /unexpected argument "http:\/\/127\.0\.0\.1:1"/],
    [['conform', '--against', 'localhost:4310'], /--against takes the base URL of a service/],
    ...['http://a:b@127.0.0.1:1', `${base}/v1?x=1`, `${base}/v1#x`].map(
      (url): [string[], RegExp] => [
        ['conform', '--against', url],
        /without user name, password, query and fragment/,
      ],
    ),
    [['conform', '--against', base, '--token', 'a b'], /--token takes an access token/],
    [['conform', '--against', base, '--url', base], /conform does not take --url; it takes --a/],
    [['conform', '--against', base, '--wirte'], /did you mean --write\?/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await run(args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
    t.equal(stdout, '')
    t.notMatch(stderr, 'a:b')
  }
  t.match(await run(['conform', '--against', base], { env: { PAYOUT_SANDBOX_TOKEN: 'a\nb' } }), {
    code: 2,
    stderr: /PAYOUT_SANDBOX_TOKEN takes an access token/,
  })
})
