// A sandbox with a given number of rows, for the figures that need direct access to its store.
import { writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { buildApp } from '../src/app.ts'
import { readFixtures } from '../src/content/fixtures.ts'
import { readLibrary } from '../src/scenarios/read-library.ts'
import { answerMcp } from '../src/server.ts'
import { openSandbox } from '../src/world/sandbox.ts'
import type { World } from '../src/world/world.ts'

const [fixtures, file, scenarios] = process.argv.slice(2) as [string, string, string]
const log = {
  debug: () => {},
  info: () => {},
  warn: (message: string) => void writeSync(2, `${message}\n`),
  error: (message: string) => void writeSync(2, `${message}\n`),
}
const shipped = readLibrary([scenarios])
if (!shipped.ok) throw new Error('The shipped scenarios are broken')
const sandbox = await openSandbox({
  fixtures: readFixtures(fixtures),
  file,
  start: { randomSeed: 1, clock: 'real', clockSpeed: 1, scenario: 'default' },
  library: shipped.library,
  maxClients: 2_000,
  autoClients: true,
  webhooks: { allow: [], time: 'wall', retries: 'fast' },
  log,
})
const { store } = sandbox
const app = await buildApp(sandbox, {
  allowHost: [],
  adminToken: undefined,
  admin: true,
  cors: undefined,
  explain: false,
  answerMcp,
  log,
})
await app.listen({ port: 0, host: '127.0.0.1' })

const DAY_MS = 86_400_000
const LONG_LIFE = [
  { status: 'PENDING', after_ms: 0 },
  { status: 'PROCESSING', after_ms: DAY_MS },
  { status: 'SUCCESS', after_ms: 9 * DAY_MS },
  { status: 'FAILED', after_ms: 19 * DAY_MS, reason: 'beneficiary_bank_offline' },
] as const

/** Typical rules of each kind; none of them matches the calls of the bench. */
const manyRules = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    const sorts = [
      { account: { account_number: `8888${String(i).padStart(8, '0')}` } },
      { body: { amount: { gte: 1_000_000 + i } } },
      { body: { reference_id: { starts_with: `order-${i}-` } } },
      { headers: { 'x-test': `case-${i}` } },
    ]
    return {
      name: `rule ${i}`,
      when: { operation: 'createTransaction', ...sorts[i % sorts.length] },
      then: { respond: { status: 503 } },
    }
  })

const BATCH = 500
const turn = () => new Promise(setImmediate)
let made = 0

function createOne({ users, views }: World) {
  const n = ++made
  const mobile = `+9180${String(n).padStart(8, '0')}`
  return views.user(
    users.create({ email: `stored.${n}@example.com`, mobile, user_type: 'individual' }),
  )
}

/** The input of a payment in a world of the fixtures. */
function paymentIn(world: World) {
  const { bank_accounts, users } = world.tables.tables
  const { row: account } = bank_accounts
    .page('all', 'all', 0, 100)
    .find(({ row }) => row.bank_status === 'success')!
  const payer = users.page('all', 'all', 0, 2).find(({ id }) => id !== account.user_id)!
  return {
    from_user_id: payer.id,
    to_user_id: account.user_id,
    benif_bank_id: account.bank_id,
    amount: 1_500.5,
    currency_code: 'INR',
  } as const
}

async function fill(world: World, rows: number) {
  for (let left = rows; left > 0; left -= BATCH) {
    world.change(() => {
      for (let i = 0; i < Math.min(BATCH, left); i++) createOne(world)
    })
    await turn()
  }
}

