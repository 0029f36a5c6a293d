import type { TimelineDeps } from '../active-scenario/timeline.ts'
import type { Readings } from '../assumptions/readings.ts'
import type { Log } from '../runtime/runtime.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { SharedResources } from './shared-resources.ts'

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
