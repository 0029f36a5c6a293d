import type { Scenarios } from '../active-scenario/world-scenarios.ts'
import type { Readings } from '../assumptions/readings.ts'
import { SandboxError } from '../model/errors.ts'
import type { WebhookRow } from '../model/webhook.ts'
import { isHeapFull } from '../runtime/heap-limits.ts'
import { inSlices } from '../runtime/slices.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { ClockState } from '../time/clock.ts'
import { checkStateRows, checkStateScenario } from './check-state.ts'
import {
  DOCUMENT_ROWS,
  StateDocument,
  type StoredHead,
  secretOfState,
  TABLE_NAMES,
} from './state-document.ts'
import { createStateExport, type StateExportDeps } from './state-export.ts'
import { readState } from './state-reader.ts'
import { settingsIn } from './stored-state.ts'

/** Throws `payload_too_large` if the heap is almost full. */
function rejectIfHeapFull() {
  if (!isHeapFull()) return
  throw new SandboxError(
    'payload_too_large',
    'The state was rejected because too little memory is left for it. Nothing was changed. Send a smaller state, delete clients, or start the sandbox with a larger heap (NODE_OPTIONS=--max-old-space-size=MB).',
  )
}

export type StateDeps = WorldContext & {
  scenarios: Scenarios
  clockNow: () => ClockState
  /** The readings of the client. */
  assumptions: {
    notDefault: StateExportDeps['readingsOf']
    replace: (scenario: ActiveScenario, readings: Readings) => void
  }
  adopt: (load: () => void) => void
  /** Whether long work yields to other calls. */
  pauses: boolean
}

/** Exports and imports the whole state of a client. */
export function createState(deps: StateDeps) {
  const { store, scenarios, scheduler, clockNow, assumptions } = deps
  const { adopt, pauses } = deps
  // Secrets of exported webhooks, by id: an import into the same client needs no secret.
  const secrets = new Map<string, string>()
  const exported = createStateExport({
    store,
    clockNow,
    readingsOf: (...stored) => assumptions.notDefault(...stored),
    pauses,
    onSecret: ({ webhook_id, webhook_secret }) => secrets.set(webhook_id, webhook_secret),
  })
  const inPausingSlices = <T>(work: Generator<unknown, T>) =>
    inSlices(work, { pauses, check: rejectIfHeapFull })

  /** The webhook with its secret: from the document, else of the present webhook, else of an earlier export, else a new one. */
  function webhookOf({ tables }: StateDocument): WebhookRow[] {
    const present = store.tables.webhook.newest('all', 'all')?.row.webhook_secret
    return tables.webhook.map((row) => ({
      ...row,
      webhook_secret:
        row.webhook_secret ?? present ?? secrets.get(row.webhook_id) ?? secretOfState(store.name),
    }))
  }

  /** Replaces the client's state, as one change. */
  function replaceBy(state: StateDocument) {
    const { clock, token_issued_at = clock.now, scenario, draws, profile } = state
    const webhook = webhookOf(state)
    const active = { ...scenario, startedAs: '' } as ActiveScenario
    adopt(() => {
      const present = store.tables.client.newest('all', 'all')!.row
      const { client_id, access_token } = present
      store.reset(store.empty)
      store.put('client', { ...present, ...profile, client_id, access_token })
      for (const name of TABLE_NAMES)
        for (const row of name === 'webhook' ? webhook : state.tables[name])
          store.insert(name, row as never)
      for (const row of settingsIn({ ...state, token_issued_at } as Partial<StoredHead>))
        store.put('settings', row)
      if (!state.assumptions_by_call) assumptions.replace(active, state.assumptions ?? {})
      store.random.counter = draws
    })
  }

  return {
    /** The present state. */
    export: exported.present,
    /** The state of a snapshot. */
    exportSnapshot: exported.ofSnapshot,
    /**
     * Reads and checks a document, or this client's state in a whole data file (else that of the default client), and
     * replaces the client's state by it. Other calls can run in between, but the
     * replacement itself is one change. Returns the number of rows of each table.
     */
    async replace(sent: unknown): Promise<Record<string, number>> {
      const state = await inPausingSlices(
        readState(sent, StateDocument, DOCUMENT_ROWS, [store.name, 'default']),
      )
      await checkStateRows(state, inPausingSlices)
      await checkStateScenario(state, scenarios, inPausingSlices)
      await scheduler.whenIdle(() => replaceBy(state))
      return Object.fromEntries(
        Object.entries(state.tables).map(([table, { length }]) => [table, length]),
      )
    },
  }
}

export type WorldState = ReturnType<typeof createState>
