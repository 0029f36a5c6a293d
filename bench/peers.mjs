// npm run bench:peers [-- --only json-server-0.17,prism] [-- --short]: compares the sandbox with other servers in one run.
// A complete run writes the tables and the picture of docs/performance.md; a partial run only prints them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, NoNode } from '../scripts/binary/node.mjs'
import { readOptions, selectedOf } from '../scripts/command-options.mjs'
import { installPackage } from '../scripts/install-package.mjs'
import * as children from './children.mjs'
import {
  goalsOf,
  MAX_START,
  SERVERS_HEAD,
  SIZES,
  serversOf,
  startGoalsOf,
} from './peers/figures.mjs'
import { plotOf } from './peers/plot.mjs'
import { LISTED, usersOf } from './peers/rows.mjs'
import { SERVERS, STARTED } from './peers/servers.mjs'
import { HEAD, summaryOf, tableOf, writeBetween } from './table.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..')
const LIMIT_MS = 15 * 60_000
const INSTALL_WITHIN_MS = 3 * 60_000
const BUSY_MS = 3_000
const CONNECTIONS = 10
// Creates per burst for a server that becomes slower with each stored row.
const MOST = 100
// The ids of the initial rows; rows of the load have other ids.
const SEEDED = /^00000000-/

const started = STARTED.servers.at(-1)
const names = [...SERVERS, started].map(({ name }) => name)
const { only, ...options } = readOptions(
  `Usage: npm run bench:peers [-- --only ${names.join(',')}] [-- --short]`,
  { only: { type: 'string' }, short: { type: 'boolean' } },
  (values) => ({ ...values, only: selectedOf(values.only, names) }),
)
const [us] = SERVERS
const servers = SERVERS.filter((server) => server === us || only.includes(server.name))
const startsOthers = only.includes(started.name)
const whole = !options.short && startsOthers && servers.length === SERVERS.length
const { starts, rounds, largeRounds, burstMs, createMs, warmUpMs } = options.short
  ? { starts: 1, rounds: 1, largeRounds: 1, burstMs: 200, createMs: 400, warmUpMs: 200 }
  : { starts: 5, rounds: 5, largeRounds: 3, burstMs: 600, createMs: 1_200, warmUpMs: 2_500 }

