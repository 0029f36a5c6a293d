import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { replaceFile } from '../../../config/files.ts'
import { BadOption } from '../../../config/options.ts'
import { coverageCounts } from '../../../model/coverage.ts'
import { printableLine } from '../../../model/words.ts'
import { wallNow } from '../../../runtime/real-time.ts'
import type { ScenarioDefinition } from '../../../scenarios/scenario-schema.ts'
import { codeBlock, inline, markdownTable, pageOf } from '../../report/markup.ts'
import { prepareReport, type Report, type TestCase, writeReport } from '../../report/report.ts'
import type { Finding, HoldoutScore, Run, SweepResult, Verdict } from '../faults-and-findings.ts'
import { findingOfRun } from '../findings.ts'
import {
  commandText,
  countsText,
  holdoutRows,
  levelText,
  noFindings,
  notProven,
  sweepJson,
} from './sweep-json.ts'
import { explained } from './sweep-text.ts'

/** The text of a scenario file. It has no anchors: the scenario language has none. */
const scenarioText = (definition: ScenarioDefinition): string =>
  stringify(definition, { aliasDuplicateObjects: false, lineWidth: 0 })

function findingScenario(found: Finding): string {
  const { plan, verdict, reproduce, definition } = found
  const lines = [
    'A sweep found this. What is otherwise than in a run without faults:',
    ...plan.map(({ what }) => `- ${what}`),
    `What happened (${verdict}): ${explained(found).join(' ')}`,
    `Show it again: ${reproduce}`,
  ]
  const comments = lines.map((line) => `# ${printableLine(line)}\n`)
  return `${comments.join('')}\n${scenarioText(definition)}`
}

const hasNoFault = ({ plan }: Finding) => plan.length === 0

const SKIPPED: readonly Verdict[] = ['not_reached', 'failed_safely']

function testOf(run: Run, found: Finding | undefined, isFlaky: boolean): TestCase {
  const { plan, what, verdict, level, happened, observation } = run
  const details = found && `${explained(found).join('\n')}\n${found.finding}: ${found.reproduce}`
  const why = found?.isKnown ? 'known, ' : isFlaky ? 'flaky, ' : ''
  const isSkipped = SKIPPED.includes(verdict) || why !== ''
  const kind = isSkipped ? 'skipped' : level === 'error' ? 'failure' : undefined
  const message = isSkipped ? `${why}${verdict}: ${happened}` : happened
  return {
    name: what,
    group: `sweep.${plan[0]?.kind ?? 'baseline'}`,
    ms: observation.durationMs,
    ...(kind && { outcome: { kind, type: verdict, message } }),
    ...(details && { details }),
  }
}

function flakyMarkdown(flaky: readonly Run[]): string {
  if (flaky.length === 0) return ''
  const rows = flaky.map(({ verdict, what, happened }) => [verdict, what, happened])
  return `
## Flaky: it did not come again

${markdownTable(['verdict', 'what was done', 'what happened'], rows)}`
}

/** A class of faults that are held out, as a test. */
function heldOutTest({ kind, held_out }: HoldoutScore['classes'][number]): TestCase {
  const { runs, passed, errors } = held_out
  const message = `${passed} of ${runs} runs passed`
  const test = { name: `held out: ${kind}`, group: 'sweep.holdout', ms: 0 }
  if (errors === 0) return { ...test, details: message }
  return { ...test, outcome: { kind: 'failure', type: 'held_out', message } }
}

const holdoutMarkdown = (score: HoldoutScore) =>
  `
## Held out

${markdownTable(['faults', 'shown', 'held out'], holdoutRows(score))}
Findings of held-out faults: ${score.verdicts.map(inline).join(', ') || 'none'}

Sealed: ${score.sha256}
`

function findingsMarkdown(result: SweepResult): string {
  const { findings } = result
  if (findings.length === 0) return `${noFindings(result)}\n`
  const rows = findings.map((found) => [
    found.finding,
    `${found.verdict} (${levelText(found)})`,
    explained(found).join(' '),
  ])
  const commands = findings.map(
    ({ finding, reproduce }) => `\n${finding}:\n\n${codeBlock(printableLine(reproduce), 'sh')}`,
  )
  return `${markdownTable(['finding', 'verdict', 'what happened, and what to change'], rows)}
## Show them again
${commands.join('')}`
}

function sweepReport(result: SweepResult): Report {
  const { runs, holdout } = result
  const byRun = findingOfRun(result)
  const flaky = new Set(result.flaky.map(({ id }) => id))
  return {
    title: 'payout-sandbox sweep',
    subject: commandText(result),
    result: countsText(result),
    tests: [
      ...result.findings.filter(hasNoFault).map((one) => testOf(one, one, false)),
      ...runs.map((run) => testOf(run, byRun.get(run.id), flaky.has(run.id))),
      ...(holdout?.classes.slice(0, -1) ?? []).map(heldOutTest),
    ],
    body: `${findingsMarkdown(result)}${holdout ? holdoutMarkdown(holdout) : ''}${flakyMarkdown(result.flaky)}
## What this does not prove

- ${notProven(result).join('\n- ')}

## Coverage

${markdownTable(['group', 'met', 'percent'], coverageCounts(result.coverage))}`,
  }
}

// The user's own scenarios that the findings extend: they are in the report, so that it is complete without other files.
const EXTENDED = 'finding-scenarios'
const EXTENDED_HEAD = '# A finding of a sweep extends this copy of a scenario.\n'
const HTML = 'report.html'
const JSON_FILE = 'sweep.json'

/** Whether a sweep wrote this file into the folder of a finding, or of the scenarios that findings extend. */
function isWritten(dir: string, folder: string, entry: string): boolean {
  const file = join(dir, folder, entry)
  if (!lstatSync(file).isFile()) return false
  if (folder !== EXTENDED) return entry === `${folder}.yaml`
  return entry.endsWith('.yaml') && readFileSync(file, 'utf8').startsWith(EXTENDED_HEAD)
}

/** The folders of an earlier report. Throws `BadOption` if one of them has anything else. */
function earlierFolders(dir: string) {
  const names = readdirSync(dir).filter((name) => /^finding-\d+$/.test(name) || name === EXTENDED)
  for (const folder of names) {
    const isFolder = lstatSync(join(dir, folder)).isDirectory()
    const files = isFolder ? readdirSync(join(dir, folder)) : ['']
    const other = files.find((entry) => !isFolder || !isWritten(dir, folder, entry))
    if (other !== undefined)
      throw new BadOption(
        `--report ${dir}: no sweep wrote ${join(dir, folder, other)}. Move it away, or name another folder.`,
      )
  }
  return names
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
  for (const folder of earlierFolders(dir)) rmSync(join(dir, folder), { recursive: true })
  const write = (name: string, text: string) => replaceFile(join(dir, name), text)
  const json = { ...sweepJson(result), swept_at: new Date(wallNow()).toISOString() }
  write(HTML, pageOf('sweep', `payout-sandbox sweep: ${countsText(result)}`, json))
  write(JSON_FILE, `${JSON.stringify(json, null, 2)}\n`)
  writeReport(dir, sweepReport(result))
  for (const [name, definition] of Object.entries(result.scenarios)) {
    mkdirSync(join(dir, EXTENDED), { recursive: true })
    write(join(EXTENDED, `${name}.yaml`), `${EXTENDED_HEAD}${scenarioText(definition)}`)
  }
  for (const found of result.findings) {
    if (hasNoFault(found)) continue
    const { finding } = found
    mkdirSync(join(dir, finding))
    write(join(finding, `${finding}.yaml`), findingScenario(found))
  }
}
