import { readFileSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import { jsonLine, printable } from '../core/printable.ts'
import type { Difference } from '../replay/differences.ts'
import { type Command, checkWords } from './command.ts'

/** How many of each, the most frequent first. */
function countsText(name: string, counts: Readonly<Record<string, number>>): string {
  const most = Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  if (most.length === 0) return ''
  return `${name.padEnd(8)}  ${most.map(([kind, n]) => `${n} ${kind}`).join(', ')}\n`
}

const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

function differenceText({ at, what, recorded, found }: Difference): string {
  if (recorded === undefined) return `${at}: ${what}\n`
  return `${at}: ${what}\n- recorded  ${recorded}\n+ replayed  ${found}\n`
}

export const replay: Command = {
  name: 'replay',
  summary: 'run a recording again and compare every byte of every answer',
  usage: [
    [
      'replay FILE',
      'play it in a sandbox of its own; exit 1 at the first difference; nothing is sent to a receiver',
    ],
  ],
  flags: {
    json: [
      '',
      'print one line of JSON: ok, calls, webhooks, webhook_events, timers, timer_kinds, difference',
    ],
  },
  examples: ['replay run.ndjson', 'replay run.ndjson --json'],
  async run({ words, flags: { json } }) {
    checkWords('replay', 'FILE', words)
    const [file] = words as [string]
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw new BadOption(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
    const { BadRecording } = await import('../replay/recording.ts')
    const { replayRun } = await import('../replay/replayer.ts')
    const { optionsOf, stderrLog } = await import('../server.ts')
    const log = stderrLog(optionsOf({ 'log-level': 'error' }))
    const { difference, notes, ...counts } = await replayRun(text, log).catch((error) => {
      throw error instanceof BadRecording ? new BadOption(`${file}: ${error.message}`) : error
    })
    for (const note of notes) process.stderr.write(printable(`payout-sandbox: ${note}\n`))
    const ok = difference === undefined
    if (json) {
      const result = { ok, ...counts, difference: difference ?? null }
      process.stdout.write(jsonLine(result))
      return ok ? 0 : 1
    }
    const { calls, webhooks, webhook_events, timers, timer_kinds } = counts
    const all = [plural(calls, 'call'), plural(webhooks, 'webhook'), plural(timers, 'timer')]
    process.stdout.write(
      ok
        ? `${all.join(', ')}: every byte is as recorded\n${countsText('webhooks', webhook_events)}${countsText('timers', timer_kinds)}`
        : `not as recorded, after ${all.join(', ')}\n${printable(differenceText(difference))}`,
    )
    return ok ? 0 : 1
  },
}
