// The processes that run test files. A file has a process of its own, or it runs in one that other files run in too.
import { spawn } from 'node:child_process'

const MAX_FILE_MS = 600_000
// The last line of a file in a shared process; see test-shared.mjs.
const END = '# end of file'

const running = new Set()

/** Ends all processes at once. */
export function killAll() {
  for (const child of running) child.kill('SIGKILL')
}

/** Starts a bundled file. `ended` becomes the reason why the process failed, or undefined. */
function start(file, { cwd, env }, more = []) {
  const child = spawn(process.execPath, [file], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...more],
  })
  running.add(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = new Promise((done) => {
    child.on('close', (code, signal) => {
      running.delete(child)
      done(code === 0 ? undefined : `It ended with ${signal ?? `exit code ${code}`}.`)
    })
  })
  /** What was printed since the last call. */
  const takeStderr = () => {
    const taken = stderr
    stderr = ''
    return taken
  }
  return { child, ended, takeStderr }
}

/** Waits for the end of a file, and ends its process if this takes too long. */
async function inTime(child, outcome, maxMs = MAX_FILE_MS) {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, maxMs)
  const problem = await outcome
  clearTimeout(timer)
  return isLate ? `It did not end within ${maxMs / 1000} s.` : problem
}

/** Runs a file in a process of its own; its output goes into `parser`. */
export async function runAlone(file, parser, options) {
  // TAP says that this is a test run, as tap's own runner does.
  const env = { ...options.env, TAP: '1', TAP_TIMEOUT: String(MAX_FILE_MS / 1000) }
  const { child, ended, takeStderr } = start(file, { ...options, env })
  child.stdout.pipe(parser)
  const problem = await inTime(child, ended)
  return { problem, stderr: takeStderr() }
}

/**
 * A process that runs one file after the other, so that they share its start and what V8 has compiled. `script` is the
 * bundled scripts/test-shared.mjs. A file that ends the process, or takes too long, fails, and the next has a new process.
 */
export function createShared(script, options) {
  let shared

  function open() {
    // The files have limits of their own.
    const env = { ...options.env, TAP: '1', TAP_TIMEOUT: '0' }
    const opened = { ...start(script, { ...options, env }, ['ipc']), onLine: () => {} }
    let rest = ''
    opened.child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()
      for (const line of lines) opened.onLine(line)
    })
    opened.ended.then(() => {
      if (shared === opened) shared = undefined
    })
    return opened
  }

  async function run(file, parser) {
    shared ??= open()
    const { child, ended, takeStderr } = shared
    const done = new Promise((resolve) => {
      shared.onLine = (line) => {
        parser.write(`${line}\n`)
        if (line === END) resolve()
      }
    })
    // Without a callback, the end of the process would be an error here too.
    child.send(file, () => {})
    const early = ended.then((problem) => problem ?? 'Its process ended too early.')
    const problem = await inTime(child, Promise.race([done, early]), options.maxMs)
    parser.end()
    return { problem, stderr: takeStderr() }
  }

  /** Ends the process. Only the child may disconnect: else Node never says that it closed. */
  async function close() {
    const last = shared
    last?.child.send('', () => {})
    await last?.ended
  }
  return { run, close }
}
