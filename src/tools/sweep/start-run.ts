import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DEFAULT_READINGS, type Readings } from '../../assumptions/readings.ts'
import { programEnvironment } from '../../config/environment.ts'
import type { Options } from '../../config/options.ts'
import type { FixtureWorlds } from '../../content/fixtures.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { type Library, withInline } from '../../scenarios/library.ts'
import { type RunningServer, startServer } from '../../server.ts'
import { compareLedger, RUN_DIR, readLedger } from './books.ts'
import type { Observation, Plan } from './faults-and-findings.ts'
import { Observer } from './observe.ts'
import { isHanging, PLAN_NAME, planDefinition, planText } from './plans.ts'
import { probeDifferences } from './probe.ts'
import { type Ended, type ProgramRun, runProgram } from './program.ts'
import { Meeting, raceOf, tokenOfWorker, watchPatience } from './race.ts'

export type StartState = { scenario: string; inForce: Readings; clockSpeed: number }

export type Stage = {
  env: NodeJS.ProcessEnv
  /** Called when the command has ended, before the observer knows it. */
  commandEnded?: () => Promise<void>
  settle: () => Promise<void>
  /** How long a caller waited for a response that never came, real ms. */
  patienceMs?: (() => number | undefined) | undefined
  seen: () => Promise<ReadonlySet<string>> | ReadonlySet<string>
  hasReadFailure: (id: string) => boolean
  send: Runtime['send']
  close: () => Promise<void> | void
}

/** A sandbox that already runs, in which each run starts with a reset. */
export type Running = StartState & { open(plan: Plan, observer: Observer): Promise<Stage> }

export type RunSetup = {
  command: readonly string[]
  env: NodeJS.ProcessEnv
  options: Options
  library: Library
  fixtures: FixtureWorlds
  /** The sandbox to use (default: one of its own for each run). */
  running?: Running | undefined
  /** The URL or the command that returns the integration's own view of a payment. */
  probe?: string | undefined
  /** The shell command that prints the integration's books as CSV. */
  ledger?: string | undefined
  restart?: boolean | undefined
  signal: AbortSignal
}

export class Stopped extends Error {
  override message =
    'the sweep was stopped before its two runs without faults ended, so nothing is known'
}

// A day and an hour: a payment that is reversed a day later needs its first seconds too.
export const AFTER_MS = 25 * 3_600_000
// Receivers have ended with the command; another one may hang.
const SETTLE_MS = 5_000

// Containers may share the folder, and have processes of their own.
const FOLDER = `payout-sandbox-run-${hostname()}-`

/** Removes the folders of sweeps that were killed. */
export async function removeStale() {
  const names = await readdir(tmpdir())
  for (const name of names.filter((one) => one.startsWith(FOLDER)))
    try {
      process.kill(Number.parseInt(name.slice(FOLDER.length), 10), 0)
    } catch {
      // A process of somebody else exists too, but its folder can't be removed.
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})
    }
}

const silent = { info() {}, warn() {}, error() {} }

export const startStateOf = ({ running, options, library }: RunSetup): StartState =>
  running ?? {
    scenario: options.scenario,
    inForce: {
      ...DEFAULT_READINGS,
      ...options.assume,
      ...library.readingsOf(library.get(options.scenario)!),
    },
    clockSpeed: options['clock-speed'],
  }

async function settle({ sandbox }: RunningServer, isPlanned: boolean, startScenario: string) {
  const worlds = [...sandbox.clients.values()]
  // The faults end; readings stay, because another reading of the contract does not end.
  for (const { scenarios } of isPlanned ? worlds : []) {
    scenarios.endImposed()
    if (scenarios.name === PLAN_NAME) scenarios.use(startScenario)
  }
  const all = Promise.allSettled(worlds.map((world) => world.clock.timers.advanceBy(AFTER_MS)))
  await Promise.race([all, setTimeout(SETTLE_MS, undefined, { ref: false })])
}

/** How several workers ended, as if they were one program: the first failure counts. */
function endedTogether(all: readonly Ended[]): Ended {
  const failed = all.flatMap(({ exitCode }, i) => (exitCode === 0 ? [] : [i]))
  return {
    ...all[failed[0] ?? 0]!,
    isHung: all.some(({ isHung }) => isHung),
    output: all.map(({ output }, i) => `worker ${i + 1}:\n${output}`).join('\n'),
    endGroup() {
      for (const one of all) one.endGroup()
    },
    failedWorkers: failed.map((i) => i + 1),
  }
}

