// npm run bench [-- --only read,start] [-- --short] [-- --write]: measures the table of docs/performance.md in one run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { readOptions, selectedOf } from '../scripts/command-options.mjs'
import * as children from './children.mjs'
import { startsInProcess, startsOfClone, startsOfPackage } from './starts.mjs'
import {
  HEAD,
  lineOf,
  linesBetween,
  lineWithout,
  mergedLines,
  summaryOf,
  tableOf,
  writeBetween,
} from './table.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..')
const PARTS = [
  'start',
  'package',
  'process',
  'read',
  'list',
  'create',
  'pay',
  'large',
  'restart',
  'reset',
  'decide',
  'advance',
  'webhooks',
  'clients',
  'log',
]
const { only, ...options } = readOptions(
  `Usage: npm run bench [-- --only ${PARTS.join(',')}] [-- --short] [-- --write]`,
  { only: { type: 'string' }, short: { type: 'boolean' }, write: { type: 'boolean' } },
  (values) => {
    if (values.short && values.write) throw new Error('--write needs all rounds; leave out --short')
    return { ...values, only: selectedOf(values.only, PARTS) }
  },
)

// Many short bursts, because the garbage collector runs in some of them.
const [ROUNDS, LONG_ROUNDS, STARTS] = options.short ? [1, 1, 1] : [15, 5, 9]
const BURST_MS = 800
const WARM_UP_MS = 2_500
const CONNECTIONS = 10
// Long enough that the steps of its own payments run during most of it.
const PAY_BURST_MS = 6_000
// The last step of a payment runs after three seconds, and the idle store is then written to the data file.
const SETTLED_MS = 8_000
const FEW = 1_000
const FEW_TIMES = 40
const MANY = 1_000_000
const EVENTS = 10_000
const BACKLOG = 100_000
const RULES = 200
const ADVANCED = 10_000
const wants = (...parts) => parts.some((part) => only.includes(part))

const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-bench-'))
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const rows = []

/** Adds a row of the table. `over` and `under` are the goal, `values` the results of the rounds. */
function report(what, { values = [], missing, ...how }) {
  const found = values.filter((value) => value !== undefined)
  if (missing) rows.push(lineWithout(what, { ...how, reason: missing }))
  else if (found.length === 0) return
  else rows.push(lineOf(what, { ...how, values: found }))
  console.error(rows.at(-1).join(' | '))
}

// ---- throughput

let load

/** Requests per second of one burst. */
async function rate(server, request, ms, settleMs = 0) {
  const job = { ...request, port: server.port, ms, connections: CONNECTIONS }
  const { requests, ms: took } = await children.ask(load, job)
  await wait(settleMs)
  return requests / took
}

/** Runs bursts on both servers alternately and reverses the order each round. Returns the ratio of each round. */
async function ratios(ours, other, request, how = {}) {
  const { burstMs = BURST_MS, settleMs = 0, rounds = ROUNDS } = how
  for (const server of [other, ours]) await rate(server, request, WARM_UP_MS, settleMs)
  const found = []
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 ? [other, ours] : [ours, other]
    const results = new Map()
    for (const server of order) {
      const settle = server === ours ? settleMs : 0
      results.set(server, await rate(server, request, burstMs, settle))
    }
    found.push(results.get(ours) / results.get(other))
  }
  return found
}

const dataOf = async (port, path) => JSON.parse((await children.fetchText(port, path)).text).data

/** Starts the sandbox as a user does, with a new data file. */
async function startOurs(name, ...options) {
  const port = await children.freePort()
  const bin = join(root, 'dist/bin.cjs')
  const args = [bin, 'start', '--port', port, '--data', join(folder, name), ...options].map(String)
  return { port, ...(await children.startServer(args, port, '/v1/users')) }
}

