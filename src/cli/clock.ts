// cli/: the command line, one file for each group of commands. main.ts finds the command; one that calls the admin API
// loads no server.

import type { ResponseBody } from '../admin/contract.ts'
import { BadOption, OPTIONS } from '../config/options.ts'
import { table } from './output.ts'
import { remoteCommand, shown } from './remote.ts'

const MAX_ROWS = 50
const MAX_DETAIL_LENGTH = 60

const clockText = ({
  now,
  mode,
  speed,
  next_timer_at: nextTimerAt,
  pending_timers: pendingTimers,
}: ResponseBody<'getClock'>) =>
  `${now}, ${mode}${speed === 1 ? '' : `, speed ${speed}`}\n` +
  (nextTimerAt === null
    ? 'no pending timers\n'
    : `${pendingTimers} pending ${pendingTimers === 1 ? 'timer' : 'timers'}, the next one at ${nextTimerAt}\n`)

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
  moves_clock: true,
  summary: 'show and move the clock of a running sandbox',
  subcommands: {
    show: {
      syntax: '',
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
      syntax: '',
      description: 'move the clock to the next pending timer and run it',
      run: (api) => shown(api('advanceClockToNext'), advancedText('no pending timers')),
    },
    freeze: {
      syntax: '[AT]',
      description: 'freeze the clock at an ISO 8601 instant (default: the current time)',
      run: (api, [at]) => shown(api('freezeClock', { body: { at } }), clockText),
    },
    resume: {
      syntax: '',
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
