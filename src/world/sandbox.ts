import type { ServiceCall } from '../active-scenario/timeline-actions.ts'
import { Assumed, type Readings } from '../assumptions/readings.ts'
import type { FixtureWorlds } from '../content/fixtures.ts'
import { snapshotOf } from '../content/snapshots.ts'
import { LATE_CALL, type LateCall } from '../content/timer-payloads.ts'
import type { Coverage } from '../model/coverage.ts'
import { SandboxError } from '../model/errors.ts'
import type { Har, LoggedRequest } from '../model/logged-request.ts'
import type { Between } from '../model/paging.ts'
import type { BookRow, Days, Reconciliation, StatementRow } from '../model/statement.ts'
import type { Summary } from '../model/summary.ts'
import type { Log } from '../runtime/runtime.ts'
import type { Library } from '../scenarios/library.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { ClientRows, DEFAULT_CLIENT, type NewClient } from './client-rows.ts'
import { Clients } from './clients.ts'
import {
  openSharedResources,
  type SharedConfig,
  type SharedResources,
  type WorldStart,
} from './shared-resources.ts'
import { createWorld, type World } from './world.ts'
import {
  RESET_PARTS,
  type ResetPart,
  resetWorld,
  restoreSnapshot,
  startWorld,
  stopWorld,
} from './world-content.ts'
import { imposedOf } from './world-scenarios.ts'

/** Collects what the callers of all clients have met since the start. */
type CoverageSource = {
  watch(world: World): void
  seen: ReadonlySet<string>
  hasReadFailure(id: string): boolean
  report(): Promise<Coverage>
}

export type SandboxConfig = SharedConfig & {
  fixtures: FixtureWorlds
  start: WorldStart
  library: Library
  /** The start scenario lies above what clients choose, unless it is the default one. */
  imposes?: boolean | undefined
  /** Runs a call whose effect comes after its response; returns false and logs why if it is no longer possible. */
  runLate: (world: World, call: LateCall, log: Log) => false | Record<string, unknown>
  /** Makes a call of the service for a timeline, as any caller does. */
  callService?: ((world: World, call: ServiceCall) => Promise<void>) | undefined
  maxClients: number
  autoClients: boolean
  coverage?: CoverageSource | undefined
  summaryOf?: ((world: World, between: Between) => Promise<Summary>) | undefined
  harOf?: ((calls: readonly LoggedRequest[]) => Promise<Har>) | undefined
  reconcile?:
    | ((
        world: World,
        books: readonly BookRow[],
        statement: readonly StatementRow[] | undefined,
        days: Days,
      ) => Promise<Reconciliation>)
    | undefined
  /** Called for each world before it starts. */
  worldOpened?: ((world: World) => void) | undefined
  log: Log
}

/** The warning about clients of the data file that were created from other fixtures. */
const outdatedWarning = ([first, ...more]: readonly SandboxTables[], file: string) =>
  `The data of ${more.length === 0 ? `client "${first!.name}"` : `${more.length + 1} clients`} comes from ${file} and was created from other fixtures. To load the new fixtures, use POST /__admin/reset {"all":true} or payout-sandbox reset --all.`

/** Publishes the active scenario of each client: the problems of its file may have changed. */
function publishScenarios(worlds: Iterable<World>) {
  for (const { feed, scenarios } of worlds) feed.publish('scenario', { name: scenarios.name })
}

/** The readings with which a client of a new base path starts. */
function startReadings({ scenario, assume }: WorldStart, library: Library): Readings {
  const found = library.get(scenario)
  return { ...assume, ...(found && library.readingsOf(found)) }
}

type MakerDeps = {
  shared: SharedResources
  rows: ClientRows
  clients: Clients
  library: () => Library
  startedAt: number
}

function createWorldMaker(config: SandboxConfig, deps: MakerDeps) {
  const { shared, rows, clients, library, startedAt } = deps
  const imposed = imposedOf(config.imposes ? config.start.scenario : undefined, library)
  let made = 0

  /** Resets a world; its token can be another one afterwards. */
  function reset(world: World, parts: readonly ResetPart[]): boolean {
    const startsTimeline = resetWorld(world, parts, rows.reload)
    world.tables.unit.afterCommit(() => clients.updateToken(world.name))
    return startsTimeline
  }

  /** Restores a snapshot of a world; its token can be another one afterwards. */
  function restore(world: World, snapshot: string) {
    restoreSnapshot(world, snapshot)
    clients.updateToken(world.name)
  }

  function open(tables: SandboxTables): World {
    const { callService } = config
    const world: World = createWorld({
      shared,
      tables,
      start: rows.startOf(tables),
      library: () => rows.libraryOf(tables, library()),
      imposed,
      feedName: `${startedAt.toString(36)}.${++made}`,
      callService: callService && ((call) => callService(world, call)),
      reset: () => void reset(world, RESET_PARTS),
      log: config.log,
    })
    world.clock.timers.handle(LATE_CALL, ({ payload }) =>
      config.runLate(world, payload as LateCall, config.log),
    )
    config.coverage?.watch(world)
    config.worldOpened?.(world)
    try {
      startWorld(world)
      return world
    } catch (error) {
      stopWorld(world)
      throw error
    }
  }

  /** Creates a client in one change: `build` creates its tables. */
  function add(build: () => SandboxTables): World {
    let world: World | undefined
    try {
      shared.store.change(() => {
        world = open(build())
      })
    } catch (error) {
      if (world) stopWorld(world)
      throw error
    }
    clients.add(world!)
    return world!
  }

  return { open, add, reset, restore }
}

