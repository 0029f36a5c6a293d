import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'

const binary = process.env['SANDBOX_BINARY']

/** The command of the built program: of dist, or the single executable that SANDBOX_BINARY names. */
export const PROGRAM: readonly [command: string, ...args: string[]] =
  binary === undefined
    ? [process.execPath, join(PACKAGE_ROOT, 'dist/bin.cjs')]
    : [resolve(PACKAGE_ROOT, binary)]

const MAX_MS = 30_000

const environment = (more: Record<string, string> = {}) => {
  const { NODE_EXTRA_CA_CERTS: _, PORT: __, ...env } = process.env
  for (const name of Object.keys(env)) if (name.startsWith('PAYOUT_SANDBOX_')) delete env[name]
  return { ...env, ...more }
}

export type Ended = { code: number | null; stdout: string; stderr: string }

type RunOptions = { env?: Record<string, string>; cwd?: string }

/** A command line that runs; its output is collected in `printed`. */
type Running = {
  child: ChildProcess
  printed: { stdout: string; stderr: string }
  ended: Promise<Ended>
  /** Sends a signal, but not to what a shared process runs after this one. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>
}

function stopOf(child: ChildProcess, ended: Promise<Ended>): Running['stop'] {
  let isRunning = true
  void ended.finally(() => {
    isRunning = false
  })
  return (signal = 'SIGTERM') => {
    if (isRunning) child.kill(signal)
    return ended
  }
}

/** Runs the built program in a process of its own. */
export function spawned(args: readonly string[], options: RunOptions & { heapMb?: number }) {
  const { heapMb } = options
  const heap = heapMb === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heapMb}` }
  const [command, ...first] = PROGRAM
  const child = spawn(command, [...first, ...args], {
    env: environment({ ...options.env, ...heap }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: 'pipe',
  })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
    })
  const ended: Promise<Ended> = once(child, 'close').then(([code]) => ({ code, ...printed }))
  return { child, printed, ended, stop: stopOf(child, ended) } satisfies Running
}

const PROGRAM_PROCESS = join(PACKAGE_ROOT, 'test/cli/program-process.mjs')
const idle: ChildProcess[] = []

function startProgramProcess(): ChildProcess {
  const child = fork(PROGRAM_PROCESS, {
    env: environment(),
    execArgv: [],
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  })
  child.stdout!.setEncoding('utf8')
  child.stderr!.setEncoding('utf8')
  child.setMaxListeners(0)
  child.once('exit', () => {
    if (idle.includes(child)) idle.splice(idle.indexOf(child), 1)
  })
  return child
}

/** An idle process does not keep the test alive. */
function keepAlive(child: ChildProcess, isRunning: boolean) {
  const call = isRunning ? 'ref' : 'unref'
  child[call]()
  child.channel![call]()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket)[call]()
}

/** Resolves with all that comes before the end. */
function readUntil(end: string, stream: Readable, take: (text: string) => void): Promise<void> {
  let text = ''
  return new Promise((resolve) => {
    const add = (more: string) => {
      text += more
      const isEnd = text.endsWith(end)
      take(isEnd ? text.slice(0, -end.length) : text)
      if (!isEnd) return
      stream.off('data', add)
      resolve()
    }
    stream.on('data', add)
  })
}

/** Runs the built program in a process that has run others before, if one is idle; a single executable has none. */
export function shared(args: readonly string[], options: RunOptions): Running {
  if (binary !== undefined) return spawned(args, options)
  const { env, cwd } = options
  const child = idle.pop() ?? startProgramProcess()
  keepAlive(child, true)
  const printed = { stdout: '', stderr: '' }
  const end = `\0${randomUUID()}`
  const stop = new AbortController()
  const { signal } = stop
  const done = Promise.all([
    once(child, 'message', { signal }),
    ...(['stdout', 'stderr'] as const).map((name) =>
      readUntil(end, child[name]!, (text) => {
        printed[name] = text
      }),
    ),
  ])
  child.send({ args, env: environment(env), cwd: cwd ?? process.cwd(), end })
  const ended = Promise.race([
    done.then(([[said]]) => {
      stop.abort()
      keepAlive(child, false)
      idle.push(child)
      return { code: said.code as number, ...printed }
    }),
    once(child, 'close', { signal }).then(([code]) => ({ code, ...printed })),
  ])
  return { child, printed, ended, stop: stopOf(child, ended) }
}

function toTheEnd({ ended, stop }: Running): Promise<Ended> {
  const timer = setTimeout(stop, MAX_MS, 'SIGKILL')
  return ended.finally(() => clearTimeout(timer))
}

/** Runs the built program to its end, in a process of its own. */
export const runAlone = (args: readonly string[], options: RunOptions = {}) =>
  toTheEnd(spawned(args, options))

/** Runs a command of the built program to its end, in a process that most command lines share. */
export const run = (args: readonly string[], options: RunOptions = {}) =>
  toTheEnd(shared(args, options))

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

/** Resolves when the output of a program matches. */
export function saying({ child, printed, ended }: Running, pattern: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!pattern.test(printed.stdout)) return
      child.stdout!.off('data', look)
      resolve()
    }
    child.stdout!.on('data', look)
    look()
    void ended.then(({ code, stderr }) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
}

type ServeOptions = RunOptions & {
  keepPort?: boolean
  /** In a process of its own, which ends with the program. */
  alone?: boolean
}

/** Starts the built program on a free port and waits for its one JSON line; it is stopped when the test ends. */
export async function serve(
  t: Pick<Test, 'teardown'>,
  args: readonly string[] = ['--memory'],
  options: ServeOptions = {},
): Promise<Program> {
  const port = options.keepPort ? [] : ['--port', '0']
  const start = options.alone ? spawned : shared
  const running = start(['start', '--json', ...port, ...args], options)
  const { child, printed, stop } = running
  t.teardown(() => {
    const timer = setTimeout(stop, MAX_MS, 'SIGKILL')
    return stop().finally(() => clearTimeout(timer))
  })
  await saying(running, /\n/)
  const ready: Record<string, unknown> = JSON.parse(printed.stdout)
  return {
    url: String(ready['url']),
    adminUrl: String(ready['admin_url']),
    token: String(ready['token']),
    port: Number(new URL(String(ready['url'])).port),
    ready,
    child,
    stderr: () => printed.stderr,
    stop,
  }
}

/** One JSON call over a socket. */
export async function call(
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
  method = body === undefined ? 'GET' : 'POST',
) {
  const answer = await fetch(url, {
    method,
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
