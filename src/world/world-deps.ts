import type { Totals } from '../active-scenario/rule-counters.ts'
import type { TimelineDeps } from '../active-scenario/timeline.ts'
import type { Readings } from '../assumptions/readings.ts'
import type { Coverage } from '../model/coverage.ts'
import type { DeliveryRow } from '../model/delivery.ts'
import type { FeedKind } from '../model/feed-kinds.ts'
import type { AllRequests, CompletedRequest } from '../requests/request-log.ts'
import type { Budget } from '../runtime/ring-buffer.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import type { SandboxStore, SandboxTables } from '../tables/tables.ts'
import type { WebhookSettings } from '../webhooks/attempt.ts'
import type { FeedEvents } from './feed.ts'

/** The start options of a world, which a reset restores. */
export type WorldStart = {
  randomSeed: number
  clock: string
  clockSpeed: number
  scenario: string
  /** Readings of open points of the contract. */
  assume?: Readings | undefined
}

/** The start options of one client. */
export type ClientStart = WorldStart & {
  /** The start scenario of the sandbox, for a client whose own one was deleted. */
  fallbackScenario: string
}

/** The scenario that `exec` or a sweep imposes on all clients: its layers and its readings. */
export type Imposed = {
  layers: () => readonly CompiledScenario[]
  readings: () => Readings
}

/** Listens to what one client's callers see; there is none while coverage is off. */
export type CallerView = {
  called(call: CompletedRequest): void
  delivered(row: DeliveryRow): void
  /** The rows of the client were replaced. */
  forget(): void
}

/** Collects what the callers of all clients have met since the start. */
export type CoverageSource = {
  viewOf(tables: SandboxTables): CallerView
  seen: ReadonlySet<string>
  hasReadFailure(id: string): boolean
  report(): Promise<Coverage>
}

/** What a world is made with. */
export type WorldDeps = {
  name: string
  tables: SandboxTables
  store: SandboxStore
  start: ClientStart
  /** The present library of scenarios; it changes when the files are reloaded. */
  library: () => Library
  /** The scenario that is imposed on all clients, if there is one. */
  imposed: Imposed
  webhookSettings: WebhookSettings
  /** A warning about a URL to which webhooks are probably not sent. */
  webhookWarning: (url: string) => string | undefined
  /** The memory limit that the request logs of all clients share. */
  logBudget: Budget
  /** The calls of all clients. */
  allRequests: AllRequests
  /** What happened in all clients. */
  totals: Totals
  /** The prefix of the event ids of this world's feed. */
  feedName: string
  runtime: Runtime
  /** The monotonic wall clock that drives the client's clock. */
  steadyWall: () => number
  callerView?: CallerView | undefined
  callService?: TimelineDeps['callService']
  /** Replaces all rows by those with which the client starts. */
  loadStartRows: (tables: SandboxTables) => void
  /** Called when the client's token may have changed. */
  onProfileChanged: () => void
  log: {
    info(message: string): void
    warn(message: string): void
    error(message: string, error?: unknown): void
  }
}

/** Publishes an event of the feed. */
export type Publish = <K extends FeedKind>(kind: K, subject: FeedEvents[K]) => void