async function throughput() {
  const ours = await startOurs('db.json')
  const { port } = ours
  const users = await dataOf(port, '/v1/users')
  const transactions = await dataOf(port, '/v1/transaction')
  const [{ client_id: clientId, user_id: userId }] = users.users
  const seedFile = join(folder, 'seed.json')
  writeFileSync(seedFile, JSON.stringify({ users, transactions, clientId }))
  const child = children.startHelper(join(here, 'bare.mjs'), [seedFile])
  const bare = { child, port: await children.messageOf(child) }

  for (const path of [`/v1/user/${userId}`, '/v1/users', '/v1/transaction']) {
    const [a, b] = await Promise.all([ours, bare].map((one) => children.fetchText(one.port, path)))
    if (a.text !== b.text) throw new Error(`Different bytes for ${path}:\n${a.text}\n${b.text}`)
  }
  if (wants('read')) {
    const values = await ratios(ours, bare, { path: `/v1/user/${userId}` })
    report('Read one user ÷ bare', { over: 0.9, values })
  }
  if (wants('list')) {
    const fifty = await ratios(ours, bare, { path: '/v1/users' })
    report('List 50 users ÷ bare', { over: 1, values: fifty })
    const ten = await ratios(ours, bare, { path: '/v1/transaction' })
    report('List 10 transactions ÷ bare', { over: 1, values: ten })
  }
  if (wants('create')) {
    const values = await ratios(ours, bare, { path: '/v1/user', body: 'user' })
    report('Create a user, journal on disk ÷ bare', { over: 0.7, values })
  }
  await children.end(ours.child)
  if (wants('pay')) {
    const paid = transactions.transactions.find((one) => one.benif_bank.bank_status === 'success')
    await pay(bare, { from: paid.from_user_id, to: paid.to_user_id, bank: paid.benif_bank_id })
  }
  await children.end(bare.child)
}

/** Uses a new sandbox for each figure, because remaining work of one would slow down the other. */
async function pay(bare, ids) {
  const request = { path: '/v1/transaction', body: 'payment', ids }
  // The clock is frozen, so this measures only the call and not its later steps.
  const frozen = await startOurs('frozen.json', '--clock', 'frozen')
  report('POST /transaction until its answer ÷ bare', {
    over: 0.5,
    values: await ratios(frozen, bare, request),
  })
  await children.end(frozen.child)
  const ticking = await startOurs('ticking.json')
  const how = { burstMs: PAY_BURST_MS, settleMs: SETTLED_MS, rounds: LONG_ROUNDS }
  report('POST /transaction, its later steps counted in ÷ bare', {
    over: 0.6,
    values: await ratios(ticking, bare, request, how),
  })
  await children.end(ticking.child)
}

// ---- large stores

// In the folder of the bundle, so that it finds its package.
const storeBundle = join(root, 'dist/bench-store.mjs')
// CommonJS libraries in the bundle load Node's modules with `require`.
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** Builds the helper process from the sources: a sandbox with direct access to its store. */
async function openStoreHelper(name) {
  await build({
    entryPoints: [join(here, 'store.ts')],
    outfile: storeBundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    banner: { js: REQUIRE },
  })
  const args = [join(root, 'fixtures'), join(folder, `${name}.json`), join(root, 'scenarios')]
  const child = children.startHelper(storeBundle, args, [
    '--max-old-space-size=4096',
    '--expose-gc',
  ])
  await children.messageOf(child)
  return child
}

async function large() {
  const small = await openStoreHelper('small')
  const big = await openStoreHelper('big')
  const few = { child: small, port: await children.ask(small, ['fill', FEW]) }
  const many = { child: big, port: await children.ask(big, ['fill', MANY]) }
  const request = { path: '/v1/user', body: 'user' }
  report('Create at 1,000,000 stored rows ÷ at 1,000', {
    over: 0.9,
    values: await ratios(many, few, request),
  })
  const stalls = []
  for (let i = 0; i < 3; i++) stalls.push(await children.ask(big, ['stall']))
  report('Longest stall while the document of 1,000,000 rows is rewritten', {
    under: 50,
    unit: ' ms',
    digits: 0,
    values: stalls.map(({ rewriting }) => rewriting),
  })
  await Promise.all([children.end(small), children.end(big)])
}