async function runWorkers(meeting: Meeting, count: number, run: ProgramRun) {
  const one = async (_: unknown, i: number) => {
    const token = tokenOfWorker(run.env['PAYOUT_SANDBOX_TOKEN']!, i + 1)
    const env = { ...run.env, PAYOUT_SANDBOX_TOKEN: token }
    return runProgram({ ...run, env }).finally(() => meeting.ended(i + 1))
  }
  return endedTogether(await Promise.all(Array.from({ length: count }, one)))
}

async function runCommand(observer: Observer, run: ProgramRun): Promise<Ended> {
  const kill = new AbortController()
  observer.onKill = () => kill.abort()
  const ended = await runProgram({ ...run, signal: AbortSignal.any([run.signal, kill.signal]) })
  if (!kill.signal.aborted || run.signal.aborted) return ended
  ended.endGroup()
  const again = await runProgram(run)
  return { ...again, output: `${ended.output}${again.output}` }
}

async function openOwn(
  { options, library, fixtures, env }: RunSetup,
  plan: Plan,
  observer: Observer,
): Promise<Stage> {
  const isPlanned = plan.length > 0
  const race = raceOf(plan)
  const meeting =
    race && new Meeting(race, () => server.sandbox.clients.values(), observer.deliveries)
  observer.meeting = meeting
  const patience = isHanging(plan) ? watchPatience() : undefined
  const definition = planDefinition(plan, options.scenario)
  const scenario = isPlanned ? PLAN_NAME : options.scenario
  const server: RunningServer = await startServer(
    { ...options, memory: true, watch: false, coverage: true, scenario },
    silent,
    {
      library: isPlanned ? withInline(library, PLAN_NAME, definition) : library,
      imposes: true,
      fixtures,
      worldOpened: observer.watch,
      middleware: meeting?.middleware ?? patience?.middleware,
    },
  )
  const { sandbox, close } = server
  return {
    env: programEnvironment(env, server, !options['no-admin']),
    settle: () => settle(server, isPlanned, options.scenario),
    seen: () => sandbox.coverage!.seen,
    patienceMs: patience?.longestMs,
    hasReadFailure: sandbox.coverage!.hasReadFailure,
    send: sandbox.runtime.send,
    close,
  }
}

/** Runs the command once in a sandbox under a plan; the empty plan is a run without faults. */
export async function startRun(
  setup: RunSetup,
  plan: Plan,
  deadlineMs: number,
): Promise<Observation> {
  const { command, probe, ledger, signal, running } = setup
  if (signal.aborted) throw new Stopped()
  let startedAt = performance.now()
  const observer = new Observer(plan, () => performance.now() - startedAt)
  const stage = running ? await running.open(plan, observer) : await openOwn(setup, plan, observer)
  const { send } = stage
  let [ended, folder]: [Ended?, string?] = []
  try {
    folder = await mkdtemp(join(tmpdir(), `${FOLDER}${process.pid}-`))
    const env = { ...stage.env, [RUN_DIR]: folder }
    startedAt = performance.now()
    const program = { command, env, deadlineMs, signal }
    const { meeting } = observer
    const count = raceOf(plan)?.workers ?? 1
    const run =
      meeting && count > 1 ? runWorkers(meeting, count, program) : runCommand(observer, program)
    ended = await run
    const { exitCode, isHung, output, failedWorkers } = ended
    const durationMs = isHung ? deadlineMs : performance.now() - startedAt
    if (signal.aborted) throw new Stopped()
    await stage.commandEnded?.()
    const atEnd = observer.rows()
    observer.isEnded = true
    // What the command left running still receives events, and answers the probe.
    await stage.settle()
    const payments = observer.payments(stage.hasReadFailure)
    const { calls, events, deliveries } = observer
    const isSure = exitCode === 0
    const where = plan.length === 0 ? '' : ` where ${planText(plan)}`
    const books = ledger && (await readLedger({ ledger, where, isSure, env, signal }))
    const compared = compareLedger({
      ...{ plan, isSure, payments, deliveries, atEnd },
      rows: observer.rows(),
      books: books || undefined,
    })
    const differences = probe
      ? await probeDifferences({ probe, payments, deliveries, isSure, send, env, signal })
      : []
    if (signal.aborted) throw new Stopped()
    return {
      calls,
      payments: compared.payments,
      events,
      deliveries,
      exitCode,
      failedWorkers,
      isHung,
      patienceMs: stage.patienceMs?.(),
      hits: observer.hits(),
      probeDifferences: differences,
      bookDifferences: compared.differences,
      hasNoBooks: ledger !== undefined && books === undefined,
      durationMs,
      seen: await stage.seen(),
      output,
    }
  } finally {
    ended?.endGroup()
    await stage.close()
    // What has left the command's process group may still write there.
    if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}
