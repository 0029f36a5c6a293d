import { BadOption, OPTIONS } from '../config/options.ts'
import type { AdminApi } from './admin-api.ts'
import { remoteCommand } from './remote.ts'
import { table } from './text-table.ts'

type Clock = {
  now: string
  mode: string
  speed: number
  next_timer_at: string | null
  pending_timers: number
}
type Advanced = { now: string; fired: Record<string, unknown>[] }

const MAX_ROWS = 50
const MAX_DETAIL_LENGTH = 60

const clockText = ({
  now,
  mode,
  speed,
  next_timer_at: nextTimerAt,
  pending_timers: pendingTimers,
}: Clock) =>
  `${now}, ${mode}${speed === 1 ? '' : `, speed ${speed}`}\n` +
  (nextTimerAt === null
    ? 'no pending timers\n'
    : `${pendingTimers} pending ${pendingTimers === 1 ? 'timer' : 'timers'}, the next one at ${nextTimerAt}\n`)

function advancedText({ now, fired }: Advanced, emptyText: string): string {
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

const advance = async (api: AdminApi, path: string, emptyText: string, body?: object) => {
  const response: Advanced = await api('POST', `/clock/${path}`, body)
  return { response, text: advancedText(response, emptyText) }
}

const change = async (api: AdminApi, path: string, body?: object) => {
  const response: Clock = await api('POST', `/clock/${path}`, body)
  return { response, text: clockText(response) }
}

export const clock = remoteCommand({
  name: 'clock',
  summary: 'show and move the clock of a running sandbox',
  subcommands: {
    show: {
      syntax: '',
      description: 'show the current time and the number of pending timers',
      async run(api) {
        const response: Clock = await api('GET', '/clock')
        return { response, text: clockText(response) }
      },
    },
    advance: {
      syntax: 'BY|TO',
      description:
        'move the clock by a duration (30s, 25m, 2d) or to an ISO 8601 instant, and run all timers that become due',
      async run(api, [to]) {
        if (to!.startsWith('-'))
          throw new BadOption(
            `clock advance takes a duration of 0s or more, such as 3m, not ${JSON.stringify(to)}: the clock cannot move backwards. To restore its start time, use payout-sandbox reset clock.`,
          )
        return advance(
          api,
          'advance',
          'no timer was due',
          /^\d{4}-/.test(to!) ? { to } : { by: to },
        )
      },
    },
    next: {
      syntax: '',
      description: 'move the clock to the next pending timer and run it',
      run: (api) => advance(api, 'next', 'no pending timers'),
    },
    freeze: {
      syntax: '[AT]',
      description: 'freeze the clock at an ISO 8601 instant (default: the current time)',
      run: (api, [at]) => change(api, 'freeze', at === undefined ? {} : { at }),
    },
    resume: {
      syntax: '',
      description: 'let a frozen clock run again, from its current time',
      run: (api) => change(api, 'resume'),
    },
    speed: {
      syntax: 'FACTOR',
      description: 'set the clock speed multiplier; 60 = one simulated minute per second',
      run(api, [factor]) {
        const parsed = OPTIONS['clock-speed'][0].safeParse(factor)
        if (parsed.success) return change(api, 'speed', { factor: parsed.data })
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
