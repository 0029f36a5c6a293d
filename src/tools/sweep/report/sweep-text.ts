import { coverageCounts } from '../../../model/coverage.ts'
import { formatDuration } from '../../../model/duration.ts'
import { countOf, printableLine } from '../../../model/words.ts'
import { aligned, table } from '../../report/table.ts'
import type { Finding, HoldoutScore, Progress, SweepResult } from '../faults-and-findings.ts'
import { adviceFor } from '../findings.ts'
import { listed } from '../plans.ts'
import { countsText, holdoutRows, levelText, noFindings, notProven } from './sweep-json.ts'

const HEAD = ['finding', 'level', 'verdict', 'what happened, and what to change']
const WIDTH = 100

export const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`

/** What was done, in words: what showed it first, and what else did. */
export function doneText([first = '', ...same]: readonly string[]): string[] {
  const subject = /^the \d+\w\w (?:payment|\S+ \S+) /.exec(first)?.[0] ?? 'it '
  const others = listed(same.map((one) => one.replace(subject, 'it ')))
  return (others ? [first, `the same if ${others}`] : [first]).map(sentence)
}

/** A finding in sentences: what happened to the money, after which faults, what came first then, and what to change. */
export function explained(found: Finding): string[] {
  const { happened, plan, what, same, divergence } = found
  const more = same.flatMap((one) => (one.what === what ? [] : one.what))
  return [
    sentence(happened),
    ...(plan.length > 0 ? doneText([what, ...more]) : []),
    ...(divergence ? [sentence(`first, ${divergence.text}`)] : []),
    sentence(adviceFor(found)),
  ]
}

/** A text in lines that are no longer than `width`, if its words permit. */
const wrapped = (text: string, width: number): string[] =>
  printableLine(text)
    .match(new RegExp(`\\S.{0,${width - 1}}(?= |$)|\\S+`, 'g'))!
    .map((line) => line.trimEnd())

/** Texts below each other, in lines that fit. */
export const lines = (texts: readonly string[]): string =>
  texts.map((text) => `  ${wrapped(text, WIDTH - 4).join('\n    ')}\n`).join('')

/** A row of a table with the texts of its last cell. */
export type Row = readonly [cells: readonly string[], texts: readonly string[]]

/** A table that fits: its last cells have as many lines as they need. */
export function narrowTable(head: readonly string[], rows: readonly Row[], emptyText: string) {
  const widest = (i: number) =>
    Math.max(...[head, ...rows.map(([cells]) => cells)].map((cells) => cells[i]!.length))
  const width = head.slice(1).reduce((rest, _, i) => rest - widest(i) - 2, WIDTH)
  const shown = rows.flatMap(([cells, texts]) =>
    texts
      .flatMap((text) => wrapped(text, width))
      .map((line, n) => [...cells.map((cell) => (n === 0 ? cell : '')), line]),
  )
  return table(head, shown, emptyText)
}

/** The findings of a sweep as a table for a terminal, and the commands that show them again. */
export function sweepTable(findings: readonly Finding[], noFindings: string): string {
  const rows = findings.map(
    (one): Row => [[one.finding, levelText(one), one.verdict], explained(one)],
  )
  const found = narrowTable(HEAD, rows, noFindings)
  if (findings.length === 0) return found
  const commands = findings.map(
    ({ finding, reproduce }) => `  ${finding}  ${printableLine(reproduce)}\n`,
  )
  return `${found}\nReproduce them:\n${commands.join('')}`
}

export const flakyTexts = ({ flaky }: SweepResult) =>
  flaky.map(({ what, verdict, happened }) => `${what}: ${verdict}, ${happened}`)

export const heldOutText = ({ verdicts, sha256 }: HoldoutScore) =>
  `Findings of held-out faults, sealed as ${sha256}: ${verdicts.join(', ') || 'none'}\n`

/** The result of a sweep for a terminal; `report` is the folder of its report. */
export function sweepText(result: SweepResult, report: string | undefined): string {
  const { findings, flaky, baseline, coverage, holdout } = result
  const isInReport =
    report === undefined && findings.some((one) => / --scenario finding-/.test(one.reproduce))
  return [
    `Without faults: ${countOf(baseline.calls.length, 'call')}, ${countOf(baseline.payments.length, 'payment')}, ${(baseline.durationMs / 1_000).toFixed(1)} s\n`,
    `${countsText(result)}\n`,
    `\n${sweepTable(findings, noFindings(result))}`,
    holdout
      ? `\n${aligned([['faults', 'shown', 'held out'], ...holdoutRows(holdout)])}${heldOutText(holdout)}`
      : '',
    flaky.length === 0
      ? ''
      : `\nFlaky (it did not come again, so it fails nothing):\n${lines(flakyTexts(result))}`,
    `\nWhat this does not prove:\n${lines(notProven(result))}`,
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
      const line = `${done} of ${done + left} runs, ${countOf(found, 'finding')}, ${time} left: ${what.slice(0, 60)}`
      if (stderr.isTTY) stderr.write(`${clear}${line}`)
      else if (now - lineAt > LINE_MS) {
        lineAt = now
        stderr.write(`${line}\n`)
      }
    },
    end() {
      if (stderr.isTTY) stderr.write(clear)
    },
  }
}
