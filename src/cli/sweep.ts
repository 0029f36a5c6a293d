import { setMaxListeners } from 'node:events'
import { BadOption, type Options } from '../config/options.ts'
import { parseDuration } from '../model/duration.ts'
import { jsonLine } from '../model/words.ts'
import type { Plan, SweepResult } from '../tools/sweep/faults-and-findings.ts'
import type { SweepOptions } from '../tools/sweep/sweep.ts'
import { type Command, type Input, numberFlag } from './command.ts'
import { gatherOptions, sweepKeys } from './options.ts'
import { createSweepProgress, holdoutOf, reproduceLine, sealedText } from './sweep-output.ts'
import { runningOf, SANDBOX_FLAGS } from './sweep-sandbox.ts'

const DEFAULT_MAX_RETRIES = 20
const DEFAULT_MAX_TIME = '3m'
const PROBE_PLACEHOLDER = '{transaction_id}'
export const INTERRUPTED = 130

const SWEEP_FLAGS: Command['flags'] = {
  points: [
    'first|first-last|all',
    'calls and events of each kind that get faults: the first; the first, the second and the last, and each payment for a broken connection; or all (default: first-last)',
  ],
  only: [
    'WORD,...',
    'only faults of these kinds, names, operations or events, such as webhook,createTransaction & unavailable; money for a first look',
  ],
  except: ['WORD,...', 'leave out these faults'],
  depth: [
    '1|2',
    'how many faults happen together; 1 has pairs too, for what follows a lost response (default: 1)',
  ],
  'max-time': [
    'DURATION',
    'start no further plan after this real time; those with the most money at risk come first (default: 3m)',
  ],
  'max-runs': ['N', 'maximum number of runs, without the baseline and the repeats of findings'],
  jobs: [
    'N',
    'how many runs happen at the same time; their files, ports and databases must differ (default: 2, and up to 8 while the machine is idle; 1 with --port)',
  ],
  url: [
    'URL',
    'sweep a sandbox that already runs, in its client after /@ (default: sweep), which each run resets; one run at a time',
  ],
  workers: [
    'N',
    'how many workers the program can run as at once, up to 4: starts it so often against one sandbox, and lets their calls meet (default: 1; config: workers)',
  ],
  restart: ['', 'also kill the program during calls that change something, and start it again'],
  timeout: [
    'DURATION',
    'real time that a run may take (default: ten times as long as without faults, at least 30s, or 75s if a call gets no response)',
  ],
  unstable: ['', 'continue although two runs without faults made different calls'],
  ledger: [
    'CMD',
    'shell command that prints your books of a run as CSV, as reconcile reads it; its folder is in PAYOUT_SANDBOX_RUN_DIR',
  ],
  probe: [
    'URL|CMD',
    'URL or shell command that returns your program’s view of a payment; contains {transaction_id}',
  ],
  'max-retries': [
    'N',
    `how many equal calls of one payment may come within a second (default: ${DEFAULT_MAX_RETRIES})`,
  ],
  report: ['DIR', 'folder for the report; files of an earlier report are replaced'],
  baseline: ['FILE', 'sweep.json of an earlier sweep; its findings do not fail this one'],
  plan: ['', 'run the program without faults only, and print the runs that would follow, and why'],
  holdout: [
    'SEED',
    'report a third of the faults, which this seed chooses, as a score alone, and seal their names',
  ],
  reveal: ['FILE', 'run nothing; print what a sweep.json of the same --holdout has sealed'],
  json: ['', 'print the result as one line of JSON'],
}

const durationOf = (name: string, value: unknown): number | undefined => {
  if (value === undefined) return undefined
  const ms = parseDuration(String(value))
  if (ms) return ms
  throw new BadOption(
    `--${name} takes a duration such as 500ms, 30s or 10m, not ${JSON.stringify(value)}`,
  )
}

function choiceOf<T extends string>(name: string, value: unknown, choices: readonly [T, ...T[]]) {
  const found = value === undefined ? choices[0] : choices.find((one) => one === value)
  if (found !== undefined) return found
  throw new BadOption(`--${name} takes ${choices.join(' or ')}, not ${JSON.stringify(value)}`)
}

function probeOf(value: unknown): string | undefined {
  if (value === undefined || String(value).includes(PROBE_PLACEHOLDER))
    return value as string | undefined
  throw new BadOption(
    `--probe takes a URL or a command with ${PROBE_PLACEHOLDER}, such as http://localhost:3000/payments/${PROBE_PLACEHOLDER}, not ${JSON.stringify(value)}`,
  )
}

function ledgerOf(value: unknown): string | undefined {
  if (value === undefined || String(value).trim() !== '') return value as string | undefined
  throw new BadOption(
    "--ledger takes a shell command that prints your books as CSV, such as './books.sh', not an empty one",
  )
}

