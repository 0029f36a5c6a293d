import { formatDuration } from '../model/duration.ts'
import { countOf, printableLine } from '../model/words.ts'
import type { Finding, SweepResult } from '../tools/sweep/faults-and-findings.ts'
import type { Progress } from '../tools/sweep/sweep.ts'
import { progressBar, table } from './output.ts'

export const DEFAULT_REPORT = 'sweep-report'
const HEAD = ['finding', 'level', 'verdict', 'what was done', 'what happened']

/** The findings of a sweep as tables for a terminal: what was done, what happened, and how to see it again. */
export function sweepTable(groups: readonly (readonly [Finding, ...Finding[]])[]): string {
  const rows = groups.flatMap((group) =>
    group.map(({ finding, verdict, level, isKnown, what, happened }, i) => [
      finding,
      isKnown ? 'known' : level,
      verdict,
      what,
      i === 0 ? happened : `the same as in ${group[0].finding}`,
    ]),
  )
  const found = table(HEAD, rows, 'No findings.')
  if (groups.length === 0) return found
  const commands = groups.map(
    ([{ finding, reproduce }]) => `  ${finding}  ${printableLine(reproduce)}\n`,
  )
  return `${found}\nShow them again:\n${commands.join('')}`
}

/** The result of a sweep for a terminal; `report` is the folder of its report. */
export function sweepText(
  { findings, baseline }: SweepResult,
  counts: string,
  groups: Parameters<typeof sweepTable>[0],
  report: string | undefined,
): string {
  const isInReport =
    report === undefined && findings.some((one) => !/ --assume /.test(one.reproduce))
  return [
    `Without faults: ${countOf(baseline.calls.length, 'call')}, ${countOf(baseline.payments.length, 'payment')}, ${(baseline.durationMs / 1_000).toFixed(1)} s\n`,
    `${counts}\n`,
    `\n${sweepTable(groups)}`,
    isInReport ? `Use --report ${DEFAULT_REPORT} to get the scenario files.\n` : '',
    report === undefined ? '' : `The report is in ${report}\n`,
  ].join('')
}

/** The progress bar of a sweep, with its findings and the time left. */
export function createSweepProgress() {
  const startedAt = performance.now()
  let bar: ReturnType<typeof progressBar> | undefined
  let [label, total] = ['', 0]
  return {
    show({ done, left, found, what }: Progress) {
      const perRun = (performance.now() - startedAt) / done
      const time = formatDuration(Math.ceil((perRun * left) / 1_000) * 1_000)
      label = `${done} of ${done + left} runs, ${countOf(found, 'finding')}, ${time} left: ${what.slice(0, 60)}`
      // With pairs of faults there are more runs than at the start.
      if (total !== done + left) {
        total = done + left
        bar = progressBar(process.stderr, total, () => label)
        for (let i = 1; i < done; i++) bar.skip()
      }
      bar!.step()
    },
    end: () => bar?.end(),
  }
}
