import { closeSync, readFileSync, writeFileSync } from 'node:fs'
import { BadOption } from '../config/options.ts'
import { openPrivate } from '../config/output-file.ts'
import { countOf, jsonLine, printable } from '../model/words.ts'
import type { ReplayDifference } from '../tools/replay/differences.ts'
import { type Report, reportOfOne } from '../tools/report/report.ts'
import { type Command, CommandFailed } from './command.ts'
import { note, openReport, REPORT_FLAG } from './output.ts'
import { remoteCommand } from './remote.ts'

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

/** The comparison as one test. */
function replayReport(
  file: string,
  ms: number,
  result: string,
  difference: ReplayDifference | undefined,
): Report {
  return reportOfOne(
    { title: 'payout-sandbox replay', subject: file, result },
    { name: `every response is as recorded in ${file}`, group: 'replay', ms },
    difference && {
      type: 'differs',
      message: `${difference.at}: ${difference.what}`,
      details: differenceText(difference),
    },
  )
}

export const replay: Command = {
  name: 'replay',
  summary: 'replay a recording and compare every byte of every response',
  usage: [['replay FILE', 'replay a recording without webhooks; exit 1 at the first difference']],
  flags: {
    json: [
      '',
      'print the result as one line of JSON: ok, calls, webhooks, webhook_events, timers, timer_kinds, difference',
    ],
    ...REPORT_FLAG,
  },
  examples: ['replay run.ndjson', 'replay run.ndjson --json', 'replay run.ndjson --report report'],
  syntax: 'FILE',
  async run({ args, flags }) {
    const { json } = flags
    const [file] = args as [string]
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw new BadOption(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
    const report = openReport(flags)
    const startedAt = performance.now()
    const { BadRecording } = await import('../world/recording.ts')
    const { replayRun } = await import('../tools/replay/replayer.ts')
    const { optionsOf, stderrLog } = await import('../server.ts')
    const log = stderrLog(optionsOf({ 'log-level': 'error' }))
    const { difference, notes, ...counts } = await replayRun(text, log).catch((error) => {
      throw error instanceof BadRecording ? new BadOption(`${file}: ${error.message}`) : error
    })
    for (const one of notes) note(one)
    const ok = difference === undefined
    const { calls, webhooks, webhook_events, timers, timer_kinds } = counts
    const totals = [
      countOf(calls, 'call'),
      countOf(webhooks, 'webhook'),
      countOf(timers, 'timer'),
    ].join(', ')
    const result = ok
      ? `${totals}: no differences, every byte is as recorded`
      : `differs from the recording, after ${totals}`
    report(replayReport(file, performance.now() - startedAt, result, difference))
    if (json) {
      process.stdout.write(jsonLine({ ok, ...counts, difference: difference ?? null }))
      return ok ? 0 : 1
    }
    process.stdout.write(
      ok
        ? `${result}\n${countsText('webhooks', webhook_events)}${countsText('timers', timer_kinds)}`
        : `${result}\n${printable(differenceText(difference))}`,
    )
    return ok ? 0 : 1
  },
}

export const record = remoteCommand({
  name: 'record',
  summary: 'export the recording of a sandbox that was started with --record',
  subcommands: {
    export: {
      syntax: 'FILE',
      description: 'write the recording, tokens included, to a file',
      async run(api, [file]) {
        const { lines, text } = await api('getRecording')
        try {
          const fd = openPrivate(file!)
          writeFileSync(fd, text)
          closeSync(fd)
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException
          throw new CommandFailed(`${file} cannot be written (${code}).`)
        }
        return {
          response: { file, lines },
          text: `${lines} lines written; run payout-sandbox replay ${file} to replay them\n`,
        }
      },
    },
  },
  examples: ['record export run.ndjson', 'record export run.ndjson --url http://127.0.0.1:4310'],
})
