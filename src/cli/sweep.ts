import { setMaxListeners } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BadOption, type Options } from '../config/options.ts'
import { parseDuration } from '../model/duration.ts'
import { jsonLine } from '../model/words.ts'
import type { Plan, SweepResult } from '../tools/sweep/faults-and-findings.ts'
import type { SweepOptions } from '../tools/sweep/sweep.ts'
import {
  type Command,
  CommandFailed,
  type Input,
  parseWholeNumber,
  quoteProgram,
  quoteShellArguments,
} from './command.ts'
import { gatherOptions, START_FLAGS } from './options.ts'
import { createSweepProgress, DEFAULT_REPORT, sweepText } from './sweep-output.ts'

// Each run is in memory, on a free port, with a recording of its own.
const NOT_OF_RUNS = new Set([
  ...['port', 'data', 'memory', 'watch', 'fsync', 'record', 'state', 'recover'],
  ...['discard-journal', 'reset', 'log-level', 'log-format'],
])
const SANDBOX_FLAGS = Object.fromEntries(
  Object.entries(START_FLAGS).filter(([name]) => !NOT_OF_RUNS.has(name)),
)

const DEFAULT_MAX_RETRIES = 20
const PROBE_PLACEHOLDER = '{transaction_id}'
const INTERRUPTED = 130

const SWEEP_FLAGS: Command['flags'] = {
  points: [
    'first|first-last|all',
    'calls and events of each kind that get faults: the first; the first, the second and the last; or all (default: first-last)',
  ],
  only: [
    'WORD,...',
    'only faults of these kinds, names, operations or events, such as webhook,answer_lost,createTransaction',
  ],
  depth: ['1|2', 'how many faults happen together (default: 1)'],
  budget: ['DURATION', 'start no further run after this real time, such as 10m'],
  'max-runs': ['N', 'maximum number of runs, without the two of the baseline'],
  jobs: ['N', 'how many runs happen at the same time (default: 1)'],
  timeout: [
    'DURATION',
    'real time that a run may take (default: ten times as long as without faults, at least 30s)',
  ],
  unstable: ['', 'continue although two runs without faults made different calls'],
  probe: [
    'URL|CMD',
    'URL or shell command that returns your program’s view of a payment; contains {transaction_id}',
  ],
  'max-retries': [
    'N',
    `how often a call of the same content may fail, or come within a second (default: ${DEFAULT_MAX_RETRIES})`,
  ],
  report: ['DIR', 'folder for the report; files of an earlier report are replaced'],
  baseline: ['FILE', 'sweep.json of an earlier sweep; its findings do not fail this one'],
  json: ['', 'print the result as one line of JSON'],
}

type KnownFinding = { verdict: string; plan: Plan }

/** The findings of the `sweep.json` of an earlier sweep. Throws `BadOption`. */
function knownFindings(file: string): readonly KnownFinding[] {
  let value: { findings?: unknown }
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new BadOption(
      code === undefined
        ? `--baseline ${file} is not JSON: ${message}; use the sweep.json of an earlier report`
        : `--baseline ${file} cannot be read (${code}); use the sweep.json of an earlier report`,
    )
  }
  const findings = value?.findings
  const isFinding = (one: unknown) =>
    Array.isArray((one as KnownFinding | null)?.plan) &&
    typeof (one as KnownFinding).verdict === 'string'
  if (!Array.isArray(findings) || !findings.every(isFinding))
    throw new BadOption(
      `--baseline ${file} has no list of findings; use the sweep.json of an earlier report`,
    )
  // Absent values are null in the file.
  return findings.map(({ verdict, plan }: KnownFinding) => ({
    verdict,
    plan: plan.map((fault) => ({
      ...fault,
      operation: fault.operation ?? undefined,
      nth: fault.nth ?? undefined,
    })) as unknown as Plan,
  }))
}

const durationOf = (name: string, value: unknown): number | undefined => {
  if (value === undefined) return undefined
  const ms = parseDuration(String(value))
  if (ms) return ms
  throw new BadOption(
    `--${name} takes a duration such as 500ms, 30s or 10m, not ${JSON.stringify(value)}`,
  )
}

function choiceOf<T extends string>(
  name: string,
  value: unknown,
  choices: readonly [T, ...T[]],
): T {
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

/** The options of a sandbox as they were typed, for a command line that shows a finding again. */
const typedFlags = (flags: Input['flags'], without: readonly string[]): string[] =>
  Object.entries(flags).flatMap(([name, value]) =>
    !Object.hasOwn(SANDBOX_FLAGS, name) || without.includes(name)
      ? []
      : [value]
          .flat()
          .flatMap((one) => (one === true ? [`--${name}`] : [`--${name}`, String(one)])),
  )

/** The command line that shows a finding again. The readings of a scenario would have priority over `--assume`. */
function reproduceLine(
  { flags, program }: Input,
  { scenario: startScenario }: Options,
  finding: string,
  plan: Plan,
): string {
  const assume = plan.map(({ scenario }) => Object.entries(scenario.assume ?? {}))
  const isAssumed = startScenario === 'default' && assume.every((readings) => readings.length > 0)
  const folder = String(flags['report'] ?? DEFAULT_REPORT)
  const own = isAssumed
    ? assume.flat().flatMap(([name, reading]) => ['--assume', `${name}=${reading}`])
    : ['--scenarios', folder, '--scenario', finding]
  const typed = typedFlags(flags, isAssumed ? [] : ['scenario', 'scenarios'])
  return `payout-sandbox ${quoteShellArguments(['exec', ...typed, ...own])} -- ${quoteProgram(program)}`
}

/** Stops the sweep at a signal; a second one ends this process at once. */
function stopOnSignals(stop: AbortController, killAll: () => void) {
  const onSignal = () => {
    if (stop.signal.aborted) {
      killAll()
      process.exit(INTERRUPTED)
    }
    stop.abort()
  }
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, onSignal)
  return () => {
    for (const name of names) process.off(name, onSignal)
  }
}

