import { coverageCounts } from '../../../model/coverage.ts'
import { formatDuration } from '../../../model/duration.ts'
import { countOf, printableLine } from '../../../model/words.ts'
import { aligned, table } from '../../report/table.ts'
import type { Finding, SweepResult } from '../faults-and-findings.ts'
import { adviceFor } from '../findings.ts'
import type { Progress } from '../sweep.ts'
import { countsText, holdoutRows, noFindings, notProven } from './sweep-json.ts'

const HEAD = ['finding', 'level', 'verdict', 'what happened, and what to change']
const WIDTH = 100

const levelOf = ({ level, isKnown }: Finding) => (isKnown ? 'known' : level)

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`

/** A finding in sentences: what happened to the money, after which fault, what came first then, and what to change. */
export function explained(found: Finding): string[] {
  const { happened, what, same, divergence } = found
  const more = same.length === 0 ? '' : `; the same with ${countOf(same.length, 'more fault')}`
  return [
    sentence(happened),
    ...(found.plan.length > 0 ? [sentence(`${what}${more}`)] : []),
    ...(divergence ? [sentence(`first, ${divergence.text}`)] : []),
    sentence(adviceFor(found)),
  ]
}

/** A text in lines that are no longer than `width`, if its words permit. */
const wrapped = (text: string, width: number): string[] =>
  printableLine(text)
    .match(new RegExp(`\\S.{0,${width - 1}}(?= |$)|\\S+`, 'g'))!
    .map((line) => line.trimEnd())

/** The findings of a sweep as a table for a terminal, and the commands that show them again. */
export function sweepTable(findings: readonly Finding[], noFindings: string): string {
  const heads = findings.map((one) => [one.finding, levelOf(one), one.verdict])
  const widest = (i: number) => Math.max(...[HEAD, ...heads].map((cells) => cells[i]!.length))
  const left = WIDTH - [0, 1, 2].reduce((sum, i) => sum + widest(i) + 2, 0)
  const rows = findings.flatMap((one, i) =>
    explained(one)
      .flatMap((text) => wrapped(text, left))
      .map((line, n) => [...(n === 0 ? heads[i]! : ['', '', '']), line]),
  )
  const found = table(HEAD, rows, noFindings)
  if (findings.length === 0) return found
  const commands = findings.map(
    ({ finding, reproduce }) => `  ${finding}  ${printableLine(reproduce)}\n`,
  )
  return `${found}\nReproduce them:\n${commands.join('')}`
}

/** The result of a sweep for a terminal; `report` is the folder of its report. */
export function sweepText(result: SweepResult, report: string | undefined): string {
  const { findings, flaky, baseline, coverage, holdout } = result
  const isInReport =
    report === undefined && findings.some((one) => / --scenario finding-/.test(one.reproduce))
  const flakyLines = flaky.map(
    ({ what, verdict, happened }) => `  ${printableLine(`${what}: ${verdict}, ${happened}`)}\n`,
  )
  return [
    `Without faults: ${countOf(baseline.calls.length, 'call')}, ${countOf(baseline.payments.length, 'payment')}, ${(baseline.durationMs / 1_000).toFixed(1)} s\n`,
    `${countsText(result)}\n`,
    `\n${sweepTable(findings, noFindings(result))}`,
    holdout
      ? `\n${aligned([['faults', 'shown', 'held out'], ...holdoutRows(holdout)])}Findings of held-out faults, sealed as ${holdout.sha256}: ${holdout.verdicts.join(', ') || 'none'}\n`
      : '',
    flaky.length === 0
      ? ''
      : `\nFlaky (it did not come again, so it fails nothing):\n${flakyLines.join('')}`,
    `\nWhat this does not prove:\n${notProven(result)
      .map((text) => `  ${printableLine(text)}\n`)
      .join('')}`,
    `\nCoverage of what the contract permits:\n${aligned(coverageCounts(coverage)).replace(/^/gm, '  ').trimEnd()}\n`,
    isInReport ? `Use --report sweep-report to get the scenario files.\n` : '',
    report === undefined ? '' : `The report is in ${report}\n`,
  ].join('')
}

// ---- progress

// Between two lines of progress where there is no terminal, real ms.
const LINE_MS = 15_000

/** The progress of a sweep with the time left: a line that changes in a terminal, and a line now and then elsewhere. `clear` empties the line. */
export function createSweepProgress(clear: string, maxTimeMs = Number.POSITIVE_INFINITY) {
  const { stderr } = process
  const startedAt = performance.now()
  let lineAt = startedAt
  return {
    show({ done, left, found, what }: Progress) {
      const now = performance.now()
      const leftMs = Math.max(
        0,
        Math.min(((now - startedAt) / done) * left, maxTimeMs - (now - startedAt)),
      )
      const time = formatDuration(Math.ceil(leftMs / 1_000) * 1_000)
      const line = `${done} of ${done + left} runs, ${countOf(found, 'finding')}, ${time} left: `
      if (stderr.isTTY) stderr.write(`${clear}${line}${what.slice(0, 60)}`)
      else if (now - lineAt > LINE_MS) {
        lineAt = now
        stderr.write(`${line}${what}\n`)
      }
    },
    end() {
      if (stderr.isTTY) stderr.write(clear)
    },
  }
}
