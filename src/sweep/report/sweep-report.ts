import { printableLine } from '../../model/words.ts'
import type { TestCase } from '../../report/junit.ts'
import { codeBlock, markdownTable } from '../../report/markdown.ts'
import type { Report } from '../../report/report.ts'
import type { Finding, Run, SweepResult } from '../faults-and-findings.ts'
import { commandText, countsText, levelText } from './sentences.ts'

function testOf(run: Run, found: Finding | undefined): TestCase {
  const { plan, what, verdict, level, happened, observation } = run
  const details = found && `${happened}\n${found.finding}: ${found.reproduce}`
  const isSkipped = verdict === 'not_reached' || found?.isKnown
  const kind = isSkipped ? 'skipped' : level === 'error' ? 'failure' : undefined
  const message = found?.isKnown ? `known, ${verdict}: ${happened}` : happened
  return {
    name: what,
    group: `sweep.${plan[0]?.kind ?? 'baseline'}`,
    ms: observation.durationMs,
    ...(kind && { outcome: { kind, type: verdict, message } }),
    ...(details && { details }),
  }
}

function findingsMarkdown(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No findings.\n'
  const rows = findings.map((found) => [
    found.finding,
    `${found.verdict} (${levelText(found)})`,
    found.what,
    found.happened,
  ])
  const commands = findings.map(
    ({ finding, reproduce }) => `\n${finding}:\n\n${codeBlock(printableLine(reproduce), 'sh')}`,
  )
  return `${markdownTable(['finding', 'verdict', 'what was done', 'what happened'], rows)}
## Show them again
${commands.join('')}`
}

/** The report of a sweep: each run is a test, and one with an error fails. */
export function sweepReport(result: SweepResult): Report {
  const { runs, findings } = result
  const byRun = new Map(findings.map((one) => [one.id, one]))
  return {
    title: 'payout-sandbox sweep',
    subject: commandText(result),
    result: countsText(result),
    tests: runs.map((run) => testOf(run, byRun.get(run.id))),
    body: findingsMarkdown(findings),
  }
}
