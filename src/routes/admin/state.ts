import * as z from 'zod'
import { adminCall } from '../../http/admin.ts'
import { JsonPieces } from '../../http/large-response.ts'
import { SnapshotName } from '../../model/client.ts'
import { Timestamp } from '../../model/text.ts'
import { isLargeDiff, stateDiffText } from '../../services/snapshots.ts'
import { StateDocument, type StateText } from '../../services/state.ts'

const snapshot = { name: SnapshotName, taken_at: Timestamp }
const SnapshotPath = z.object({ name: SnapshotName })
const Difference = z
  .strictObject({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(
      z.strictObject({
        id: z.string(),
        fields: z.record(z.string(), z.strictObject({ before: z.unknown(), after: z.unknown() })),
      }),
    ),
  })
  .meta({ id: 'TableDifference' })

const textAnswer = ({ pieces, isLarge, done }: StateText) => new JsonPieces(pieces, isLarge, done)

/** A client's whole state: as a document, and as named snapshots. */
export const stateCalls = [
  adminCall({
    id: 'getState',
    method: 'GET',
    url: '/state',
    summary: 'The whole world as one JSON document, without token and webhook secret',
    response: StateDocument,
    errors: ['server_busy'],
    handle: ({ state }) => textAnswer(state.export()),
  }),
  adminCall({
    id: 'putState',
    method: 'PUT',
    url: '/state',
    summary: 'Put a whole world in place of the present one; token and webhook secret stay',
    large: true,
    body: StateDocument,
    response: z
      .strictObject({ now: Timestamp, rows: z.record(z.string(), z.int()) })
      .meta({ id: 'TakenState' }),
    async handle({ state, clock }, { body }) {
      const rows = await state.replace(body)
      return { now: clock.iso(), rows }
    },
  }),
  adminCall({
    id: 'listSnapshots',
    method: 'GET',
    url: '/snapshots',
    summary: 'The named states of the client',
    response: z
      .strictObject({ snapshots: z.array(z.strictObject(snapshot)) })
      .meta({ id: 'Snapshots' }),
    handle: ({ snapshots }) => ({ snapshots: snapshots.list() }),
  }),
  adminCall({
    id: 'saveSnapshot',
    method: 'POST',
    url: '/snapshots',
    summary: 'Keep the state under a name, clock and timers included; one of that name is replaced',
    status: 201,
    body: z.strictObject({ name: SnapshotName }),
    response: z.strictObject({ ...snapshot, replaced: z.boolean() }).meta({ id: 'SavedSnapshot' }),
    errors: ['snapshot_limit_reached'],
    handle: ({ snapshots }, { body }) => snapshots.save(body.name),
  }),
  adminCall({
    id: 'getSnapshot',
    method: 'GET',
    url: '/snapshots/:name',
    summary: 'Download a snapshot, in the form of /state',
    params: SnapshotPath,
    response: StateDocument,
    errors: ['server_busy'],
    handle({ snapshots, state }, { params }) {
      snapshots.check(params.name)
      return textAnswer(state.exportSnapshot(params.name))
    },
  }),
  adminCall({
    id: 'deleteSnapshot',
    method: 'DELETE',
    url: '/snapshots/:name',
    summary: 'Forget a snapshot',
    params: SnapshotPath,
    response: z.strictObject({ deleted: z.string() }).meta({ id: 'DeletedSnapshot' }),
    handle({ snapshots }, { params }) {
      snapshots.forget(params.name)
      return { deleted: params.name }
    },
  }),
  adminCall({
    id: 'restoreSnapshot',
    method: 'POST',
    url: '/snapshots/:name/restore',
    summary: 'Back to a snapshot, which stays',
    params: SnapshotPath,
    response: z.strictObject({ restored: z.string(), now: Timestamp }).meta({ id: 'Restored' }),
    async handle({ snapshots, scheduler, clock }, { params }) {
      await scheduler.whenIdle(() => snapshots.restore(params.name))
      return { restored: params.name, now: clock.iso() }
    },
  }),
  adminCall({
    id: 'diffSnapshot',
    method: 'GET',
    url: '/snapshots/:name/diff',
    summary: 'What was added, removed and changed since a snapshot, by table and id, masked',
    params: SnapshotPath,
    response: z
      .strictObject({ snapshot: z.string(), tables: z.record(z.string(), Difference) })
      .meta({ id: 'SnapshotDifference' }),
    errors: ['server_busy'],
    async handle({ snapshots, outside }, { params: { name } }) {
      const tables = await snapshots.diff(name)
      return new JsonPieces(
        stateDiffText(name, tables),
        outside.yieldsToOthers && isLargeDiff(tables),
      )
    },
  }),
]
