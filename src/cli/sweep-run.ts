import { setMaxListeners } from 'node:events'
import { constants } from 'node:os'
import { adminBase, clientInUrl } from '../admin/caller.ts'
import { programEnvironment } from '../config/environment.ts'
import { BadOption, type Options } from '../config/options.ts'
import { parseDuration } from '../model/duration.ts'
import { jsonLine } from '../model/words.ts'
import { openContent, stderrLog } from '../server.ts'
import type { Plan, SweepResult } from '../tools/sweep/faults-and-findings.ts'
import { knownFindings } from '../tools/sweep/findings.ts'
import { revealed, revealedText } from '../tools/sweep/holdout.ts'
import { killPrograms } from '../tools/sweep/program.ts'
import { sweepJson } from '../tools/sweep/report/sweep-json.ts'
import { createSweepProgress, sweepText } from '../tools/sweep/report/sweep-text.ts'
import { prepareSweepReport, writeSweepReport } from '../tools/sweep/report/write-report.ts'
import { connectRunning } from '../tools/sweep/running-sandbox.ts'
import { type SweepOptions, sweep } from '../tools/sweep/sweep.ts'
import { planSweep, sweepPlanText } from '../tools/sweep/sweep-plan.ts'
import { type Input, numberFlag, quoteProgram, quoteShellArguments } from './command.ts'
import { gatherOptions, SANDBOX_FLAGS, sweepKeys } from './options.ts'
import { CLEAR } from './output.ts'
import { connect, namesClient, targetOf } from './remote.ts'
import { explainStartError } from './serve.ts'

const DEFAULT_MAX_RETRIES = 20
const DEFAULT_MAX_TIME = '3m'
const DEFAULT_REPORT = 'sweep-report'
const PROBE_PLACEHOLDER = '{transaction_id}'

// ---- options

const DURATION = [parseDuration, 'a duration such as 500ms, 30s or 10m'] as const
const PROBE = `such as http://localhost:3000/payments/${PROBE_PLACEHOLDER}`
/** What a value must be, and in words. */
const VALUES = {
  points: [(value) => /^(first-last|first|all)$/.test(value), 'first-last or first or all'],
  depth: [(value) => /^[12]$/.test(value), '1 or 2'],
  'max-time': DURATION,
  timeout: DURATION,
  probe: [
    (value) => value.includes(PROBE_PLACEHOLDER),
    `a URL or a command with ${PROBE_PLACEHOLDER}, ${PROBE}`,
  ],
  ledger: [
    (value) => value.trim(),
    "a shell command that prints your books as CSV, such as './books.sh'",
  ],
  holdout: [
    (value) => /^[\x21-\x7e]{1,100}$/.test(value),
    'a seed of up to 100 visible ASCII characters',
  ],
} as const satisfies Record<string, readonly [isRight: (value: string) => unknown, takes: string]>

/** The values of options by name. Throws `BadOption` if an option takes others. */
function textsOf(flags: Input['flags']): { [Name in keyof typeof VALUES]?: string } {
  for (const [name, [isRight, takes]] of Object.entries(VALUES)) {
    const value = flags[name]
    if (value !== undefined && !isRight(String(value)))
      throw new BadOption(`--${name} takes ${takes}, not ${JSON.stringify(value)}`)
  }
  return flags as ReturnType<typeof textsOf>
}

function workersOf(flags: Input['flags']): number {
  const workers = numberFlag(flags, 'workers', 1, 4)
  if (workers !== undefined && flags['url'] !== undefined)
    throw new BadOption(
      '--url excludes --workers: start the sweep without --url, so that the sandbox can let calls meet',
    )
  return workers ?? numberFlag(sweepKeys(), 'workers', 1, 4) ?? 1
}

const termsOf = (value: Input['flags'][string] | undefined) =>
  value === undefined ? undefined : String(value).split(/\s*,\s*/)

// Each more waits for something else than a processor.
const MAX_JOBS = 8

/** How many runs happen at the same time: only one has a port, or a client of a sandbox that already runs. */
function jobsOf(flags: Input['flags']): Pick<SweepOptions, 'jobs' | 'maxJobs'> {
  const jobs = numberFlag(flags, 'jobs', 1, 64)
  const single = ['port', 'url'].find((name) => flags[name] !== undefined)
  if (single === undefined) return { jobs: jobs ?? 2, maxJobs: jobs ?? MAX_JOBS }
  if (jobs === undefined || jobs === 1) return { jobs: 1, maxJobs: 1 }
  throw new BadOption(`--${single} permits one run at a time, so --jobs must be 1, not ${jobs}`)
}

