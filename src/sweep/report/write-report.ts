import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { BadOption } from '../../config/options.ts'
import { replaceFile } from '../../report/output-file.ts'
import { prepareReport, writeReport } from '../../report/report.ts'
import type { SweepResult } from '../faults-and-findings.ts'
import { reportHtml } from './html.ts'
import { findingScenario, scenarioText } from './scenario-file.ts'
import { sweepJson } from './sweep-json.ts'
import { sweepReport } from './sweep-report.ts'

// The user's own scenarios that the findings extend: they are in the report, so that it is complete without other files.
const EXTENDED = 'finding-scenarios'
const EXTENDED_HEAD = '# A finding of a sweep extends this copy of a scenario.\n'
const RECORDING = 'recording.jsonl'
const HTML = 'report.html'
const JSON_FILE = 'sweep.json'

/** Whether a sweep wrote this file into the folder of a finding, or of the scenarios that findings extend. */
function isWritten(dir: string, folder: string, entry: string): boolean {
  const file = join(dir, folder, entry)
  if (!lstatSync(file).isFile()) return false
  if (folder !== EXTENDED) return entry === `${folder}.yaml` || entry === RECORDING
  return entry.endsWith('.yaml') && readFileSync(file, 'utf8').startsWith(EXTENDED_HEAD)
}

/** The folders of an earlier report, with their files. Throws `BadOption` if one of them has anything else. */
function earlierFolders(dir: string) {
  const names = readdirSync(dir).filter((name) => /^finding-\d+$/.test(name) || name === EXTENDED)
  return names.map((folder) => {
    const isFolder = lstatSync(join(dir, folder)).isDirectory()
    const files = isFolder ? readdirSync(join(dir, folder)) : []
    const other = isFolder ? files.find((entry) => !isWritten(dir, folder, entry)) : ''
    if (other === undefined) return { folder, files }
    throw new BadOption(
      `--report ${dir}: no sweep wrote ${join(dir, folder, other)}. Move it away, or name another folder.`,
    )
  })
}

/** Prepares the folder of a report. Throws `BadOption` if no report can be written there, and then removes nothing. */
export function prepareSweepReport(dir: string) {
  prepareReport(dir, [])
  earlierFolders(dir)
  for (const name of [HTML, JSON_FILE])
    if (lstatSync(join(dir, name), { throwIfNoEntry: false })?.isDirectory())
      throw new BadOption(
        `--report ${dir}: ${join(dir, name)} is a folder. Move it away, or name another folder.`,
      )
  prepareReport(dir)
}

/** Writes the report of a sweep into a folder. It replaces an earlier report there, and touches no other file. */
export function writeSweepReport(result: SweepResult, dir: string) {
  prepareSweepReport(dir)
  for (const { folder, files } of earlierFolders(dir)) {
    for (const name of files) unlinkSync(join(dir, folder, name))
    rmdirSync(join(dir, folder))
  }
  const write = (name: string, text: string) => replaceFile(join(dir, name), text)
  write(HTML, reportHtml(result))
  write(JSON_FILE, `${JSON.stringify(sweepJson(result), null, 2)}\n`)
  writeReport(dir, sweepReport(result))
  const extended = Object.entries(result.scenarios)
  if (extended.length > 0) mkdirSync(join(dir, EXTENDED))
  for (const [name, definition] of extended)
    write(join(EXTENDED, `${name}.yaml`), `${EXTENDED_HEAD}${scenarioText(definition)}`)
  for (const found of result.findings) {
    const { finding, observation } = found
    mkdirSync(join(dir, finding))
    write(join(finding, `${finding}.yaml`), findingScenario(found))
    if (observation.recording !== undefined)
      copyFileSync(observation.recording, join(dir, finding, RECORDING), constants.COPYFILE_EXCL)
  }
}
