import type { ResponseBody } from '../admin/contract.ts'
import { remoteCommand } from './remote.ts'
import { table } from './text-table.ts'

type TableDiff = ResponseBody<'diffSnapshot'>['tables'][string]

const fieldsText = (fields: TableDiff['changed'][number]['fields']) =>
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
        const response = await api('saveSnapshot', { body: { name } })
        const how = response.replaced ? 'saved (replaces the previous snapshot)' : 'saved'
        return { response, text: `${name} ${how}, taken at ${response.taken_at}\n` }
      },
    },
    restore: {
      syntax: 'NAME',
      description: 'restore a snapshot (the snapshot is not deleted)',
      async run(api, [name]) {
        const response = await api('restoreSnapshot', { params: { name: name! } })
        return { response, text: `${name} restored, now ${response.now}\n` }
      },
    },
    list: {
      syntax: '',
      description: 'list all snapshots',
      async run(api) {
        const response = await api('listSnapshots')
        const rows = response.snapshots.map(({ name, taken_at }) => [name, taken_at])
        return { response, text: table(['name', 'taken at'], rows, 'no snapshots') }
      },
    },
    diff: {
      syntax: 'NAME',
      description: 'show the rows that were added, removed and changed since a snapshot',
      async run(api, [name]) {
        const response = await api('diffSnapshot', { params: { name: name! } })
        const rows = Object.entries(response.tables).flatMap(diffRows)
        const text = table(['table', 'change', 'id', 'fields'], rows, 'no differences')
        return { response, text }
      },
    },
    delete: {
      syntax: 'NAME',
      description: 'delete a snapshot',
      async run(api, [name]) {
        const response = await api('deleteSnapshot', { params: { name: name! } })
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
