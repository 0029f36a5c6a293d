import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { coverageOf } from '../coverage/report.ts'
import { type BaselineOptions, runBaseline, SweepError } from './baseline.ts'
import { confirmed, findingsOf, groupsOf, isFinding } from './confirm.ts'
import { faultsOf, recoveryFaults } from './faults.ts'
import type { Fault, Observation, Plan, Run, SweepResult } from './faults-and-findings.ts'
import { type Judging, judge } from './judge.ts'
import type { KeyLevel } from './observe.ts'
import {
  areAlike,
  byRisk,
  type Choice,
  guardPairs,
  isLostPayment,
  isSelected,
  pairsOf,
  planDefinition,
  planKey,
  planText,
  problemOfChoice,
  type Quiet,
  recoveryPairs,
} from './plans.ts'
import type { PointChoice } from './points.ts'
import { Stopped, startRun, startStateOf } from './start-run.ts'

export type SweepOptions = BaselineOptions &
  Choice & {
    points: PointChoice
    depth: 1 | 2
    /** Real ms after which no plan is started. */
    maxTimeMs?: number | undefined
    maxRuns?: number | undefined
    maxRetries: number
    /** The findings that are known, by plan and verdict. */
    known: ReadonlySet<string>
    /** The command line that shows a finding again. */
    reproduce: (finding: string, plan: Plan) => string
    onProgress: (progress: Progress) => void
  }

/** How far a sweep is; `left` runs follow. */
export type Progress = { done: number; left: number; found: number; what: string }

const MIN_DEADLINE_MS = 30_000
const DEADLINE_FACTOR = 10
// Pairs that are tried if neither a number of runs nor a time is given.
const MAX_PAIRS = 200

/** Identifies a finding in each sweep of the same command. */
export const findingKey = (
  plan: readonly Pick<Fault, 'kind' | 'name' | 'operation' | 'nth'>[],
  verdict: string,
) => `${verdict}: ${planKey(plan)}`

/** The faults of a run that are wanted. Throws if there is none. */
function chosenFaults(faults: readonly Fault[], choice: Choice) {
  const chosen = faults.filter((fault) => isSelected(fault, choice))
  if (chosen.length > 0) return chosen
  const words = new Set(faults.flatMap(({ kind, operation = [] }) => [kind, operation].flat()))
  throw new SweepError(
    `${choice.only ? `--only ${choice.only.join(',')}` : `--except ${choice.except?.join(',')}`} selects no fault of this command. Its faults are of ${[...words].join(', ')}`,
  )
}