/** Starts on the files of settled payments. Returns the times and the memory. */
async function startsOnPayments() {
  const took = []
  const memory = []
  // The first start reads the files from disk, so it does not count.
  for (let round = 0; round <= LONG_ROUNDS; round++) {
    const { child, ms } = await startOurs('settled.json')
    if (round > 0) {
      took.push(ms)
      memory.push(children.residentMb(child))
    }
    await children.kill(child)
  }
  return { took, memory }
}

async function restart() {
  const reportOn = async (where) => {
    const { took, memory } = await startsOnPayments()
    const what = `Spawn to first 200 on 300,000 settled payments, ${where}`
    report(what, { under: 1_500, unit: ' ms', digits: 0, values: took })
    report(`${what}: resident memory`, { under: 600, unit: ' MB', digits: 0, values: memory })
  }
  const store = await openStoreHelper('settled')
  await children.ask(store, ['settle', 200_000])
  await children.ask(store, ['rest'])
  await children.ask(store, ['settle', 100_000])
  await children.kill(store)
  await reportOn('a third of them in the journal')
  const again = await openStoreHelper('settled')
  await children.ask(again, ['rest'])
  await children.kill(again)
  await reportOn('all in the document')
}

async function reset() {
  const helper = await openStoreHelper('reset')
  const values = await children.ask(helper, ['reset', { rows: 100_000, times: 3 }])
  report('Reset of a world of 100,000 rows', { under: 5, unit: ' ms', values })
  await children.end(helper)
}

// ---- clients

async function clients() {
  const helper = await openStoreHelper('forks')
  const { fork, restore } = await children.ask(helper, ['fork', { rows: 100_000, times: 21 }])
  report('Fork of a client of 100,000 rows', { under: 1, unit: ' ms', values: fork })
  report('Restore of a snapshot of 100,000 rows', { under: 10, unit: ' ms', values: restore })
  await children.end(helper)
  const many = await openStoreHelper('clients')
  await children.ask(many, ['clients', 1_000])
  report('Resident memory with 1,000 clients forked from the fixtures', {
    under: 140,
    unit: ' MB',
    digits: 0,
    values: [children.residentMb(many)],
  })
  await children.end(many)
  const named = await openStoreHelper('named')
  report('Heap of a client that is only named', {
    under: 6,
    unit: ' KB',
    digits: 1,
    values: await children.ask(named, ['named', { clients: 1_000, times: 5 }]),
  })
  await children.end(named)
}

// ---- scenarios and time

/** Measures the cost of one operation in a helper process, as a share of a whole payment in the same process. */
async function shareOfPayment(name, job) {
  const helper = await openStoreHelper(name)
  const { port } = await children.ask(helper, job)
  const transactions = await dataOf(port, '/v1/transaction')
  const paid = transactions.transactions.find((one) => one.benif_bank.bank_status === 'success')
  const ids = { from: paid.from_user_id, to: paid.to_user_id, bank: paid.benif_bank_id }
  const request = { path: '/v1/transaction', body: 'payment', ids }
  const server = { child: helper, port }
  await rate(server, request, WARM_UP_MS)
  const values = []
  for (let round = 0; round < LONG_ROUNDS; round++) {
    const { us } = await children.ask(helper, job)
    values.push((us / 1e3) * (await rate(server, request, BURST_MS)) * 100)
  }
  return { helper, port, values }
}

async function decide() {
  const { helper, values } = await shareOfPayment('decide', ['decide', RULES])
  report(`Deciding against ${RULES} rules, of POST /transaction`, { under: 5, unit: ' %', values })
  await children.end(helper)
}

