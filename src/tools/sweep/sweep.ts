import { type BaselineOptions, endOf, runBaseline, withLevel } from './baseline.ts'
import { firstDivergence } from './divergence.ts'
import { faultsOf, type PointChoice, recoveryFaults } from './faults.ts'
import type {
  Fault,
  Finding,
  Judgement,
  Observation,
  Plan,
  Progress,
  Pruned,
  Run,
  SweepResult,
} from './faults-and-findings.ts'
import { mostOf, SweepError } from './faults-and-findings.ts'
import {
  type Confirmed,
  confirmed,
  coverageOfRuns,
  findingKey,
  groupsOf,
  isFinding,
} from './findings.ts'
import { Holdout } from './holdout.ts'
import { judge } from './judge.ts'
import type { Choice } from './plans.ts'
import {
  byRisk,
  checkChoice,
  deadlineOf,
  firstOf,
  isSelected,
  pairsOf,
  planDefinition,
  planKey,
  plansOf,
  planText,
  recoveryPairs,
} from './plans.ts'
import { CHECK_MS, type Machine, watchMachine } from './program.ts'
import { removeStale, Stopped, startRun, startStateOf } from './start-run.ts'
import { raceFaults, SLOW_NAMES, showsTimeout, slowPlans } from './time-faults.ts'

export type SweepOptions = BaselineOptions &
  Choice & {
    points: PointChoice
    depth: 1 | 2
    /** Real ms after which no plan is started. */
    maxTimeMs?: number | undefined
    maxRuns?: number | undefined
    maxRetries: number
    known: ReadonlySet<string>
    /** How often the command can be started at once. */
    workers: number
    /** How many runs happen at once where the machine has time for more than `jobs`. */
    maxJobs: number
    machine?: Machine | undefined
    /** The seed that chooses the faults that the report does not name. */
    holdout?: string | undefined
    reproduce: (finding: string, plan: Plan) => string
    onProgress: (progress: Progress) => void
  }

function chosenFaults(faults: readonly Fault[], choice: Choice) {
  // What a call that takes long is measured by.
  const isNeeded = (fault: Fault) =>
    showsTimeout(fault) &&
    isSelected(fault, { except: choice.except }) &&
    SLOW_NAMES.some((name) => isSelected({ ...fault, name }, choice))
  const chosen = faults.filter((fault) => isSelected(fault, choice) || isNeeded(fault))
  if (chosen.length > 0) return chosen
  const words = new Set(faults.flatMap(({ kind, operation = [] }) => [kind, operation].flat()))
  const { only, except = [] } = choice
  throw new SweepError(
    `${only ? `--only ${only.join(',')}` : `--except ${except.join(',')}`} selects no fault of this command. ${only?.some((one) => /^(two_workers|race)\b/.test(one)) ? 'Add --workers 2, which starts it twice at once' : `Its faults are of ${[...words].join(', ')}`}`,
  )
}

/** The user's own scenarios from which the start scenario is made: the shipped ones are there anyway. */
function ownScenarios({ library, options }: SweepOptions): SweepResult['scenarios'] {
  const start = library.get(options.scenario)
  const layers = start ? library.layersOf(start) : []
  const own = layers.filter(({ name }) => /[\\/]/.test(library.fileOf(name) ?? ''))
  return Object.fromEntries(own.map(({ name, definition }) => [name, definition]))
}

/** Throws if the command can't run as several workers at once. */
function checkWorkers({ hits, calls, failedWorkers = [], output }: Observation, workers: number) {
  const callers = new Set(calls.map(({ worker }) => worker))
  // One that succeeds without a call had nothing left to do.
  const silent = hits.includes(0) ? failedWorkers.find((one) => !callers.has(one)) : undefined
  if (silent === undefined && failedWorkers.length < workers) return
  const problem = silent ? `worker ${silent} ended without a call` : 'each of them failed'
  throw new SweepError(
    `the command can't run as ${workers} workers: ${problem}. Start it twice at once by hand, or leave out --workers. ${endOf(output)}`,
  )
}

/** Makes the runs without faults, and plans what follows from them. */
export async function prepareSweep(options: SweepOptions) {
  checkChoice(options)
  await removeStale().catch(() => {})
  const { runs: baselines, ...rest } = await runBaseline(options)
  const [baseline] = baselines
  const start = startStateOf(options)
  const workers = options.running ? undefined : options.workers
  const possible = { ...start, restart: options.restart, workers }
  const all = [...raceFaults(baseline, possible), ...faultsOf(baseline, options.points, possible)]
  const faults = chosenFaults(all, options)
  const planned = plansOf(faults)
  const { holdout: seed } = options
  const holdout = seed === undefined ? undefined : new Holdout(seed, faults)
  return { ...rest, ...planned, baselines, baseline, start, possible, holdout }
}