const begun = performance.now()
const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-peers-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
setTimeout(() => {
  console.error(`Not finished after ${LIMIT_MS / 60_000} minutes; nothing was written`)
  process.exit(1)
}, LIMIT_MS).unref()
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const logProgress = (text) =>
  console.error(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${text}`)

// ---- the servers

/** Installs each server in its own folder, so that none finds the packages of another one. */
function install({ name, packages, isPackage }) {
  const installed = join(folder, 'installed', name)
  mkdirSync(installed, { recursive: true })
  if (isPackage) return void installPackage(installed)
  const manifest = { private: true, dependencies: packages }
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', ...flags, '--prefix', installed], {
    cwd: installed,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: INSTALL_WITHIN_MS,
    shell: process.platform === 'win32',
  })
}

let opened = 0
const home = join(folder, 'home')
mkdirSync(home)

/** Starts a server with these rows. */
async function open(server, users, node) {
  const port = await children.freePort()
  const own = join(folder, `${server.name}-${++opened}`)
  mkdirSync(own)
  const args = server.args({
    installed: join(folder, 'installed', server.name),
    folder: own,
    port: String(port),
    adminPort: String(await children.freePort()),
    users,
  })
  const { child, ms } = await children.startServer(args, port, server.list, {
    ...{ node, cwd: own },
    others: { NODE_ENV: 'production', ...children.homeIs(home) },
  })
  return { ...server, child, port, ms, own }
}

async function check(server) {
  const list = await children.fetchText(server.port, server.list)
  const ids = server.idsOf(JSON.parse(list.text))
  if (ids.length !== LISTED) throw new Error(`${server.name} lists ${ids.length} users`)
  const one = await children.fetchText(server.port, server.read + ids[0])
  if (one.status !== 200 || !one.text.includes(ids[0])) {
    throw new Error(`${server.name} responds with ${one.status} for one user: ${one.text}`)
  }
  return { ...server, oneId: ids[0] }
}

async function openFilled(server, users) {
  const found = await open(server, users)
  if (server.fill) {
    const { method, path } = server.fill
    const status = await children.send(found.port, method, path, users)
    if (status !== 200)
      throw new Error(`${server.name} responded with ${status} to its initial rows`)
  }
  return check(found)
}

async function close({ child, own }) {
  await children.end(child)
  rmSync(own, { recursive: true, force: true })
}

// ---- measuring

const figures = { start: {}, memory: {}, read: {}, list: {}, create: {}, memoryLarge: {} }
const others = { start: {}, memory: {}, create: {} }
const note = (byName, { name }, value) => {
  byName[name] ??= []
  byName[name].push(value)
}

async function measureStarts(found, { start, memory }, node) {
  const users = usersOf(SIZES[0])
  for (let round = 0; round <= starts; round++) {
    for (const server of round % 2 ? found.toReversed() : found) {
      const one = await open(server, users, node)
      // The first round reads the files from disk, so it does not count.
      if (round > 0) {
        note(start, server, one.ms)
        note(memory, server, children.residentMb(one.child))
      }
      await close(one)
    }
    logProgress(`started each server, round ${round} of ${starts}`)
  }
}

/** Measures the starts on another Node. Returns why it could not; otherwise undefined. */
async function measureOthers() {
  try {
    const node = installNode(STARTED.node, root)
    await measureStarts(STARTED.servers, others, node)
    return undefined
  } catch (error) {
    if (!(error instanceof NoNode)) throw error
    console.error(error.message)
    return error.short
  }
}

let load

/** Responses per second of one burst. A server without a response in time counts as one response. */
async function rate({ name, port }, request, ms, most) {
  const job = { port, ms, most, connections: CONNECTIONS, reconnect: true, ...request }
  const { requests, ms: took } = await children.ask(load, job).catch((cause) => {
    throw new Error(`${name} failed under load`, { cause })
  })
  return (Math.max(requests, 1) / took) * 1_000
}

const readOf = (server) => ({ path: server.read + server.oneId })
const listOf = (server) => ({ path: server.list })
const createOf = (server) => ({ path: server.create, body: 'user' })

async function measure(byName, found, requestOf) {
  for (const server of found) await rate(server, requestOf(server), warmUpMs)
  for (let round = 0; round < rounds; round++) {
    for (const server of round % 2 ? found.toReversed() : found) {
      note(byName, server, await rate(server, requestOf(server), burstMs))
    }
  }
}

/** Deletes the rows of the last burst. */
async function shrink({ port }) {
  const rows = JSON.parse((await children.fetchText(port, '/users')).text)
  for (const { id } of rows) {
    if (!SEEDED.test(id)) await children.send(port, 'DELETE', `/users/${id}`)
  }
}

/** A burst of creates, and then a pause, so that background work does not slow down the next server. */
async function createBurst(server, few) {
  const slow = server.slows && few
  const found = await rate(server, createOf(server), createMs, slow ? MOST : undefined)
  if (slow) await shrink(server)
  await children.fetchText(server.port, server.list)
  await wait(100)
  return found
}

async function measureCreates(found, size) {
  figures.create[size] = {}
  const few = size === SIZES[0]
  // Shorter bursts warm up less, so there are more of them.
  for (const server of found) {
    for (let i = 0; i < (server.slows && few ? rounds : 1); i++) await createBurst(server, few)
  }
  for (let round = 0; round < (few ? rounds : largeRounds); round++) {
    for (const server of round % 2 ? found.toReversed() : found) {
      note(figures.create[size], server, await createBurst(server, few))
    }
  }
  logProgress(`created at ${size} rows`)
}

async function measureSize(size) {
  const users = usersOf(size)
  const found = []
  const few = size === SIZES[0]
  for (const server of servers) {
    if (few || server.keeps !== 'nothing') found.push(await openFilled(server, users))
  }
  if (few) {
    await measure(figures.read, found, readOf)
    logProgress('read one user')
    await measure(figures.list, found, listOf)
    logProgress('listed ten users')
  } else {
    for (const server of found) await rate(server, readOf(server), warmUpMs)
  }
  await measureCreates(found, size)
  if (size === SIZES.at(-1)) {
    for (const server of found) {
      note(figures.memoryLarge, server, children.residentMb(server.child))
    }
  }
  await Promise.all(found.map(close))
}

// ---- the page

/** The processor time that other programs use, per cent. */
async function busyShare() {
  const times = () => {
    const all = cpus().map((cpu) => cpu.times)
    const sum = (name) => all.reduce((total, time) => total + time[name], 0)
    const idle = sum('idle')
    return { idle, all: idle + sum('user') + sum('nice') + sum('sys') + sum('irq') }
  }
  const before = times()
  await wait(BUSY_MS)
  const after = times()
  const share = 1 - (after.idle - before.idle) / (after.all - before.all)
  return `${Math.round(share * 100)} %`
}

try {
  const busyBefore = await busyShare()
  for (const server of [...servers, ...(startsOthers ? STARTED.servers : [])]) {
    if (Object.keys(server.packages).length === 0 && !server.isPackage) continue
    install(server)
    logProgress(`installed ${server.title}`)
  }
  load = children.startHelper(join(here, 'load.mjs'))
  const hasRivals = servers.length > 1
  if (hasRivals) await measureStarts(servers, figures)
  const reason = startsOthers ? await measureOthers() : undefined
  if (hasRivals)
    for (const size of options.short ? SIZES.slice(0, 2) : SIZES) await measureSize(size)
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} processors.`
  const busy = `Other work used ${busyBefore} of them just before the run and ${await busyShare()} just after.`
  const on = ` on Node ${STARTED.node}`
  const goals = [
    ...goalsOf(figures, servers),
    ...(startsOthers
      ? startGoalsOf(others.start, STARTED.servers, { under: MAX_START.package, on, reason })
      : []),
  ]
  const lines = [
    ...(hasRivals ? serversOf(figures, servers) : []),
    ...(others.start[us.name] ? serversOf(others, STARTED.servers, on) : []),
  ]
  const text = [
    `${machine} ${busy}`,
    tableOf(HEAD, goals),
    summaryOf(goals),
    tableOf(SERVERS_HEAD, lines),
  ].join('\n\n')
  console.log(text)
  if (whole) {
    writeBetween(join(root, 'docs/performance.md'), 'peers', text)
    writeFileSync(join(root, 'docs/img/peers.svg'), plotOf(figures, servers))
  }
} finally {
  await children.endAll()
}
