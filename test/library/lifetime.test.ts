import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { isUnderTestRunner } from '../../src/config/environment.ts'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { startSandbox } from '../../src/index.ts'
import { portOf } from '../listening.ts'

// A process that a sandbox keeps alive is killed after this long, real ms.
const MAX_MS = 30_000
const STAYS = 7
const ENDS = 0

/** Runs a script as a user of the built package does; no test runner is known to it but those of `env`. */
async function run(t: Test, script: string, env: Record<string, string> = {}, args = ['use.mjs']) {
  const dir = t.testdir()
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(PACKAGE_ROOT, join(dir, 'node_modules/payout-sandbox'))
  writeFileSync(join(dir, args.at(-1)!), `import { startSandbox } from 'payout-sandbox'\n${script}`)
  const without = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'TAP', 'NODE_TEST_CONTEXT']
  const child = spawn(
    'env',
    [...without.flatMap((name) => ['-u', name]), process.execPath, ...args],
    {
      cwd: dir,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAX_MS,
      killSignal: 'SIGKILL',
    },
  )
  const said = [text(child.stdout), text(child.stderr)]
  const [code] = await once(child, 'close')
  return { code, text: (await Promise.all(said)).join('') }
}

// The timer runs where something else keeps the process alive, and by itself keeps nothing alive.
const LOOK = `setTimeout(() => process.exit(${STAYS}), 500).unref()\n`

t.test('the process stays alive for a sandbox, but not under a test runner', async (t) => {
  const start = (options: string) => `const sandbox = await startSandbox(${options})\n${LOOK}`
  const table: [name: string, options: string, env: Record<string, string>, code: number][] = [
    ['no runner', '', {}, STAYS],
    ['vitest', '', { VITEST: 'true' }, ENDS],
    ['unref where there is no runner', '{ unref: true }', {}, ENDS],
    ['a server under vitest', '{ unref: false }', { VITEST: 'true' }, STAYS],
  ]
  for (const [name, options, env, code] of table)
    t.match(await run(t, start(options), env), { code, text: /^$/ }, name)
  for (const name of ['NODE_TEST_CONTEXT', 'VITEST', 'JEST_WORKER_ID', 'TAP']) {
    t.ok(isUnderTestRunner({ [name]: '1' }), name)
    t.notOk(isUnderTestRunner({ [name]: '' }), `${name} is empty`)
  }
  t.notOk(isUnderTestRunner({ NODE_ENV: 'test' }))
})

const PAYMENT = `{
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
  amount: 100,
}`
const POST = `
const post = (url, body) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then((answer) => answer.json())
`

t.test('a test that fails before close() does not keep node --test alive', async (t) => {
  // A receiver of another process, which never answers.
  const silent = createServer(() => {})
  const receiver = `http://127.0.0.1:${await portOf(t, silent)}/`
  const reached = once(silent, 'request')
  const { code, text } = await run(
    t,
    `
import assert from 'node:assert/strict'
import { test } from 'node:test'
${POST}
test('fails', async () => {
  const sandbox = await startSandbox({ clock: 'real', data: 'db.json', watch: true, logLevel: 'silent' })
  await post(sandbox.url + '/clientWebhook', { url: '${receiver}', webhook_secret: 'secret' })
  await post(sandbox.url + '/transaction', ${PAYMENT})
  await sandbox.admin.wait({ for: 'transaction', match: { transaction_status: 'pending' } })
  assert.fail('before close()')
})
test('fails too', async () => {
  const sandbox = await startSandbox({ clock: 'frozen', host: 'localhost', logLevel: 'silent' })
  for await (const event of sandbox.admin.events({ lastEventId: 'none' })) break
  await (await fetch(sandbox.url + '/users')).text()
  assert.fail('before close()')
})
`,
    {},
    ['--test', 'use.test.mjs'],
  )
  await reached
  t.equal(code, 1, text)
  t.match(text, /# fail 2\n/)
  const [, ms] = /# duration_ms ([\d.]+)/.exec(text)!
  t.ok(Number(ms) < 8_000, `${ms} ms: sooner than an attempt to the silent receiver ends`)
})

t.test('what is awaited of an unref’d sandbox comes all the same', async (t) => {
  const { code, text } = await run(
    t,
    `${POST}
const sandbox = await startSandbox({ unref: true, clock: 'real', clockSpeed: 10 })
const { admin, url } = sandbox
await admin.rules.push({ when: { operation: '*' }, then: { delay: '50ms' } })
const received = []
await post(url + '/clientWebhook', { url: sandbox.adminUrl + '/webhooks/inbox', webhook_secret: 's' })
await post(url + '/transaction', ${PAYMENT})
received.push('delayed answers')
await admin.wait({ for: 'transaction', match: { transaction_status: 'success' } })
received.push('ticking timers')
await admin.wait({ for: 'delivery', match: { event: 'transaction.success', status: 'delivered' } })
received.push('webhooks')
const next = admin.events()
const event = next.next()
setTimeout(() => fetch(url + '/users'), 100)
received.push((await event).value.kind)
await next.return()
await admin.wait({ for: 'request', match: { status: 599 }, timeout_ms: 200 }).catch(() => received.push('deadlines'))
await sandbox.close()
received.push('close')
console.log(received.join())
`,
  )
  t.match(text, /^delayed answers,ticking timers,webhooks,\w+,deadlines,close\n$/)
  t.equal(code, 0, 'and no await is left open (13)')
})

t.test('await using closes it, also where the test fails', async (t) => {
  let url = ''
  await t.rejects(
    (async () => {
      await using sandbox = await startSandbox({ logLevel: 'silent' })
      url = sandbox.url
      t.equal((await fetch(`${url}/users`)).status, 200)
      throw new Error('fails')
    })(),
    { message: 'fails' },
  )
  await t.rejects(fetch(`${url}/users`), { cause: { code: 'ECONNREFUSED' } })
})

t.test('unref takes true or false', async (t) => {
  for (const unref of ['yes', 1, null])
    await t.rejects(startSandbox({ unref } as never), {
      message: `unref takes true or false, not ${JSON.stringify(unref)}`,
    })
})

/** Asks for the users on a connection of its own, and answers when that is closed. */
async function hangs(port: number, host: string) {
  const socket = connect(port, host)
  const closed = once(socket.on('error', () => {}).resume(), 'close')
  socket.write('GET /v1/users HTTP/1.1\r\nhost: localhost\r\n\r\n')
  return closed
}

t.test('close is done at once with calls that hang', async (t) => {
  const sandbox = await startSandbox({ host: 'localhost', clock: 'frozen', logLevel: 'silent' })
  const { rules } = sandbox.admin
  const { rule_id } = await rules.push({
    when: { operation: 'listUsers' },
    then: { fault: 'hang' },
  })
  // One or both of 127.0.0.1 and ::1, as this machine has it.
  const hosts = (await lookup('localhost', { all: true })).map(({ address }) => address)
  const closed = hosts.map((host) => hangs(Number(new URL(sandbox.url).port), host))
  const hits = async () => (await rules.list()).rules.find((rule) => rule.rule_id === rule_id)?.hits
  while ((await hits()) !== hosts.length);
  const began = performance.now()
  await sandbox.close()
  const took = performance.now() - began
  t.ok(took < 2_000, `${took} ms`)
  await Promise.all(closed)
})