/** Does work that a signal stops; a second one ends this process at once. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const { killPrograms } = await import('../tools/sweep/program.ts')
  const onSignal = () => {
    if (stop.signal.aborted) {
      killPrograms()
      process.exit(INTERRUPTED)
    }
    stop.abort()
  }
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, onSignal)
  try {
    return await work(stop.signal)
  } finally {
    for (const name of names) process.off(name, onSignal)
  }
}

function workersOf(flags: Input['flags']): number {
  const workers = numberFlag(flags, 'workers', 1, 4)
  if (workers !== undefined && flags['url'] !== undefined)
    throw new BadOption(
      '--url excludes --workers: start the sweep without --url, so that the sandbox can let calls meet',
    )
  return workers ?? numberFlag(sweepKeys(), 'workers', 1, 4) ?? 1
}

const termsOf = (value: unknown): string[] | undefined =>
  value === undefined
    ? undefined
    : String(value)
        .split(',')
        .map((word) => word.trim())

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
  const sandboxFlags = Object.fromEntries(
    Object.entries(flags).filter(([name]) => Object.hasOwn(SANDBOX_FLAGS, name)),
  )
  // Each run has a free port, unless an app that already runs knows one.
  const options: Options = gatherOptions({ port: '0', memory: true, ...sandboxFlags }, env)
  return {
    command: program,
    env,
    options,
    probe: probeOf(flags['probe']),
    ledger: ledgerOf(flags['ledger']),
    points: choiceOf('points', flags['points'], ['first-last', 'first', 'all']),
    only: termsOf(flags['only']),
    except: termsOf(flags['except']),
    depth: choiceOf('depth', flags['depth'], ['1', '2']) === '2' ? (2 as const) : (1 as const),
    maxTimeMs: durationOf('max-time', flags['max-time'] ?? DEFAULT_MAX_TIME),
    maxRuns: numberFlag(flags, 'max-runs', 1, 1_000_000),
    ...jobsOf(flags),
    workers: workersOf(flags),
    restart: flags['restart'] === true,
    timeoutMs: durationOf('timeout', flags['timeout']),
    isUnstable: flags['unstable'] === true,
    holdout: holdoutOf(flags['holdout']),
    maxRetries: numberFlag(flags, 'max-retries', 0, 1_000_000) ?? DEFAULT_MAX_RETRIES,
    reproduce: (finding: string, plan: Plan) => reproduceLine(input, options, finding, plan),
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
  const [
    { knownFindings },
    { prepareSweepReport },
    { explainStartError },
    { openContent, stderrLog },
  ] = await Promise.all([
    import('../tools/sweep/findings.ts'),
    import('../tools/sweep/report/write-report.ts'),
    import('./serve.ts'),
    import('../server.ts'),
  ])
  const known = baseline === undefined ? new Set<string>() : knownFindings(String(baseline))
  if (report !== undefined) prepareSweepReport(String(report))
  const progress = createSweepProgress(own.maxTimeMs)
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
  const [{ writeSweepReport }, { sweep: makeSweep }] = await Promise.all([
    import('../tools/sweep/report/write-report.ts'),
    import('../tools/sweep/sweep.ts'),
  ])
  const result = await withSweep(input, signal, makeSweep)
  if (report !== undefined) writeSweepReport(result, String(report))
  return result
}

/** Prints a sweep, and returns the exit code. */
async function printSweep(input: Input, signal: AbortSignal): Promise<number> {
  const { flags } = input
  const result = await runSweep(input, signal)
  const report = flags['report'] === undefined ? undefined : String(flags['report'])
  const [{ sweepJson }, { sweepText }] = await Promise.all([
    import('../tools/sweep/report/sweep-json.ts'),
    import('../tools/sweep/report/sweep-text.ts'),
  ])
  const { findings, holdout } = result
  process.stdout.write(flags['json'] ? jsonLine(sweepJson(result)) : sweepText(result, report))
  if (signal.aborted) return INTERRUPTED
  const isOpen = findings.some(({ level, isKnown }) => level === 'error' && !isKnown)
  return isOpen || holdout?.classes.some(({ held_out }) => held_out.errors > 0) ? 1 : 0
}

/** What `--plan` prints. */
async function sweepPlan(input: Input, signal: AbortSignal): Promise<string> {
  const other = ['report', 'baseline', 'holdout'].find((name) => input.flags[name] !== undefined)
  if (other !== undefined)
    throw new BadOption(`--plan runs no fault, so it excludes --${other}; leave one of them out`)
  const { planSweep, sweepPlanText } = await import('../tools/sweep/sweep-plan.ts')
  const plan = await withSweep(input, signal, planSweep)
  return input.flags['json'] ? jsonLine(plan) : sweepPlanText(plan)
}

export const sweep: Command = {
  name: 'sweep',
  isTool: true,
  summary: 'run a program under all that the contract permits, and report what breaks',
  usage: [
    [
      'sweep [OPTIONS] -- CMD...',
      'rerun CMD with another fault each time, and judge what the sandbox saw; exit 1 on an error',
    ],
  ],
  flags: {
    ...SWEEP_FLAGS,
    ...SANDBOX_FLAGS,
    port: ['N', 'port of the sandbox of each run, one at a time (default: a free one)'],
  },
  examples: [
    'sweep -- npm test',
    'sweep --clock frozen --jobs 2 --report sweep-report -- node --test',
    'sweep --depth 2 --max-time 10m --baseline sweep-report/sweep.json -- npm test',
    'sweep --ledger ./books.sh -- ./start-workers.sh',
    'sweep --probe http://localhost:3000/payments/{transaction_id} -- npm test',
  ],
  takesProgram: true,
  async run(input) {
    const { flags } = input
    if (flags['reveal'] !== undefined) return sealedText(input)
    if (flags['plan']) return untilSignal((signal) => sweepPlan(input, signal))
    return untilSignal((signal) => printSweep(input, signal))
  },
}
