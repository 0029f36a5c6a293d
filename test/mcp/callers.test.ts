import t, { type Test } from 'tap'
import { open } from '../../src/admin/caller.ts'
import { type StartOptions, start, TOKEN } from '../helper.ts'
import { manualTime } from '../manual-time.ts'
import { connectionsOf, slowTimers, until } from './agent.ts'

/** A sandbox that listens, and callers that each send one message on a connection of their own. */
async function served(t: Test, options?: StartOptions) {
  const box = await start(t, options)
  const origin = await box.app.listen({ port: 0, host: '127.0.0.1' })
  function send(body: unknown, headers: Record<string, string> = {}) {
    const caller = new AbortController()
    t.teardown(() => caller.abort())
    async function answer() {
      const { signal } = caller
      const all = { 'content-type': 'application/json', ...headers }
      const options = { method: 'POST', headers: all, signal }
      const response = await open(new URL(`${origin}/__admin/mcp`), options, JSON.stringify(body))
      const text = Buffer.concat(await response.toArray()).toString()
      return { status: response.statusCode, headers: response.headers, text }
    }
    const sent = answer()
    sent.catch(() => {})
    return { sent, hangUp: () => caller.abort() }
  }
  return { ...box, send, connections: connectionsOf(box.app.server) }
}

const message = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const toolCall = (name: string, args: object = {}) =>
  message('tools/call', { name, arguments: args })
const WAIT = toolCall('wait_for', { for: 'request', timeout_ms: 50_000 })

// The protocol since 2026 has this envelope in place of a handshake.
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const modern = (call: ReturnType<typeof toolCall>) => ({
  body: { ...call, params: { ...call.params, _meta: META } },
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': (call.params as { name: string }).name,
  },
})

t.test('a wait of an agent takes one connection, and ends when its caller hangs up', async (t) => {
  const { send, sandbox, connections } = await served(t)
  const { feed } = sandbox.default
  for (const { body, headers } of [{ body: WAIT, headers: {} }, modern(WAIT)]) {
    const { hangUp } = send(body, headers)
    await until(() => feed.isWanted)
    t.equal(connections.size, 1)
    hangUp()
    await until(() => !feed.isWanted)
  }
  t.pass('nobody watches any more')
})

t.test('an advance of an agent ends when its caller hangs up', async (t) => {
  const { send, connections, sandbox } = await served(t)
  const timers = slowTimers(sandbox.default)
  const { hangUp } = send(toolCall('advance_clock', { by: '9d' }))
  await timers.running()
  hangUp()
  await until(() => connections.size === 0)
  t.equal(await timers.end(), '2026-01-01T00:00:01.000Z')
})

t.test('a call of the service that waits ends when its caller hangs up', async (t) => {
  const time = manualTime()
  const { send, get, post } = await served(t, { sandbox: { runtime: time.runtime } })
  const { total } = (await get('/__admin/users')).body
  await post('/__admin/rules', { when: { operation: 'createUser' }, then: { delay: '30s' } })
  const body = { email: 'gone@example.com', mobile: '+919876500001' }
  const { hangUp } = send(toolCall('call_service', { method: 'POST', path: '/v1/user', body }))
  await time.waiting()
  hangUp()
  await until(() => time.left().length === 0)
  t.equal((await get('/__admin/users')).body.total, total, 'it is not carried out')
})

t.test('the 17th tool gets 429, and its place is free when a caller hangs up', async (t) => {
  const { send, get, sandbox } = await served(t)
  const callers = Array.from({ length: 16 }, () => send(WAIT))
  await until(() => sandbox.default.feed.isWanted)
  const look = () => send(toolCall('look')).sent
  await until(async () => (await look()).status === 429)
  const refused = await look()
  t.equal(refused.headers['retry-after'], '1')
  t.match(JSON.parse(refused.text), {
    status: false,
    code: 429,
    error: 'server_busy',
    message: /^The sandbox is running 16 tools of agents already\. .+ send the call again/,
  })
  t.equal((await send(message('tools/list')).sent).status, 200, 'only tools count')
  t.equal((await get('/__admin/health')).status, 200)
  callers[0]!.hangUp()
  await until(async () => (await look()).status === 200)
  for (const { hangUp } of callers) hangUp()
  await until(() => !sandbox.default.feed.isWanted)
})

t.test('a batch is one message', async (t) => {
  const { send, sandbox } = await served(t)
  const two = await send([WAIT, WAIT]).sent
  t.equal(two.status, 400)
  t.strictSame(JSON.parse(two.text), {
    jsonrpc: '2.0',
    error: {
      code: -32600,
      message: 'The body is a batch of 2 messages. Send each of them in a POST of its own.',
    },
    id: null,
  })
  t.notOk(sandbox.default.feed.isWanted, 'none of them was run')
  const one = await send([message('tools/list')]).sent
  t.equal(one.status, 200)
  t.match(one.text, /"name":"look"/)
})

t.test('call_service shows each broken response as such', async (t) => {
  const { send, post } = await served(t)
  const list = { method: 'GET', path: '/v1/users', headers: TOKEN }
  for (const fault of ['reset', 'empty', 'truncate']) {
    const rule = { when: { operation: 'listUsers' }, times: 1, then: { fault, at: 'after' } }
    await post('/__admin/rules', rule)
    const { text } = await send(toolCall('call_service', list)).sent
    t.match(text, /GET \/v1\/users: no response \(/, fault)
    // The log has a truncated response as a sent one.
    if (fault !== 'truncate') t.match(text, `fault ${fault}.`)
  }
})
