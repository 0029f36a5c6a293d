import t, { type Test } from 'tap'
import { optionsOf, startServer } from '../../../src/server.ts'
import { run } from '../../cli/program.ts'
import { createLog } from '../../helper.ts'
import { short, smallClient } from './small-client.ts'

const startRunning = async (t: Test, values: Record<string, unknown> = {}) => {
  const options = optionsOf({ port: 0, memory: true, clock: 'frozen', coverage: true, ...values })
  const server = await startServer(options, createLog())
  t.teardown(server.close)
  return { server, origin: new URL(server.url).origin }
}

// Pays, looks after a lost response, and waits for the end of the payment by reads and by events.
const CLIENT = `
const { server, url: receiver } = await new Promise((resolve) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1', () =>
    resolve({ server, url: 'http://127.0.0.1:' + server.address().port }))
})
try {
  await call('POST', '/clientWebhook', { url: receiver, webhook_secret: 'secret' })
  const { transaction_id } = await patiently(pay)
  await pass('10s')
  const { transaction_status } = await get(transaction_id)
  if (transaction_status === 'pending') throw new Error('pending')
} finally {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
`
const FAULTS = [
  ...['reset', 'reset_after', 'respond_500', 'payment_failed', 'payment_stuck', 'payment_reversed'],
  ...['signature_wrong', 'copies', 'processing_status', 'reference_id'],
]

t.test('a sandbox that already runs gives the same verdicts as one of its own', async (t) => {
  const { origin } = await startRunning(t)
  const { sweep, program, cwd } = smallClient(t, CLIENT)
  const own = await sweep({ only: FAULTS })
  const args = ['--url', origin, '--only', FAULTS.join(), '--points', 'first', '--json']
  const { code, stdout, stderr } = await run(['sweep', ...args, '--', ...program], { cwd })
  t.equal(code, 1, stderr)
  const result = JSON.parse(stdout)
  const verdicts = (runs: readonly { plan: readonly { name: string }[]; verdict: string }[]) =>
    runs.map(({ plan, verdict }) => [...plan.map(({ name }) => name), verdict].join(' ')).sort()
  t.strictSame(verdicts(result.runs), verdicts(own.runs))
  t.match(short(own).join('\n'), /error paid_twice/)
  t.match(short(own).join('\n'), /error accepted_forged/)
  t.match(
    result.findings[0].reproduce,
    `payout-sandbox sweep --url ${origin} --only 'reset_after & createTransaction' -- `,
  )
  const met = (coverage: typeof own.coverage) =>
    coverage.groups.find(({ group }) => group === 'money')!.items.filter((one) => one.met)
  t.strictSame(met(result.coverage), met(own.coverage))
})

t.test('its client is reset for each run, and no other client', async (t) => {
  const { server, origin } = await startRunning(t, { scenario: 'kyc-failures' })
  const paid = () => server.sandbox.default.tables.tables.payments.size
  const before = paid()
  const { program, cwd } = smallClient(t, "await patiently(pay)\nawait pass('10s')\n")
  const sweep = async (url: string) => {
    const args = ['--url', url, '--only', 'reset_after', '--json']
    const { stdout, stderr } = await run(['sweep', ...args, '--', ...program], { cwd })
    return stdout ? JSON.parse(stdout) : t.fail(stderr)
  }
  const { runs } = await sweep(origin)
  t.strictSame(
    runs.map(({ verdict }: { verdict: string }) => verdict),
    ['paid_twice'],
  )
  await sweep(`${origin}/@ledger`)
  t.equal(paid(), before, 'the default client is left alone')
  const names = [...server.sandbox.clients.values()].map(({ name }) => name)
  t.strictSame(names.filter((name) => /^(ledger|sweep)$/.test(name)).sort(), ['ledger', 'sweep'])
  const [ledger] = [...server.sandbox.clients.values()].filter(({ name }) => name === 'ledger')
  t.equal(ledger!.scenarios.name, 'kyc-failures', 'its start scenario is active again')
})

t.test('what excludes --url, and a sandbox that is not there', async (t) => {
  const { cwd } = smallClient(t, '')
  for (const [args, message] of [
    [
      ['--clock', 'frozen'],
      '--url excludes --clock: start the sandbox that runs with what it needs',
    ],
    [['--restart'], '--url excludes --restart'],
    [['--fixtures', 'missing.yaml'], '--url excludes --fixtures'],
    [
      ['--url', 'http://127.0.0.1:9/@default'],
      '--url resets its client for each run, and takes another one than default, such as http://127.0.0.1:9/@sweep',
    ],
    [['--jobs', '2'], '--url permits one run at a time, so --jobs must be 1, not 2'],
  ] as const) {
    const url = args[0] === '--url' ? [] : ['--url', 'http://127.0.0.1:9']
    const { code, stderr } = await run(['sweep', ...url, ...args, '--', 'true'], { cwd })
    t.equal(code, 2)
    t.match(stderr, message)
  }
  const off = await startRunning(t, { coverage: false })
  const uncovered = await run(['sweep', '--url', off.origin, '--', 'true'], { cwd })
  t.match(uncovered, { code: 2, stderr: 'Coverage is off. Restart the sandbox with --coverage' })
  const { origin } = await startRunning(t)
  const { port } = new URL(origin)
  const taken = await run(['sweep', '--port', port, '--', 'true'], { cwd })
  t.match(taken.stderr, `payout-sandbox: Port ${port} of 127.0.0.1 is in use.`)
  const { code, stderr } = await run(['sweep', '--url', 'http://127.0.0.1:9', '--', 'true'], {
    cwd,
  })
  t.equal(code, 2)
  t.match(stderr, 'No sandbox responds at http://127.0.0.1:9')
})
