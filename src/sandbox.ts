import { wallNow } from './core/clock.ts'
import { uuidOf } from './core/random.ts'
import { createSender } from './core/send.ts'
import { openStore } from './core/store.ts'
import { ClientName } from './model/client.ts'
import { SandboxError } from './model/errors.ts'
import type { Library } from './scenarios/library.ts'
import type { WebhookSettings } from './services/delivery-attempts.ts'
import type { FixtureWorlds } from './services/fixtures.ts'
import { createLogBudget } from './services/request-log.ts'
import { TABLES } from './services/tables.ts'
import { createWorld, type World, type WorldStart } from './world.ts'

/** Where messages for the person who runs the sandbox go. */
export type Log = {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string, error?: unknown): void
}

/** What a sandbox is opened with. */
export type SandboxConfig = {
  fixtures: FixtureWorlds
  /** The data file; without it nothing is kept. */
  file?: string
  fsync?: boolean
  onDamage?: 'refuse' | 'recover' | 'reset'
  start: WorldStart
  library: Library
  maxClients: number
  autoClients: boolean
  /** How webhooks are sent, and to which public hosts they may go. */
  webhooks: Omit<WebhookSettings, 'send'> & { allow: readonly string[] }
  wall?: () => number
  log: Log
}

/** A part of a world that a reset can pick. */
export const RESET_PARTS = ['data', 'clock', 'scenario', 'deliveries', 'requests'] as const
export type ResetPart = (typeof RESET_PARTS)[number]

const DEFAULT = 'default'

/** Opens the clients and their worlds: those of the data file, and those of the fixtures that are not in it yet. */
export async function openSandbox(config: SandboxConfig) {
  const { fixtures, start, log, wall = wallNow } = config
  let { library } = config
  let libraryProblems: readonly string[] = []
  const { allow, ...webhooks } = config.webhooks
  const sender = createSender({ allow, wall })
  const store = await openStore({
    specs: TABLES,
    ...(config.file === undefined ? {} : { file: config.file }),
    fsync: config.fsync ?? false,
    onDamage: config.onDamage ?? 'refuse',
    wall,
    log,
  })
  const bases = new Map(
    [...fixtures].map(([name, { key, rows }]) => [name, store.makeBase(key, rows)]),
  )
  const worlds = new Map<string, World>()
  const logBudget = createLogBudget()
  const startedAt = wall()
  let feeds = 0
  const tokens = new Map<string, World>()

  function enter(name: string): World {
    const tables = store.worlds.get(name)!
    const world: World = createWorld({
      name,
      tables,
      store,
      start,
      library: () => library,
      webhookSettings: { ...webhooks, send: sender.send },
      logBudget,
      feedName: `${startedAt.toString(36)}.${++feeds}`,
      wall,
      log,
      reset: () => resetWorld(world, RESET_PARTS),
    })
    worlds.set(name, world)
    const token = world.profile().access_token
    if (!tokens.has(token)) tokens.set(token, world)
    world.start()
    return world
  }

  /** A client that no fixture names gets the default client's rows and a profile of its own. */
  function ownProfile(name: string, token: string) {
    const tables = store.worlds.get(name)!
    const from = tables.tables.client.newest('all', 'all')!
    const profile = {
      ...from.row,
      client: name,
      client_id: uuidOf(`client ${name}`),
      access_token: token,
    }
    tables.remove('client', from.id)
    tables.put('client', {
      ...profile,
      name: `Sandbox client ${name}`,
      email: `${name}@example.com`,
    })
  }

  function create(name: string, token: string): World {
    store.change(() => {
      store.addWorld(name, bases.get(name) ?? bases.get(DEFAULT)!)
      if (!bases.has(name)) ownProfile(name, token)
    })
    return enter(name)
  }

  for (const name of store.worlds.keys()) enter(name)
  for (const name of fixtures.keys()) if (!worlds.has(name)) create(name, '')

  function resetWorld(world: World, parts: readonly ResetPart[]) {
    store.change(() => {
      if (parts.includes('data')) {
        const { access_token } = world.profile()
        const putBack = world.scenarios.keep()
        world.tables.reset(bases.get(world.name) ?? bases.get(DEFAULT)!)
        if (!bases.has(world.name)) ownProfile(world.name, access_token)
        world.keepClock()
        putBack()
      } else if (parts.includes('deliveries')) {
        world.deliveries.clear()
        world.inbox.clear()
      }
      const now = parts.includes('clock') ? world.restartClock() : world.clock.now()
      if (parts.includes('scenario')) world.timeline.activate(world.scenarios.reset, now)
      store.afterChange(() => {
        if (parts.includes('data') || parts.includes('deliveries')) world.deliveries.forget()
        world.scheduler.reload()
        world.answerCancelled()
        if (parts.includes('requests')) world.requests.clear()
        world.feed.tell('reset', { parts })
      })
    })
  }

  /** Timers run no more, and what is being sent is broken off. */
  function stop() {
    for (const world of worlds.values()) world.stop()
    sender.close()
  }

  return {
    store,
    wall,
    startedAt,
    get default() {
      return worlds.get(DEFAULT)!
    },
    worlds: worlds as ReadonlyMap<string, World>,
    /** The world a token stands for. */
    byToken: (token: string): World | undefined => tokens.get(token),
    /** The world of a name in a base path; a new name makes it, unless that is switched off. */
    byName(name: string): World {
      const known = worlds.get(name)
      if (known) return known
      if (!ClientName.safeParse(name).success) {
        throw new SandboxError(
          'not_found',
          'There is no such client: a name is 1 to 63 of a-z, 0-9 and -, and does not start with -.',
        )
      }
      if (!config.autoClients) {
        throw new SandboxError(
          'not_found',
          `There is no client ${name}, and --no-auto-clients makes none.`,
        )
      }
      if (worlds.size >= config.maxClients) {
        throw new SandboxError(
          'client_limit_reached',
          `There are ${worlds.size} clients already. Delete one, or raise --max-clients.`,
        )
      }
      log.info(`client ${name} made from the fixtures`)
      return create(name, `sbx_${name}`)
    },
    /** Back to the fixtures, start clock and start seed: of all these worlds or, where it fails, of none. Tokens stay. */
    reset(chosen: readonly World[], parts: readonly ResetPart[] = RESET_PARTS) {
      store.change(() => {
        for (const world of chosen) resetWorld(world, parts)
      })
      for (const { name, timeline } of chosen) {
        timeline.doWhatIsDue()
        log.info(`client ${name} reset`)
      }
    },
    /** What was wrong with the scenario files when they were last read again; then the set before is still used. */
    get libraryProblems() {
      return libraryProblems
    },
    /** Takes another set of scenarios, or keeps the one there is and tells what is wrong with the other. */
    changeLibrary(next: { library: Library } | { problems: readonly string[] }) {
      libraryProblems = 'problems' in next ? next.problems : []
      if ('problems' in next) return
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
