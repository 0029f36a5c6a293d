import { BadFixtures } from '../content/fixture-problems.ts'
import { type FixtureWorlds, fixturesOf } from '../content/fixtures.ts'
import { ClientName } from '../model/client.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { validationFailed } from '../model/validation-errors.ts'
import { createLogBudget } from '../requests/request-log.ts'
import { oncePerBurst } from '../runtime/once-per-burst.ts'
import { uuidOf } from '../runtime/random.ts'
import { createSteadyWall } from '../runtime/real-time.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Library } from '../scenarios/library.ts'
import type { Disk } from '../storage/disk.ts'
import type { WorldAbout } from '../storage/document.ts'
import { openStore } from '../storage/store.ts'
import { type SandboxTables, TABLES } from '../tables/tables.ts'
import { formatDuration } from '../time/duration.ts'
import type { WebhookSettings } from '../webhooks/attempt-request.ts'
import { createSendLimit } from '../webhooks/send-limit.ts'
import { createRuntime } from './real-runtime.ts'
import type { Recorder, TimerObserver } from './recorder.ts'
import { adoptSettings, createWorld, isStagingName, type World, type WorldStart } from './world.ts'

/** The log of the server. */
export type Log = {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string, error?: unknown): void
}

/** The configuration of a sandbox. */
export type SandboxConfig = {
  fixtures: FixtureWorlds
  /** The data file; without it nothing is persisted. */
  file?: string
  fsync?: boolean
  onDamage?: 'refuse' | 'recover' | 'reset'
  /** The size of the journal from which the data file is compacted, in bytes. */
  compactFrom?: number
  disk?: Disk
  start: WorldStart
  library: Library
  maxClients: number
  autoClients: boolean
  /** How webhooks are sent, and to which public hosts they may go. */
  webhooks: WebhookSettings & { allow: readonly string[] }
  /** Maximum of concurrent webhook attempts (default: 256). A recorded run always has the default, so that it can be replayed. */
  maxAttempts?: number
  wall?: () => number
  /** Timers and webhooks do not keep the process alive. */
  unref?: boolean | undefined
  /** Records everything that reaches the sandbox. */
  recorder?: Recorder | undefined
  /** Called for each timer that runs. */
  timerRan?: TimerObserver | undefined
  /** Replaces the real runtime, for a replay. */
  runtime?: (real: Runtime) => Runtime
  log: Log
}

/** The parts of a world that a reset can select. */
export const RESET_PARTS = ['data', 'clock', 'scenario', 'deliveries', 'requests'] as const
export type ResetPart = (typeof RESET_PARTS)[number]

/** The options of a new client, which a reset restores. */
export type NewClient = {
  name: string
  access_token?: string | undefined
  scenario?: string | undefined
  randomSeed?: number | undefined
  clock?: string | undefined
  checkKyc?: boolean | undefined
  fixtures?: 'default' | 'empty' | object | undefined
  /** The client to fork, in its present state or in that of a snapshot. */
  from?: { client: string; snapshot?: string | undefined } | undefined
}

/** The stored options of a client that was created by a call. */
type ClientAbout = WorldAbout & {
  readonly start?: Partial<WorldStart>
  readonly checkKyc?: boolean
  /** The client whose fixtures a reset of this fork loads. */
  readonly fixturesOf?: string
}

const DEFAULT = 'default'

/** Removes the keys whose value is undefined. */
const withoutUndefined = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }

/** The fixtures in the body of a request. */
function inlineFixtures(content: object) {
  let sets: FixtureWorlds
  try {
    sets = fixturesOf(content, 'fixtures')
  } catch (error) {
    if (!(error instanceof BadFixtures)) throw error
    const errors = error.problems.map(({ path, message }) => ({
      field: path ? `fixtures.${path}` : 'fixtures',
      code: 'invalid_value',
      message,
    }))
    throw validationFailed(errors)
  }
  if (sets.size === 1) return sets.get(DEFAULT)!
  const message = `must have exactly one client, named default; found ${sets.size}`
  throw validationFailed([{ field: 'fixtures.clients', code: 'invalid_value', message }])
}

