import { Totals } from '../active-scenario/rule-counters.ts'
import type { TimelineDeps } from '../active-scenario/timeline.ts'
import type { Readings } from '../assumptions/readings.ts'
import { STORED_STATE } from '../content/state.ts'
import { formatDuration } from '../model/duration.ts'
import { AllRequests, createLogBudget } from '../requests/request-log.ts'
import { createSteadyWall, realLater, unrefLater, wallNow } from '../runtime/real-time.ts'
import { type Log, nodeCrypto, type Runtime } from '../runtime/runtime.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import { type DataFileOptions, openStore } from '../store/data-file.ts'
import { nodeDisk } from '../store/disk.ts'
import type { Rows } from '../tables/rows.ts'
import { type SandboxTables, TABLES } from '../tables/tables.ts'
import { createAddressPolicy } from '../webhooks/addresses.ts'
import { createCommonLimit, type WebhookSettings } from '../webhooks/attempt.ts'
import { createSender } from '../webhooks/send.ts'

export type SharedConfig = Omit<
  Partial<DataFileOptions<Rows>>,
  'shape' | 'readEdited' | 'wall' | 'log'
> & {
  /** How webhooks are sent, and to which public hosts they may go. */
  webhooks: WebhookSettings & { allow: readonly string[] }
  wall?: () => number
  /** Timers and webhooks do not keep the process alive. */
  unref?: boolean | undefined
  runtime?: (real: Runtime) => Runtime
}

/** The real runtime; `unref`: its timers and connections do not keep the process alive. */
function createRuntime({ webhooks, wall = wallNow, unref = false }: SharedConfig): Runtime {
  const later = unref ? unrefLater : realLater
  return {
    wall,
    elapsed: () => performance.now(),
    later,
    ...createSender({ allow: webhooks.allow, wall, unref, later }),
    secret: () => nodeCrypto().randomBytes(16).toString('hex'),
  }
}

/** Opens what all worlds of a sandbox share: the runtime, the clock of this machine, and the store. */
export async function openSharedResources({ log, ...config }: SharedConfig & { log: Log }) {
  const { allow, ...webhookSettings } = config.webhooks
  const real = createRuntime(config)
  const runtime = config.runtime?.(real) ?? real
  const steadyWall = createSteadyWall({
    ...runtime,
    onSetBack: (ms) =>
      log.warn(
        `The clock of this machine was set back by ${formatDuration(Math.round(ms / 1_000) * 1_000)}. The clocks of the clients ignore that.`,
      ),
  })
  const { file, disk = nodeDisk, ...dataFile } = config
  const store = await openStore({
    specs: TABLES,
    ...(file !== undefined && {
      dataFile: {
        ...dataFile,
        file,
        disk,
        shape: STORED_STATE,
        readEdited: async (file, bytes) => {
          const { readDataFile } = await import('../content/state-file.ts')
          return readDataFile(file, bytes)
        },
        wall: runtime.wall,
        log,
      },
    }),
  })
  return {
    runtime,
    steadyWall,
    store,
    logBudget: createLogBudget(),
    allRequests: new AllRequests(),
    totals: new Totals(),
    webhookSettings,
    webhookLimit: createCommonLimit(),
    webhookWarning: createAddressPolicy({ allow }).warningFor,
  }
}

export type SharedResources = Awaited<ReturnType<typeof openSharedResources>>

/** The start options of a world, which a reset restores. */
export type WorldStart = {
  randomSeed: number
  clock: string
  clockSpeed: number
  scenario: string
  assume?: Readings | undefined
}

export type ClientStart = WorldStart & {
  /** The start scenario of the sandbox, for a client whose own one was deleted. */
  fallbackScenario: string
}

/** The scenario that `exec` or a sweep imposes on all clients: its layers and its readings. */
export type Imposed = { layers: () => readonly CompiledScenario[]; readings: () => Readings }

export type WorldDeps = {
  tables: SandboxTables
  start: ClientStart
  shared: SharedResources
  /** The present library of scenarios; it changes when the files are reloaded. */
  library: () => Library
  /** The scenario that is imposed on all clients, if there is one. */
  imposed: Imposed
  /** The prefix of the event ids of this world's feed. */
  feedName: string
  callService?: TimelineDeps['callService']
  reset: () => void
  log: Log
}
