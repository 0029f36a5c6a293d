import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { run, serve } from '../../cli/program.ts'
import { start, until } from '../../helper.ts'
import { heldTimers } from '../../manual-timers.ts'
import { connectAgent, connectionsOf, MODERN, type Mode } from './agent.ts'
import { integratePayment } from './script.ts'

type StdioOptions = { env?: Record<string, string>; cwd?: string; mode?: Mode }

/** An agent that has started the built program. */
async function stdioAgent(
  t: Test,
  args: readonly string[] = [],
  { env = {}, cwd = t.testdir(), mode }: StdioOptions = {},
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(PACKAGE_ROOT, 'dist/bin.cjs'), 'mcp', ...args],
    env: { PATH: process.env['PATH']!, ...env },
    cwd,
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr!.on('data', (chunk) => {
    stderr += chunk
  })
  return { ...(await connectAgent(t, transport, mode)), transport, stderr: () => stderr }
}

// No sandbox runs at this port: the agent gets one of its own.
const NOBODY = { PORT: '9' }

t.test(
  'without a sandbox, mcp starts one in memory; twenty calls integrate a payment',
  async (t) => {
    const { tool, stderr, transport, close } = await stdioAgent(t, [], {
      env: { ...NOBODY, PAYOUT_SANDBOX_CLOCK: 'frozen' },
      mode: MODERN,
    })
    await integratePayment(t, tool)
    t.match(stderr(), /no sandbox runs, so this one was started: http:\/\/127\.0\.0\.1:\d+\/v1\n/)
    const { pid } = transport
    const [, url] = /^Service: (\S+)/.exec((await tool('look')).text)!
    await close()
    t.throws(() => process.kill(pid!, 0), 'the program ends with the agent')
    await t.rejects(fetch(url!), 'and so does its sandbox')
  },
)

t.test('mcp uses a running sandbox, and the client of its URL', async (t) => {
  const { url, ready } = await serve(t, ['--memory', '--clock', 'frozen', '--admin-token', 's3'])
  t.ok(ready['admin_token'])
  const base = url.replace('/v1', '/@agent')
  const env = { PAYOUT_SANDBOX_URL: base, PAYOUT_SANDBOX_ADMIN_TOKEN: 's3' }
  const { tool, stderr } = await stdioAgent(t, [], { env })
  t.equal(stderr(), '')
  t.notMatch((await tool('look')).text, 'Note:')
  t.match((await tool('look')).text, /Service: \S+\/@agent\/v1 .+\nClient: agent/)
  const { tool: locked } = await stdioAgent(t, ['--url', url])
  t.match(await locked('look'), {
    isError: true,
    text: /Rejected \(admin_token_required\)[\s\S]*Next: give --admin-token/,
  })
})

t.test('mcp says which variables have no effect on a running sandbox', async (t) => {
  const { url } = await serve(t, ['--memory'])
  const unused = 'attached to a running sandbox; PAYOUT_SANDBOX_CLOCK was not used'
  const env = { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_CLOCK: 'frozen' }
  const { tool, stderr } = await stdioAgent(t, [], { env })
  const { text } = await tool('look')
  t.match(text, `Note: ${unused}\n`)
  t.match(text, 'the token is not known here; the sandbox prints it at start')
  t.equal(stderr(), `payout-sandbox: ${unused}\n`)
})

t.test('a call that the agent cancels ends in the sandbox too', async (t) => {
  const { app, sandbox } = await start(t)
  const connections = connectionsOf(app.server)
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const { client } = await stdioAgent(t, ['--url', origin])
  function call(name: string, args: Record<string, unknown>) {
    const cancelled = new AbortController()
    const called = client.callTool({ name, arguments: args }, { signal: cancelled.signal })
    return { called, cancel: () => cancelled.abort() }
  }
  const { clock, feed } = sandbox.default
  const wait = call('wait_for', { for: 'request', timeout_ms: 50_000 })
  await until(() => feed.isWanted)
  wait.cancel()
  await t.rejects(wait.called)
  await until(() => !feed.isWanted)

  const timers = heldTimers(sandbox.default)
  const advance = call('advance_clock', { by: '9d' })
  await timers.running()
  advance.cancel()
  await t.rejects(advance.called)
  await until(() => connections.size === 0)
  timers.settle()
  await until(() => !clock.isStopped)
  t.equal(clock.iso(), '2026-01-01T00:00:01.000Z')
})

