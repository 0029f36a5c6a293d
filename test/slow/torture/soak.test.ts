import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { createCaller } from '../../cli/caller.ts'
import { ASHA, KABIR, ROHAN, ROHANS_ACCOUNT, TOKEN } from '../../helper.ts'
import { receiver, SECRET } from '../../receiver.ts'
import { figures, LONG, SEED, seeded } from './part.ts'

// After each block the world is reset, so that what is still held is held by mistake.
const BLOCKS = LONG ? 40 : 9
const BLOCK = LONG ? 25_000 : 1_000
// Caches and logs fill, and code is compiled, in the first of them.
const WARM_UP = LONG ? 5 : 4
// A few blocks give no steady line; a leak of whole requests shows in them all the same.
const MAX_BYTES = LONG ? 10 : 250
const CONNECTIONS = 10
// Of 1,000 requests, the number of payments (three webhooks each), and of those that create and delete a client.
const PAYMENTS = 20
const NEW_CLIENTS = 2
// Chance draws fewer payments than that in no run.
const MIN_SHARE = LONG ? 0.9 : 0.6
const PATIENCE_MS = 20_000

type Held = { heap: number; rss: number; handles: Record<string, number>; files: number }

async function held(child: ChildProcess): Promise<Held> {
  child.send('held')
  return (await once(child, 'message'))[0]
}

/** Growth by least squares, with the half of its 95 % interval. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]) {
  const n = points.length
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / n
  const [mx, my] = [mean(0), mean(1)]
  const sxx = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0)
  const slope = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / sxx
  const rest = points.reduce((sum, [x, y]) => sum + (y - my - slope * (x - mx)) ** 2, 0)
  return { slope, margin: 1.96 * Math.sqrt(rest / Math.max(n - 2, 1) / sxx) }
}

t.test('a process that answers for long holds no more than at first', async (t) => {
  const child = fork(
    join(PACKAGE_ROOT, 'test/slow/torture/soak-server.mjs'),
    [join(t.testdir({}), 'db.json')],
    {
      execArgv: ['--expose-gc'],
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 2, 2, 'ipc'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const [port] = (await once(child, 'message')) as [number]
  let webhooks = 0
  const hook = await receiver(t, (_, response) => {
    webhooks++
    hook.received.length = 0
    response.writeHead(200).end()
  })
  const chance = seeded(SEED)
  const wrong: string[] = []
  let sent = 0
  let serial = 0

  async function block(agent: Agent, requests: number) {
    const call = createCaller(port, agent)
    let left = requests
    /** One call, and what it must be answered with. */
    async function ask(wanted: number, method: string, path: string, body?: object, headers = {}) {
      const { status, text } = await call(method, path, body, headers)
      sent++
      left--
      if (status !== wanted) wrong.push(`${method} ${path}: ${status} ${text.slice(0, 200)}`)
    }
    const pick = async (n: number, dice: number) => {
      const user = { email: `soak.${n}@example.com`, mobile: `+9180${String(n).padStart(8, '0')}` }
      const payment = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT }
      if (dice < PAYMENTS) await ask(200, 'POST', '/v1/transaction', { ...payment, amount: 1 + n })
      else if (dice < 60) await ask(201, 'POST', '/v1/user', user, { 'idempotency-key': `${n}` })
      else if (dice < 70)
        await ask(201, 'POST', '/v1/bank', {
          user_id: KABIR,
          account_number: `8${String(n).padStart(11, '0')}`,
          ifsc_code: 'HDFC0000001',
        })
      else if (dice < 70 + NEW_CLIENTS) {
        await ask(200, 'GET', `/@soak-${n}/v1/users`)
        await ask(200, 'DELETE', `/__admin/clients/soak-${n}`)
      } else if (dice < 75) await ask(201, 'POST', '/__admin/snapshots', { name: `s${n % 5}` })
      else if (dice < 80)
        await ask(409, 'POST', '/__admin/requests/verify', { match: { path: '/x' }, exactly: 1 })
      else if (dice < 85) await ask(200, 'GET', '/__admin/webhooks/deliveries?limit=10')
      else if (dice < 86) await ask(200, 'POST', '/__admin/clock/advance', { by: '1s' })
      else if (dice < 150) await ask(404, 'GET', `/v1/user/${ROHANS_ACCOUNT}`)
      else if (dice < 200) await ask(400, 'POST', '/v1/user', { email: n })
      else if (dice < 250) await ask(401, 'GET', '/v1/client/profile')
      else if (dice < 300) await ask(404, 'GET', `/v1/nothing/${n}`)
      else if (dice < 400) await ask(200, 'GET', '/v1/transaction?page=2')
      else if (dice < 500) await ask(200, 'GET', '/v1/transaction/history', undefined, TOKEN)
      else if (dice < 600) await ask(200, 'GET', `/v1/kyc/${ASHA}`)
      else await ask(200, 'GET', `/v1/user/${ASHA}`)
    }
    await ask(200, 'POST', '/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (left > CONNECTIONS + 2) await pick(++serial, Math.floor(chance() * 1_000))
      }),
    )
    await ask(200, 'POST', '/__admin/clock/advance', { by: '1h' })
    await ask(200, 'POST', '/__admin/reset', { all: true })
    for (let n = 0; n < 5; n++) await call('DELETE', `/__admin/snapshots/s${n}`)
  }

  const points: [number, number][] = []
  const first = await held(child)
  let most = 0
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  for (let n = 1; n <= BLOCKS; n++) {
    await block(agent, BLOCK)
    const { heap, rss } = await held(child)
    most = Math.max(most, rss)
    if (n > WARM_UP) points.push([sent, heap])
  }
  t.same(wrong.slice(0, 5), [], 'every answer is the one there must be')
  t.ok(webhooks >= MIN_SHARE * 3 * (PAYMENTS / 1_000) * BLOCKS * BLOCK, `${webhooks} webhooks`)
  const { slope, margin } = slopeOf(points)
  // A busy machine makes the line unsteady: what counts is growth that the interval can't explain.
  t.ok(slope - margin <= MAX_BYTES, `${slope.toFixed(2)} ± ${margin.toFixed(2)} bytes a request`)

  agent.destroy()
  hook.server.closeAllConnections()
  const until = performance.now() + PATIENCE_MS
  let last = await held(child)
  const same = () =>
    JSON.stringify([last.handles, last.files]) === JSON.stringify([first.handles, first.files])
  // The process learns of closed connections in its own time.
  while (!same() && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    last = await held(child)
  }
  t.same([last.handles, last.files], [first.handles, first.files], 'handles are back to the start')
  child.send('stop')
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  figures({
    requests: sent,
    webhooks,
    'bytes of heap a request': `${slope.toFixed(2)} ± ${margin.toFixed(2)}`,
    'most resident MB': Math.round(most / 1024 / 1024),
    'handles left': Object.values(last.handles).reduce((a, b) => a + b, 0),
    'handles at first': Object.values(first.handles).reduce((a, b) => a + b, 0),
  })
})