function readSweepOptions(input: Input) {
  const { program, flags, env } = input
  if (program.length === 0)
    throw new BadOption('sweep needs a program after --, such as payout-sandbox sweep -- npm test')
  const { points, depth, probe, ledger, holdout, timeout, ...texts } = textsOf(flags)
  const sandboxFlags = Object.fromEntries(
    Object.entries(flags).filter(([name]) => Object.hasOwn(SANDBOX_FLAGS, name)),
  )
  // Each run has a free port, unless an app that already runs knows one.
  const options: Options = gatherOptions({ port: '0', memory: true, ...sandboxFlags }, env)
  return {
    command: program,
    env,
    options,
    probe,
    ledger,
    holdout,
    points: (points ?? 'first-last') as SweepOptions['points'],
    only: termsOf(flags['only']),
    except: termsOf(flags['except']),
    depth: depth === '2' ? (2 as const) : (1 as const),
    maxTimeMs: parseDuration(texts['max-time'] ?? DEFAULT_MAX_TIME),
    maxRuns: numberFlag(flags, 'max-runs', 1, 1_000_000),
    ...jobsOf(flags),
    workers: workersOf(flags),
    restart: flags['restart'] === true,
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    isUnstable: flags['unstable'] === true,
    maxRetries: numberFlag(flags, 'max-retries', 0, 1_000_000) ?? DEFAULT_MAX_RETRIES,
    reproduce: (finding: string, plan: Plan) => reproduceLine(input, options, finding, plan),
  }
}

// The client of a sandbox that already runs, if the URL names none.
const SWEEP_CLIENT = 'sweep'

/** The client of a sandbox that already runs, if the command line names one. Resets it. Throws `BadOption`. */
async function runningOf(input: Input) {
  const { flags, env } = input
  if (flags['url'] === undefined) return undefined
  const other = Object.keys(flags).find(
    (name) => name === 'restart' || (Object.hasOwn(SANDBOX_FLAGS, name) && name !== 'admin-token'),
  )
  if (other !== undefined)
    throw new BadOption(`--url excludes --${other}: start the sandbox that runs with what it needs`)
  const own = { ...input, flags: namesClient(input) ? flags : { ...flags, client: SWEEP_CLIENT } }
  const target = targetOf(own)
  const name = clientInUrl(target.base)!
  if (name === 'default')
    throw new BadOption(
      `--url resets its client for each run, and takes another one than default, such as ${target.base.origin}/@${SWEEP_CLIENT}`,
    )
  const address = {
    url: `${target.base.href}/v1`,
    adminUrl: adminBase(target),
    token: `sbx_${name}`,
    adminToken: target.token,
  }
  return connectRunning(connect(own), name, programEnvironment(env, address, true)).catch(
    (error) => {
      // 1 is for what the sweep finds.
      throw Object.assign(error, { exitCode: 2 })
    },
  )
}

/** The options of a sandbox as they were typed. */
const typedFlags = (flags: Input['flags'], without: readonly string[] = []): string[] =>
  Object.entries(flags)
    .filter(([name]) => Object.hasOwn(SANDBOX_FLAGS, name) && !without.includes(name))
    .flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))
    .flatMap(([name, one]) => (one === true ? [`--${name}`] : [`--${name}`, String(one)]))

/** The readings of a scenario would have priority over `--assume`. */
function reproduceLine(
  { flags, program }: Input,
  { scenario: startScenario }: Options,
  finding: string,
  plan: Plan,
): string {
  const lineOf = (...args: string[]) =>
    `payout-sandbox ${quoteShellArguments(args)} -- ${quoteProgram(program)}`
  const isKilled = plan.some(({ kills }) => kills)
  const race = plan.find((fault) => fault.race)?.race
  const readers = ['ledger', 'probe'].flatMap((name) =>
    flags[name] === undefined ? [] : [`--${name}`, String(flags[name])],
  )
  // Only a sweep resets a client, starts a command again, lets calls meet, or reads books.
  if (flags['url'] !== undefined || isKilled || race || readers.length > 0) {
    const url = flags['url'] === undefined ? typedFlags(flags) : ['--url', String(flags['url'])]
    const workers = race && race.workers > 1 ? ['--workers', String(race.workers)] : []
    const terms = plan.map(({ name, operation }) =>
      operation === undefined ? name.split('=')[0] : `${name} & ${operation}`,
    )
    const only = terms.length > 0 ? ['--only', terms.join(',')] : ['--max-runs', '1']
    return lineOf('sweep', ...url, ...readers, ...(isKilled ? ['--restart'] : workers), ...only)
  }
  const assume = plan.map(({ scenario }) => Object.entries(scenario.assume ?? {}))
  const isAssumed =
    plan.length === 0 ||
    (startScenario === 'default' && assume.every((readings) => readings.length > 0))
  if (!isAssumed) {
    const folder = String(flags['report'] ?? DEFAULT_REPORT)
    const typed = typedFlags(flags, ['scenario', 'scenarios'])
    return lineOf('exec', ...typed, '--scenarios', folder, '--scenario', finding)
  }
  const own = assume.flat().flatMap(([name, reading]) => ['--assume', `${name}=${reading}`])
  return lineOf('exec', ...typedFlags(flags), ...own)
}

