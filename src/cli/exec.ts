import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { BadOption } from '../config/options.ts'
import type { PreviousScenario } from '../services/scenarios.ts'
import type { Command } from './command.ts'
import { gatherOptions, START_FLAGS } from './options.ts'
import { expectTable } from './scenario.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
// What a shell answers for a program that it does not find, or may not run.
const NOT_FOUND = 127
const NOT_RUN = 126

const told = (text: string) => process.stderr.write(`payout-sandbox: ${text}\n`)

const codeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal]

/** Whether the child gets this signal without us: a terminal's Ctrl-C and Ctrl-\ go to all that run in it. */
const isFromTerminal = (signal: NodeJS.Signals) =>
  (signal === 'SIGINT' || signal === 'SIGQUIT') &&
  (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) === true

/** Keeps signals from ending this program; they go to the child, or are kept until there is one. */
function passOnSignals() {
  let target: ((signal: NodeJS.Signals) => void) | undefined
  let early: NodeJS.Signals | undefined
  const pass = (signal: NodeJS.Signals) => {
    if (target) target(signal)
    else early ??= signal
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  return {
    early: () => early,
    to(send: (signal: NodeJS.Signals) => void) {
      target = send
    },
  }
}

/** Runs a program to its end, with this one's input and output; answers with its exit code, as a shell would. */
function runProgram(
  [name, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  signals: ReturnType<typeof passOnSignals>,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(name!, args, { stdio: 'inherit', env })
    signals.to((signal) => {
      if (!isFromTerminal(signal)) child.kill(signal)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT'
      told(
        missing
          ? `there is no program ${JSON.stringify(name)}; what stands behind -- is run without a shell`
          : `${JSON.stringify(name)} cannot be run (${error.code})`,
      )
      resolve(missing ? NOT_FOUND : NOT_RUN)
    })
    child.on('exit', (code, signal) => resolve(code ?? codeOf(signal!)))
  })
}

/** Tells what a scenario expects and has not seen; whether that is nothing. */
function isAsExpected({ name, expect }: PreviousScenario): boolean {
  const unmet = expect.filter(({ met }) => !met)
  if (unmet.length === 0) return true
  told(`scenario ${name} expects other requests:\n${expectTable(unmet)}`.trimEnd())
  return false
}

export const exec: Command = {
  name: 'exec',
  summary: 'run a program with a sandbox of its own',
  usage: [
    [
      'exec [OPTIONS] -- CMD...',
      'start on a free port and in memory, run CMD, stop; the exit code is that of CMD',
    ],
  ],
  flags: START_FLAGS,
  examples: [
    'exec -- npm test',
    'exec --clock frozen --scenario provider-outage -- node --test',
    'exec --data ./run.json --log-level info -- sh -c \'curl "$PAYOUT_SANDBOX_URL/users"\'',
  ],
  takesProgram: true,
  async run({ program, flags, env }) {
    if (program.length === 0)
      throw new BadOption('exec needs a program behind --, such as payout-sandbox exec -- npm test')
    // A PORT of the environment is meant for the program, and each run has a world of its own.
    const own = { port: '0', memory: flags['data'] === undefined, ...flags }
    const options = gatherOptions(own, env, { 'log-level': 'warn' })
    const signals = passOnSignals()
    const { started } = await import('./serve.ts')
    const server = await started(options)
    const { url, adminUrl, token, adminToken, sandbox } = server
    const early = signals.early()
    if (early) {
      await server.close()
      return codeOf(early)
    }
    const { PAYOUT_SANDBOX_ADMIN_TOKEN: _, PAYOUT_SANDBOX_ADMIN_URL: __, ...inherited } = env
    const code = await runProgram(
      program,
      {
        ...inherited,
        PAYOUT_SANDBOX_URL: url,
        ...(!options['no-admin'] && { PAYOUT_SANDBOX_ADMIN_URL: adminUrl }),
        PAYOUT_SANDBOX_TOKEN: token,
        ...(adminToken !== undefined && { PAYOUT_SANDBOX_ADMIN_TOKEN: adminToken }),
      },
      signals,
    )
    const { left = [], ...active } = sandbox.default.scenarios.describe()
    const unmet = [...left, active].filter((one) => !isAsExpected(one))
    await server.close()
    return code === 0 && unmet.length > 0 ? 1 : code
  },
}
