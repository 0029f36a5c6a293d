import { SandboxError } from '../model/errors.ts'
import { isReference, maskIfsc, maskNumber, maskText, quoteInput } from '../model/mask.ts'
import { differences } from '../store/table.ts'
import type { Snapshot } from '../store/worlds.ts'
import type { Rows } from '../tables/rows.ts'
import { type SandboxTables, settingOf, TABLES } from '../tables/tables.ts'

/** The maximum number of snapshots of one client; each retains its rows in memory. */
export const MAX_SNAPSHOTS = 100

const NAMES = Object.keys(TABLES) as (keyof Rows)[]
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
/** Wall clock times, durations of attempts and start options are not part of a comparison. */
const IGNORED_FIELDS = new Set(['wallAnchor', 'startedAs', 'activated_at', 'duration_ms'])

const HIDDEN = () => 'XXXX'
const MASKS: Readonly<Record<string, (value: string) => string>> = {
  account_number: maskNumber,
  document_number: maskNumber,
  utr: maskNumber,
  ifsc_code: maskIfsc,
  access_token: HIDDEN,
  webhook_secret: HIDDEN,
}
const masked = (text: string) => (UUID.test(text) ? text : maskText(text))

/** A value with personal numbers and secrets masked, at any depth. */
function redacted(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return isReference(key) ? value : (MASKS[key] ?? masked)(value)
  if (Array.isArray(value)) return value.map((one) => redacted(one, key))
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !IGNORED_FIELDS.has(name))
      .map(([name, one]) => [name, redacted(one, name)]),
  )
}

function changedFields(before: object, after: object) {
  const [a, b] = [before, after] as Record<string, unknown>[]
  const comparable = (value: unknown) =>
    JSON.stringify(value, (key, one) => (IGNORED_FIELDS.has(key) ? undefined : one))
  return Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((field) => comparable(a![field]) !== comparable(b![field]))
      .map((field) => [
        field,
        { before: redacted(a![field], field), after: redacted(b![field], field) },
      ]),
  )
}

type TableDiff = {
  added: string[]
  removed: string[]
  changed: { id: string; fields: ReturnType<typeof changedFields> }[]
}

type World = { tables: SandboxTables }

/** A snapshot of a client: its whole state, with clock, timers, scenario and position in the random series. Throws `not_found`. */
export function snapshotOf({ tables }: World, name: string): Snapshot<Rows> {
  const snapshot = tables.snapshots.get(name)
  if (snapshot) return snapshot
  throw new SandboxError(
    'not_found',
    `There is no snapshot ${quoteInput(name)} of client ${tables.name}.`,
  )
}

function summaryOf(world: World, name: string) {
  const { settings } = snapshotOf(world, name).images
  return { name, taken_at: new Date(settingOf(settings, 'clock')?.anchor ?? 0).toISOString() }
}

export const listSnapshots = (world: World) =>
  [...world.tables.snapshots.keys()].sort().map((name) => summaryOf(world, name))

export function saveSnapshot(world: World & { clock: { persistNow: () => void } }, name: string) {
  const { tables, clock } = world
  const replaced = tables.snapshots.has(name)
  if (!replaced && tables.snapshots.size >= MAX_SNAPSHOTS)
    throw new SandboxError(
      'snapshot_limit_reached',
      `The client ${tables.name} already has ${MAX_SNAPSHOTS} snapshots, the maximum. Delete one, or replace one by using its name.`,
    )
  tables.change(() => {
    clock.persistNow()
    tables.save(name)
  })
  return { ...summaryOf(world, name), replaced }
}

export function forgetSnapshot(world: World, name: string) {
  snapshotOf(world, name)
  world.tables.forget(name)
}

export function diffSnapshot(world: World, name: string) {
  const [before, after] = [snapshotOf(world, name).images, world.tables.now().images]
  const diff: Partial<Record<keyof Rows, TableDiff>> = {}
  for (const table of NAMES) {
    const found: TableDiff = { added: [], removed: [], changed: [] }
    for (const one of differences<object>(before[table], after[table])) {
      // An idempotency key is a user's own text; all other ids are needed for look-ups.
      const id = table === 'idempotency' ? masked(one.id) : one.id
      if (!one.before) found.added.push(id)
      else if (!one.after) found.removed.push(id)
      else {
        const fields = changedFields(one.before, one.after)
        if (Object.keys(fields).length > 0) found.changed.push({ id, fields })
      }
    }
    if (found.added.length + found.removed.length + found.changed.length > 0) diff[table] = found
  }
  return diff
}
