// Child processes of the bench: started with a clean environment, sent one message at a time, and always ended.
import { fork, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'

// Without what changes a start: Node 20 reads the file of NODE_EXTRA_CA_CERTS each time, which would dominate the measured time.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(NODE_|PORT$|PAYOUT_SANDBOX_)/.test(name)),
)

/** The variables of a user with this home folder: all caches and temporary files are in it. */
export const homeIs = (home) => ({
  ...{ HOME: home, XDG_CACHE_HOME: join(home, 'caches'), LOCALAPPDATA: join(home, 'caches') },
  ...{ TMPDIR: home, TEMP: home, TMP: home },
})
const alive = new Set()

function owned(child) {
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  return child
}

process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

/** Ends all running child processes. */
export const endAll = () => Promise.all([...alive].map(end))

const endWith = (signal) => (child) =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', resolve)
    child.kill(signal)
    setTimeout(() => child.kill('SIGKILL'), 2_000).unref()
  })
export const end = endWith('SIGTERM')
export const kill = endWith('SIGKILL')

/** Resolves with the next message of a child. Rejects if the child exits or reports an error. */
export function messageOf(child) {
  return new Promise((resolve, reject) => {
    const early = () => reject(new Error(`${child.spawnargs.join(' ')} ended early`))
    child.once('exit', early)
    child.once('message', (message) => {
      child.off('exit', early)
      if (message?.failure === undefined) resolve(message)
      else reject(new Error(message.failure))
    })
  })
}

/** Starts a program with an IPC channel. */
export const startHelper = (file, args = [], execArgv = []) =>
  owned(fork(file, args, { env, execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }))

export function ask(child, message) {
  const answer = messageOf(child)
  child.send(message)
  return answer
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** The status and body of a GET; status 0 if nothing listens. */
export function fetchText(port, path) {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode, text }))
    }).on('error', () => resolve({ status: 0, text: '' }))
  })
}

/** The status of a POST, after its response is read. */
export const post = (port, path, body) => send(port, 'POST', path, body)

/** The status of a request, after its response is read. */
export function send(port, method, path, body) {
  const text = body && JSON.stringify(body)
  const headers = text ? { 'content-type': 'application/json' } : {}
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, agent: false, headers }
    request(options, (answer) => answer.resume().on('end', () => resolve(answer.statusCode)))
      .on('error', reject)
      .end(text)
  })
}

const START_WITHIN_MS = 20_000

/** Starts a server and waits for its first 200. `node` runs it, `others` are additional environment variables. */
export async function startServer(args, port, path, how = {}) {
  const { node = process.execPath, cwd, others } = how
  const start = performance.now()
  const child = owned(
    spawn(node, args, {
      cwd,
      env: { ...env, ...others },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  while (performance.now() - start < START_WITHIN_MS && child.exitCode === null) {
    if ((await fetchText(port, path)).status === 200) {
      return { child, ms: performance.now() - start }
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error(`${args.join(' ')} does not respond`)
}

/** Resident memory of a process, MB; `undefined` if the system does not provide it. */
export function residentMb({ pid }) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)[1]) / 1024
  } catch {
    return undefined
  }
}
