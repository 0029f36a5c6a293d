// npm run bench [-- --quick | --write]: measures the figures of bench/README.md in one run. --write puts them there; --quick only
// shows that all parts run.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { startSandbox } from '../dist/index.js'
import { root, temporaryFolder } from '../scripts/run.mjs'
import * as lib from './lib.mjs'

const { call, freePort, load, newUser, processorTimeOf, startServer, stop } = lib
const { quick, publish } = lib.readOptions()
const folder = temporaryFolder('bench')
const ROUNDS = 9
const READS = quick ? 500 : 10_000
const WRITES = quick ? 200 : 2_000
const rows = []

/** Adds a row: the median of the rounds, and the least and the most. */
function report(what, means, { most, least, unit = '', digits = 2 }, values) {
  if (!values.every(Number.isFinite)) throw new Error(`${what}: ${values.join()}`)
  const shown = (value) => value.toFixed(digits) + unit
  const goal = most === undefined ? `≥ ${least}${unit}` : `≤ ${most}${unit}`
  const range = `${shown(Math.min(...values))} to ${shown(Math.max(...values))}`
  rows.push([what, means, goal, shown(lib.medianOf(values)), range])
  console.error([what, ...rows.at(-1).slice(2)].join(' | '))
}

/** Repeats a measurement; the first one reads files and compiles code, so it does not count. */
async function rounds(measure, count = ROUNDS) {
  if (quick) return [await measure(0)]
  const values = []
  for (let i = 0; i <= count; i++) values.push(await measure(i))
  return values.slice(1)
}

let files = 0
const newFile = () => join(folder, String(++files), 'db.json')
async function startOurs({ file = newFile(), clock = 'frozen', scenario = 'default' } = {}) {
  const port = await freePort()
  const words = [join(root, 'dist/bin.cjs'), 'start', '--port', port, '--data', file]
  words.push('--clock', clock, '--scenario', scenario)
  return { file, ...(await startServer(words, port, '/v1/users')) }
}
async function startBare(...seed) {
  const port = await freePort()
  return startServer([join(root, 'bench/bare.mjs'), port, ...seed], port, '/')
}

const post = (server, path, body) => call(server.port, path, { method: 'POST', body })
const advance = (server, by) => post(server, '/__admin/clock/advance', { by })
const payWith = (body) => ({ path: '/v1/transaction', bodyOf: () => body })

/** How much of the bare server's processor time for a request ours takes: 1 is as fast, 0.5 takes twice as much. */
const ratios = (ours, bare, request) =>
  rounds(async (i) => {
    const took = new Map()
    const burst = request.bodyOf ? WRITES : READS
    for (const server of i % 2 ? [ours, bare] : [bare, ours])
      took.set(server, (await load(server, request, burst)).us)
    return took.get(bare) / took.get(ours)
  })

async function starts() {
  const memory = []
  const ours = () => startOurs({ clock: 'real' })
  const values = await rounds(async (i) => {
    const took = new Map()
    for (const open of i % 2 ? [startBare, ours] : [ours, startBare]) {
      const server = await open()
      took.set(open, server.ms)
      if (open === ours) memory.push(lib.residentMb(server))
      await stop(server)
    }
    return took.get(ours) / took.get(startBare)
  }, 15)
  const wait = 'A test that starts its own sandbox waits as long as for an empty Fastify server'
  report('Start to the first 200 ÷ bare', wait, { most: 1 }, values)
  const goal = { most: 72, unit: ' MB', digits: 0 }
  report('Memory after the start', 'Room to leave in a container', goal, memory)
}

/** Reads, lists and creates; returns what a payment needs. */
async function requests() {
  const ours = await startOurs()
  const users = (await call(ours.port, '/v1/users')).body.data
  const transactions = (await call(ours.port, '/v1/transaction')).body.data
  const [{ client_id: clientId, user_id: id }] = users.users
  const seed = join(folder, 'seed.json')
  writeFileSync(seed, JSON.stringify({ users, transactions, clientId }))
  const bare = await startBare(seed)
  const read = { path: `/v1/user/${id}` }
  const list = { path: '/v1/transaction?limit=10' }
  for (const { path } of [read, list]) {
    const [one, other] = await Promise.all([ours, bare].map(({ port }) => call(port, path)))
    if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(`${path} differs`)
  }
  // A payment between people of the fixtures.
  const paid = transactions.transactions.find((one) => one.benif_bank.bank_status === 'success')
  const { from_user_id, to_user_id, benif_bank_id } = paid
  const pay = payWith({ from_user_id, to_user_id, benif_bank_id, amount: 1500.5 })
  for (const [what, means, least, request] of [
    ['Read one', 'Polling a user or payment by its id', 0.75, read],
    ['List ten', 'Reading a page of payments', 0.6, list],
    ['Create a user', 'Making test data; on disk before the response', 0.55, lib.create],
    ['Create a payment', 'As above, with what happens to the payment later', 0.3, pay],
  ])
    report(`${what} ÷ bare`, means, { least }, await ratios(ours, bare, request))
  await stop(ours)
  return { bare, pay }
}

