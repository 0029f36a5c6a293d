import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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
import { explained, flakyTexts, heldOutText } from './sweep-text.ts'

/** The text of a scenario file. It has no anchors: the scenario language has none. */
const scenarioText = (definition: ScenarioDefinition): string =>
  stringify(definition, { aliasDuplicateObjects: false, lineWidth: 0 })

function findingScenario(found: Finding): string {
  const { verdict, reproduce, definition } = found
  const lines = [
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

const bullets = (texts: readonly string[]) => texts.map((one) => `- ${inline(one)}\n`).join('')
const section = (title: string, text: string) => `\n## ${title}\n\n${text}`

/** A class of faults that are held out, as a test. */
function heldOutTest({ kind, held_out }: HoldoutScore['classes'][number]): TestCase {
  const { runs, passed, errors } = held_out
  const message = `${passed} of ${runs} runs passed`
  const test = { name: `held out: ${kind}`, group: 'sweep.holdout', ms: 0 }
  if (errors === 0) return { ...test, details: message }
  return { ...test, outcome: { kind: 'failure', type: 'held_out', message } }
}

/** A finding in Markdown, and the command that shows it again. */
function findingMarkdown(found: Finding): string {
  const title = inline(`${found.finding}: ${found.verdict} (${levelText(found)})`)
  const command = codeBlock(printableLine(found.reproduce), 'sh')
  return `## ${title}\n\n${explained(found).map(inline).join('\n')}\n\n${command}`
}

function sweepReport(result: SweepResult): Report {
  const { runs, holdout } = result
  const byRun = findingOfRun(result)
  const flaky = new Set(result.flaky.map(({ id }) => id))
  return {
    title: TITLE,
    subject: commandText(result),
    result: countsText(result),
    tests: [
      ...result.findings.filter(hasNoFault).map((one) => testOf(one, one, false)),
      ...runs.map((run) => testOf(run, byRun.get(run.id), flaky.has(run.id))),
      ...(holdout?.classes.slice(0, -1) ?? []).map(heldOutTest),
    ],
    body: [
      result.findings.map(findingMarkdown).join('\n') || `${noFindings(result)}\n`,
      holdout &&
        section(
          'Held out',
          `${markdownTable(['faults', 'shown', 'held out'], holdoutRows(holdout))}\n${heldOutText(holdout)}`,
        ),
      flaky.size > 0 && section('Flaky: it did not come again', bullets(flakyTexts(result))),
      section('What this does not prove', bullets(notProven(result))),
      section(
        'Coverage',
        markdownTable(['group', 'met', 'percent'], coverageCounts(result.coverage)),
      ),
    ]
      .filter(Boolean)
      .join(''),
  }
}

// Each finding's scenario, and any of the user's that it extends, so that the report needs no other files.
const SCENARIOS = 'finding-scenarios'
const HEAD = '# A sweep wrote this file, and its next report replaces it.\n'
const HTML = 'report.html'
const JSON_FILE = 'sweep.json'
const TITLE = 'payout-sandbox sweep'

/** Prepares the folder of a report, and says whether it had one. Throws `BadOption` if no report can be written there, and then removes nothing. */
export function prepareSweepReport(dir: string): boolean {
  prepareReport(dir, [])
  // What a sweep begins its files with.
  const heads: Record<string, string> = {
    'summary.md': `# ${TITLE}\n`,
    [HTML]: '',
    [JSON_FILE]: '',
  }
  if (existsSync(join(dir, SCENARIOS)))
    for (const name of readdirSync(join(dir, SCENARIOS))) heads[join(SCENARIOS, name)] = HEAD
  const found = Object.keys(heads).filter((name) =>
    lstatSync(join(dir, name), { throwIfNoEntry: false }),
  )
  for (const name of found) {
    const file = join(dir, name)
    if (lstatSync(file).isFile() && readFileSync(file, 'utf8').startsWith(heads[name]!)) continue
    throw new BadOption(
      `--report ${dir}: no sweep wrote ${file}. Move it away, or name another folder.`,
    )
  }
  prepareReport(dir)
  return found.length > 0
}

/** Writes the report of a sweep into a folder. It replaces an earlier report there, and touches no other file. */
export function writeSweepReport(result: SweepResult, dir: string) {
  prepareSweepReport(dir)
  rmSync(join(dir, SCENARIOS), { recursive: true, force: true })
  const write = (name: string, text: string) => replaceFile(join(dir, name), text)
  const json = { ...sweepJson(result), swept_at: new Date(wallNow()).toISOString() }
  write(HTML, pageOf('sweep', `${TITLE}: ${countsText(result)}`, json))
  write(JSON_FILE, `${JSON.stringify(json, null, 2)}\n`)
  writeReport(dir, sweepReport(result))
  const scenarios = [
    ...Object.entries(result.scenarios).map(([name, one]) => [name, scenarioText(one)] as const),
    ...result.findings
      .filter((found) => !hasNoFault(found))
      .map((found) => [found.finding, findingScenario(found)] as const),
  ]
  if (scenarios.length > 0) mkdirSync(join(dir, SCENARIOS))
  for (const [name, text] of scenarios) write(join(SCENARIOS, `${name}.yaml`), `${HEAD}${text}`)
}
