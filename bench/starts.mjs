// How long a start takes: from this folder, from the installed package on each supported Node, and in a process that runs.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, NoNode, SUPPORTED_NODES } from '../scripts/binary/node.mjs'
import { installPackage } from '../scripts/install-package.mjs'
import * as children from './children.mjs'
import { MAX_START } from './peers/figures.mjs'
import { LISTED, usersOf } from './peers/rows.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..')
const WARM_UPS = 20
const WARM_STARTS = 21
const AT_ONCE = 200

// A server is a function: its arguments and a path that responds with 200, for the home folder of a user and a port.

/** The sandbox. Each start gets a new data file. */
const sandboxOf = (bin) => (home, port) => {
  const data = join(mkdtempSync(join(home, 'data-')), 'db.json')
  return { args: [bin, 'start', '--port', `${port}`, '--data', data], path: '/v1/users' }
}
function rawIn(folder) {
  const rows = join(folder, 'raw-rows.json')
  writeFileSync(rows, JSON.stringify(usersOf(LISTED)))
  const program = join(here, 'peers/programs/node-http.mjs')
  return (_, port) => ({ args: [program, `${port}`, rows], path: '/users' })
}
const bareFastify = (_, port) => ({
  args: [join(here, 'bare-one-route.mjs'), `${port}`],
  path: '/',
})

let folders = 0

/** The folders of a user who has never started anything. */
function newUser(folder) {
  const home = join(folder, `user-${++folders}`)
  mkdirSync(home)
  return home
}

/** Starts a server as this user. */
async function startAs(home, server, node) {
  const port = await children.freePort()
  const { args, path } = server(home, port)
  return children.startServer(args, port, path, { node, cwd: home, others: children.homeIs(home) })
}

async function end(child) {
  await children.end(child)
  if (process.platform !== 'win32' && child.exitCode !== 0)
    throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode ?? child.signalCode}`)
}

/** Starts servers in turn, in reversed order each round. Returns the times of each round, and a memory. */
async function inTurn(servers, { folder, rounds }) {
  const home = newUser(folder)
  const took = servers.map(() => [])
  const memory = []
  for (let round = 0; round <= rounds; round++) {
    const order = [...servers.keys()]
    for (const i of round % 2 ? order.reverse() : order) {
      const { child, ms } = await startAs(home, servers[i])
      // The first round reads the files from disk, so it does not count.
      if (round > 0) took[i].push(ms)
      if (i === 0) memory.push(children.residentMb(child))
      await children.end(child)
    }
  }
  return { took, memory }
}

/** Starts from this folder, which the Node of this run has built. */
export async function startsOfClone({ report, folder, rounds }) {
  const servers = [sandboxOf(join(root, 'dist/bin.cjs')), rawIn(folder), bareFastify]
  const { took, memory } = await inTurn(servers, { folder, rounds })
  const [ours, raw, bare] = took
  const over = (other) => ours.map((ms, round) => ms / other[round])
  report('Spawn to first 200 ÷ node:http', { under: MAX_START.clone, values: over(raw) })
  report('Spawn to first 200 ÷ one-route bare from node_modules', { under: 1, values: over(bare) })
  const how = { under: 62, unit: ' MB', digits: 0, values: memory }
  report('Resident memory at the first 200', how)
}

/** Ratios of a start to a node:http that is started just before or after. */
async function startsOnNode(node, { ours, raw, folder, rounds }) {
  const ratios = []
  for (let round = 0; round <= rounds; round++) {
    const home = newUser(folder)
    const took = new Map()
    for (const server of round % 2 ? [ours, raw] : [raw, ours]) {
      const { child, ms } = await startAs(home, server, node)
      took.set(server, ms)
      await (server === ours ? end : children.end)(child)
    }
    // The first round reads the files from disk, so it does not count.
    if (round > 0) ratios.push(took.get(ours) / took.get(raw))
  }
  return ratios
}

/** Starts from the installed package on each supported Node. */
export async function startsOfPackage({ report, folder, rounds }) {
  const { installed } = installPackage(mkdtempSync(join(folder, 'package-')))
  const ours = sandboxOf(join(installed, 'dist/bin.cjs'))
  const raw = rawIn(folder)
  for (const version of SUPPORTED_NODES) {
    const builder = `v${version}` === process.version ? ', which also built it' : ''
    let values
    let missing
    try {
      const node = installNode(version, root)
      values = await startsOnNode(node, { ours, raw, folder, rounds })
    } catch (error) {
      if (!(error instanceof NoNode)) throw error
      console.error(error.message)
      missing = error.short
    }
    const what = `Package on Node ${version}${builder}: start ÷ node:http`
    report(what, { under: MAX_START.package, values, missing })
  }
}

/** Sandboxes that a program starts in its own process. */
export async function startsInProcess({ report, rounds }) {
  const open = async () => {
    const child = children.startHelper(join(here, 'in-process.mjs'))
    await children.messageOf(child)
    return child
  }
  const warm = await open()
  await children.ask(warm, ['startAndClose', WARM_UPS])
  const took = await children.ask(warm, ['startAndClose', WARM_STARTS])
  await children.end(warm)
  report('startSandbox() and close() in a warm process', { under: 8, unit: ' ms', values: took })
  const memory = []
  for (let round = 0; round < rounds; round++) {
    const child = await open()
    const before = children.residentMb(child)
    const ports = await children.ask(child, ['startAtOnce', AT_ONCE])
    for (const port of ports) {
      const { status } = await children.fetchText(port, '/v1/users')
      if (status !== 200) throw new Error(`A sandbox of ${AT_ONCE} responded with ${status}`)
    }
    const after = children.residentMb(child)
    if (after !== undefined) memory.push((after - before) / AT_ONCE)
    await children.end(child)
  }
  const how = { under: 0.8, unit: ' MB', values: memory }
  report(`Each of ${AT_ONCE} sandboxes in one process, after a call`, how)
}
