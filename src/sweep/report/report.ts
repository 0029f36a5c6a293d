import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SweepResult, Verdict } from '../types.ts'

/** The folder of the scenario files in a report. */
export const SCENARIO_FOLDER = 'scenarios'

/** The result of a sweep as `sweep.json` has it. */
export function sweepJson({ runs, findings }: SweepResult) {
  const verdicts: Partial<Record<Verdict, number>> = {}
  for (const { verdict } of runs) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
  return {
    runs: runs.length,
    verdicts,
    findings: findings.map(({ finding, verdict, level, plan, happened, reproduce }) => ({
      id: finding,
      verdict,
      level,
      plan: plan.map(({ kind, name, operation, nth, what }) => ({
        kind,
        name,
        operation: operation ?? null,
        nth: nth ?? null,
        what,
      })),
      happened,
      reproduce,
    })),
  }
}

/** Writes the report of a sweep to a folder. */
export async function writeReport(result: SweepResult, dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'sweep.json'), `${JSON.stringify(sweepJson(result), null, 2)}\n`)
  // In a folder of their own: exec reads each JSON file of a folder as a scenario.
  const scenarios = join(dir, SCENARIO_FOLDER)
  mkdirSync(scenarios, { recursive: true })
  for (const { finding, definition } of result.findings)
    writeFileSync(join(scenarios, `${finding}.json`), `${JSON.stringify(definition, null, 2)}\n`)
  for (const [name, definition] of Object.entries(result.scenarios))
    writeFileSync(join(scenarios, `${name}.json`), `${JSON.stringify(definition, null, 2)}\n`)
}
