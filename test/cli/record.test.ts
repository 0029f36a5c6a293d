import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { call, run, serve } from './program.ts'

const node = (code: string) => ['--', process.execPath, '--input-type=module', '-e', code]
const PAY = `
  const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin } = process.env
  const json = (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const pay = () => fetch(url + '/transaction', json({ from_user_id: '00000000-0000-4000-8000-000000000001',
    to_user_id: '00000000-0000-4000-8000-000000000003', benif_bank_id: 'b0000000-0000-4000-8000-000000000003', amount: 100 }))
  await fetch(url + '/clientWebhook', json({ url: admin + '/webhooks/inbox', webhook_secret: 'secret' }))
  await Promise.all([pay(), pay(), pay()])
  const delivered = { for: 'delivery', match: { event: 'transaction.success', status: 'delivered' } }
  const { deliveries } = await (await fetch(admin + '/webhooks/deliveries?event=transaction.pending')).json()
  await Promise.all(deliveries.map(({ resource_id }) =>
    fetch(admin + '/wait', json({ ...delivered, match: { ...delivered.match, resource_id } }))))
  await fetch(admin + '/webhooks/inbox')
  process.exit(3)`

/** A recorded run of a failing test. */
async function failedRun(t: Test, cwd = t.testdir()) {
  const { code } = await run(
    ['exec', '--record', 'run.ndjson', '--clock-speed', '50', ...node(PAY)],
    {
      cwd,
    },
  )
  t.equal(code, 3, 'the exit code is that of the program')
  return { cwd, file: join(cwd, 'run.ndjson') }
}

t.test('exec --record keeps a run, and replay finds every byte of it again', async (t) => {
  const { cwd, file } = await failedRun(t)
  t.equal(statSync(file).mode & 0o777, 0o600, 'for its owner alone')
  const replayed = await run(['replay', 'run.ndjson'], { cwd })
  t.match(replayed, { code: 0, stderr: '' })
  t.match(
    replayed.stdout,
    /^\d+ calls, \d+ webhooks?, \d+ timers: no differences, every byte is as recorded\nwebhooks {2}[^\n]*3 transaction\.success[^\n]*\ntimers {4}\d+ webhook.attempt, 6 transaction\.step, \d transaction\.utr\n$/,
  )
  const output = JSON.parse((await run(['replay', file, '--json'])).stdout)
  t.match(output, { ok: true, difference: null, timer_kinds: { 'transaction.step': 6 } })
  t.ok(output.calls >= 6, `${output.calls} calls`)
})

t.test('what exec imposes is imposed in a replay too', async (t) => {
  const cwd = t.testdir()
  const code = `
    const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin } = process.env
    const send = (method, address, body) => fetch(address, { method, headers: { 'content-type': 'application/json' }, body })
    await send('PUT', admin + '/scenario', '{"name":"slow"}')
    const before = await fetch(url + '/users')
    await send('POST', admin + '/clock/advance', '{"by":"2m"}')
    const after = await fetch(url + '/users')
    process.exit(before.status === 503 && after.status === 200 ? 0 : 1)`
  const options = ['--clock', 'frozen', '--scenario', 'provider-outage']
  const args = ['exec', '--record', 'run.ndjson', ...options, ...node(code)]
  t.match(await run(args, { cwd }), { code: 0, stderr: '' })
  t.match(await run(['replay', 'run.ndjson'], { cwd }), { code: 0 })
})

t.test('replay says which timers ran within an advance', async (t) => {
  const cwd = t.testdir()
  const code = `${PAY.split('await Promise.all')[0]}
    await pay()
    await fetch(admin + '/clock/advance', json({ by: '10s' }))`
  const args = ['exec', '--record', 'run.ndjson', '--clock', 'frozen', ...node(code)]
  t.match(await run(args, { cwd }), { code: 0 })
  t.match(await run(['replay', 'run.ndjson'], { cwd }), {
    code: 0,
    stdout:
      '6 calls, 3 webhooks, 6 timers: no differences, every byte is as recorded\n' +
      'webhooks  1 transaction.pending, 1 transaction.processing, 1 transaction.success\n' +
      'timers    3 webhook.attempt, 2 transaction.step, 1 transaction.utr\n',
  })
})

t.test('the first byte that differs is shown, with exit code 1', async (t) => {
  const { cwd, file } = await failedRun(t)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('100.00', '100.50'))
  const replayed = await run(['replay', 'run.ndjson'], { cwd })
  t.equal(replayed.code, 1)
  t.match(
    replayed.stdout,
    /^differs from the recording, after [^\n]+\ncall \d+, POST \/v1\/transaction, [^\n]+: body, data\[0\]\.amount\n- recorded {2}"100\.50"\n\+ replayed {2}"100\.00"\n$/,
  )
  t.match(JSON.parse((await run(['replay', file, '--json'])).stdout), {
    ok: false,
    difference: { what: 'body, data[0].amount', recorded: '"100.50"', found: '"100.00"' },
  })
})

