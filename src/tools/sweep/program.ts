import { type ChildProcess, spawn } from 'node:child_process'
import { cpus } from 'node:os'
import { SweepError } from './faults-and-findings.ts'

const MAX_OUTPUT = 64 * 1024
// Books may be long.
const MAX_STDOUT = 16 * 1024 * 1024
// How long the rest of the output may take after the end of a program, real ms: what it started may keep it open.
const OUTPUT_MS = 1_000

/** How a program ended. `exitCode` is null if it was killed. */
export type Ended = {
  exitCode: number | null
  isHung: boolean
  output: string
  /** Standard output alone, of a shell command. */
  stdout: string
  /** Those that failed, of several workers. */
  failedWorkers?: readonly number[]
  /** Ends what the program has started and left running. */
  endGroup: () => void
}

export type ProgramRun = {
  command: readonly string[]
  env: NodeJS.ProcessEnv
  deadlineMs: number
  isShell?: boolean
  signal: AbortSignal
}

// Programs that run now; none of them may outlive this process.
const running = new Set<ChildProcess>()

function killGroup(child: ChildProcess) {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}

export function killPrograms() {
  for (const child of running) killGroup(child)
}

/** Runs a program in a process group of its own, whose rest goes on until `endGroup`. Throws `SweepError` if it cannot be started. */
export const runProgram = (run: ProgramRun): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const { command, env, deadlineMs, isShell = false, signal } = run
    const [name, ...args] = command
    let [output, stdout, isHung] = ['', '', false]
    const child = spawn(name!, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      shell: isShell,
    })
    running.add(child)
    const stop = () => killGroup(child)
    const timer = setTimeout(() => {
      isHung = true
      stop()
    }, deadlineMs)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    const keep = (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT)
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (isShell) stdout = (stdout + text).slice(-MAX_STDOUT)
      keep(text)
    })
    child.stderr.setEncoding('utf8').on('data', keep)
    function endGroup() {
      stop()
      signal.removeEventListener('abort', stop)
      running.delete(child)
      child.stdout.destroy()
      child.stderr.destroy()
    }
    function end(exitCode: number | null) {
      clearTimeout(timer)
      resolve({ exitCode, isHung, output, stdout, endGroup })
    }
    child.once('error', ({ code }: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      endGroup()
      const why =
        code === 'ENOENT'
          ? 'not found; the program after -- is run without a shell'
          : `cannot be run (${code})`
      reject(new SweepError(`program ${JSON.stringify(name)} ${why}`))
    })
    child.once('close', end)
    child.once('exit', (code) => setTimeout(end, OUTPUT_MS, code).unref())
  })

/** What a shell command prints, or why it has failed. */
export async function printedBy(command: string, run: Omit<ProgramRun, 'command' | 'isShell'>) {
  const ended = await runProgram({ command: [command], isShell: true, ...run })
  ended.endGroup()
  const { exitCode, isHung, output, stdout } = ended
  if (exitCode === 0) return { text: stdout }
  const last = output.trimEnd().split('\n').at(-1)
  const end = isHung ? `did not end within ${run.deadlineMs / 1_000} s` : `exited with ${exitCode}`
  return { why: last ? `${end}: ${last}` : end }
}

const FAILURE =
  /^\s*(not ok\b|\u2716 |\u2717 |\u00d7 |FAIL|--- FAIL|E {2,}\S|(Uncaught )?[\w.]*(Error|Exception)\b(?!\.))/

export function failureLine(output: string): string {
  const lines = output.trimEnd().split('\n')
  const line = (lines.find((one) => FAILURE.test(one)) ?? lines.at(-1)!).trim()
  return line === '' ? '' : `: ${line.length > 160 ? `${line.slice(0, 157)}...` : line}`
}

// ---- the machine

/** How often to look at the machine, real ms. */
export const CHECK_MS = 250
const IDLE = 0.4
const BUSY = 0.2

/** The time of all processors since the start of the machine that they were idle, and all of it. */
function processorTimes() {
  const all = cpus().flatMap(({ times }) => Object.entries(times))
  const sumOf = (some: typeof all) => some.reduce((sum, [, ms]) => sum + ms, 0)
  return { idle: sumOf(all.filter(([name]) => name === 'idle')), all: sumOf(all) }
}

/** Whether the machine has time for another run, or too little for those that there are. */
export type Machine = { isIdle: () => boolean; isBusy: () => boolean }

export function watchMachine(): Machine {
  let last = processorTimes()
  let idle = 0
  function look(): number {
    const now = processorTimes()
    const passed = now.all - last.all
    if (passed < CHECK_MS / 2) return idle
    idle = (now.idle - last.idle) / passed
    last = now
    return idle
  }
  return { isIdle: () => look() > IDLE, isBusy: () => look() < BUSY }
}
