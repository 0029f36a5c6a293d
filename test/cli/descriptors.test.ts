import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createLog, start } from '../helper.ts'
import { call, PROGRAM } from './program.ts'

const MAX_MS = 10_000

/** Starts the built program with a limit on open files. */
async function limited(t: Test, most: number) {
  const line = `ulimit -n ${most}; exec "$0" "$@" start --memory --port 0 --json --log-level warn`
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env
  const child = spawn('sh', ['-c', line, ...PROGRAM], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [ready] = await once(child.stdout, 'data')
  const origin = new URL(JSON.parse(String(ready)).url).origin
  return { origin, child }
}

async function until(fits: () => boolean) {
  const end = performance.now() + MAX_MS
  while (!fits() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
}

const skip = process.platform === 'win32' && 'there is no ulimit'

t.test('receivers that hang take no descriptor of the port', { skip }, async (t) => {
  const { origin, child } = await limited(t, 256)
  const sockets = new Set<Socket>()
  const receiver = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).resume()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    receiver.close()
  })
  const { port } = receiver.address() as { port: number }
  const definition = {
    title: 'a hundred copies',
    webhooks: [{ when: { event: '*' }, then: { copies: 100 } }],
  }
  const webhook = { url: `http://127.0.0.1:${port}/`, webhook_secret: 'secret' }
  const answers: Promise<unknown>[] = []
  for (let i = 0; i < 6; i++) {
    const base = `${origin}/@c${i}`
    const put = await fetch(`${base}/__admin/scenario`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ definition }),
    })
    t.equal(put.status, 200)
    t.equal((await call(`${base}/v1/clientWebhook`, webhook)).status, 200)
    // Its answer comes when all attempts have ended.
    answers.push(
      call(`${base}/__admin/webhooks/trigger`, { event: 'webhook.test' }).catch(() => {}),
    )
    await until(() => sockets.size >= 64)
    t.equal((await call(`${origin}/__admin/health`)).status, 200, `with ${i + 1} clients`)
  }
  t.equal(sockets.size, 64)
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  await Promise.all(answers)
})

t.test('connections beyond the maximum are closed, and logged once', async (t) => {
  const log = createLog()
  const { app } = await start(t, { app: { maxConnections: 4 }, sandbox: { log } })
  const origin = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const dropped = new Set<Socket>()
  const sockets = Array.from({ length: 10 }, () => {
    const socket = connect(Number(origin.port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    return socket.on('error', () => {}).once('close', () => dropped.add(socket))
  })
  await until(() => dropped.size >= 6)
  t.equal(dropped.size, 6)
  t.match(log.lines, [/A connection was rejected because 4 connections are open/])
  for (const socket of sockets) socket.destroy()
  await until(() => dropped.size === 10)
  t.equal((await call(`${origin.origin}/__admin/health`)).status, 200, 'it answers again')
})