t.test('record export writes the run of a sandbox that goes on', async (t) => {
  const cwd = t.testdir()
  const { url, stop } = await serve(t, ['--memory', '--record', 'kept.ndjson'], { cwd })
  await call(`${url}/users`)
  const at = ['--url', url]
  const output = await run(['record', 'export', 'run.ndjson', ...at], { cwd })
  t.match(output, {
    code: 0,
    stdout: '3 lines written; run payout-sandbox replay run.ndjson to replay them\n',
  })
  const kept = readFileSync(join(cwd, 'kept.ndjson'), 'utf8')
  t.equal(readFileSync(join(cwd, 'run.ndjson'), 'utf8'), kept)
  t.equal(statSync(join(cwd, 'run.ndjson')).mode & 0o777, 0o600)
  t.match(await run(['replay', 'run.ndjson'], { cwd }), {
    code: 0,
    stdout: '1 call, 0 webhooks, 0 timers: no differences, every byte is as recorded\n',
  })
  const json = await run(['record', 'export', 'again.ndjson', '--json', ...at], { cwd })
  t.strictSame(JSON.parse(json.stdout), { file: 'again.ndjson', lines: 3 })
  const nowhere = await run(['record', 'export', 'no/such/run.ndjson', ...at], { cwd })
  t.match(nowhere, { code: 1, stderr: 'no/such/run.ndjson cannot be written (ENOENT)' })
  await stop()
})

t.test('a file that others could read is theirs no more once a run is in it', async (t) => {
  const cwd = t.testdir({ 'run.ndjson': 'old' })
  const files = ['kept.ndjson', 'run.ndjson'].map((name) => join(cwd, name))
  chmodSync(files[1]!, 0o644)
  const { url, stop } = await serve(t, ['--memory', '--record', 'kept.ndjson'], { cwd })
  t.equal((await run(['record', 'export', 'run.ndjson', '--url', url], { cwd })).code, 0)
  for (const file of files) {
    t.equal(statSync(file).mode & 0o777, 0o600, file)
    t.notMatch(readFileSync(file, 'utf8'), /^old/)
  }
  const before = statSync('/dev/null').mode
  t.equal((await run(['record', 'export', '/dev/null', '--url', url], { cwd })).code, 0)
  t.equal(statSync('/dev/null').mode, before, 'a device stays as it is')
  await stop()
})

t.test('an earlier recording is never overwritten', async (t) => {
  const { cwd, file } = await failedRun(t)
  const before = readFileSync(file)
  for (const args of [
    ['exec', '--record', 'run.ndjson', ...node('process.exit(0)')],
    ['start', '--memory', '--port', '0', '--record', 'run.ndjson'],
  ]) {
    const output = await run(args, { cwd })
    t.match(output, { code: 5, stdout: '' })
    t.equal(
      output.stderr,
      'payout-sandbox: The file run.ndjson already exists. A recording never overwrites a file. Delete it, or choose another name with --record FILE.\n',
    )
  }
  t.ok(readFileSync(file).equals(before))
  writeFileSync(join(cwd, 'empty.ndjson'), '')
  const onEmpty = await run(['exec', '--record', 'empty.ndjson', ...node('process.exit(0)')], {
    cwd,
  })
  t.match(onEmpty, { code: 5, stderr: 'The file empty.ndjson already exists' })
  t.equal(readFileSync(join(cwd, 'empty.ndjson'), 'utf8'), '', 'even an empty file stays')
  const device = await run(['exec', '--record', '/dev/null', ...node('process.exit(0)')], { cwd })
  t.equal(device.code, 0, 'a device may be given')
  // A start that fails leaves no recording behind that would refuse the next one.
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const { port } = busy.address() as AddressInfo
  const refused = ['start', '--memory', '--port', String(port), '--record', 'new.ndjson']
  t.match(await run(refused, { cwd }), { code: 6 })
  busy.close()
  t.notOk(existsSync(join(cwd, 'new.ndjson')))
})

t.test('of two runs that start to record in one file, one is refused', async (t) => {
  const cwd = t.testdir()
  const args = ['exec', '--record', 'race.ndjson', ...node('setTimeout(() => {}, 1_000)')]
  const ends = await Promise.all([run(args, { cwd }), run(args, { cwd })])
  t.strictSame(ends.map(({ code }) => code).sort(), [0, 5])
  t.match(await run(['replay', 'race.ndjson'], { cwd }), { code: 0 })
})

t.test('what can not be recorded, exported or replayed is refused in words', async (t) => {
  const cwd = t.testdir({ 'no.ndjson': 'no\n' })
  const table: [args: string[], code: number, output: string][] = [
    [['start', '--record', 'run.ndjson'], 2, '--record needs --memory'],
    [['start', '--memory', '--watch', '--record', 'run.ndjson'], 2, '--record and --watch exclude'],
    [
      ['start', '--memory', '--record', 'no/run.ndjson'],
      5,
      'no/run.ndjson cannot be written (ENOENT)',
    ],
    [['replay'], 2, 'replay needs FILE'],
    [['replay', 'none.ndjson'], 2, 'none.ndjson cannot be read (ENOENT)'],
    [['replay', 'no.ndjson'], 2, 'no.ndjson: line 1 is not valid JSON'],
    [['record', 'export'], 2, 'record export needs FILE'],
  ]
  for (const [args, code, stderr] of table)
    t.match(await run(args, { cwd }), { code, stderr }, stderr)
  t.notOk(existsSync(join(cwd, 'run.ndjson')))
  const { url } = await serve(t, ['--memory'], { cwd })
  t.match(await run(['record', 'export', 'run.ndjson', '--url', url], { cwd }), {
    code: 1,
    stderr: 'Recording is off. Start the sandbox with --memory --record FILE.',
  })
})
