import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareReport, writeReport } from '../../report/report.ts'
import type { SweepResult } from '../faults-and-findings.ts'
import { reportHtml } from './html.ts'
import { findingScenario, scenarioText } from './scenario-file.ts'
import { sweepJson } from './sweep-json.ts'
import { sweepReport } from './sweep-report.ts'

// The user's own scenarios that the findings extend: they are in the report, so that it is complete without other files.
const EXTENDED = 'finding-scenarios'
const OWN_FOLDER = /^finding-(?:\d+|scenarios)$/

/** Writes the report of a sweep into a folder. It replaces an earlier report there, and touches no other file. */
export function writeSweepReport(result: SweepResult, dir: string) {
  prepareReport(dir)
  for (const entry of readdirSync(dir))
    if (OWN_FOLDER.test(entry)) rmSync(join(dir, entry), { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text)
  write('report.html', reportHtml(result))
  write('sweep.json', `${JSON.stringify(sweepJson(result), null, 2)}\n`)
  writeReport(dir, sweepReport(result))
  const extended = Object.entries(result.scenarios)
  if (extended.length > 0) mkdirSync(join(dir, EXTENDED))
  for (const [name, definition] of extended)
    write(join(EXTENDED, `${name}.yaml`), scenarioText(definition))
  for (const found of result.findings) {
    const { finding, observation } = found
    mkdirSync(join(dir, finding))
    write(join(finding, `${finding}.yaml`), findingScenario(found))
    if (observation.recording !== undefined)
      copyFileSync(observation.recording, join(dir, finding, 'recording.jsonl'))
  }
}