/** The longest time between two turns of the event loop while `work` runs, with a change every few turns. */
async function longestStall(work: Promise<unknown>) {
  let working = true
  const finished = work.finally(() => {
    working = false
  })
  let longest = 0
  let last = performance.now()
  for (let i = 0; working; i++) {
    if (i % 10 === 0) createOne(sandbox.default)
    await turn()
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  await finished
  return longest
}

const JOBS = {
  async fill(rows: number) {
    await fill(sandbox.default, rows)
    await store.compact()
    return (app.server.address() as AddressInfo).port
  },
  /** The longest stall, ms: first without other work, then while the data file is rewritten. */
  async stall() {
    const quiet = await longestStall(new Promise((resolve) => setTimeout(resolve, 1_000)))
    const start = performance.now()
    const rewriting = await longestStall(store.compact())
    return { quiet, rewriting, took: performance.now() - start }
  },
  /** The time of resets, ms, each of a world with `rows` rows. */
  async reset({ rows, times }: { rows: number; times: number }) {
    const world = sandbox.byName('filled')
    const took: number[] = []
    for (let i = 0; i < times; i++) {
      await fill(world, rows)
      await turn()
      const start = performance.now()
      sandbox.reset([world])
      took.push(performance.now() - start)
    }
    return took
  },
  /** The time of forks of a world with `rows` rows, and of restoring a snapshot of it, ms. */
  async fork({ rows, times }: { rows: number; times: number }) {
    const world = sandbox.byName('forked')
    await fill(world, rows)
    world.snapshots.save('filled')
    const took = { fork: [] as number[], restore: [] as number[] }
    for (let i = 0; i < times; i++) {
      // The changes since the last fork are part of the next one.
      await fill(world, 100)
      await turn()
      let start = performance.now()
      sandbox.create({ name: `fork-${i}`, from: { client: 'forked' } })
      took.fork.push(performance.now() - start)
      start = performance.now()
      world.snapshots.restore('filled')
      took.restore.push(performance.now() - start)
    }
    return took
  },
  /** The growth of the heap for each client that is created and then not called, KB. */
  async named({ clients, times }: { clients: number; times: number }) {
    async function heapUsed() {
      await turn()
      for (let i = 0; i < 3; i++) gc!()
      return process.memoryUsage().heapUsed
    }
    const grown: number[] = []
    // The first round also compiles the code, and does not count.
    for (let round = 0; round <= times; round++) {
      const before = await heapUsed()
      for (let i = 0; i < clients; i++) sandbox.create({ name: `named-${i}` })
      grown.push(((await heapUsed()) - before) / 1_024 / clients)
      for (let i = 0; i < clients; i++) sandbox.delete(`named-${i}`)
    }
    return grown.slice(1)
  },
  /** Creates clients, each a fork of the fixtures with one additional row. */
  async clients(count: number) {
    for (let i = 0; i < count; i++) {
      createOne(sandbox.create({ name: `client-${i}`, from: { client: 'default' } }).world)
      if (i % 50 === 0) await turn()
    }
    return sandbox.clients.size
  },
  /** The processor time of one decision, µs, if none of the rules matches; the clock is frozen. */
  async decide(rules: number) {
    const world = sandbox.default
    const { definition } = await world.scenarios.check({ rules: manyRules(rules) })
    world.timeline.activate(() => world.scenarios.useDefinition(definition))
    world.changeClock(() => world.clock.freeze())
    const [account] = world.tables.tables.bank_accounts.page('all', 'all', 0, 1)
    const call = {
      operation: 'createTransaction',
      headers: { 'content-type': 'application/json' },
      body: { amount: 1_500.5, reference_id: 'bench-1', from_user_id: 'a', to_user_id: 'b' },
      account: account!.row,
    } as const
    const decideMany = (times: number) => {
      const before = process.cpuUsage()
      for (let i = 0; i < times; i++)
        if (world.scenarios.decide(call)) throw new Error('A rule of the bench matched')
      const { user, system } = process.cpuUsage(before)
      return (user + system) / times
    }
    decideMany(20_000)
    return { us: decideMany(50_000), port: (app.server.address() as AddressInfo).port }
  },
  /** The processor time of logging one call, µs, including garbage collection. */
  async note() {
    const { requests } = sandbox.default
    const body = JSON.stringify({ ...paymentIn(sandbox.default), reference_id: 'bench-1' })
    const answer = body.padEnd(900, ' ')
    const noteMany = (times: number) => {
      const before = process.cpuUsage()
      for (let i = 0; i < times; i++) {
        requests.add({
          at: i,
          wallAt: i,
          began: performance.now(),
          method: 'POST',
          url: `/v1/transaction?n=${i}`,
          operation: 'createTransaction',
          params: {},
          headers: { host: `localhost:${i}`, 'content-type': 'application/json' },
          headersSize: 100,
          body: `${body} ${i}`,
          status: 200,
          response: `${answer} ${i}`,
          isDecided: true,
          rule: undefined,
          stepsRule: undefined,
          fault: undefined,
          replayed: false,
        })
      }
      const { user, system } = process.cpuUsage(before)
      return (user + system) / times
    }
    noteMany(20_000)
    return { us: noteMany(50_000), port: (app.server.address() as AddressInfo).port }
  },
  /** Creates payments, each in a change of its own as by calls, and runs all their steps. */
  async settle(payments: number) {
    const world = sandbox.default
    world.changeClock(() => world.clock.freeze())
    const input = paymentIn(world)
    for (let left = payments; left > 0; left -= BATCH) {
      world.batch(() => {
        for (let i = 0; i < Math.min(BATCH, left); i++) world.payments.create(input)
      })
      await turn()
    }
    await world.scheduler.advanceBy(60_000)
    return true
  },
  /** The time of an advance over payments with three steps each, ms. */
  async advance(payments: number) {
    const world = sandbox.byName('advanced')
    world.changeClock(() => world.clock.freeze())
    const input = paymentIn(world)
    const took: number[] = []
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < payments; i++) world.payments.create(input, LONG_LIFE)
      const start = performance.now()
      const { fired, omitted } = await world.scheduler.advanceBy(30 * DAY_MS)
      took.push(performance.now() - start)
      const ran = fired.length + omitted
      if (ran < 3 * payments) throw new Error(`Only ${ran} timers ran`)
    }
    return took
  },
  /** Registers a webhook in a new world with a frozen clock. */
  async register(port: number) {
    const world = sandbox.byName('hooked')
    world.changeClock(() => world.clock.freeze())
    world.webhooks.create({ url: `http://127.0.0.1:${port}/`, webhook_secret: 'whsec_YmVuY2g=' })
    return true
  },
  /** Creates payments; their first events are pending deliveries. */
  async pend(count: number) {
    const world = sandbox.byName('hooked')
    const input = paymentIn(world)
    for (let left = count; left > 0; left -= BATCH) {
      world.change(() => {
        for (let i = 0; i < Math.min(BATCH, left); i++)
          world.payments.create(input, [{ status: 'PENDING', after_ms: 0 }])
      })
      await turn()
    }
    return true
  },
  /** Rewrites the data file, so that this does not happen during the next measurement. */
  async rest() {
    await store.compact()
    // A rewrite that was already running does not contain the last changes.
    await store.compact()
    return true
  },
  /** The time of all pending deliveries, ms. */
  async deliver(count: number) {
    const world = sandbox.byName('hooked')
    const start = performance.now()
    const { fired, omitted } = await world.scheduler.advanceTo(world.clock.now())
    const ms = performance.now() - start
    const ran = fired.length + omitted
    if (ran !== count) throw new Error(`${ran} attempts, not ${count}`)
    return ms
  },
}

process.on('message', async ([job, input]: [keyof typeof JOBS, never]) => {
  process.send!(await JOBS[job](input))
})
process.send!('open')