async function log() {
  const { helper, port, values } = await shareOfPayment('log', ['note'])
  report('Noting in the request log, of POST /transaction', { under: 10, unit: ' %', values })
  const match = { operation: 'createTransaction', body: { amount: { gt: 1e6 } } }
  const took = []
  for (let i = 0; i < 11; i++) {
    const start = performance.now()
    const status = await children.post(port, '/__admin/requests/verify', { match, exactly: 1 })
    if (status !== 409) throw new Error(`verify responded with ${status}`)
    if (i > 0) took.push(performance.now() - start)
  }
  report('Verify over a full request log, with its nearest misses', {
    under: 20,
    unit: ' ms',
    values: took,
  })
  await children.end(helper)
}

async function advance() {
  const helper = await openStoreHelper('advance')
  const values = await children.ask(helper, ['advance', ADVANCED])
  report('Advance by 30 days over 10,000 payments of three steps', {
    under: 1_000,
    unit: ' ms',
    digits: 0,
    values,
  })
  await children.end(helper)
}

// ---- webhooks

async function webhooks() {
  const receiver = children.startHelper(join(here, 'receiver.mjs'))
  const port = await children.messageOf(receiver)
  const sender = await openStoreHelper('sender')
  await children.ask(sender, ['register', port])
  /** The time of one delivery, ms, if `count` deliveries are pending. */
  const deliver = async (count, rests = true) => {
    await children.ask(sender, ['pend', count])
    if (rests) await children.ask(sender, ['rest'])
    return (await children.ask(sender, ['deliver', count])) / count
  }
  await deliver(EVENTS)
  const bare = children.startHelper(join(here, 'bare-sender.mjs'))
  await children.messageOf(bare)
  const message = { port, ...(await children.ask(receiver, 'last')) }
  const post = async () => (await children.ask(bare, { ...message, count: EVENTS })).ms / EVENTS
  await post()

  const rates = []
  for (let round = 0; round < ROUNDS; round++) rates.push((await post()) / (await deliver(EVENTS)))
  report(`Deliver ${EVENTS.toLocaleString('en')} webhooks ÷ bare node:http, by the clock`, {
    over: 0.65,
    values: rates,
  })
  const values = []
  for (let round = 0; round < 3; round++) {
    const many = await deliver(BACKLOG)
    // The mean, like the other figure: the garbage collector runs now and then in both.
    let few = 0
    for (let i = 0; i < FEW_TIMES; i++) few += (await deliver(FEW, false)) / FEW_TIMES
    values.push(many / few)
  }
  report('A delivery of a backlog of 100,000 ÷ one of 1,000', { under: 1.1, values })
  await Promise.all([receiver, sender, bare].map(children.end))
}

// ---- the table

/** Writes the measured rows into the page. If only some parts were measured, the other rows do not change. */
function write() {
  const page = join(root, 'docs/performance.md')
  const note = `Node ${process.version}, ${process.platform} ${process.arch}.`
  const isWhole = only.length === PARTS.length
  const lines = isWhole ? rows : mergedLines(linesBetween(page, 'table'), rows)
  writeBetween(page, 'table', `${note}\n\n${tableOf(HEAD, lines)}\n\n${summaryOf(lines)}`)
}

try {
  load = children.startHelper(join(here, 'load.mjs'))
  if (wants('start')) await startsOfClone({ report, folder, rounds: STARTS })
  if (wants('package')) await startsOfPackage({ report, folder, rounds: LONG_ROUNDS })
  if (wants('process')) await startsInProcess({ report, rounds: LONG_ROUNDS })
  if (wants('read', 'list', 'create', 'pay')) await throughput()
  if (wants('reset')) await reset()
  if (wants('decide')) await decide()
  if (wants('log')) await log()
  if (wants('advance')) await advance()
  if (wants('large')) await large()
  if (wants('restart')) await restart()
  if (wants('clients')) await clients()
  if (wants('webhooks')) await webhooks()
  console.log(`${tableOf(HEAD, rows)}\n\n${summaryOf(rows)}`)
  if (options.write) write()
} finally {
  await children.endAll()
  rmSync(storeBundle, { force: true })
  rmSync(folder, { recursive: true, force: true })
}
