import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BadOption } from '../../config/options.ts'
import type { SweepResult } from '../types.ts'
import { reportHtml } from './html.ts'
import { sweepJunit } from './junit.ts'
import { findingScenario, scenarioText } from './scenario-file.ts'
import { summaryMarkdown } from './summary.ts'
import { sweepJson } from './sweep-json.ts'

// The user's own scenarios that the findings extend: they are in the report, so that it is complete without other files.
const EXTENDED = 'finding-scenarios'
const OWN_FOLDER = /^finding-(?:\d+|scenarios)$/

/** Makes a folder and those above it. Node's own way does not end in some folders of the system. */
function makeFolder(dir: string) {
  if (existsSync(dir)) return
  const above = dirname(dir)
  if (above !== dir) makeFolder(above)
  mkdirSync(dir)
}

/** Makes the folder of a report. Throws `BadOption` if nothing can be written there, before any run is made. */
export function prepareReport(dir: string) {
  try {
    makeFolder(resolve(dir))
    readdirSync(dir)
    accessSync(dir, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BadOption(`--report ${dir} cannot be written (${code}); name a folder, or a new one`)
  }
}

/** Writes the report of a sweep into a folder. It replaces an earlier report there, and touches no other file. */
export function writeReport(result: SweepResult, dir: string) {
  prepareReport(dir)
  for (const entry of readdirSync(dir))
    if (OWN_FOLDER.test(entry)) rmSync(join(dir, entry), { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text)
  write('report.html', reportHtml(result))
  write('sweep.json', `${JSON.stringify(sweepJson(result), null, 2)}\n`)
  write('junit.xml', sweepJunit(result))
  write('summary.md', summaryMarkdown(result))
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
