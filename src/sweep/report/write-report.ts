import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SweepResult } from '../types.ts'
import { reportHtml } from './html.ts'
import { sweepJunit } from './junit.ts'
import { findingScenario } from './scenario-file.ts'
import { summaryMarkdown } from './summary.ts'
import { sweepJson } from './sweep-json.ts'

/** Writes the report of a sweep into a folder. It replaces an earlier report there, and touches no other file. */
export function writeReport(result: SweepResult, dir: string) {
  mkdirSync(dir, { recursive: true })
  for (const entry of readdirSync(dir))
    if (/^finding-\d+$/.test(entry)) rmSync(join(dir, entry), { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text)
  write('report.html', reportHtml(result))
  write('sweep.json', `${JSON.stringify(sweepJson(result), null, 2)}\n`)
  write('junit.xml', sweepJunit(result))
  write('summary.md', summaryMarkdown(result))
  for (const found of result.findings) {
    const { finding, observation } = found
    mkdirSync(join(dir, finding))
    write(join(finding, `${finding}.yaml`), findingScenario(found, result.scenario))
    if (observation.recording !== undefined)
      copyFileSync(observation.recording, join(dir, finding, 'recording.jsonl'))
  }
}
