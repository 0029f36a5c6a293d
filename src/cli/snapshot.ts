import { remoteCommand } from './remote.ts'
import { table } from './table.ts'

type Saved = { name: string; taken_at: string; replaced: boolean }
type Changed = { id: string; fields: Record<string, { before: unknown; after: unknown }> }
type Difference = { added: string[]; removed: string[]; changed: Changed[] }

const pathOf = (name: string, more = '') => `/snapshots/${encodeURIComponent(name)}${more}`

const fieldsText = (fields: Changed['fields']) =>
  Object.entries(fields)
    .map(
      ([field, { before, after }]) =>
        `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    )
    .join(', ')

const differenceRows = ([name, { added, removed, changed }]: [string, Difference]) => [
  ...added.map((id) => [name, 'added', id, '']),
  ...removed.map((id) => [name, 'removed', id, '']),
  ...changed.map(({ id, fields }) => [name, 'changed', id, fieldsText(fields)]),
]

export const snapshot = remoteCommand({
  name: 'snapshot',
  summary: 'named states of a running sandbox, clock and timers included',
  verbs: {
    save: {
      takes: 'NAME',
      does: 'keep the state under a name; one of that name is replaced',
      async run(api, [name]) {
        const answer: Saved = await api('POST', '/snapshots', { name })
        const how = answer.replaced ? 'saved in place of the one before' : 'saved'
        return { answer, text: `${name} ${how}, at ${answer.taken_at}\n` }
      },
    },
    restore: {
      takes: 'NAME',
      does: 'back to a snapshot, which stays',
      async run(api, [name]) {
        const answer: { now: string } = await api('POST', pathOf(name!, '/restore'))
        return { answer, text: `${name} restored; it is ${answer.now}\n` }
      },
    },
    list: {
      takes: '',
      does: 'the snapshots there are',
      async run(api) {
        const answer: { snapshots: Saved[] } = await api('GET', '/snapshots')
        const rows = answer.snapshots.map(({ name, taken_at }) => [name, taken_at])
        return { answer, text: table(['name', 'taken at'], rows, 'no snapshot') }
      },
    },
    diff: {
      takes: 'NAME',
      does: 'what was added, removed and changed since a snapshot',
      async run(api, [name]) {
        const answer: { tables: Record<string, Difference> } = await api(
          'GET',
          pathOf(name!, '/diff'),
        )
        const rows = Object.entries(answer.tables).flatMap(differenceRows)
        const text = table(['table', 'what', 'id', 'fields'], rows, 'nothing has changed')
        return { answer, text }
      },
    },
    delete: {
      takes: 'NAME',
      does: 'forget a snapshot',
      async run(api, [name]) {
        const answer: { deleted: string } = await api('DELETE', pathOf(name!))
        return { answer, text: `${answer.deleted} deleted\n` }
      },
    },
  },
  examples: [
    'snapshot save before-payouts',
    'snapshot diff before-payouts --json',
    'snapshot restore before-payouts',
  ],
})
