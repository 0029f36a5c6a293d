import { readFileSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import { countOf } from '../model/count-text.ts'
import { jsonLine, printable } from '../model/printable.ts'
import type { ReplayDifference } from '../replay/differences.ts'
import { type Command, checkArguments } from './command.ts'

/** Formats counts by kind, the most frequent first. */
function countsText(label: string, counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  if (sorted.length === 0) return ''
  return `${label.padEnd(8)}  ${sorted.map(([kind, n]) => `${n} ${kind}`).join(', ')}\n`
}

function differenceText({ at, what, recorded, found }: ReplayDifference): string {
  if (recorded === undefined) return `${at}: ${what}\n`
  return `${at}: ${what}\n- recorded  ${recorded}\n+ replayed  ${found}\n`
}

export const replay: Command = {
  name: 'replay',
  summary: 'replay a recording and compare every byte of every response',
  usage: [
    [
      'replay FILE',
      'replay a recording in a new sandbox; exit 1 at the first difference; no webhooks are sent',
    ],
  ],
  flags: {
    json: [
      '',
      'print the result as one line of JSON: ok, calls, webhooks, webhook_events, timers, timer_kinds, difference',
    ],
  },
  examples: ['replay run.ndjson', 'replay run.ndjson --json'],
  async run({ args, flags: { json } }) {
    checkArguments('replay', 'FILE', args)
    const [file] = args as [string]
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
    const totals = [countOf(calls, 'call'), countOf(webhooks, 'webhook'), countOf(timers, 'timer')]
    process.stdout.write(
      ok
        ? `${totals.join(', ')}: no differences, every byte is as recorded\n${countsText('webhooks', webhook_events)}${countsText('timers', timer_kinds)}`
        : `differs from the recording, after ${totals.join(', ')}\n${printable(differenceText(difference))}`,
    )
    return ok ? 0 : 1
  },
}
