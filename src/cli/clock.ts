import { BadOption, OPTIONS } from '../config/options.ts'
import type { AdminApi } from './admin-api.ts'
import { remoteCommand } from './remote.ts'
import { table } from './table.ts'

type Clock = {
  now: string
  mode: string
  speed: number
  next_timer_at: string | null
  pending_timers: number
}
type Fired = { now: string; fired: Record<string, unknown>[] }

const MAX_ROWS = 50
const MAX_DETAIL = 60

const clockText = ({
  now,
  mode,
  speed,
  next_timer_at: nextTimerAt,
  pending_timers: pendingTimers,
}: Clock) =>
  `${now}, ${mode}${speed === 1 ? '' : `, ${speed} times as fast`}\n` +
  (nextTimerAt === null
    ? 'nothing is to happen\n'
    : `${pendingTimers} to happen, the next one at ${nextTimerAt}\n`)

function firedText({ now, fired }: Fired): string {
  const rows = fired
    .slice(0, MAX_ROWS)
    .map(({ at, kind, timer_id: _, resource_id, ...more }) => [
      at,
      kind,
      resource_id,
      JSON.stringify(more).slice(0, MAX_DETAIL),
    ])
  const left = fired.length - rows.length
  return (
    table(['at', 'what', 'about', 'detail'], rows, 'nothing was due') +
    (left > 0 ? `… and ${left} more; --json has all\n` : '') +
    `\nit is ${now}\n`
  )
}

const moved = async (api: AdminApi, path: string, body?: object) => {
  const answer: Fired = await api('POST', `/clock/${path}`, body)
  return { answer, text: firedText(answer) }
}

const set = async (api: AdminApi, path: string, body?: object) => {
  const answer: Clock = await api('POST', `/clock/${path}`, body)
  return { answer, text: clockText(answer) }
}

export const clock = remoteCommand({
  name: 'clock',
  summary: 'read and move the clock of a running sandbox',
  verbs: {
    show: {
      takes: '',
      does: 'what time it is, and what is to happen',
      async run(api) {
        const answer: Clock = await api('GET', '/clock')
        return { answer, text: clockText(answer) }
      },
    },
    advance: {
      takes: 'BY|TO',
      does: 'move on by a duration (30s, 25m, 2d) or to an instant, and run what is due on the way',
      async run(api, [to]) {
        if (to!.startsWith('-'))
          throw new BadOption(
            `clock advance takes a duration of 0s or more, such as 3m, not ${JSON.stringify(to)}: time does not go back. payout-sandbox reset clock sets the clock to its start.`,
          )
        return moved(api, 'advance', /^\d{4}-/.test(to!) ? { to } : { by: to })
      },
    },
    next: {
      takes: '',
      does: 'jump to the next thing that is to happen',
      run: (api) => moved(api, 'next'),
    },
    freeze: {
      takes: '[AT]',
      does: 'stop the clock, where it stands or at an instant',
      run: (api, [at]) => set(api, 'freeze', at === undefined ? {} : { at }),
    },
    resume: {
      takes: '',
      does: 'let the clock tick on from where it stands',
      run: (api) => set(api, 'resume'),
    },
    speed: {
      takes: 'FACTOR',
      does: 'client seconds a real second: 60 = a minute a second',
      run(api, [factor]) {
        const read = OPTIONS['clock-speed'][0].safeParse(factor)
        if (read.success) return set(api, 'speed', { factor: read.data })
        const wanted = read.error.issues[0]?.message
        throw new BadOption(`clock speed ${wanted}, not ${JSON.stringify(factor)}`)
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
