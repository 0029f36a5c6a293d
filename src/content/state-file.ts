import { createHash } from 'node:crypto'
import { canCompile } from '../active-scenario/current-scenario.ts'
import { uuidOf } from '../runtime/random.ts'
import type { Library } from '../scenarios/library.ts'
import type { ScenarioDefinition } from '../scenarios/scenario-schema.ts'
import type { StoredState } from '../store/states.ts'
import type { Rows, SettingRow } from '../tables/rows.ts'
import { DocumentCheck } from './edited-document.ts'
import { placed } from './edited-file.ts'
import { parseFile } from './fixture-files.ts'
import { BadFixtures } from './fixture-problems.ts'
import type { FixtureWorlds, StartRows } from './fixtures.ts'
import {
  DOCUMENT_ROWS,
  isDataFile,
  StateDocument,
  secretOfState,
  type TableName,
} from './state-document.ts'
import { settingsIn, TABLE_NAMES } from './stored-state.ts'

type State = StateDocument

type Start = {
  scenarios?: Readonly<Record<string, ScenarioDefinition>>
}

export type StateFileDeps = {
  /** Have what a state without tokens and secrets lacks. */
  fixtures: FixtureWorlds
  library: Library
}

/** What a file of states is called in messages, if it is a value. */
const VALUE = 'state'

/** The state without the names of shared rows. */
function withRows(state: StoredState, shared: Readonly<Record<string, readonly unknown[]>> = {}) {
  const rowsOf = (table: TableName) => {
    const rows = state.tables[table]!
    return typeof rows === 'string' ? shared[rows]! : rows
  }
  const tables = Object.fromEntries(TABLE_NAMES.map((table) => [table, rowsOf(table)]))
  return { ...state, tables } as unknown as State
}

/** Checks what a document alone cannot know: the scenarios that there are. */
function checkAgainst(
  state: State,
  note: (field: string[], message: string) => void,
  { library }: Deps,
) {
  const { scenarios = {} } = (state.start ?? {}) as Start
  const { name, definition } = state.scenario
  const choice = { name, ...(definition && { definition: definition as ScenarioDefinition }) }
  const needed = (definition?.['extends'] as string | undefined) ?? name
  if (!canCompile(library, choice) && !Object.hasOwn(scenarios, needed))
    note(['scenario', 'name'], library.unknown(needed))
}
type Deps = Pick<StateFileDeps, 'library'>

/** The states of a document by client, checked; of a document with only one state, of the default client. */
async function checkedStates({ content, file, text }: Source, deps?: Deps) {
  const head = StateDocument.omit({ tables: true })
  const check = new DocumentCheck({ head, rows: DOCUMENT_ROWS })
  const states = new Map<string, State>()
  const isWhole = isDataFile(content)
  if (isWhole) {
    const { clients, shared } = await check.document(content)
    for (const [name, state] of Object.entries(clients)) states.set(name, withRows(state, shared))
  } else {
    const state = await check.state(content, [])
    if (state) states.set('default', withRows(state))
  }
  if (deps && check.problems.length === 0)
    for (const [name, state] of states) {
      const path = isWhole ? ['clients', name] : []
      const note = (field: string[], message: string) =>
        check.problems.push({ path: [...path, ...field], message, code: 'invalid_value' })
      checkAgainst(state, note, deps)
    }
  if (check.problems.length > 0) throw new BadFixtures(placed(check, file, text))
  return states
}

/** The rows with which a client starts from a state; the fixtures of the client have what the state lacks. */
function startRowsOf(client: string, state: State, ofFixtures: StartRows | undefined): StartRows {
  const { profile, tables, draws, start = {}, clock, assumptions = {} } = state
  const { token_issued_at = clock.now, assumptions_by_call: called = assumptions } = state
  const known = ofFixtures?.rows.client?.[0]
  const secret = ofFixtures?.rows.webhook?.[0]?.webhook_secret ?? secretOfState(client)
  const settings = settingsIn({
    clock,
    scenario: state.scenario,
    token_issued_at,
    ...(Object.keys(called).length > 0 && { assumptions_by_call: called }),
  })
  const rows = {
    ...tables,
    webhook: tables.webhook.map((row) => ({
      ...row,
      webhook_secret: row.webhook_secret ?? secret,
    })),
    client: [
      {
        client,
        ...profile,
        client_id: profile.client_id ?? known?.client_id ?? uuidOf(`client ${client}`),
        access_token: profile.access_token ?? known?.access_token ?? `sbx_${client}`,
      },
    ] as Rows['client'][],
    settings: settings as SettingRow[],
  } as StartRows['rows']
  const digest = createHash('sha256')
    .update(JSON.stringify([rows, draws]))
    .digest('hex')
  return { key: `state ${client} ${digest.slice(0, 16)}`, rows, state: { draws, start } }
}

type Source = { content: unknown; file: string; text: string | undefined }

const openSource = (source: string | object): Source =>
  typeof source === 'string'
    ? { ...parseFile(source), file: source }
    : { content: source, file: VALUE, text: undefined }

/** The content of a file of states, or such a value, to send to a sandbox. Throws `BadFixtures` with all problems. */
export async function stateContent(source: string | object): Promise<unknown> {
  const opened = openSource(source)
  await checkedStates(opened)
  return opened.content
}

/**
 * The clients of a file with one state or a whole data file, or of such a value, with which a sandbox starts. Throws
 * `BadFixtures` with all problems.
 */
export async function readStates(
  source: string | object,
  { fixtures, ...deps }: StateFileDeps,
): Promise<FixtureWorlds> {
  const states = await checkedStates(openSource(source), deps)
  return new Map(
    Array.from(states, ([name, state]) => [name, startRowsOf(name, state, fixtures.get(name))]),
  )
}
