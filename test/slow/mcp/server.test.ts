import t from 'tap'
import { listPages } from '../../../src/tools/mcp/resources.ts'
import { startAgent } from './agent.ts'

t.test('the resources are the contract, the schema, the assumptions and each page', async (t) => {
  const { client, put } = await startAgent(t)
  const { resources } = await client.listResources()
  t.ok(resources.length > 20)
  const read = async (uri: string) => {
    const { contents } = await client.readResource({ uri })
    return (contents[0] as { text: string }).text
  }
  for (const { uri, description } of resources) {
    t.ok((await read(uri)).length > 500, uri)
    t.match(description, /^[A-Z].+\.$/, uri)
  }
  t.ok(JSON.parse(await read('payout-sandbox://contract')).paths['/transaction'])
  const call = await read('payout-sandbox://contract/createTransaction')
  t.ok(call.length < 20_000)
  const { paths, components } = JSON.parse(call)
  t.strictSame(Object.keys(paths), ['/transaction'])
  t.strictSame(Object.keys(paths['/transaction']), ['post'])
  for (const [, name] of call.matchAll(/"#\/components\/schemas\/(\w+)"/g))
    t.ok(components.schemas[name!], name!)
  t.ok(JSON.parse(await read('payout-sandbox://scenario-schema')).properties.rules)
  t.match(await read('payout-sandbox://docs/webhooks.md'), /^# /)
  await put('/__admin/assumptions', { idempotency_key: 'honoured' })
  t.match(await read('payout-sandbox://assumptions'), /"reading": "honoured",\n\s+"source": "call"/)
  await t.rejects(read('payout-sandbox://docs/webhook.md'), /did you mean/)
  await t.rejects(read('payout-sandbox://docs/../package.json'), /There is no resource/)
})

t.test('the prompts name the tools to use', async (t) => {
  const { client } = await startAgent(t)
  const { prompts } = await client.listPrompts()
  const { tools } = await client.listTools()
  const names = [...tools.map(({ name }) => name), 'run_sweep']
  const pages = listPages().map(({ path }) => path)
  t.equal(prompts.length, 2)
  for (const { name } of prompts) {
    const given = { language: 'Python', test: 'pays once' }
    const { messages } = await client.getPrompt({ name, arguments: given })
    const { text } = messages[0]!.content as { text: string }
    t.match(text, name === 'integrate_payment' ? ' in Python' : 'The test: pays once')
    const named = [...text.matchAll(/\b[a-z]+_[a-z]+\b/g)].map(([word]) => word)
    const used = named.filter((word) => names.includes(word))
    t.ok(used.length >= 3, `${name} uses ${used}`)
    for (const [, uri] of text.matchAll(/payout-sandbox:\/\/(\S+?)(?=[\s,]| )/g))
      t.ok(pages.includes(uri!) || uri!.startsWith('contract/'), uri!)
  }
  await t.rejects(
    client.getPrompt({ name: 'find_out_why_a_test_failed' }),
    /needs the argument test/,
  )
  await t.rejects(client.getPrompt({ name: 'integrate' }), /There is no prompt "integrate"/)
})

t.test('the tools use the client of the base path, and create it at the first call', async (t) => {
  const { tool, sandbox } = await startAgent(t, { at: '/@agent' })
  t.notOk(sandbox.clients.has('agent'), 'to connect creates no client')
  const { text } = await tool('look')
  t.match(text, /Service: http:\S+\/@agent\/v1 \(the token is sbx_agent, unless/)
  const profile = { method: 'GET', path: '/v1/client/profile' }
  const headers = { authorization: 'Bearer sbx_agent' }
  t.match((await tool('call_service', { ...profile, headers })).text, /profile: 200\n/)
  t.match(text, 'Client: agent')
  await tool('advance_clock', { by: '1h' })
  t.equal(sandbox.default.clock.iso(), '2026-01-01T00:00:00.000Z')
})

t.test('a tool that does not exist, and an unknown argument, get a suggestion', async (t) => {
  const { tool } = await startAgent(t)
  await t.rejects(tool('lok'), /There is no tool "lok"; did you mean "look"/)
  t.match(await tool('advance_clock', { bye: '3s' }), {
    isError: true,
    text: /- bye is an unknown field; did you mean "?by"?/,
  })
  t.match(await tool('look', { at: 'this' }), { isError: true, text: /- at is an unknown field\n/ })
})
