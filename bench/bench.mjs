// npm run bench [-- --write]: measures the six figures of bench/README.md in one run, and with --write puts them there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '../dist/index.js'
import { call, freePort, load, medianOf, newUser, residentMb, startServer, stop } from './lib.mjs'
import { tableOf, writeBetween } from './table.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const ROUNDS = 9
// A burst of writes adds rows: ten of them are 20,000, the size that works well.
const READS = 10_000
const WRITES = 2_000
const rows = []

/** Adds a row: the median of the rounds, and the least and the most. */
function report(what, { most, least, unit = '', digits = 2 }, values) {
  const median = medianOf(values)
  const shown = (value) => value.toFixed(digits) + unit
  const goal = most === undefined ? `at least ${least}${unit}` : `at most ${most}${unit}`
  const isMet = most === undefined ? median >= least : median <= most
  const range = `${shown(Math.min(...values))} to ${shown(Math.max(...values))}`
  rows.push([what, goal, shown(median), range, isMet ? 'met' : 'missed'])
  console.error(rows.at(-1).join(' | '))
}

/** Repeats a measurement; the first one reads files and compiles code, so it does not count. */
async function rounds(measure, count = ROUNDS) {
  const values = []
  for (let i = 0; i <= count; i++) values.push(await measure(i))
  return values.slice(1)
}

let files = 0
const newFile = () => join(folder, String(++files), 'db.json')
async function startOurs(file = newFile(), ...options) {
  const port = await freePort()
  const words = [join(root, 'dist/bin.cjs'), 'start', '--port', port, '--data', file, ...options]
  return { file, ...(await startServer(words, port, '/v1/users')) }
}
async function startBare(path, ...seed) {
  const port = await freePort()
  return startServer([join(root, 'bench/bare.mjs'), port, ...seed], port, path)
}

/** How much of the bare server's processor time for a request ours takes: 1 is as fast, 0.5 takes twice as much. */
const ratios = (ours, other, request) =>
  rounds(async (i) => {
    const took = new Map()
    const burst = request.bodyOf ? WRITES : READS
    for (const server of i % 2 ? [ours, other] : [other, ours])
      took.set(server, (await load(server, request, burst)).us)
    return took.get(other) / took.get(ours)
  })

const userRequest = { path: '/v1/user', bodyOf: newUser }
const paymentRequest = (body) => ({ path: '/v1/transaction', bodyOf: () => body })

/** A payment between people of the fixtures. */
function paymentOf({ transactions }) {
  const paid = transactions.find((one) => one.benif_bank.bank_status === 'success')
  const { from_user_id, to_user_id, benif_bank_id } = paid
  return { from_user_id, to_user_id, benif_bank_id, amount: 1500.5 }
}

async function starts() {
  const memory = []
  const values = await rounds(async (i) => {
    const took = {}
    const run = {
      bare: async () => {
        const bare = await startBare('/')
        took.bare = bare.ms
        await stop(bare)
      },
      ours: async () => {
        const ours = await startOurs()
        took.ours = ours.ms
        memory.push(residentMb(ours))
        await stop(ours)
      },
    }
    for (const name of i % 2 ? ['bare', 'ours'] : ['ours', 'bare']) await run[name]()
    return took.ours / took.bare
  }, 15)
  report('1. Spawn to first 200 ÷ bare', { most: 0.9 }, values)
  report('1. Resident memory then', { most: 80, unit: ' MB', digits: 0 }, memory)
}

/** Reads, lists and creates; returns what a payment needs. */
async function requests() {
  const ours = await startOurs(newFile(), '--clock', 'frozen')
  const { data: users } = (await call(ours.port, '/v1/users')).body
  const transactions = (await call(ours.port, '/v1/transaction')).body.data
  const [{ client_id: clientId, user_id: id }] = users.users
  const seed = join(folder, 'seed.json')
  writeFileSync(seed, JSON.stringify({ users, transactions, clientId }))
  const bare = await startBare('/', seed)
  const read = { path: `/v1/user/${id}` }
  const list = { path: '/v1/transaction?limit=10' }
  for (const { path } of [read, list]) {
    const [one, other] = await Promise.all([ours, bare].map(({ port }) => call(port, path)))
    if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(`${path} differs`)
  }
  report('2. Read one ÷ bare', { least: 0.9 }, await ratios(ours, bare, read))
  report('2. List ten ÷ bare', { least: 0.7 }, await ratios(ours, bare, list))
  report('3. Create a user ÷ bare', { least: 0.5 }, await ratios(ours, bare, userRequest))
  const body = paymentOf(transactions)
  const pay = paymentRequest(body)
  report('3. POST /transaction ÷ bare', { least: 0.4 }, await ratios(ours, bare, pay))
  await stop(ours)
  for (const [what, request] of [
    ['Create a user', userRequest],
    ['POST /transaction', pay],
  ])
    report(`3. ${what} at 20,000 rows ÷ at 100`, { least: 0.9 }, await atSizes(request))
  return { bare, body }
}

