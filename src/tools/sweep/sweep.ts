import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_READINGS } from '../../assumptions/readings.ts'
import { NO_CALL } from '../../config/environment.ts'
import { faultsOf } from './faults.ts'
import type {
  Fault,
  Finding,
  Observation,
  Plan,
  Run,
  SweepResult,
  Verdict,
} from './faults-and-findings.ts'
import { type Judging, judge } from './judge.ts'
import { baselineDifferences, keyLevelOf, withLevel } from './observe.ts'
import {
  isSelected,
  pairsOf,
  planDefinition,
  planKey,
  planText,
  problemOfOnly,
  type Quiet,
} from './plans.ts'
import type { PointChoice } from './points.ts'
import { CannotRun, type RunSetup, Stopped, startRun } from './start-run.ts'

/** The sweep cannot be made. The message says why and what to do. */
export class SweepError extends Error {
  readonly exitCode = 2
}

export type SweepOptions = Omit<RunSetup, 'signal'> & {
  points: PointChoice
  /** Kinds, names, operations and events: only faults that have one of them happen. */
  only?: readonly string[] | undefined
  depth: 1 | 2
  /** Real ms after which no run is started. */
  budgetMs?: number | undefined
  maxRuns?: number | undefined
  jobs: number
  /** Real ms that one run may take; by default ten times as long as without faults, and at least 30 s. */
  timeoutMs?: number | undefined
  isUnstable: boolean
  maxRetries: number
  /** A folder for the recordings of the runs. */
  folder: string
  /** The findings that are known, by plan and verdict. */
  known: ReadonlySet<string>
  /** The command line that shows a finding again. */
  reproduce: (finding: string, plan: Plan) => string
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/** How far a sweep is; `left` runs follow. */
export type Progress = { done: number; left: number; found: number; what: string }

const MIN_DEADLINE_MS = 30_000
const DEADLINE_FACTOR = 10
// A command without faults may take long; it must not take for ever.
const BASELINE_DEADLINE_MS = 600_000
// Pairs that are tried if neither a number of runs nor a time is given.
const MAX_PAIRS = 200

const ORDER: readonly Verdict[] = [
  'paid_twice',
  'wrong_state',
  'accepted_forged',
  'hung',
  'retry_storm',
  'relies_on',
  'not_paid',
]

/** Identifies a finding in each sweep of the same command. */
export const findingKey = (
  plan: readonly Pick<Fault, 'kind' | 'name' | 'operation' | 'nth'>[],
  verdict: string,
) => `${verdict}: ${planKey(plan)}`

const endOf = (output: string) =>
  output.trim() === ''
    ? 'It printed nothing.'
    : `Its output ends with:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`

/** Throws if nothing can be learned from runs without faults. */
function checkBaseline(runs: readonly Observation[], { isUnstable, timeoutMs }: SweepOptions) {
  const [first, second] = runs as [Observation, Observation]
  for (const { isHung, exitCode, output, probeDifferences } of runs) {
    if (isHung)
      throw new SweepError(
        `the command did not end within ${timeoutMs ?? BASELINE_DEADLINE_MS} ms without any fault; make it faster, or choose a larger --timeout`,
      )
    if (exitCode !== 0)
      throw new SweepError(
        `the command fails without any fault (${exitCode === null ? 'killed by a signal' : `exit code ${exitCode}`}); mend it first, for a sweep needs a command that passes. ${endOf(output)}`,
      )
    if (probeDifferences.length > 0)
      throw new SweepError(
        `the probe differs from the sandbox without any fault: ${probeDifferences[0]}. Let the probe answer with the payment's status, such as {"status": "SUCCESS"}`,
      )
  }
  if (first.calls.length === 0) throw new SweepError(NO_CALL)
  const differences = baselineDifferences(first, second)
  if (differences.length === 0 || isUnstable) return
  throw new SweepError(
    `two runs without faults made different calls, so the results would depend on chance:\n${differences.map((line) => `  ${line}`).join('\n')}\nMake the command repeatable (for example with --clock frozen), or use --unstable`,
  )
}

/** The faults of a run that are wanted. Throws if there is none. */
function chosenFaults(faults: readonly Fault[], only: readonly string[] | undefined) {
  if (only === undefined) return faults
  const chosen = faults.filter((fault) => isSelected(fault, only))
  if (chosen.length === 0)
    throw new SweepError(
      `--only ${only.join(',')} selects no fault of this command; use some of: ${[...new Set(faults.flatMap(({ kind, name, operation = [] }) => [kind, name, operation].flat()))].join(', ')}`,
    )
  return chosen
}

/** Runs plans side by side, and keeps the results in the order of the plans. */
async function runAll(
  plans: readonly Plan[],
  jobs: number,
  mayStart: () => boolean,
  run: (plan: Plan) => Promise<Run>,
): Promise<Run[]> {
  const results: (Run | undefined)[] = []
  let next = 0
  async function work() {
    while (next < plans.length && mayStart()) {
      const i = next++
      try {
        results[i] = await run(plans[i]!)
      } catch (error) {
        if (!(error instanceof Stopped)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, plans.length) }, work))
  return results.filter((one) => one !== undefined)
}

const isFinding = ({ level }: Run) => level === 'error' || level === 'warning'

/** The findings of the runs, the worst first. */
function findingsOf(runs: readonly Run[], { known, reproduce, options }: SweepOptions): Finding[] {
  return runs
    .filter(isFinding)
    .sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) || a.id - b.id)
    .map((run, i) => {
      const finding = `finding-${i + 1}`
      return {
        ...run,
        finding,
        reproduce: reproduce(finding, run.plan),
        definition: planDefinition(run.plan, options.scenario),
        isKnown: known.has(findingKey(run.plan, run.verdict)),
      }
    })
}

