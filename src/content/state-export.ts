import type { Readings } from '../assumptions/readings.ts'
import { inOrderOf } from '../model/field-order.ts'
import { rowsOf as rowsIn, sizeOf } from '../storage/layers.ts'
import type { Images, Snapshot } from '../storage/world-tables.ts'
import type { ActiveScenario, Rows, SettingRow } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import { DOCUMENT_ROWS, Profile, TABLE_NAMES, type TableName } from './state-document.ts'

// A state with fewer rows is sent in one piece.
const FEW_ROWS = 2_000

/** The JSON text of a state, in pieces; call `done` after sending. */
export type StateText = { pieces: Iterable<string>; isLarge: boolean; done: () => void }

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(DOCUMENT_ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

type RowsOf = <K extends keyof Rows>(table: K) => Iterable<Rows[K]>

/** The value of a setting. */
function settingOf<N extends SettingRow['name']>(rowsOf: RowsOf, name: N) {
  const row = [...rowsOf('settings')].find((one) => one.name === name)
  return row?.value as Extract<SettingRow, { name: N }>['value'] | undefined
}

const countRows = (images: Images<Rows>): number =>
  TABLE_NAMES.reduce((sum, name) => sum + sizeOf(images[name].layers), 0)

/** The rows of a table as they are in a document. */
function* exportedRows(
  name: TableName,
  rowsOf: RowsOf,
  onSecret: (webhook: Rows['webhook']) => void,
): Generator<object> {
  for (const row of rowsOf(name)) {
    if (name !== 'webhook') yield orderFields[name](row)
    else {
      const { webhook_secret: _, ...shown } = row as Rows['webhook']
      onSecret(row as Rows['webhook'])
      yield orderFields.webhook(shown)
    }
  }
}

/** The JSON text of a document, in pieces of one row. */
function* documentText(
  rowsOf: RowsOf,
  clock: ClockState,
  draws: number,
  { onSecret, readingsOf }: Pick<StateExportDeps, 'onSecret' | 'readingsOf'>,
): Generator<string> {
  const [client] = rowsOf('client')
  const scenario = settingOf(rowsOf, 'scenario')!
  const { name, definition } = scenario
  const { mode, speed, anchor } = clock
  const head = {
    format: 1,
    clock: { now: new Date(anchor).toISOString(), mode, speed },
    token_issued_at: new Date(settingOf(rowsOf, 'token')?.issued_at ?? anchor).toISOString(),
    assumptions: readingsOf(scenario, settingOf(rowsOf, 'assumptions') ?? {}),
    scenario: { name, ...(definition && { definition }) },
    draws,
    profile: orderProfileFields(client!),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"tables":{`
  for (const [i, table] of TABLE_NAMES.entries()) {
    yield `${i === 0 ? '' : ','}"${table}":[`
    let comma = ''
    for (const row of exportedRows(table, rowsOf, onSecret)) {
      yield comma + JSON.stringify(row)
      comma = ','
    }
    yield ']'
  }
  yield '}}'
}

export type StateExportDeps = {
  store: SandboxTables
  clockNow: () => ClockState
  /** The readings that are not the default, by the stored scenario and the readings that calls have chosen. */
  readingsOf: (scenario: ActiveScenario, called: Readings) => Readings
  /** Whether long work yields to other calls. */
  pauses: boolean
  /** Called for every exported webhook. */
  onSecret: (webhook: Rows['webhook']) => void
}

/** Exports the present state of a client, or that of a snapshot. */
export function createStateExport(deps: StateExportDeps) {
  const { store, clockNow, pauses } = deps
  /** A state as text; a large one is protected from changes until it is sent. */
  function textOf(state: Pick<Snapshot<Rows>, 'images' | 'counter'>, snapshot?: string): StateText {
    const isLarge = pauses && countRows(state.images) > FEW_ROWS
    const retained = isLarge ? store.pin(snapshot) : undefined
    const { images, counter } = retained ?? state
    const rowsOf: RowsOf = (table) => rowsIn(images[table].layers)
    const clock = snapshot === undefined ? clockNow() : settingOf(rowsOf, 'clock')!
    return {
      pieces: documentText(rowsOf, clock, counter, deps),
      isLarge,
      done: () => retained?.release(),
    }
  }

  return {
    /** The present state. */
    present: () => textOf({ images: store.view(), counter: store.random.counter }),
    /** The state of a snapshot. */
    ofSnapshot: (name: string) => textOf(store.snapshots.get(name)!, name),
  }
}
