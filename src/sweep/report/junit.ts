import { junitXml, type TestCase } from '../../report/junit.ts'
import { planText } from '../plans.ts'
import type { Finding, Run, SweepResult } from '../types.ts'
import { commandText } from './words.ts'

function testOf(run: Run, found: Finding | undefined): TestCase {
  const { plan, verdict, level, happened, observation } = run
  const details = found && `${happened}\n${found.finding}: ${found.reproduce}`
  const isSkipped = verdict === 'not_reached' || found?.isKnown
  const kind = isSkipped ? 'skipped' : level === 'error' ? 'failure' : undefined
  const message = found?.isKnown ? `known, ${verdict}: ${happened}` : happened
  return {
    name: planText(plan),
    group: `sweep.${plan[0]?.kind ?? 'baseline'}`,
    ms: observation.durationMs,
    ...(kind && { outcome: { kind, type: verdict, message } }),
    ...(details && { details }),
  }
}

/** `junit.xml`: each run is a test, and one with an error fails. */
export function sweepJunit(result: SweepResult): string {
  const byRun = new Map(result.findings.map((one) => [one.id, one]))
  return junitXml(
    `payout-sandbox sweep: ${commandText(result)}`,
    result.runs.map((run) => testOf(run, byRun.get(run.id))),
  )
}
