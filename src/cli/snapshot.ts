import { remoteCommand } from './remote.ts'
import { table } from './text-table.ts'

type SavedSnapshot = { name: string; taken_at: string; replaced: boolean }
type ChangedRow = { id: string; fields: Record<string, { before: unknown; after: unknown }> }
type TableDiff = { added: string[]; removed: string[]; changed: ChangedRow[] }

const pathOf = (name: string, suffix = '') => `/snapshots/${encodeURIComponent(name)}${suffix}`

const fieldsText = (fields: ChangedRow['fields']) =>
  Object.entries(fields)
    .map(
      ([field, { before, after }]) =>
        `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    )
    .join(', ')

const diffRows = ([name, { added, removed, changed }]: [string, TableDiff]) => [
  ...added.map((id) => [name, 'added', id, '']),
  ...removed.map((id) => [name, 'removed', id, '']),
  ...changed.map(({ id, fields }) => [name, 'changed', id, fieldsText(fields)]),
]

export const snapshot = remoteCommand({
  name: 'snapshot',
  summary: 'save and restore the state of a running sandbox, including clock and timers',
  subcommands: {
    save: {
      syntax: 'NAME',
      description: 'save the state under a name; a snapshot with the same name is replaced',
      async run(api, [name]) {
        const response: SavedSnapshot = await api('POST', '/snapshots', { name })
        const how = response.replaced ? 'saved (replaces the previous snapshot)' : 'saved'
        return { response, text: `${name} ${how}, taken at ${response.taken_at}\n` }
      },
    },
    restore: {
      syntax: 'NAME',
      description: 'restore a snapshot (the snapshot is not deleted)',
      async run(api, [name]) {
        const response: { now: string } = await api('POST', pathOf(name!, '/restore'))
        return { response, text: `${name} restored, now ${response.now}\n` }
      },
    },
    list: {
      syntax: '',
      description: 'list all snapshots',
      async run(api) {
        const response: { snapshots: SavedSnapshot[] } = await api('GET', '/snapshots')
        const rows = response.snapshots.map(({ name, taken_at }) => [name, taken_at])
        return { response, text: table(['name', 'taken at'], rows, 'no snapshots') }
      },
    },
    diff: {
      syntax: 'NAME',
      description: 'show the rows that were added, removed and changed since a snapshot',
      async run(api, [name]) {
        const response: { tables: Record<string, TableDiff> } = await api(
          'GET',
          pathOf(name!, '/diff'),
        )
        const rows = Object.entries(response.tables).flatMap(diffRows)
        const text = table(['table', 'change', 'id', 'fields'], rows, 'no differences')
        return { response, text }
      },
    },
    delete: {
      syntax: 'NAME',
      description: 'delete a snapshot',
      async run(api, [name]) {
        const response: { deleted: string } = await api('DELETE', pathOf(name!))
        return { response, text: `${response.deleted} deleted\n` }
      },
    },
  },
  examples: [
    'snapshot save before-payouts',
    'snapshot diff before-payouts --json',
    'snapshot restore before-payouts',
  ],
})
