import * as z from 'zod'
import {
  diffSnapshot,
  forgetSnapshot,
  listSnapshots,
  saveSnapshot,
  snapshotOf,
} from '../../content/snapshots.ts'
import { DataFile, State } from '../../content/state.ts'
import { adminCall } from '../../http/admin-call.ts'
import { SnapshotName } from '../../model/client.ts'
import { named, Timestamp } from '../../model/formats.ts'
import { RESET_PARTS } from '../../world/world-content.ts'
import { adoptState, exportSnapshot, exportState } from '../../world/world-state.ts'

const snapshot = { name: SnapshotName, taken_at: Timestamp }
const SnapshotPath = z.object({ name: SnapshotName })
const Difference = named('TableDifference', {
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(
    z.strictObject({
      id: z.string(),
      fields: z.record(z.string(), z.strictObject({ before: z.unknown(), after: z.unknown() })),
    }),
  ),
})

export const stateCalls = [
  adminCall({
    id: 'getState',
    summary: 'Export the state, without token and webhook secret',
    isExport: true,
    response: State,
    handle: (world) => exportState(world),
  }),
  adminCall({
    id: 'putState',
    summary: 'Replace the state, but not the token, from an export or a db.json',
    large: true,
    readsBody: true,
    body: z.union([State, DataFile]),
    errors: ['too_many_rules'],
    response: named('TakenStateResponse', { now: Timestamp, rows: z.record(z.string(), z.int()) }),
    async handle(world, { body }) {
      const rows = await adoptState(world, body)
      return { now: world.clock.iso(), rows }
    },
  }),
  adminCall({
    id: 'listSnapshots',
    summary: 'List the snapshots of the client',
    response: named('SnapshotsResponse', { snapshots: z.array(z.strictObject(snapshot)) }),
    handle: (world) => ({ snapshots: listSnapshots(world) }),
  }),
  adminCall({
    id: 'saveSnapshot',
    summary: 'Save a snapshot, replacing one of the same name',
    status: 201,
    body: z.strictObject({ name: SnapshotName }),
    response: named('SavedSnapshotResponse', { ...snapshot, replaced: z.boolean() }),
    errors: ['snapshot_limit_reached'],
    handle: (world, { body }) => saveSnapshot(world, body.name),
  }),
  adminCall({
    id: 'getSnapshot',
    summary: 'Export a snapshot, like GET /state',
    isExport: true,
    params: SnapshotPath,
    response: State,
    handle: (world, { params }) => exportSnapshot(world, snapshotOf(world, params.name)),
  }),
  adminCall({
    id: 'deleteSnapshot',
    summary: 'Delete a snapshot',
    params: SnapshotPath,
    response: named('DeletedSnapshotResponse', { deleted: z.string() }),
    handle(world, { params }) {
      forgetSnapshot(world, params.name)
      return { deleted: params.name }
    },
  }),
  adminCall({
    id: 'restoreSnapshot',
    summary: 'Restore a snapshot and keep it',
    params: SnapshotPath,
    response: named('RestoredResponse', { restored: z.string(), now: Timestamp }),
    async handle(world, { params }, sandbox) {
      await world.clock.timers.whenIdle(() => sandbox.restore(world, params.name))
      return { restored: params.name, now: world.clock.iso() }
    },
  }),
  adminCall({
    id: 'diffSnapshot',
    summary: 'List what changed since a snapshot, masked',
    params: SnapshotPath,
    response: named('SnapshotDifferenceResponse', {
      snapshot: z.string(),
      tables: z.record(z.string(), Difference),
    }),
    handle: (world, { params: { name } }) => ({
      snapshot: name,
      tables: diffSnapshot(world, name),
    }),
  }),
]

export const resetCalls = [
  adminCall({
    id: 'reset',
    summary: 'Reset the client, or parts of it',
    body: z
      .strictObject({
        parts: z.array(z.enum(RESET_PARTS)).min(1).max(RESET_PARTS.length).optional(),
        all: z.boolean().optional(),
      })
      .default({}),
    response: named('ResetResponse', {
      reset: z.array(z.string()),
      parts: z.array(z.enum(RESET_PARTS)),
    }),
    handle(world, { body }, sandbox) {
      const parts = body.parts ?? [...RESET_PARTS]
      const worlds = body.all ? [...sandbox.clients.values()] : [world]
      sandbox.reset(worlds, parts)
      return { reset: worlds.map(({ name }) => name), parts }
    },
  }),
]