t.test('mcp ends with its agent, whatever is in flight', async (t) => {
  const { url, adminUrl } = await serve(t, ['--memory', '--coverage'])
  const child = spawn(process.execPath, [join(PACKAGE_ROOT, 'dist/bin.cjs'), 'mcp', '--url', url])
  t.teardown(() => child.kill('SIGKILL'))
  const send = (method: string, params: object, id?: number) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, 1)
  send('notifications/initialized', {})
  // The sandbox leaves the first one without a response; the second one waits in the sandbox.
  await fetch(`${adminUrl}/rules`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ when: { operation: 'listUsers' }, then: { fault: 'hang' } }),
  })
  const never = { for: 'request', match: { path: '/v1/never' }, timeout_ms: 50_000 }
  send('tools/call', { name: 'wait_for', arguments: never }, 2)
  const hang = {
    method: 'GET',
    path: '/v1/users',
    headers: { authorization: 'Bearer sbx_test_token' },
  }
  send('tools/call', { name: 'call_service', arguments: hang }, 3)
  const arrived = { for: 'request', match: { operation: 'listUsers' }, timeout_ms: 20_000 }
  const waited = await fetch(`${adminUrl}/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(arrived),
  })
  t.equal(waited.status, 200)
  const covered = (await (await fetch(`${adminUrl}/coverage`)).json()) as {
    groups: { met: number }[]
  }
  t.equal(covered.groups[0]!.met, 0, 'a call of an agent is none of a caller')
  child.stdin.end()
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(10_000) })
  t.equal(code, 0)
})

t.test(
  'messages may have a byte-order mark, line ends of Windows and none at the end',
  async (t) => {
    const { url } = await serve(t, ['--memory'])
    const child = spawn(process.execPath, [join(PACKAGE_ROOT, 'dist/bin.cjs'), 'mcp', '--url', url])
    t.teardown(() => child.kill('SIGKILL'))
    const ping = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })
    child.stdin.end(`\ufeff${[1, 2, 3].map(ping).join('\r\n')}`)
    let stdout = ''
    for await (const chunk of child.stdout) stdout += chunk
    t.strictSame(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
      [1, 2, 3],
    )
  },
)

t.test('mcp says which sandbox does not respond, and what it does not take', async (t) => {
  const { tool } = await stdioAgent(t, ['--url', 'http://127.0.0.1:9'])
  t.match(await tool('look'), {
    isError: true,
    text: /No sandbox responds at http:\/\/127\.0\.0\.1:9[\s\S]*Next: start the sandbox/,
  })
  t.match(await run(['mcp', 'now']), { code: 2, stderr: /unexpected argument "now" for mcp/ })
  t.match(await run(['mcp', '--url', 'nowhere']), { code: 2, stderr: /--url takes the URL/ })
})

t.test('run_sweep finds the bugs of the example, and says how to see them again', async (t) => {
  const cwd = join(t.testdir(), 'sweep')
  cpSync(join(PACKAGE_ROOT, 'examples/sweep'), cwd, { recursive: true })
  const { tool, client } = await stdioAgent(t, [], { env: NOBODY, cwd })
  t.ok((await client.listTools()).tools.some(({ name }) => name === 'run_sweep'))
  const { text } = await tool('run_sweep', {
    command: ['node', 'payouts.test.mjs'],
    clock: 'frozen',
    only: ['reset_after'],
    max_time: '50s',
  })
  t.match(text, `The report is in ${join(cwd, 'sweep-report')}\n`)
  const [, folder] = /--scenarios (\S+) --scenario/.exec(text) ?? []
  t.ok(readdirSync(join(cwd, folder!)).includes('sweep.json'), 'the folder to see it again exists')
  t.match(text, /paid_twice/)
  t.match(text, /see it again: payout-sandbox exec/)
  t.match(text, /\n\nNext: correct the first finding/)
  t.match(await tool('run_sweep', { command: ['node', '-e', 'process.exit(3)'] }), {
    isError: true,
    text: /the command fails without any fault/,
  })
})