/** The same warm process has 20,000 rows, and after a reset 100. */
const atSizes = (request) =>
  rounds(async () => {
    const server = await startOurs(newFile(), '--clock', 'frozen')
    const took = []
    for (const size of [20_000, 100]) {
      await call(server.port, '/__admin/reset', { method: 'POST', body: {} })
      await load(server, userRequest, size)
      took.push((await load(server, request, 1_000)).us)
    }
    await stop(server)
    return took[1] / took[0]
  }, 5)

async function library() {
  const startAndClose = async () => {
    const began = performance.now()
    await (await startSandbox()).close()
    return performance.now() - began
  }
  await rounds(startAndClose, 20)
  const goal = { most: 10, unit: ' ms' }
  report('4. startSandbox() and close() in a warm process', goal, await rounds(startAndClose, 21))
}

async function fiveThousandRows() {
  const first = await startOurs(newFile(), '--clock', 'frozen')
  await load(first, userRequest, 5_000)
  const { file } = first
  await stop(first, 'SIGKILL')
  const values = await rounds(async () => {
    const again = await startOurs(file, '--clock', 'frozen')
    await stop(again, 'SIGKILL')
    return again.ms
  })
  const goal = { most: 400, unit: ' ms', digits: 0 }
  report('5. Start after kill -9 on 5,000 rows', goal, values)
  const ours = await startOurs(file, '--clock', 'frozen')
  const forks = await rounds(async (i) => {
    const name = `fork-${i}`
    const body = { name, from: { client: 'default' } }
    const began = performance.now()
    const fork = await call(ours.port, '/__admin/clients', { method: 'POST', body })
    const user = await call(ours.port, `/@${name}/v1/user`, { method: 'POST', body: newUser() })
    if (fork.status !== 201 || user.status !== 201) throw new Error(JSON.stringify([fork, user]))
    return performance.now() - began
  })
  report('5. Fork and first write on 5,000 rows', { most: 10, unit: ' ms' }, forks)
  await stop(ours)
}

async function timeAndWebhooks({ bare, body }) {
  let got = 0
  let last
  const receiver = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      last = { headers: request.headers, body: Buffer.concat(chunks).toString() }
      response.writeHead(204).end(() => got++)
    })
  })
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address()
  const advance = (server, by) =>
    call(server.port, '/__admin/clock/advance', { method: 'POST', body: { by } })

  const values = await rounds(async () => {
    const ours = await startOurs(newFile(), '--clock', 'frozen')
    await load(ours, paymentRequest(body), 1_000)
    const began = performance.now()
    await advance(ours, '30d')
    const took = performance.now() - began
    await stop(ours)
    return took
  })
  const goal = { most: 200, unit: ' ms', digits: 0 }
  report('6. Advance by 30 days over 1,000 payments', goal, values)

  const sent = await rounds(async () => {
    const ours = await startOurs(newFile(), '--clock', 'frozen')
    const webhook = { url: `http://127.0.0.1:${port}/`, webhook_secret: 'whsec_YmVuY2g=' }
    await call(ours.port, '/v1/clientWebhook', { method: 'POST', body: webhook })
    await load(ours, paymentRequest(body), 1_000)
    got = 0
    const began = performance.now()
    await advance(ours, '30d')
    // Each payment has an event for each later status; all that come are counted.
    for (let before = -1; before !== got; await new Promise((resolve) => setTimeout(resolve, 50)))
      before = got
    const each = (performance.now() - began - 50) / got
    await stop(ours)
    const { host: _, connection: __, 'content-length': ___, ...headers } = last.headers
    const message = { count: got, port, headers, body: last.body }
    const { ms } = (await call(bare.port, '/send', { method: 'POST', body: message })).body
    return ms / message.count / each
  })
  report('6. A webhook ÷ that of a bare sender, by the clock', { least: 0.4 }, sent)
  receiver.close()
  receiver.closeAllConnections()
}

await starts()
const { bare, body } = await requests()
await library()
await fiveThousandRows()
await timeAndWebhooks({ bare, body })
await stop(bare)
const head = ['What', 'Goal', 'Median', 'Least to most', 'Outcome']
const text = `Node ${process.version}, ${process.platform} ${process.arch}.\n\n${tableOf(head, rows)}`
console.log(text)
if (process.argv.includes('--write')) writeBetween(join(root, 'bench/README.md'), 'figures', text)