/** Opens the worlds of the data file, and creates those of the fixtures that are not in it yet. */
export async function openSandbox(config: SandboxConfig) {
  const { fixtures, start, log } = config
  let { library } = config
  let libraryProblems: readonly string[] = []
  const { allow, ...webhooks } = config.webhooks
  const real = createRuntime({
    allow,
    wall: config.wall,
    unref: config.unref,
    maxOpen: config.maxAttempts,
    onDescriptorLimit: oncePerBurst(() =>
      log.warn(
        'A webhook could not be sent because this process has no file descriptor left. Raise the limit on open files (ulimit -n).',
      ),
    ),
  })
  const runtime = (config.runtime ?? config.recorder?.wrapRuntime)?.(real) ?? real
  const wall = createSteadyWall({
    ...runtime,
    onSetBack: (ms) =>
      log.warn(
        `The clock of this machine was set back by ${formatDuration(Math.round(ms / 1_000) * 1_000)}. The clocks of the clients ignore that.`,
      ),
  })
  const store = await openStore({
    specs: TABLES,
    ...(config.file === undefined ? {} : { file: config.file }),
    fsync: config.fsync ?? false,
    onDamage: config.onDamage ?? 'refuse',
    ...(config.compactFrom !== undefined && { compactFrom: config.compactFrom }),
    ...(config.disk && { disk: config.disk }),
    wall: runtime.wall,
    log,
  })
  const bases = new Map(
    [...fixtures].map(([name, { key, rows }]) => [name, store.makeBase(key, rows)]),
  )
  const worlds = new Map<string, World>()
  const logBudget = createLogBudget()
  const sendLimit = createSendLimit({
    ...(real === runtime && config.maxAttempts && { maxConcurrent: config.maxAttempts }),
    onSaturated: oncePerBurst(() =>
      log.warn(
        'Webhook attempts are waiting: the maximum number of concurrent attempts is running. A receiver that hangs blocks each of its attempts for up to 10 s.',
      ),
    ),
  })
  const startedAt = wall()
  let feeds = 0
  const tokens = new Map<string, World>()
  const tokenOf = new WeakMap<World, string>()

  const aboutOf = (tables: SandboxTables) => tables.about as ClientAbout
  const startOf = (tables: SandboxTables): WorldStart => ({ ...start, ...aboutOf(tables).start })

  /** The rows that a reset of a client loads: its own, those of a client of the fixtures, or those of the default client. */
  function baseOf(name: string, { base, fixturesOf: whose = name }: ClientAbout) {
    return (base === undefined ? bases.get(whose) : store.bases.get(base)) ?? bases.get(DEFAULT)!
  }

  /** Whether the profile of the client comes from the fixtures. */
  const isOfFixtures = ({ name, about }: SandboxTables) =>
    bases.has(name) && Object.keys(about).length === 0

  /** Creates a client's world on its stored tables, and starts it. */
  function startWorld(name: string): World {
    const tables = store.worlds.get(name)!
    const world: World = createWorld({
      name,
      tables,
      store,
      start: startOf(tables),
      library: () => library,
      webhookSettings: webhooks,
      sendLimit,
      logBudget,
      feedName: `${startedAt.toString(36)}.${++feeds}`,
      runtime,
      steadyWall: wall,
      timerRan: config.timerRan,
      log,
      reset: () => resetWorld(world, RESET_PARTS),
      profileChanged: () => updateToken(world),
    })
    try {
      world.start()
    } catch (error) {
      world.stop()
      throw error
    }
    return world
  }

  /** Maps the present token of a client to it, and removes an earlier one. */
  function updateToken(world: World) {
    const before = tokenOf.get(world)
    const token = world.profile().access_token
    if (before !== undefined && before !== token && tokens.get(before) === world)
      tokens.delete(before)
    tokenOf.set(world, token)
    if (tokens.get(token)?.profile().access_token !== token) tokens.set(token, world)
  }

  function register(world: World): World {
    worlds.set(world.name, world)
    updateToken(world)
    return world
  }

  /** Gives a client that is not in the fixtures a profile of its own; its other rows are copies of another client's. */
  function writeOwnProfile(tables: SandboxTables, token: string) {
    const { name } = tables
    const { checkKyc } = aboutOf(tables)
    const from = tables.tables.client.newest('all', 'all')!
    const profile = {
      ...from.row,
      client: name,
      client_id: uuidOf(`client ${name}`),
      access_token: token,
      ...(checkKyc !== undefined && { check_kyc: checkKyc }),
    }
    tables.remove('client', from.id)
    tables.put('client', {
      ...profile,
      name: `Sandbox client ${name}`,
      email: `${name}@example.com`,
    })
  }

  /** Creates a client in one change. */
  function create(build: () => SandboxTables): World {
    let world: World | undefined
    try {
      store.change(() => {
        world = startWorld(build().name)
      })
    } catch (error) {
      world?.stop()
      throw error
    }
    return register(world!)
  }

  function createOfFixtures(name: string, token: string): World {
    return create(() => {
      const tables = store.addWorld(name, bases.get(name) ?? bases.get(DEFAULT)!)
      if (!isOfFixtures(tables)) writeOwnProfile(tables, token)
      return tables
    })
  }

  /** Builds the tables of a new client from the fixtures that it selects. */
  function buildFresh(client: NewClient, about: ClientAbout): SandboxTables {
    const { name, fixtures = 'default' } = client
    if (fixtures === 'default') return store.addWorld(name, baseOf(name, about), about)
    const { key, rows } = inlineFixtures(fixtures === 'empty' ? {} : (fixtures as object))
    const base = store.bases.get(`inline ${key}`) ?? store.makeBase(`inline ${key}`, rows)
    return store.addWorld(name, base, { ...about, base: base.key })
  }

  /** Builds the tables of a fork of another client or of its snapshot. */
  function buildFork(
    source: World,
    snapshot: string | undefined,
    client: NewClient,
    own: ClientAbout,
  ) {
    const from = aboutOf(source.tables)
    const about: ClientAbout = {
      fixturesOf: source.name,
      ...from,
      ...own,
      start: { ...from.start, ...own.start },
    }
    const tables = store.forkWorld(client.name, source.tables, snapshot, about)
    if (snapshot === undefined)
      tables.put('settings', { name: 'clock', value: { ...source.clockNow(), startedAs: '' } })
    adoptSettings(tables, startOf(tables), wall)
    // Options of the request replace the settings of the source.
    if (client.clock !== undefined) tables.remove('settings', 'clock')
    if (client.scenario !== undefined) tables.remove('settings', 'scenario')
    return tables
  }

  function checkNewClient({ name, access_token: token, scenario }: NewClient) {
    if (worlds.has(name)) {
      throw new SandboxError(
        'client_exists',
        `The client ${name} already exists. Delete it first, or choose another name.`,
      )
    }
    checkClientLimit()
    if (scenario !== undefined) worlds.get(DEFAULT)!.scenarios.checkName(scenario)
    if (token === undefined) return
    const reserved = /^sbx_([a-z0-9][a-z0-9-]{0,62})$/.exec(token)?.[1]
    if (tokens.has(token) || (reserved !== undefined && reserved !== name)) {
      throw new SandboxError(
        'token_in_use',
        'The access_token belongs to another client or is reserved for one. Choose another token, or omit access_token.',
      )
    }
  }

  function checkClientLimit() {
    if (worlds.size < config.maxClients) return
    throw new SandboxError(
      'client_limit_reached',
      `There are already ${worlds.size} clients, the maximum. Delete one, or raise --max-clients. If the heap is small, give the process more memory.`,
    )
  }

  /** Throws if no client can be created for a name in a base path. */
  function checkNewName(name: string) {
    if (!ClientName.safeParse(name).success) {
      throw new SandboxError(
        'not_found',
        'There is no such client. A client name has 1 to 63 characters (a-z, 0-9 and -) and does not start with -.',
      )
    }
    if (!config.autoClients) {
      throw new SandboxError(
        'not_found',
        `There is no client ${quoteInput(name)}, and --no-auto-clients prevents that a call creates it.`,
      )
    }
    checkClientLimit()
  }

  function worldNamed(name: string): World {
    const world = worlds.get(name)
    if (world) return world
    throw new SandboxError('not_found', `There is no client ${quoteInput(name)}.`)
  }

  // A killed process may have left staging worlds.
  for (const name of [...store.worlds.keys()]) if (isStagingName(name)) store.dropWorld(name)
  for (const name of store.worlds.keys()) register(startWorld(name))
  for (const name of fixtures.keys()) if (!worlds.has(name)) createOfFixtures(name, '')

  function resetWorld(world: World, parts: readonly ResetPart[]) {
    store.change(() => {
      if (parts.includes('data')) {
        const { access_token } = world.profile()
        const restoreScenarios = world.scenarios.capture()
        world.tables.reset(baseOf(world.name, aboutOf(world.tables)))
        if (!isOfFixtures(world.tables)) writeOwnProfile(world.tables, access_token)
        // In the same order as for a new client.
        restoreScenarios()
        world.persistClock()
      } else if (parts.includes('deliveries')) {
        world.deliveries.clear()
        world.inbox.clear()
      }
      const now = parts.includes('clock') ? world.restartClock() : world.clock.now()
      if (parts.includes('scenario')) world.timeline.activate(world.scenarios.reset, now)
      store.afterCommit(() => {
        if (parts.includes('data')) updateToken(world)
        if (parts.includes('data') || parts.includes('deliveries')) world.deliveries.forget()
        world.scheduler.reload()
        world.rejectCancelled()
        if (parts.includes('requests')) world.requests.restart()
        world.feed.publish('reset', { parts })
      })
    })
  }

  /** Stops the timers and aborts webhook attempts. */
  function stop() {
    for (const world of worlds.values()) {
      world.stop()
      world.runDelayed()
    }
    runtime.close()
  }

  // Clients of the data file that were created from other fixtures.
  const outdated = [...store.worlds.values()]
    .filter(({ name, base, about }) => base.key !== '' && base.key !== baseOf(name, about).key)
    .map(({ name }) => name)
  if (outdated.length > 0)
    log.warn(
      `The data of ${outdated.length === 1 ? `client ${outdated[0]}` : `${outdated.length} clients`} comes from ${config.file} and was created from other fixtures. To load the new fixtures, use POST /__admin/reset {"all":true} or payout-sandbox reset --all.`,
    )

  return {
    store,
    runtime,
    recorder: config.recorder,
    /** Whether the data file has clients that were created from other fixtures. */
    hasOtherFixtures: outdated.length > 0,
    startedAt,
    get default() {
      return worlds.get(DEFAULT)!
    },
    worlds: worlds as ReadonlyMap<string, World>,
    /** The world of a token. */
    byToken: (token: string): World | undefined => tokens.get(token),
    checkNew: checkNewName,
    /** The world of a name in a base path; creates it for a new name, unless that is switched off. */
    byName(name: string): World {
      const known = worlds.get(name)
      if (known) return known
      checkNewName(name)
      const world = createOfFixtures(name, `sbx_${name}`)
      log.info(`client ${name} created from the fixtures`)
      return world
    },
    /** Creates a client on request; without an access_token it gets a random one. */
    create(client: NewClient): World {
      checkNewClient(client)
      const { name, from, scenario, randomSeed, clock, checkKyc } = client
      const source = from && worldNamed(from.client)
      if (from?.snapshot !== undefined) source!.snapshots.check(from.snapshot)
      const about: ClientAbout = {
        start: withoutUndefined({ scenario, randomSeed, clock }),
        ...withoutUndefined({ checkKyc }),
      }
      const world = create(() => {
        const tables = source
          ? buildFork(source, from?.snapshot, client, about)
          : buildFresh(client, about)
        writeOwnProfile(tables, client.access_token ?? `sbx_client_${runtime.secret()}`)
        return tables
      })
      log.info(`client ${name} created${from ? ` from client ${from.client}` : ''}`)
      return world
    },
    /** Deletes a client with its whole state and its token. */
    delete(name: string) {
      const world = worldNamed(name)
      if (name === DEFAULT) {
        throw new SandboxError(
          'default_client_required',
          'The default client cannot be deleted, because calls without a client name use it. Reset it instead.',
        )
      }
      const token = world.profile().access_token
      world.tables.drop()
      world.stop()
      world.rejectDelayed()
      worlds.delete(name)
      if (tokens.get(token) === world) tokens.delete(token)
      log.info(`client ${name} deleted`)
    },
    /** Resets worlds to fixtures, start clock and seed: all of them or, on an error, none. Tokens do not change. */
    reset(chosen: readonly World[], parts: readonly ResetPart[] = RESET_PARTS) {
      store.change(() => {
        for (const world of chosen) resetWorld(world, parts)
      })
      for (const { name, timeline } of chosen) {
        timeline.runDueEntries()
        log.info(`client ${name} reset`)
      }
    },
    /** The problems of the last reload of the scenario files; with problems, the previous library stays active. */
    get libraryProblems() {
      return libraryProblems
    },
    /** Activates a reloaded library, or stores the problems of a failed reload. */
    changeLibrary(next: { library: Library } | { problems: readonly string[] }) {
      libraryProblems = 'problems' in next ? next.problems : []
      if ('problems' in next) {
        for (const { feed, scenarios } of worlds.values())
          feed.publish('scenario', { name: scenarios.name })
        return
      }
      library = next.library
      for (const world of worlds.values()) world.libraryChanged()
    },
    stop,
    async close() {
      stop()
      await store.close()
    },
  }
}

/** The open sandbox: every client's world. */
export type Sandbox = Awaited<ReturnType<typeof openSandbox>>