/** Does work that a signal stops; a second one ends this process at once. The reason of the stop is the exit code. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    const code = 128 + constants.signals[name]
    if (stop.signal.aborted) {
      killPrograms()
      process.exit(code)
    }
    stop.abort(code)
  }
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, onSignal)
  try {
    return await work(stop.signal)
  } catch (error) {
    throw stop.signal.aborted
      ? Object.assign(error as Error, { exitCode: stop.signal.reason })
      : error
  } finally {
    for (const name of names) process.off(name, onSignal)
  }
}

/** Reads what a sweep needs, and does the work with it. Throws `BadOption`. */
export async function withSweep<T>(
  input: Input,
  signal: AbortSignal,
  work: (options: SweepOptions) => Promise<T>,
): Promise<T> {
  const { report, baseline } = input.flags
  // Each run that happens at the same time listens.
  setMaxListeners(0, signal)
  const own = readSweepOptions(input)
  const known = baseline === undefined ? new Set<string>() : knownFindings(String(baseline))
  if (report !== undefined && prepareSweepReport(String(report)))
    process.stderr.write(`This replaces the report in ${report}\n`)
  const progress = createSweepProgress(CLEAR, own.maxTimeMs)
  try {
    const running = await runningOf(input)
    const content = await openContent(own.options, stderrLog(own.options)).catch((error) => {
      throw explainStartError(error, own.options)
    })
    const limits = { signal, known, onProgress: progress.show }
    return await work({ ...own, ...content, ...limits, running }).catch((error) => {
      throw error.syscall === 'listen' ? explainStartError(error, own.options) : error
    })
  } finally {
    progress.end()
  }
}

/** Makes the sweep of a command line, writes its report if it names a folder, and returns its result. */
export async function runSweep(input: Input, signal: AbortSignal): Promise<SweepResult> {
  const { report } = input.flags
  const result = await withSweep(input, signal, sweep)
  if (report !== undefined) writeSweepReport(result, String(report))
  return result
}

/** Prints a sweep, and returns the exit code. */
export async function printSweep(input: Input, signal: AbortSignal): Promise<number> {
  const { flags } = input
  const result = await runSweep(input, signal)
  const report = flags['report'] === undefined ? undefined : String(flags['report'])
  const { findings, holdout } = result
  process.stdout.write(flags['json'] ? jsonLine(sweepJson(result)) : sweepText(result, report))
  if (signal.aborted) return signal.reason
  const isOpen = findings.some(({ level, isKnown }) => level === 'error' && !isKnown)
  return isOpen || holdout?.classes.some(({ held_out }) => held_out.errors > 0) ? 1 : 0
}

/** What `--plan` prints. */
export async function sweepPlan(input: Input, signal: AbortSignal): Promise<string> {
  const other = ['report', 'baseline', 'holdout'].find((name) => input.flags[name] !== undefined)
  if (other !== undefined)
    throw new BadOption(`--plan runs no fault, so it excludes --${other}; leave one of them out`)
  const plan = await withSweep(input, signal, planSweep)
  return input.flags['json'] ? jsonLine(plan) : sweepPlanText(plan)
}

/** What `--reveal` prints. */
export function sealedText({ flags, program }: Input): string {
  const [file, seed] = [String(flags['reveal']), textsOf(flags).holdout]
  const other = Object.keys(flags).find((name) => !['reveal', 'holdout', 'json'].includes(name))
  if (other !== undefined)
    throw new BadOption(`--reveal runs nothing, so it excludes --${other}; leave it out`)
  if (seed === undefined || program.length > 0)
    throw new BadOption(
      `--reveal takes the seed, and no program: payout-sandbox sweep --reveal ${quoteShellArguments([file])} --holdout SEED`,
    )
  const sealed = revealed(file, seed)
  return flags['json'] ? jsonLine(sealed) : revealedText(sealed)
}