type OwnOptions = Omit<SweepOptions, 'library' | 'fixtures' | 'folder' | 'onProgress' | 'known'> & {
  knownFindings: readonly KnownFinding[]
}

/** Reads the options of a sweep from the command line. Throws `BadOption`. */
function readSweepOptions(input: Input, signal: AbortSignal): OwnOptions {
  const { program, flags, env } = input
  if (program.length === 0)
    throw new BadOption('sweep needs a program after --, such as payout-sandbox sweep -- npm test')
  const number = (name: string, min: number, max: number) =>
    flags[name] === undefined
      ? undefined
      : parseWholeNumber(`--${name}`, String(flags[name]), min, max)
  const sandboxFlags = Object.fromEntries(
    Object.entries(flags).filter(([name]) => Object.hasOwn(SANDBOX_FLAGS, name)),
  )
  const options: Options = gatherOptions({ port: '0', memory: true, ...sandboxFlags }, env)
  return {
    command: program,
    env,
    options,
    probe: probeOf(flags['probe']),
    points: choiceOf('points', flags['points'], ['first-last', 'first', 'all']),
    only:
      flags['only'] === undefined
        ? undefined
        : String(flags['only'])
            .split(',')
            .map((word) => word.trim()),
    depth: choiceOf('depth', flags['depth'], ['1', '2']) === '2' ? 2 : 1,
    budgetMs: durationOf('budget', flags['budget']),
    maxRuns: number('max-runs', 1, 1_000_000),
    jobs: number('jobs', 1, 64) ?? 1,
    timeoutMs: durationOf('timeout', flags['timeout']),
    isUnstable: flags['unstable'] === true,
    maxRetries: number('max-retries', 0, 1_000_000) ?? DEFAULT_MAX_RETRIES,
    knownFindings: flags['baseline'] === undefined ? [] : knownFindings(String(flags['baseline'])),
    reproduce: (finding, plan) => reproduceLine(input, options, finding, plan),
    signal,
  }
}

/** Makes the sweep, with its recordings in a folder. */
async function runSweepIn(
  folder: string,
  { knownFindings: known, ...own }: OwnOptions,
): Promise<SweepResult> {
  const { explainStartError } = await import('./serve.ts')
  const { openContent, stderrLog } = await import('../server.ts')
  const { findingKey, sweep } = await import('../tools/sweep/sweep.ts')
  const { Stopped } = await import('../tools/sweep/start-run.ts')
  const progress = createSweepProgress()
  try {
    const content = await openContent(own.options, stderrLog(own.options)).catch((error) => {
      throw explainStartError(error, own.options)
    })
    return await sweep({
      ...own,
      ...content,
      folder,
      known: new Set(known.map(({ plan, verdict }) => findingKey(plan, verdict))),
      onProgress: progress.show,
    })
  } catch (error) {
    if (error instanceof Stopped)
      throw new CommandFailed(
        'the sweep was stopped before its two runs without faults ended, so nothing is known',
        undefined,
        INTERRUPTED,
      )
    throw error
  } finally {
    progress.end()
  }
}

/** Makes the sweep of a command line, writes its report if it names a folder, and returns its result. */
export async function runSweep(input: Input, signal: AbortSignal): Promise<SweepResult> {
  const { report } = input.flags
  // Each run that happens at the same time listens.
  setMaxListeners(0, signal)
  const own = readSweepOptions(input, signal)
  const { prepareSweepReport, writeSweepReport } = await import(
    '../tools/sweep/report/write-report.ts'
  )
  if (report !== undefined) prepareSweepReport(String(report))
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-sweep-'))
  try {
    const result = await runSweepIn(folder, own)
    if (report !== undefined) writeSweepReport(result, String(report))
    return result
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const sweep: Command = {
  name: 'sweep',
  summary: 'run a program under everything that the contract permits, and report what breaks',
  usage: [
    [
      'sweep [OPTIONS] -- CMD...',
      'run CMD with a sandbox of its own, again and again with another fault each time, and judge each run by what the sandbox saw; exit 1 if a run shows an error',
    ],
  ],
  flags: { ...SWEEP_FLAGS, ...SANDBOX_FLAGS },
  examples: [
    'sweep -- npm test',
    'sweep --clock frozen --jobs 2 --report sweep-report -- node --test',
    'sweep --depth 2 --budget 10m --baseline sweep-report/sweep.json -- npm test',
    'sweep --probe http://localhost:3000/payments/{transaction_id} -- npm test',
  ],
  takesProgram: true,
  async run(input) {
    const { flags } = input
    const stop = new AbortController()
    const { killPrograms } = await import('../tools/sweep/program.ts')
    const release = stopOnSignals(stop, killPrograms)
    try {
      const result = await runSweep(input, stop.signal)
      const report = flags['report'] === undefined ? undefined : String(flags['report'])
      const { countsText, groupsOf } = await import('../tools/sweep/report/sweep-json.ts')
      const { sweepJson } = await import('../tools/sweep/report/sweep-json.ts')
      process.stdout.write(
        flags['json']
          ? jsonLine(sweepJson(result))
          : sweepText(result, countsText(result), groupsOf(result.findings), report),
      )
      if (stop.signal.aborted) return INTERRUPTED
      return result.findings.some(({ level, isKnown }) => level === 'error' && !isKnown) ? 1 : 0
    } finally {
      release()
    }
  },
}