type Prepared = Awaited<ReturnType<typeof prepareSweep>>

class Runner {
  runs: readonly Run[] = []
  readonly untried: Plan[] = []
  readonly pruned: Pruned[] = []
  readonly #options: SweepOptions
  readonly #prepared: Prepared
  readonly #startedAt = performance.now()
  readonly #begun = new Set<string>()
  readonly #running = new Map<string, Promise<Run | undefined>>()
  #started = 0
  #hasHung = false

  constructor(options: SweepOptions, prepared: Prepared) {
    this.#options = options
    this.#prepared = prepared
  }

  /** Works on items side by side, and keeps the results in the order of the items; what was stopped has none. */
  async #sideBySide<T, R>(
    items: readonly T[],
    work: (item: T) => Promise<R>,
    maxTimeMs = Number.POSITIVE_INFINITY,
  ): Promise<(R | undefined)[]> {
    const { jobs, maxJobs, signal, machine = watchMachine() } = this.#options
    const until = this.#startedAt + maxTimeMs
    const results: (R | undefined)[] = items.map(() => undefined)
    let next = 0
    async function worker(isExtra = false) {
      while (next < items.length && !signal.aborted && performance.now() < until) {
        if (isExtra && machine.isBusy()) return
        const i = next++
        results[i] = await work(items[i]!).catch((error) => {
          if (!(error instanceof Stopped)) throw error
          return undefined
        })
      }
    }
    const extra = new Set<Promise<void>>()
    // A command that waits for a timeout leaves a processor free.
    const timer = setInterval(() => {
      if (!machine.isIdle() || jobs + extra.size >= maxJobs) return
      const one = worker(true).finally(() => extra.delete(one))
      extra.add(one)
      one.catch(() => {})
    }, CHECK_MS)
    try {
      await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, () => worker()))
      await Promise.all(extra)
      return results
    } finally {
      clearInterval(timer)
    }
  }

  /** Runs one plan; once more if the command failed for another reason, before anything of the plan happened. */
  #run = async (plan: Plan): Promise<Run> => {
    const run = await this.#runOnce(plan)
    const { exitCode, hits } = run.observation
    return exitCode !== 0 && hits.every((n) => n === 0) ? this.#runOnce(plan) : run
  }

  async #runOnce(plan: Plan): Promise<Run> {
    const id = ++this.#started
    const { baselines, level } = this.#prepared
    const slowestMs = mostOf(baselines, ({ durationMs }) => durationMs)
    const deadlineMs = this.#options.timeoutMs ?? deadlineOf(plan, slowestMs, this.#hasHung)
    const observation = withLevel(await startRun(this.#options, plan, deadlineMs), level)
    const run = this.#judged({ id, plan, what: planText(plan), observation })
    this.#hasHung ||= run.verdict === 'hung'
    return run
  }

  #judged = (run: Omit<Run, keyof Judgement>): Run => {
    const { plan, observation } = run
    const { maxRetries, probe } = this.#options
    const { baselines } = this.#prepared
    const judging = { baselines, maxRetries, hasProbe: probe !== undefined, runs: this.runs }
    const judgement = judge(plan, observation, judging)
    const divergence = isFinding(judgement) ? firstDivergence(observation, baselines[0]) : undefined
    return { ...run, ...judgement, divergence }
  }

  /** Judges all runs again, because what some of them say depends on others. */
  judgeAgain() {
    this.runs = this.runs.map(this.#judged)
  }

  /** Whether the first run of a kind has shown that a plan is needless. */
  async #isNeedless(plan: Plan) {
    const first = firstOf(plan)
    const known = first && (await this.#running.get(planKey(first)))
    if (known?.verdict !== 'not_reached') return false
    this.pruned.push({ plan, reason: `the first one showed nothing: ${known.happened}` })
    return true
  }

  /** Runs the plans that are new, those with the most money at risk first. */
  async runAll(plans: readonly Plan[]) {
    const { maxRuns = Number.POSITIVE_INFINITY, maxTimeMs, onProgress } = this.#options
    const fresh = byRisk(plans.filter((plan) => !this.#begun.has(planKey(plan))))
    for (const plan of fresh) this.#begun.add(planKey(plan))
    const before = this.runs
    const chosen = fresh.slice(0, Math.max(0, maxRuns - before.length))
    let done = 0
    let found = before.filter(isFinding).length
    const runOne = async (plan: Plan) => {
      const run = (await this.#isNeedless(plan)) ? undefined : await this.#run(plan)
      const left = chosen.length - ++done
      if (!run) return undefined
      if (isFinding(run)) found++
      const what = this.#prepared.holdout ? 'sealed' : run.what
      onProgress({ done: before.length + done, left, found, what })
      return run
    }
    const begin = (plan: Plan) => {
      const run = runOne(plan)
      const settled = run.catch(() => undefined)
      this.#running.set(planKey(plan), settled)
      return run
    }
    const results = await this.#sideBySide(chosen, begin, maxTimeMs)
    this.runs = [...before, ...results.filter((one) => one !== undefined)]
    const isPruned = (plan: Plan) => this.pruned.some((one) => one.plan === plan)
    this.untried.push(...fresh.filter((plan, i) => results[i] === undefined && !isPruned(plan)))
  }

  /** The runs that did no harm, and the faults of the calls that they made in addition to the baseline. */
  quiet() {
    const { baseline, possible } = this.#prepared
    return this.runs
      .filter((one) => !isFinding(one) && one.verdict !== 'not_reached' && one.plan.length === 1)
      .map(({ plan, observation }) => {
        const added = recoveryFaults(observation, baseline, possible)
        return { fault: plan[0]!, added: added.filter((fault) => isSelected(fault, this.#options)) }
      })
  }

  /** Repeats what was found, and returns the groups that came again or were not repeated, and the runs that did not come again. */
  async confirm() {
    const isHeldOut = ({ plan }: Run) => this.#prepared.holdout?.has(plan) === true
    const shown = groupsOf(this.runs.filter((run) => !isHeldOut(run)))
    const found = [...shown, ...groupsOf(this.runs.filter(isHeldOut))]
    const results = await this.#sideBySide(found, (group) => confirmed(group, this.#run))
    const groups = found.map(([first, ...same], i): Confirmed | null => {
      const happened = `${first.happened} (not rerun)`
      return results[i] === undefined
        ? { group: [{ ...first, happened }, ...same], isByChance: false }
        : results[i]
    })
    const flaky = found.filter((_, i) => groups[i] === null).flat()
    const chances = groups.flatMap((one) => (one?.isByChance ? one.group : []))
    this.runs = this.runs.map((run) => chances.find(({ id }) => id === run.id) ?? run)
    return { groups: groups.filter((one) => one !== null), flaky }
  }
}

/** Runs a command under everything that the contract permits, and judges each run. Throws `SweepError` and `Stopped`. */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const { known, signal } = options
  const prepared = await prepareSweep(options)
  const { baselines, baseline, shown, plans, together, early } = prepared
  const runner = new Runner(options, prepared)
  await runner.runAll(together)
  for (const run of runner.runs) checkWorkers(run.observation, options.workers)
  await runner.runAll(early)
  const slow = slowPlans(runner.runs, baseline, options.points, together[0]?.[0]).filter((plan) =>
    isSelected(plan.at(-1)!, options),
  )
  await runner.runAll([...plans, ...slow, ...recoveryPairs(runner.quiet())])
  runner.judgeAgain()
  if (runner.runs.length === 0 && shown.length === 0 && !signal.aborted)
    throw new SweepError(
      'no run with a fault was started, because the time of --max-time ended before; choose a larger one',
    )
  await runner.runAll(recoveryPairs(runner.quiet()))
  if (options.depth === 2) await runner.runAll(pairsOf(runner.quiet()))
  const { groups, flaky } = await runner.confirm()
  // What comes without a fault isn't by chance, and the first to mend.
  const withoutFault = shown.map((one): Confirmed => ({ group: [one], isByChance: false }))
  const findings = [...withoutFault, ...groups].map(({ group, isByChance }, i): Finding => {
    const [run, ...same] = group
    const finding = `finding-${i + 1}`
    return {
      ...run,
      finding,
      same,
      reproduce: options.reproduce(finding, run.plan),
      definition: planDefinition(run.plan, prepared.start.scenario),
      isByChance,
      isKnown: group.some(({ plan, verdict }) => known.has(findingKey(plan, verdict))),
    }
  })
  const { runs, untried, pruned } = runner
  const result: SweepResult = {
    ...{ baseline, runs, findings, flaky, untried, pruned },
    command: options.command,
    seed: options.options['random-seed'],
    isStopped: signal.aborted,
    failures: prepared.failures,
    flakyTests: prepared.flakyTests,
    scenarios: ownScenarios(options),
    coverage: coverageOfRuns(baselines, runs),
  }
  return prepared.holdout?.seal(result) ?? result
}
