import { constants } from 'node:os'
import type { PreviousScenario } from '../active-scenario/current-scenario.ts'
import { NO_CALL, programEnvironment } from '../config/environment.ts'
import { BadOption, OPTIONS } from '../config/options.ts'
import { countOf, jsonLine, printableLine } from '../model/words.ts'
import type { RunningServer } from '../server.ts'
import type { Report, TestCase } from '../tools/report/report.ts'
import type { SessionDocument } from '../tools/report/session.ts'
import type { World } from '../world/world.ts'
import type { Command, Input } from './command.ts'
import { missedGates, readGates } from './coverage-gates.ts'
import { gatherOptions, optionFlag, START_FLAGS } from './options.ts'
import { openReport } from './output.ts'
import { expectedCount, expectTable } from './scenario.ts'
import { MIN_COVERAGE_FLAG } from './traffic.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
// The exit codes of a shell for a program that does not exist or cannot be run.
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

const printError = (text: string) => process.stderr.write(`payout-sandbox: ${text}\n`)

const exitCodeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal]

/** Whether the child also gets this signal directly: a terminal sends Ctrl-C and Ctrl-\ to all its processes. */
const isFromTerminal = (signal: NodeJS.Signals) =>
  (signal === 'SIGINT' || signal === 'SIGQUIT') &&
  (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) === true

/** Catches signals to forward them to the child. `early` returns the first one that arrived before the child started. */
function forwardSignals() {
  let send: ((signal: NodeJS.Signals) => void) | undefined
  let early: NodeJS.Signals | undefined
  const forward = (signal: NodeJS.Signals) => {
    if (send) send(signal)
    else early ??= signal
  }
  for (const signal of SIGNALS) process.on(signal, forward)
  return {
    early: () => early,
    setTarget(target: (signal: NodeJS.Signals) => void) {
      send = target
    },
  }
}

/** Runs a program with the input and output of this process. Returns its exit code, as a shell does, and whether it ended by itself. */
async function runProgram(
  [name, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  signals: ReturnType<typeof forwardSignals>,
): Promise<{ code: number; hasEnded: boolean }> {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve) => {
    const child = spawn(name!, args, { stdio: 'inherit', env })
    signals.setTarget((signal) => {
      if (!isFromTerminal(signal)) child.kill(signal)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      printError(
        isMissing
          ? `program ${JSON.stringify(name)} not found; the program after -- is run without a shell`
          : `program ${JSON.stringify(name)} cannot be run (${error.code})`,
      )
      resolve({ code: isMissing ? NOT_FOUND : NOT_EXECUTABLE, hasEnded: false })
    })
    child.on('exit', (code, signal) =>
      resolve({ code: code ?? exitCodeOf(signal!), hasEnded: code !== null }),
    )
  })
}

function printUnmet({ name, expect }: PreviousScenario, whose: string, elsewhere: string) {
  const unmet = expect.filter(({ met }) => !met)
  if (unmet.length === 0) return
  printError(
    `the requests of ${whose} do not match the expectations of scenario ${name}:\n${expectTable(unmet)}${elsewhere.trimStart()}`.trimEnd(),
  )
}

/** The expectations of the start scenario, about all clients, and those of other scenarios of the default client. */
async function checkExpectations({ sandbox }: RunningServer) {
  const start = sandbox.startScenario()
  const { previous = [], ...active } = sandbox.default.scenarios.describe()
  const others = [...previous, active].filter(({ name }) => name !== start?.name)
  const { callsElsewhere } = await import('../requests/request-log.ts')
  if (start) printUnmet(start, 'all clients', '')
  const elsewhere = callsElsewhere(sandbox.allRequests, sandbox.default.name)
  for (const one of others) printUnmet(one, 'the default client', elsewhere)
  return [...(start ? [start] : []), ...others]
}

const EXPECTATIONS = 'exec.expectations'

function execReport(
  program: readonly string[],
  ms: number,
  code: number,
  scenarios: readonly PreviousScenario[],
): Report {
  const command = printableLine(program.join(' '))
  const failure = (type: string, message: string) => ({
    outcome: { kind: 'failure' as const, type, message },
  })
  const failed = code !== 0 && failure('exit_code', `exit code ${code}`)
  const ran: TestCase = { name: command, group: 'exec', ms, ...failed }
  const expected = scenarios.flatMap(({ name, expect }) =>
    expect.map(
      (one): TestCase => ({
        name: `scenario ${name} expects ${one.operation}: ${expectedCount(one)}`,
        group: EXPECTATIONS,
        ms: 0,
        ...(!one.met && failure('expectation', `found ${one.found}`)),
      }),
    ),
  )
  const unmet = expected.filter(({ outcome }) => outcome).length
  return {
    title: 'payout-sandbox exec',
    subject: command,
    result: `exit code ${code}, ${countOf(unmet, 'unmet expectation')}`,
    tests: [ran, ...expected],
  }
}

