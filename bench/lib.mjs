// What the benches share: their options and tables, servers as child processes, and load on them.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../scripts/run.mjs'
import { tableOf, writeBetween } from './table.mjs'

/** Reads --quick and --write. `publish` prints a table, and with --write puts it into bench/README.md. */
export function readOptions() {
  const options = { quick: { type: 'boolean' }, write: { type: 'boolean' } }
  const { quick = false, write } = parseArgs({ options }).values
  if (quick && write) throw new Error('--write excludes --quick, whose figures say nothing')
  const publish = (mark, head, lines) => {
    const node = `Node ${process.version}, ${process.platform} ${process.arch}.`
    const text = `${node}\n\n${tableOf(head, lines)}`
    console.log(text)
    if (write) writeBetween(join(root, 'bench/README.md'), mark, text)
  }
  return { quick, publish }
}

// Without what changes a start: Node 20 reads the file of NODE_EXTRA_CA_CERTS each time.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(NODE_|PORT$|PAYOUT_SANDBOX_)/.test(name)),
)
const alive = new Set()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Calls a server once. Returns the status and the body; a call that fails throws. */
export async function call(port, path, { method = 'GET', body } = {}) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = { method, headers, body: body && JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return { status: response.status, body: JSON.parse(text) }
}

/** Starts a server, whose first word is a file for Node, and waits for the first 200. */
export async function startServer(words, port, path, how = {}) {
  const began = performance.now()
  const { node = process.execPath, cwd, others } = how
  const options = { cwd, env: { ...env, ...others }, stdio: ['ignore', 'ignore', 'inherit'] }
  const child = spawn(node, words.map(String), options)
  alive.add(child)
  while (child.exitCode === null && performance.now() - began < 60_000) {
    if ((await call(port, path).catch(() => undefined))?.status === 200)
      return { child, port, ms: performance.now() - began }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error(`${words.join(' ')} does not respond`)
}

export const stop = ({ child }, signal = 'SIGTERM') =>
  new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill(signal)
    setTimeout(() => child.kill('SIGKILL'), 5_000).unref()
  })

/** Resident memory, MB. Linux only, as is the next. */
export const residentMb = ({ child: { pid } }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

const processorMs = ({ child: { pid } }) =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ', 1)[0])
    .reduce((sum, ns) => sum + Number(ns) / 1e6, 0)

/** The processor time of all threads of a server while `run` runs, ms. */
export async function processorTimeOf(server, run) {
  const before = processorMs(server)
  await run()
  return processorMs(server) - before
}

/** One keep-alive connection over a plain socket: node:http costs more than the servers that are measured. */
const keepBusy = (port, next) =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1')
    const send = () => {
      const request = next()
      if (request === undefined) socket.end(resolve)
      else socket.write(request)
    }
    socket.setNoDelay(true).on('connect', send).on('error', reject)
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice()
      const end = text.indexOf('\r\n\r\n') + 4
      if (end === 3) return
      const length = /content-length: (\d+)/i.exec(text)?.[1]
      if (
        length === undefined ? !text.endsWith('\r\n0\r\n\r\n') : text.length < end + Number(length)
      )
        return
      if (text[9] !== '2') return reject(new Error(`port ${port} responded: ${text}`))
      text = ''
      send()
    })
  })

/** Sends `count` requests over ten connections. Returns requests a second, and the server's processor µs for each. */
export async function load(server, { path, bodyOf }, count) {
  const head = `${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`
  let sent = 0
  const next = () => {
    if (++sent > count) return undefined
    if (bodyOf === undefined) return `GET ${head}\r\n`
    const text = JSON.stringify(bodyOf())
    return `POST ${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  }
  const began = performance.now()
  const send = () => Promise.all(Array.from({ length: 10 }, () => keepBusy(server.port, next)))
  const took = await processorTimeOf(server, send)
  return { rate: (count * 1e3) / (performance.now() - began), us: (took * 1e3) / count }
}

let made = 0
/** The body of a new user. */
export function newUser() {
  const n = ++made
  return { email: `bench.${n}@example.com`, mobile: `+9170${String(n).padStart(8, '0')}` }
}
/** For `load`. */
export const create = { path: '/v1/user', bodyOf: newUser }

export const medianOf = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
