import { readFileSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import { jsonLine, printable } from '../core/printable.ts'
import type { Difference } from '../replay/differences.ts'
import { type Command, checkWords } from './command.ts'

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
  flags: { json: ['', 'print one line of JSON: ok, calls, webhooks, timers, difference'] },
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
      const told = { ok, ...counts, difference: difference ?? null }
      process.stdout.write(jsonLine(told))
      return ok ? 0 : 1
    }
    const { calls, webhooks, timers } = counts
    const all = [plural(calls, 'call'), plural(webhooks, 'webhook'), plural(timers, 'timer')]
    process.stdout.write(
      ok
        ? `${all.join(', ')}: every byte is as recorded\n`
        : `not as recorded, after ${all.join(', ')}\n${printable(differenceText(difference))}`,
    )
    return ok ? 0 : 1
  },
}