/** Works on items side by side, and keeps the results in the order of the items. */
async function mapSideBySide<T, R>(
  items: readonly T[],
  jobs: number,
  mayStart: () => boolean,
  work: (item: T) => Promise<R>,
): Promise<(R | undefined)[]> {
  const results: (R | undefined)[] = items.map(() => undefined)
  let next = 0
  async function worker() {
    while (next < items.length && mayStart()) {
      const i = next++
      try {
        results[i] = await work(items[i]!)
      } catch (error) {
        if (!(error instanceof Stopped)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker))
  return results
}

/** The user's own scenarios from which the start scenario is made: the shipped ones are there anyway. */
function ownScenarios({ library, options }: SweepOptions): SweepResult['scenarios'] {
  const start = library.get(options.scenario)
  const layers = start ? library.layersOf(start) : []
  const own = layers.filter(({ name }) => /[\\/]/.test(library.fileOf(name) ?? ''))
  return Object.fromEntries(own.map(({ name, definition }) => [name, definition]))
}

type RunnerDeps = { options: SweepOptions; judging: Judging; level: KeyLevel; startedAt: number }

/** Runs plans under the limits of a sweep, and judges each run. */
class Runner {
  readonly runs: Run[] = []
  readonly untried: Plan[] = []
  readonly #deps: RunnerDeps
  #started = 0
  #left = 0
  #found = 0

  constructor(deps: RunnerDeps) {
    this.#deps = deps
  }

  #mayStart = () => {
    const { startedAt, options } = this.#deps
    const { signal, maxTimeMs = Number.POSITIVE_INFINITY } = options
    return !signal.aborted && performance.now() - startedAt < maxTimeMs
  }

  /** Runs one plan. The recording is kept only if it shows a finding. */
  run = async (plan: Plan): Promise<Run> => {
    const id = ++this.#started
    const { options, judging, level } = this.#deps
    const recording = join(options.folder, `run-${id}.ndjson`)
    const { deadlineMs } = judging
    const observation = await startRun(options, plan, { deadlineMs, level, recording })
    const judgement = this.#judge(plan, observation)
    const run = { id, plan, what: planText(plan), observation, ...judgement }
    if (!isFinding(run)) rmSync(recording, { force: true })
    return run
  }

  #judge = (plan: Plan, observation: Observation) =>
    judge(plan, observation, {
      ...this.#deps.judging,
      passesAlone: this.#pass(plan),
      passesOtherwise: this.runs.some(
        (one) => one.verdict === 'passed' && areAlike(one.plan, plan),
      ),
    })

  /** Judges all runs again, because what some of them say depends on others. */
  judgeAgain() {
    const again = this.runs.map((run) => ({ ...run, ...this.#judge(run.plan, run.observation) }))
    this.runs.splice(0, again.length, ...again)
  }

  /** Whether a plan is a pair with another reading, and the command passes under each half. */
  #pass(plan: Plan): boolean {
    if (plan.length < 2 || plan.every(({ kind }) => kind !== 'assumption')) return false
    return plan.every((fault) => {
      const alone = this.runs.find((one) => planKey(one.plan) === planKey([fault]))
      // A reading that concerns only calls after a fault has no run of its own.
      return alone ? alone.verdict === 'passed' : fault.kind === 'assumption'
    })
  }

  /** Runs plans in their order, at most `max` of them. */
  async runAll(plans: readonly Plan[], max = Number.POSITIVE_INFINITY) {
    const { jobs, maxRuns = Number.POSITIVE_INFINITY, onProgress } = this.#deps.options
    const chosen = plans.slice(0, Math.max(0, Math.min(max, maxRuns - this.runs.length)))
    this.#left += chosen.length
    const results = await mapSideBySide(chosen, jobs, this.#mayStart, async (plan) => {
      const run = await this.run(plan)
      if (isFinding(run)) this.#found++
      const done = chosen.length - --this.#left + this.runs.length
      onProgress({ done, left: this.#left, found: this.#found, what: run.what })
      return run
    })
    this.#left = 0
    const before = this.runs.length
    const made = results.filter((one) => one !== undefined)
    this.runs.push(...made.map((run, i) => ({ ...run, id: before + i + 1 })))
    this.untried.push(...plans.filter((_, i) => results[i] === undefined))
  }

  /** The runs that did no harm, and the faults of the calls that they made in addition to the baseline. */
  quiet = (addedTo: (run: Observation) => readonly Fault[]): Quiet[] =>
    this.runs
      .filter((one) => !isFinding(one) && one.verdict !== 'not_reached' && one.plan.length === 1)
      .map(({ plan, observation }) => ({ fault: plan[0]!, added: addedTo(observation) }))

  /** Repeats what was found, and returns the groups that came again, and the runs that did not. */
  async confirm() {
    const groups = groupsOf(this.runs)
    const results = await mapSideBySide(
      groups,
      this.#deps.options.jobs,
      () => !this.#deps.options.signal.aborted,
      (group) => confirmed(group, this.run),
    )
    const flaky = groups.filter((_, i) => results[i] === undefined).flat()
    return { groups: results.filter((one) => one !== undefined), flaky }
  }
}

/** What all runs met, with the readings that they tried. */
function coverageOfRuns(baselines: readonly Observation[], runs: readonly Run[]) {
  const all = [...baselines, ...runs.map(({ observation }) => observation)]
  const reached = runs.filter(({ verdict }) => verdict !== 'not_reached')
  const tried = reached.flatMap(({ plan }) => plan.filter(({ kind }) => kind === 'assumption'))
  return coverageOf(
    new Set(all.flatMap(({ seen }) => [...seen])),
    new Set(tried.map(({ name }) => name)),
  )
}

/** Runs a command under everything that the contract permits, and judges each run. Throws `SweepError` and `Stopped`. */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const { depth, maxRuns, maxTimeMs, timeoutMs, known } = options
  const problem = problemOfChoice(options)
  if (problem !== undefined) throw new SweepError(problem)
  const startedAt = performance.now()
  const { level, runs: baselines, failures } = await runBaseline(options)
  const slowest = Math.max(...baselines.map(({ durationMs }) => durationMs))
  const deadlineMs = timeoutMs ?? Math.max(MIN_DEADLINE_MS, DEADLINE_FACTOR * slowest)
  const { maxRetries, probe } = options
  const judging = { baselines, maxRetries, deadlineMs, hasProbe: probe !== undefined }
  const runner = new Runner({ options, judging, level, startedAt })
  const start = startStateOf(options)
  const possible = { ...start, restart: options.restart }
  const all = faultsOf(baselines[0], options.points, possible)
  const faults = chosenFaults(all, options)
  const quiet = () =>
    runner.quiet((run) =>
      recoveryFaults(run, baselines[0], possible).filter((fault) => isSelected(fault, options)),
    )
  const plans = [...faults.map((fault): Plan => [fault]), ...guardPairs(faults)]
  const done = new Set<string>()
  const runNew = async (plans: readonly Plan[], max?: number) => {
    const fresh = plans.filter((plan) => !done.has(planKey(plan)))
    for (const plan of fresh) done.add(planKey(plan))
    await runner.runAll(byRisk(fresh), max)
  }
  // The runs of the first lost payment show which calls are made only then.
  await runNew(plans.filter((plan) => plan.some((one) => isLostPayment(one) && one.nth === 1)))
  await runNew([...plans, ...recoveryPairs(quiet())])
  runner.judgeAgain()
  if (runner.runs.length === 0 && !options.signal.aborted)
    throw new SweepError(
      'no run with a fault was started, because the time of --max-time ended before; choose a larger one',
    )
  await runNew(recoveryPairs(quiet()))
  if (depth === 2) {
    const isLimited = maxRuns !== undefined || maxTimeMs !== undefined
    await runNew(pairsOf(quiet()), isLimited ? undefined : MAX_PAIRS)
  }
  const { groups, flaky } = await runner.confirm()
  const { reproduce } = options
  const findings = findingsOf(groups, (group, finding) => ({
    reproduce: reproduce(finding, group[0].plan),
    definition: planDefinition(group[0].plan, start.scenario),
    isKnown: group.some(({ plan, verdict }) => known.has(findingKey(plan, verdict))),
  }))
  return {
    command: options.command,
    seed: options.options['random-seed'],
    baseline: baselines[0],
    isStopped: options.signal.aborted,
    failures,
    runs: runner.runs,
    findings,
    flaky,
    scenarios: ownScenarios(options),
    untried: runner.untried,
    coverage: coverageOfRuns(baselines, runner.runs),
  }
}