/** Returns what prints and writes the coverage at the end, and says whether it is enough, if the flags want it. */
async function openCoverage({ coverage: dir, 'min-coverage': least }: Input['flags']) {
  if (dir === undefined && least === undefined) return undefined
  const gates = readGates(least)
  const [{ coverageText }, { prepareReport, writeFiles }] = await Promise.all([
    import('../tools/coverage/coverage-text.ts'),
    import('../tools/report/report.ts'),
  ])
  const file = 'coverage.json'
  if (dir !== undefined) prepareReport(String(dir), [file], '--coverage')
  return async ({ sandbox }: RunningServer) => {
    const coverage = await sandbox.coverage!.report()
    const missed = missedGates(coverage, gates)
    process.stderr.write(`\n${coverageText(coverage)}${missed.join('')}`)
    if (dir !== undefined) writeFiles(String(dir), { [file]: jsonLine(coverage) })
    return missed.length === 0
  }
}

const SESSION = 'session.html'

/** Records what happens in the clients, and returns what makes the page about it, if a report is wanted. */
async function openSession({ report }: Input['flags']) {
  if (report === undefined) return undefined
  const [{ SessionRecorder }, { pageOf }] = await Promise.all([
    import('../tools/report/session.ts'),
    import('../tools/report/markup.ts'),
  ])
  const recorder = new SessionRecorder()
  return {
    worldOpened: (world: World) => recorder.watch(world),
    /** `session.html`, which explains the run to somebody who wasn't there. */
    async page({ subject, result, tests }: Report, code: number, { sandbox }: RunningServer) {
      const { coverageCounts } = await import('../model/coverage.ts')
      const coverage = await sandbox.coverage?.report()
      const unmet = tests.filter(({ outcome, group }) => outcome && group === EXPECTATIONS)
      return pageOf('session', `${subject}: ${result}`, {
        command: subject,
        exit_code: code,
        result,
        items: recorder.items,
        left_out: recorder.leftOut,
        unmet: unmet.map(({ name, outcome }) => ({
          text: `${name}, ${outcome!.message}`,
          nearest: recorder.nearestTo(/expects (\w+)/.exec(name)![1]!),
        })),
        coverage: coverage ? coverageCounts(coverage) : [],
      } satisfies SessionDocument)
    },
  }
}

const LOG_LEVEL = 'warn'

// The defaults of these options differ from those of `start`.
const EXEC_FLAGS: Command['flags'] = {
  ...START_FLAGS,
  port: ['N', 'port to listen on (default: a free one)'],
  // Without --data the sandbox is in memory, so this option has no default here.
  data: optionFlag('data', OPTIONS.data.description, null),
  memory: ['', `${OPTIONS.memory.description} (default, unless --data is given)`],
  'log-level': optionFlag('log-level', OPTIONS['log-level'].description, LOG_LEVEL),
  report: [
    'DIR',
    'folder for junit.xml, summary.md and session.html; those of an earlier report are replaced',
  ],
  coverage: [
    'DIR',
    'folder for coverage.json: what the calls have met of all that the contract permits',
  ],
  ...MIN_COVERAGE_FLAG,
}

export const exec: Command = {
  name: 'exec',
  summary: 'run a program with its own sandbox',
  usage: [
    [
      'exec [OPTIONS] -- CMD...',
      'run CMD with its own sandbox, by default in memory on a free port, and exit with its code',
    ],
  ],
  flags: EXEC_FLAGS,
  examples: [
    'exec -- npm test',
    'exec --clock frozen --scenario provider-outage -- node --test',
    'exec --report report -- npm test',
    'exec --coverage coverage --min-coverage money=80,webhooks=60 -- npm test',
    'exec --data ./run.json --log-level info -- sh -c \'curl "$PAYOUT_SANDBOX_URL/users"\'',
  ],
  takesProgram: true,
  async run({ program, flags, env }) {
    if (program.length === 0)
      throw new BadOption('exec needs a program after --, such as payout-sandbox exec -- npm test')
    // The variables PORT and PAYOUT_SANDBOX_PORT are for the program, and each run starts with a new world.
    const { report: _, coverage: __, 'min-coverage': ___, ...startFlags } = flags
    const report = openReport(flags, [SESSION])
    const session = await openSession(flags)
    const cover = await openCoverage(flags)
    const ownFlags = { port: '0', memory: flags['data'] === undefined, ...startFlags }
    const options = gatherOptions(cover ? { ...ownFlags, coverage: true } : ownFlags, env, {
      'log-level': LOG_LEVEL,
    })
    const signals = forwardSignals()
    const { startOrExplain } = await import('./serve.ts')
    const server = await startOrExplain(options, {
      imposes: true,
      worldOpened: session?.worldOpened,
    })
    const early = signals.early()
    if (early) {
      await server.close()
      return exitCodeOf(early)
    }
    const startedAt = performance.now()
    const { code, hasEnded } = await runProgram(
      program,
      programEnvironment(env, server, !options['no-admin']),
      signals,
    )
    if (hasEnded && server.app.received() === 0) printError(NO_CALL)
    const scenarios = await checkExpectations(server)
    const written = execReport(program, performance.now() - startedAt, code, scenarios)
    report(written, session && { [SESSION]: await session.page(written, code, server) })
    const isCovered = (await cover?.(server)) ?? true
    await server.close()
    const isMet = scenarios.every(({ expect }) => expect.every(({ met }) => met))
    return code === 0 && !(isMet && isCovered) ? 1 : code
  },
}