/** The user's own scenarios from which the start scenario is made: the shipped ones are there anyway. */
function ownScenarios({ library, options }: SweepOptions): SweepResult['scenarios'] {
  const start = library.get(options.scenario)
  const layers = start ? library.layersOf(start) : []
  const own = layers.filter(({ name }) => /[\\/]/.test(library.fileOf(name) ?? ''))
  return Object.fromEntries(own.map(({ name, definition }) => [name, definition]))
}

/** Runs the command without faults twice. */
async function runBaseline(options: SweepOptions) {
  const { timeoutMs = BASELINE_DEADLINE_MS, folder } = options
  const runs: Observation[] = []
  for (const name of ['baseline-1', 'baseline-2']) {
    const recording = join(folder, `${name}.ndjson`)
    try {
      runs.push(await startRun(options, [], { deadlineMs: timeoutMs, level: 0, recording }))
    } catch (error) {
      if (error instanceof CannotRun) throw new SweepError(error.message)
      throw error
    }
  }
  checkBaseline(runs, options)
  const level = keyLevelOf(runs[0]!, runs[1]!)
  return { level, baselines: runs.map((run) => withLevel(run, level)) }
}

/** Runs a command under everything that the contract permits, and judges each run. Throws `SweepError` and `Stopped`. */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const { jobs, depth, maxRuns, budgetMs, timeoutMs, signal, folder, library, only = [] } = options
  const problem = problemOfOnly(only)
  if (problem !== undefined) throw new SweepError(problem)
  const startedAt = performance.now()
  const { level, baselines } = await runBaseline(options)
  const slowest = Math.max(...baselines.map(({ durationMs }) => durationMs))
  const deadlineMs = timeoutMs ?? Math.max(MIN_DEADLINE_MS, DEADLINE_FACTOR * slowest)
  const judging: Judging = {
    baselines,
    maxRetries: options.maxRetries,
    deadlineMs,
    hasProbe: options.probe !== undefined,
  }
  const scenario = library.get(options.options.scenario)!
  const inForce = {
    ...DEFAULT_READINGS,
    ...options.options.assume,
    ...library.readingsOf(scenario),
  }
  const faults = chosenFaults(faultsOf(baselines[0]!, options.points, inForce), options.only)
  const room = (taken: number) => Math.max(0, (maxRuns ?? Number.POSITIVE_INFINITY) - taken)
  const mayStart = () =>
    !signal.aborted && (budgetMs === undefined || performance.now() - startedAt < budgetMs)
  let [started, done, findings, chosenCount, planned] = [0, 0, 0, 0, 0]

  async function run(plan: Plan): Promise<Run> {
    const id = ++started
    const recording = join(folder, `run-${id}.ndjson`)
    const observation = await startRun(options, plan, { deadlineMs, level, recording })
    const what = planText(plan)
    const judged = { id, plan, what, observation, ...judge(plan, observation, judging) }
    if (isFinding(judged)) findings++
    else rmSync(recording, { force: true })
    done++
    options.onProgress({ done, left: chosenCount - done, found: findings, what })
    return judged
  }
  /** Runs plans, and numbers the runs in the order of the plans. */
  async function runPlans(
    plans: readonly Plan[],
    before: number,
    max = Number.POSITIVE_INFINITY,
  ): Promise<Run[]> {
    const chosen = plans.slice(0, Math.min(max, room(before)))
    planned += plans.length
    chosenCount += chosen.length
    const runs = await runAll(chosen, jobs, mayStart, run)
    return runs.map((one, i) => ({ ...one, id: before + i + 1 }))
  }

  const first = await runPlans(
    faults.map((fault) => [fault]),
    0,
  )
  if (first.length === 0 && !signal.aborted)
    throw new SweepError(
      'no run with a fault was started, because the time of --budget ended before; choose a larger one',
    )
  // A fault that fails alone would only fail again, so a pair that fails needs both; one that was not reached says nothing.
  const known = new Set(faults.map((fault) => planKey([fault])))
  const quiet = (): Quiet[] =>
    first
      .filter((one) => !isFinding(one) && one.verdict !== 'not_reached')
      .map(({ plan, observation }) => ({
        fault: plan[0]!,
        added: faultsOf(observation, options.points, inForce).filter(
          (fault) =>
            fault.kind !== 'assumption' &&
            isSelected(fault, options.only) &&
            !known.has(planKey([fault])),
        ),
      }))
  const pairs = depth === 2 ? pairsOf(quiet()) : []
  const isLimited = maxRuns !== undefined || budgetMs !== undefined
  const maxPairs = isLimited ? undefined : MAX_PAIRS
  const second = await runPlans(pairs, first.length, maxPairs)
  const runs = [...first, ...second]
  return {
    command: options.command,
    seed: options.options['random-seed'],
    baseline: baselines[0]!,
    runs,
    findings: findingsOf(runs, options),
    scenarios: ownScenarios(options),
    leftOut: planned - runs.length,
  }
}