async function library() {
  const startAndClose = async () => {
    const began = performance.now()
    await (await startSandbox()).close()
    return performance.now() - began
  }
  await rounds(startAndClose, 20)
  const means = 'What a sandbox of its own adds to a test'
  const values = await rounds(startAndClose, 21)
  report('`startSandbox()` and `close()`', means, { most: 5, unit: ' ms' }, values)
}

async function fiveThousandRows() {
  const first = await startOurs()
  await load(first, lib.create, 5_000)
  const { file } = first
  await stop(first, 'SIGKILL')
  const values = await rounds(async () => {
    const again = await startOurs({ file })
    await stop(again, 'SIGKILL')
    return again.ms
  })
  const goal = { most: 350, unit: ' ms', digits: 0 }
  report('Start after `kill -9`, 5,000 rows', 'Going on after a crash', goal, values)
  const ours = await startOurs({ file })
  const forks = await rounds(async (i) => {
    const name = `fork-${i}`
    const began = performance.now()
    await post(ours, '/__admin/clients', { name, from: { client: 'default' } })
    await post(ours, `/@${name}/v1/user`, newUser())
    return performance.now() - began
  })
  const means = 'What a test waits for a copy of your prepared data'
  report('Fork and first write, 5,000 rows', means, { most: 15, unit: ' ms' }, forks)
  await stop(ours)
}

async function time(pay) {
  const month = await rounds(async () => {
    const ours = await startOurs()
    await load(ours, pay, 1_000)
    const began = performance.now()
    await advance(ours, '30d')
    const took = performance.now() - began
    await stop(ours)
    return took
  })
  const means = 'What a test waits until all payments have ended'
  const goal = { most: 150, unit: ' ms', digits: 0 }
  report('Advance by 30 days, 1,000 payments', means, goal, month)

  const counts = {}
  const by = quick ? '1h' : '1d'
  const day = await rounds(async () => {
    const ours = await startOurs({ scenario: 'live-demo' })
    const count = async (path) => (await call(ours.port, `/__admin/${path}?limit=1`)).body.total
    const stored = await count('transactions')
    const seconds = (await processorTimeOf(ours, () => advance(ours, by))) / 1e3
    counts.payments = (await count('transactions')) - stored
    counts.deliveries = await count('webhooks/deliveries')
    await stop(ours)
    return seconds
  }, 3)
  if (!counts.payments || !counts.deliveries) throw new Error('live-demo made nothing')
  const { payments, deliveries } = counts
  const what = `${by} of \`live-demo\`: ${payments} payments, ${deliveries} webhooks`
  report(what, 'Processor time of a day in the demo', { most: 5, unit: ' s', digits: 1 }, day)
}

async function webhooks({ bare, pay }) {
  const got = []
  const receiver = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(204).end()
    })
  })
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address()
  const ours = await startOurs()
  const sent = await rounds(async () => {
    await post(ours, '/__admin/reset', {})
    const webhook = { url: `http://127.0.0.1:${port}/`, webhook_secret: 'whsec_YmVuY2g=' }
    await post(ours, '/v1/clientWebhook', webhook)
    await load(ours, pay, 1_000)
    got.length = 0
    const took = await processorTimeOf(ours, async () => {
      await advance(ours, '30d')
      // Each payment has an event for each later status; all that come are counted.
      for (let n = -1; n !== got.length; await new Promise((resolve) => setTimeout(resolve, 50)))
        n = got.length
    })
    const { host: _, connection: __, 'content-length': ___, ...headers } = got[0].headers
    const sent = { count: got.length, port, headers, body: got[0].body }
    return (await processorTimeOf(bare, () => post(bare, '/send', sent))) / took
  })
  const means = 'How fast your receiver gets the events of many payments'
  report('Send a webhook ÷ bare sender', means, { least: 0.4 }, sent)
  await stop(ours)
  receiver.close()
  receiver.closeAllConnections()
}

await starts()
const { bare, pay } = await requests()
await library()
await fiveThousandRows()
await time(pay)
await webhooks({ bare, pay })
await stop(bare)
publish('figures', ['Figure', 'What it means to you', 'Goal', 'Median', 'Least to most'], rows)
