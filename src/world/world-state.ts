import type { Scenarios } from '../active-scenario/scenarios.ts'
import { MAX_COUNTED, StateReader } from '../content/read-state.ts'
import {
  headOf,
  isDataFile,
  Profile,
  rowsOfState,
  STATE_ROWS,
  type State,
  TABLE_NAMES,
  type TableName,
} from '../content/state.ts'
import { isObject } from '../model/formats.ts'
import { inOrderOf } from '../model/paging.ts'
import { fieldOf, MAX_ERRORS, validationFailed } from '../model/validation-errors.ts'
import { isSliceOver, ownTurn } from '../runtime/real-time.ts'
import { stateText, withShared } from '../store/document-text.ts'
import { rowsOf } from '../store/table.ts'
import type { Snapshot } from '../store/worlds.ts'
import type { ActiveScenario, Rows } from '../tables/rows.ts'
import { settingOf } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import type { World } from './world.ts'
import { restore } from './world-content.ts'

// ---- export

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(STATE_ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

/** The JSON text of a state, without what belongs to this sandbox. */
function exported(state: Snapshot<Rows>, clock: ClockState, world: World): string {
  const { settings, webhook } = state.images
  const { format, token_issued_at, assumptions_by_call, scenario, draws, profile } = headOf(state)
  const { started_as: _, ...choice } = scenario
  const { anchor, mode, speed } = clock
  const chosen = settingOf(settings, 'scenario')!
  for (const { webhook_id, webhook_secret } of rowsOf(webhook))
    world.webhooks.exportedSecrets.set(webhook_id, webhook_secret)
  const tables = Object.fromEntries(
    TABLE_NAMES.map((name) => [name, rowsOf<object>(state.images[name]).map(orderFields[name])]),
  )
  tables['webhook'] = rowsOf(webhook).map(({ webhook_secret: _, ...row }) =>
    orderFields.webhook(row),
  )
  return [
    ...stateText({
      format,
      clock: { now: new Date(anchor).toISOString(), mode, speed },
      token_issued_at,
      assumptions: world.scenarios.assumptions.notDefault(chosen, assumptions_by_call ?? {}),
      scenario: choice,
      draws,
      profile: orderProfileFields(profile),
      tables,
    }),
  ].join('')
}

export const exportState = (world: World): string =>
  exported(world.tables.now(), world.clock.present(), world)

export const exportSnapshot = (world: World, state: Snapshot<Rows>): string =>
  exported(state, settingOf(state.images.settings, 'clock')!, world)

// ---- import

/** Replaces the client's rows, inside the open change. Its id and its token stay. */
function loadState({ name, tables, scenarios }: World, state: State) {
  const { client, ...rows } = rowsOfState(name, state)
  const { client_id, access_token } = tables.tables.client.newest('all', 'all')!.row
  tables.reset(tables.empty)
  tables.put('client', { ...client![0]!, client_id, access_token })
  for (const [table, list] of Object.entries(rows))
    for (const row of list) tables.put(table as keyof typeof rows, row as never)
  const active = { ...state.scenario, startedAs: '' } as ActiveScenario
  if (!state.assumptions_by_call) scenarios.assumptions.replace(active, state.assumptions ?? {})
  tables.random.counter = state.draws
}

/** The state of the first of these clients that a data file has. */
function stateIn(sent: Record<string, unknown>, names: readonly string[]): unknown {
  const { clients } = withShared(sent) as { clients: Record<string, unknown> }
  const name = names.find((one) => Object.hasOwn(clients, one))
  const state = name === undefined ? undefined : clients[name]
  if (isObject(state)) return state
  const message = `must have a state of ${[...new Set(names)].join(' or ')}`
  throw validationFailed([{ field: 'clients', code: 'required', message }])
}

/** Throws the errors of a document. Other calls can run in between. */
async function checkState({ name, tables, webhooks }: World, sent: unknown) {
  const given = isDataFile(sent) ? stateIn(sent, [name, 'default']) : sent
  const present = tables.tables.webhook.newest('all', 'all')?.row.webhook_secret
  const reader = new StateReader({
    known: () => ({ secretOf: (id) => present ?? webhooks.exportedSecrets.get(id) }),
    rest: () => (isSliceOver() ? ownTurn() : undefined),
  })
  const state = await reader.state(given, [], name)
  if (state && reader.problems.length === 0) return state
  const errors = reader.problems.map(({ path, ...problem }) => ({
    field: fieldOf(path) || 'body',
    ...problem,
  }))
  throw validationFailed(errors.slice(0, MAX_ERRORS), {
    count: errors.length,
    isMinimum: errors.length >= MAX_COUNTED,
  })
}

/** Throws if the client does not have a scenario of the state, or too many rules with it. */
async function checkScenarios(scenarios: Scenarios, { scenario, tables }: State) {
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

/** Replaces the state of a world, in one change, by that of a document or data file; returns the number of rows of each table. */
export async function adoptState(world: World, sent: unknown): Promise<Record<string, number>> {
  const state = await checkState(world, sent)
  await checkScenarios(world.scenarios, state)
  await world.clock.timers.whenIdle(() => restore(world, 'state', () => loadState(world, state)))
  return Object.fromEntries(
    Object.entries(state.tables).map(([table, { length }]) => [table, length]),
  )
}
