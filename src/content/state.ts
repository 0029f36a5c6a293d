import type { Scenarios } from '../active-scenario/world-scenarios.ts'
import type { Readings } from '../assumptions/readings.ts'
import type { WebhookRow } from '../model/webhook.ts'
import { inSlices } from '../runtime/slices.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import type { Scheduler } from '../time/scheduler.ts'
import { checkStateRows, checkStateScenario } from './check-rows.ts'
import {
  DOCUMENT_ROWS,
  StateDocument,
  type StoredHead,
  secretOfState,
  TABLE_NAMES,
} from './state-document.ts'
import type { ExportedWorld } from './state-export.ts'
import { readState } from './state-reader.ts'
import { settingsIn } from './stored-state.ts'

/** A world whose state is replaced. */
type ReplacedWorld = ExportedWorld & {
  scenarios: Scenarios
  scheduler: Pick<Scheduler, 'whenIdle'>
  assumptions: { replace: (scenario: ActiveScenario, readings: Readings) => void }
  adoptState: (load: () => void) => void
}

/** Adds the webhook's secret: the document's own, or the current webhook's, or an earlier export's, or a new one. */
function webhookOf(
  { name, tables, exportedSecrets }: ReplacedWorld,
  state: StateDocument,
): WebhookRow[] {
  const present = tables.tables.webhook.newest('all', 'all')?.row.webhook_secret
  return state.tables.webhook.map((row) => ({
    ...row,
    webhook_secret:
      row.webhook_secret ?? present ?? exportedSecrets.get(row.webhook_id) ?? secretOfState(name),
  }))
}

/** Replaces the client's state, as one change. */
function replaceBy(world: ReplacedWorld, state: StateDocument) {
  const { tables, assumptions, adoptState } = world
  const { clock, token_issued_at = clock.now, scenario, draws, profile } = state
  const webhook = webhookOf(world, state)
  const active = { ...scenario, startedAs: '' } as ActiveScenario
  adoptState(() => {
    const present = tables.tables.client.newest('all', 'all')!.row
    const { client_id, access_token } = present
    tables.reset(tables.empty)
    tables.put('client', { ...present, ...profile, client_id, access_token })
    for (const name of TABLE_NAMES)
      for (const row of name === 'webhook' ? webhook : state.tables[name])
        tables.put(name, row as never)
    for (const row of settingsIn({ ...state, token_issued_at } as Partial<StoredHead>))
      tables.put('settings', row)
    if (!state.assumptions_by_call) assumptions.replace(active, state.assumptions ?? {})
    tables.random.counter = draws
  })
}

/**
 * Reads and checks a document, or this client's state in a whole data file (else that of the default client), and
 * replaces the client's state by it. Other calls can run in between, but the replacement itself is one change. Returns
 * the number of rows of each table.
 */
export async function replaceState(
  world: ReplacedWorld,
  sent: unknown,
): Promise<Record<string, number>> {
  const { name, scenarios, scheduler, runtime } = world
  const inPausingSlices = <T>(work: Generator<unknown, T>) =>
    inSlices(work, { pauses: runtime.yieldsToOthers })
  const state = await inPausingSlices(
    readState(sent, StateDocument, DOCUMENT_ROWS, [name, 'default']),
  )
  await checkStateRows(state, inPausingSlices)
  await checkStateScenario(state, scenarios, inPausingSlices)
  await scheduler.whenIdle(() => replaceBy(world, state))
  return Object.fromEntries(
    Object.entries(state.tables).map(([table, { length }]) => [table, length]),
  )
}