/** Opens the worlds of the data file, and creates those of the fixtures that are not in it yet. */
export async function openSandbox(config: SandboxConfig) {
  const { fixtures, log } = config
  let { library } = config
  let libraryProblems: readonly string[] = []
  const shared = await openSharedResources(config)
  const { store, runtime, steadyWall } = shared
  const rows = new ClientRows(store, fixtures, config.start, steadyWall)
  const clients = new Clients(config)
  const startedAt = steadyWall()
  const startAssumed = new Assumed()
  startAssumed.use(startReadings(config.start, library))

  const made = { shared, rows, clients, library: () => library, startedAt }
  const { open, add, reset, restore } = createWorldMaker(config, made)
  for (const tables of store.worlds.values()) {
    rows.continueExported(tables)
    clients.add(open(tables))
  }
  for (const name of fixtures.keys())
    if (!clients.all.has(name)) add(() => rows.addOfFixtures(name, ''))

  const outdated = [...store.worlds.values()].filter((tables) => rows.isOutdated(tables))
  if (outdated.length > 0) log.warn(outdatedWarning(outdated, config.file!))
  if (store.lacksDocument) await store.compact()

  function stop() {
    for (const world of clients.all.values()) {
      stopWorld(world)
      world.requests.delayed.runAll()
    }
    runtime.close()
  }

  return {
    store,
    runtime,
    coverage: config.coverage,
    summaryOf: config.summaryOf,
    harOf: config.harOf,
    reconcile: config.reconcile,
    /** Whether the data file has clients that were created from other fixtures. */
    hasOtherFixtures: outdated.length > 0,
    startedAt,
    default: clients.default,
    clients: clients.all,
    startAssumed,
    byToken: (token: string): World | undefined => clients.byToken(token),
    /** Throws if no client can be created for a name in a base path. */
    checkNew: (name: string) => clients.checkName(name),
    /** The world of a name in a base path; creates it for a new name, unless that is switched off. */
    byName(name: string): World {
      const known = clients.all.get(name)
      if (known) return known
      clients.checkName(name)
      const world = add(() => rows.addOfFixtures(name, `sbx_${name}`))
      log.info(`client "${name}" created from the fixtures`)
      return world
    },
    /** Creates a client on request; without an access_token it gets a random one. */
    create(options: NewClient): World {
      clients.checkNew(options)
      const { name, from } = options
      const source = from && { world: clients.get(from.client), snapshot: from.snapshot }
      if (source?.snapshot !== undefined) snapshotOf(source.world, source.snapshot)
      const newToken = () => `sbx_client_${runtime.secret()}`
      const world = add(() => rows.add(options, source, newToken))
      log.info(`client "${name}" created${from ? ` from client "${from.client}"` : ''}`)
      return world
    },
    delete(name: string) {
      const world = clients.get(name)
      if (name === DEFAULT_CLIENT)
        throw new SandboxError(
          'default_client_required',
          'The default client cannot be deleted, because calls without a client name use it. Reset it instead.',
        )
      world.tables.drop()
      stopWorld(world)
      world.requests.delayed.rejectAll()
      clients.remove(world)
      log.info(`client "${name}" deleted`)
    },
    /** Resets worlds to fixtures, start clock and seed: all of them or, on an error, none. Tokens do not change. */
    reset(chosen: readonly World[], parts: readonly ResetPart[] = RESET_PARTS) {
      const starting = store.change(() => chosen.filter((world) => reset(world, parts)))
      for (const { scenarios } of starting) scenarios.timeline.runDueEntries()
      for (const { name } of chosen) log.info(`client "${name}" reset`)
    },
    restore,
    /** The start scenario with its hits and expectations over all clients; `undefined` if its file was deleted. */
    startScenario() {
      const scenario = library.get(config.start.scenario)
      return scenario && shared.totals.describe(scenario, library)
    },
    allRequests: shared.allRequests,
    /** The problems of the last reload of the scenario files; with problems, the previous library stays active. */
    get libraryProblems() {
      return libraryProblems
    },
    /** Activates a reloaded library, or stores the problems of a failed reload. */
    changeLibrary(next: { library: Library } | { problems: readonly string[] }) {
      libraryProblems = 'problems' in next ? next.problems : []
      if ('problems' in next) return publishScenarios(clients.all.values())
      library = next.library
      startAssumed.use(startReadings(config.start, library))
      for (const { scenarios } of clients.all.values()) scenarios.libraryChanged()
    },
    stop,
    async close() {
      stop()
      await store.close()
    },
  }
}

export type Sandbox = Awaited<ReturnType<typeof openSandbox>>
