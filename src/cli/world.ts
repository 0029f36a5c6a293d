import type { ResponseBody } from '../admin/caller.ts'
import { BadOption, OPTIONS } from '../config/options.ts'
import { countOf } from '../model/words.ts'
import { table } from '../tools/report/table.ts'
import { CommandFailed, OUT_FLAG } from './command.ts'
import { refuseClientOfAll, remoteCommand, shown } from './remote.ts'

const MAX_ROWS = 50
const MAX_DETAIL_LENGTH = 60

const clockText = ({ now, mode, speed, next_timer_at, pending_timers }: ResponseBody<'getClock'>) =>
  `${now}, ${mode}${speed === 1 ? '' : `, speed ${speed}`}\n` +
  (next_timer_at === null
    ? 'no pending timers\n'
    : `${countOf(pending_timers, 'pending timer')}, the next one at ${next_timer_at}\n`)

const advancedText =
  (emptyText: string) =>
  ({ now, fired }: ResponseBody<'advanceClock'>) => {
    const rows = fired
      .slice(0, MAX_ROWS)
      .map(({ at, kind, timer_id: _, resource_id, ...details }) => [
        at,
        kind,
        resource_id,
        JSON.stringify(details).slice(0, MAX_DETAIL_LENGTH),
      ])
    const hidden = fired.length - rows.length
    return (
      table(['at', 'timer', 'resource', 'details'], rows, emptyText) +
      (hidden > 0 ? `… and ${hidden} more; --json shows all\n` : '') +
      `\nnow ${now}\n`
    )
  }

export const clock = remoteCommand({
  name: 'clock',
  movesClock: true,
  summary: 'show and move the clock of a running sandbox',
  subcommands: {
    show: {
      description: 'show the current time and the number of pending timers',
      run: (api) => shown(api('getClock'), clockText),
    },
    advance: {
      syntax: 'BY|TO',
      description:
        "move the clock by a duration (30s, 25m, 2d) or to an ISO 8601 instant, and run what's due",
      async run(api, [to]) {
        const body = /^\d{4}-/.test(to!) ? { to } : { by: to }
        return shown(api('advanceClock', { body }), advancedText('no timer was due'))
      },
    },
    next: {
      description: 'move the clock to the next pending timer and run it',
      run: (api) => shown(api('advanceClockToNext'), advancedText('no pending timers')),
    },
    freeze: {
      syntax: '[AT]',
      description: 'freeze the clock at an ISO 8601 instant (default: the current time)',
      run: (api, [at]) => shown(api('freezeClock', { body: { at } }), clockText),
    },
    resume: {
      description: 'let a frozen clock run again',
      run: (api) => shown(api('resumeClock'), clockText),
    },
    speed: {
      syntax: 'FACTOR',
      description: "set the clock's speed (60 = a minute per second) and resume it",
      run(api, [factor]) {
        const parsed = OPTIONS['clock-speed'].type().safeParse(factor)
        if (parsed.success)
          return shown(api('setClockSpeed', { body: { factor: parsed.data } }), clockText)
        const expected = parsed.error.issues[0]?.message
        throw new BadOption(`clock speed ${expected}, not ${JSON.stringify(factor)}`)
      },
    },
  },
  examples: [
    'clock advance 2d',
    'clock advance 2026-02-01T00:00:00Z',
    'clock freeze',
    'clock speed 60',
    'clock show --json',
  ],
})

/** The checked content of a file. Throws `CommandFailed` with all problems and their places. */
async function readFile(file: string) {
  const { stateContent } = await import('../content/state-file.ts')
  try {
    return (await stateContent(file)) as object
  } catch (error) {
    throw new CommandFailed((error as Error).message, undefined, 2)
  }
}

export const state = remoteCommand({
  name: 'state',
  summary: 'save the state of a running sandbox as a file, and load it',
  subcommands: {
    export: {
      description: 'print the state, without tokens and secrets',
      flags: OUT_FLAG,
      async run(api) {
        const response = await api('getState')
        const { stateText } = await import('../store/document-text.ts')
        return { response, text: `${[...stateText(response)].join('')}\n` }
      },
    },
    import: {
      syntax: 'FILE',
      description: "replace the state by a file's; a whole db.json works too",
      async run(api, [file]) {
        const body = (await readFile(file!)) as never
        return shown(api('putState', { body }), ({ rows, now }) => {
          const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
          return `${file} imported: ${total} rows, now ${now}\n`
        })
      },
    },
  },
  examples: [
    'state export --out demo.json',
    'state import demo.json',
    'state export --client worker-3 --out worker-3.json',
  ],
})

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
  summary: 'save and restore the state of a running sandbox',
  subcommands: {
    save: {
      syntax: 'NAME',
      description: 'save the state under a name, replacing an earlier one',
      run: (api, [name]) =>
        shown(api('saveSnapshot', { body: { name } }), ({ replaced, taken_at }) => {
          const how = replaced ? 'saved (replaces the previous snapshot)' : 'saved'
          return `${name} ${how}, taken at ${taken_at}\n`
        }),
    },
    restore: {
      syntax: 'NAME',
      description: 'restore a snapshot and keep it',
      run: (api, [name]) =>
        shown(
          api('restoreSnapshot', { params: { name: name! } }),
          ({ now }) => `${name} restored, now ${now}\n`,
        ),
    },
    list: {
      description: 'list all snapshots',
      run: (api) =>
        shown(api('listSnapshots'), ({ snapshots }) => {
          const rows = snapshots.map(({ name, taken_at }) => [name, taken_at])
          return table(['name', 'taken at'], rows, 'no snapshots')
        }),
    },
    diff: {
      syntax: 'NAME',
      description: 'show rows added, removed and changed since a snapshot',
      run: (api, [name]) =>
        shown(api('diffSnapshot', { params: { name: name! } }), ({ tables }) => {
          const rows = Object.entries(tables).flatMap(diffRows)
          return table(['table', 'change', 'id', 'fields'], rows, 'no differences')
        }),
    },
    delete: {
      syntax: 'NAME',
      description: 'delete a snapshot',
      run: (api, [name]) =>
        shown(
          api('deleteSnapshot', { params: { name: name! } }),
          ({ deleted }) => `${deleted} deleted\n`,
        ),
    },
  },
  examples: [
    'snapshot save before-payouts',
    'snapshot diff before-payouts --json',
    'snapshot restore before-payouts',
  ],
})

export const reset = remoteCommand({
  name: 'reset',
  summary: 'reset a running sandbox to its fixtures, start clock and start scenario',
  syntax: '[PART...]',
  flags: { all: ['', 'reset every client'] },
  description: 'reset a client, or only parts such as clock',
  async run(api, args, flags) {
    refuseClientOfAll('reset', flags)
    const body = { ...(args.length > 0 && { parts: args }), ...(flags['all'] && { all: true }) }
    return shown(
      api('reset', { body }),
      (done) => `reset ${done.parts.join(', ')} of ${done.reset.join(', ')}\n`,
    )
  },
  examples: [
    'reset',
    'reset scenario clock',
    'reset --all',
    'reset --url http://127.0.0.1:4310/@w1',
  ],
})
