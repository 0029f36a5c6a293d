import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

const BIN = join(PACKAGE_ROOT, 'dist/bin.cjs')
const MAX_MS = 30_000

const environment = (more: Record<string, string> = {}) => {
  const { NODE_EXTRA_CA_CERTS: _, PORT: __, ...env } = process.env
  for (const name of Object.keys(env)) if (name.startsWith('PAYOUT_SANDBOX_')) delete env[name]
  return { ...env, ...more }
}

export type Ended = { code: number | null; stdout: string; stderr: string }

/** Starts the built program; what it tells grows in `told`. */
export function spawned(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; heapMb?: number },
) {
  const heap = options.heapMb === undefined ? [] : [`--max-old-space-size=${options.heapMb}`]
  const child = spawn(process.execPath, [...heap, BIN, ...args], {
    env: environment(options.env),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const told = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told.stderr += text
  })
  const ended: Promise<Ended> = once(child, 'close').then(([code]) => ({ code, ...told }))
  return { child, told, ended }
}

type RunOptions = { env?: Record<string, string>; cwd?: string }

/** Runs the built program to its end, in a process of its own. */
export function runAlone(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { child, ended } = spawned(args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_MS)
  return ended.finally(() => clearTimeout(timer))
}

// These serve, or pass signals and streams to a program.
const OWN_PROCESS = ['start', 'exec', 'record']
const COMMAND_PROCESS = join(PACKAGE_ROOT, 'test/cli/command-process.mjs')
const idle: ChildProcess[] = []

function startCommandProcess(): ChildProcess {
  const child = fork(COMMAND_PROCESS, {
    env: environment(),
    execArgv: [],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

/** Runs one command in a process that has run others before, if one is idle. */
async function runShared(args: readonly string[], { env, cwd }: RunOptions): Promise<Ended> {
  const child = idle.pop() ?? startCommandProcess()
  const stop = new AbortController()
  const { signal } = stop
  child.ref()
  child.channel!.ref()
  child.send({ args, env: environment(env), cwd: cwd ?? process.cwd() })
  const ended = await Promise.race([
    once(child, 'message', { signal }).then(([said]) => said),
    once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`${args.join(' ')} ended the process of the commands with ${code}`)
    }),
  ])
  stop.abort()
  // An idle one does not keep the test alive.
  child.channel!.unref()
  child.unref()
  idle.push(child)
  return ended
}

/** Runs a command of the built program to its end; most commands share a process. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const name = args.find((word) => !word.startsWith('-'))
  const isAlone = name === undefined || OWN_PROCESS.includes(name)
  return isAlone ? runAlone(args, options) : runShared(args, options)
}

export type Program = {
  url: string
  adminUrl: string
  token: string
  port: number
  ready: Record<string, unknown>
  child: ChildProcess
  stderr: () => string
  stop: (signal?: NodeJS.Signals) => Promise<Ended>
}

/** Starts the built program on a free port and waits for its one JSON line; it is killed when the test ends. */
export async function serve(
  t: Test,
  args: readonly string[] = ['--memory'],
  options: { env?: Record<string, string>; cwd?: string; keepPort?: boolean } = {},
): Promise<Program> {
  const port = options.keepPort ? [] : ['--port', '0']
  const { child, told, ended } = spawned(['start', '--json', ...port, ...args], options)
  t.teardown(() => child.kill('SIGKILL'))
  const ready = await new Promise<Record<string, unknown>>((resolve, reject) => {
    child.stdout!.on('data', () => {
      if (told.stdout.includes('\n')) resolve(JSON.parse(told.stdout))
    })
    void ended.then(({ code, stderr }) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  return {
    url: String(ready['url']),
    adminUrl: String(ready['admin_url']),
    token: String(ready['token']),
    port: Number(new URL(String(ready['url'])).port),
    ready,
    child,
    stderr: () => told.stderr,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** One JSON call over a socket. */
export async function call(url: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    // What fetch says by itself is no more than "fetch failed".
    throw new Error(`${url}: ${String(error.cause ?? error)}`)
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
  const json: any = await answer.json()
  return { status: answer.status, headers: answer.headers, body: json }
}
