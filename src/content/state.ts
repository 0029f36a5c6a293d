import type { Scenarios } from '../active-scenario/world-scenarios.ts'
import type { Readings } from '../assumptions/readings.ts'
import { isObject } from '../model/formats.ts'
import { fieldOf, MAX_ERRORS, validationFailed } from '../model/validation-errors.ts'
import type { WebhookRow } from '../model/webhook.ts'
import { isSliceOver, ownTurn } from '../runtime/slices.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import type { Scheduler } from '../time/scheduler.ts'
import { DocumentCheck, MAX_COUNTED } from './edited-document.ts'
import {
  type DataFile,
  DOCUMENT_ROWS,
  isDataFile,
  StateDocument,
  type StoredHead,
  secretOfState,
  TABLE_NAMES,
} from './state-document.ts'
import type { ExportedWorld } from './state-export.ts'
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

/** The state of the first of these clients that a data file has, with the rows that it shares with others. */
function stateIn({ clients, shared }: DataFile, names: readonly string[]): unknown {
  const name = names.find((one) => Object.hasOwn(clients, one))
  const state = name === undefined ? undefined : clients[name]
  if (!isObject(state)) {
    const message = `must have a state of ${[...new Set(names)].join(' or ')}`
    throw validationFailed([{ field: 'clients', code: 'required', message }])
  }
  if (!isObject(state['tables'])) return state
  const rowsOf = (rows: unknown) =>
    typeof rows === 'string' && isObject(shared) ? (shared[rows] ?? rows) : rows
  const tables = Object.entries(state['tables']).map(([table, rows]) => [table, rowsOf(rows)])
  return { ...state, tables: Object.fromEntries(tables) }
}

/** Throws the errors of a document. Other calls can run in between. */
async function checkState({ name }: ReplacedWorld, sent: unknown) {
  const check = new DocumentCheck({
    head: StateDocument.omit({ tables: true }),
    rows: DOCUMENT_ROWS,
    rest: () => (isSliceOver() ? ownTurn() : undefined),
  })
  const given = isDataFile(sent) ? stateIn(sent, [name, 'default']) : sent
  const state = await check.state(given, [])
  const { length } = check.problems
  if (length === 0) return state as unknown as StateDocument
  const errors = check.problems.map(({ path, ...problem }) => ({
    field: fieldOf(path) || 'body',
    ...problem,
  }))
  throw validationFailed(errors.slice(0, MAX_ERRORS), {
    count: length,
    isMinimum: length >= MAX_COUNTED,
  })
}

/** Throws if the client does not have a scenario of the state, or too many rules with it. */
async function checkScenarios(scenarios: Scenarios, { scenario, tables }: StateDocument) {
  const { name, definition } = scenario
  const checked = definition && (await scenarios.check(definition))
  if (!checked) scenarios.checkName(name)
  for (const { payload } of tables.timers) {
    const { use } = (payload['do'] ?? {}) as { use?: string }
    if (use !== undefined) scenarios.checkName(use)
  }
  const rules = tables.rules.map((rule) => rule.definition)
  scenarios.checkRuleLimits(rules, checked ? { name, definition: checked.definition } : { name })
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
  const { scenarios, scheduler } = world
  const state = await checkState(world, sent)
  await checkScenarios(scenarios, state)
  await scheduler.whenIdle(() => replaceBy(world, state))
  return Object.fromEntries(
    Object.entries(state.tables).map(([table, { length }]) => [table, length]),
  )
}
