import * as z from 'zod'
import { ASSUMPTIONS, readingsDocument } from '../../assumptions/readings.ts'
import { readJson, UnreadableText } from '../../config/files.ts'
import { BadOption } from '../../config/options.ts'
import { countOf } from '../../model/words.ts'
import { wallNow } from '../../runtime/real-time.ts'
import { markdownTable } from '../report/markup.ts'
import { type Report, type TestCase, testsMarkdown } from '../report/report.ts'
import { table } from '../report/table.ts'
import type { ConformReport } from './conform.ts'
import type { Finding } from './findings.ts'

/** With `since`, only what is new since an earlier measurement. */
export type ShownReport = ConformReport & { since?: string }

export function resultText(report: ShownReport): string {
  const { ok, against, calls, checked, differs, notes, since } = report
  const news = since ? ` since ${since.slice(0, 10)}` : ''
  const summary = ok
    ? `No differences${news}`
    : countOf(differs.length, `difference${news}`, `differences${news}`)
  const noteCount = notes.length === 0 ? '' : `, ${countOf(notes.length, 'note')}`
  return `${summary}${noteCount}: ${countOf(calls, 'call')} to ${against}, ${countOf(checked.length, 'endpoint')} checked`
}

const findingText = ({ call, field, expected, found, times }: Finding) =>
  `${call && `${call}: `}${field}: expected ${expected}, found ${found} (${countOf(times, 'time')})`

function endpointTest(endpoint: string, { differs, notes, unchecked }: ConformReport): TestCase {
  const ofEndpoint = (findings: readonly Finding[]) =>
    findings.filter((one) => one.endpoint === endpoint).map(findingText)
  const [wrong, allowed] = [ofEndpoint(differs), ofEndpoint(notes)]
  const reason = unchecked.find((one) => one.endpoint === endpoint)?.reason
  const details = [...wrong, ...allowed.map((text) => `note: ${text}`)].join('\n')
  const test = { name: endpoint, group: 'conform', ms: 0, ...(details && { details }) }
  if (wrong.length > 0)
    return { ...test, outcome: { kind: 'failure', type: 'differs', message: wrong[0]! } }
  if (reason === undefined) return test
  return { ...test, outcome: { kind: 'skipped', type: 'not_checked', message: reason } }
}

/** The report of a check: each endpoint is a test. The summary has the readings of the service, too. */
export function conformReport(report: ConformReport, ms: number): Report {
  const { against, checked, differs, unchecked, assumptions } = report
  const endpoints = new Set([
    ...checked,
    ...[...differs, ...unchecked].map(({ endpoint }) => endpoint),
  ])
  const tests = [...endpoints].map((endpoint) => endpointTest(endpoint, report))
  const readings = assumptions.map(({ name, reading, evidence }) => [name, reading, evidence])
  const points = markdownTable(['assumption', 'reading', 'shown by'], readings)
  return {
    title: 'payout-sandbox conform',
    subject: against,
    result: resultText(report),
    // One of the tests has the time of all, which were not measured apart.
    tests: tests.map((test, i) => (i === 0 ? { ...test, ms } : test)),
    body: `${testsMarkdown(tests)}\n## Open points of the contract\n\n${points}`,
  }
}

const HEADS: Readonly<Record<string, string>> = {
  call: 'request',
  name: 'assumption',
  evidence: 'shown by',
}

/** A titled table of these fields; nothing if it has no rows. */
function section<F extends string>(
  title: string,
  fields: readonly F[],
  rows: readonly Readonly<Record<F, unknown>>[],
): string {
  if (rows.length === 0) return ''
  const cells = rows.map((row) => fields.map((field) => row[field] || null))
  const head = fields.map((field) => HEADS[field] ?? field)
  return `${title}\n\n${table(head, cells, '')}\n`
}

const FOUND = ['endpoint', 'call', 'field', 'expected', 'found', 'times'] as const

/** The options of `start` with which a sandbox reads the contract as a service does. */
export const assumeOptions = ({ assumptions }: Pick<ConformReport, 'assumptions'>): string[] =>
  assumptions
    .filter(({ name, reading }) =>
      ASSUMPTIONS.some((one) => one.name === name && one.default !== reading),
    )
    .map(({ name, reading }) => `--assume ${name}=${reading}`)

/** The text of a report. */
export function reportText(report: ConformReport) {
  const { differs, notes, unchecked, created, assumptions, not_measured, more } = report
  const unmeasured = not_measured.map(({ name, reason }) => {
    return { name, reading: 'not measured', evidence: reason }
  })
  const assume = assumeOptions(report)
  return [
    section('Differs from the contract', FOUND, differs),
    section('Not defined by the contract, and different from the sandbox', FOUND, notes),
    section('Not checked', ['endpoint', 'reason'], unchecked),
    section('Created, and not deleted', ['endpoint', 'id'], created),
    section(
      'Open points of the contract',
      ['name', 'reading', 'evidence'],
      [...assumptions, ...unmeasured],
    ),
    assume.length === 0
      ? ''
      : `Start a sandbox that reads the contract in the same way\n\npayout-sandbox start ${assume.join(' ')}\n\n`,
    more === 0 ? '' : `… and ${more} more findings\n\n`,
  ].join('')
}

const KnownFinding = z.object({ endpoint: z.string(), field: z.string(), expected: z.string() })
const Saved = z.object({
  measured_at: z.string(),
  readings: z.record(z.string(), z.string()),
  checked: z.array(z.string()),
  differs: z.array(KnownFinding),
  notes: z.array(KnownFinding),
})

export const savedReadings = ({ against, assumptions, ...found }: ConformReport): string =>
  readingsDocument({
    against,
    measured_at: new Date(wallNow()).toISOString(),
    readings: Object.fromEntries(assumptions.map(({ name, reading }) => [name, reading])),
    checked: found.checked,
    differs: z.array(KnownFinding).parse(found.differs),
    notes: z.array(KnownFinding).parse(found.notes),
  })

/** Reads what `--save` wrote, with its findings. Throws `BadOption`. */
export function readBaseline(file: string): z.infer<typeof Saved> {
  try {
    return Saved.parse(readJson(file))
  } catch (error) {
    const problem = error instanceof UnreadableText ? error.message : 'has no findings'
    throw new BadOption(`--baseline ${file} ${problem}; write it with conform --save`)
  }
}

/** What is new in a report: findings, other readings, and endpoints that could be checked before. */
export function newSince(report: ConformReport, before: z.infer<typeof Saved>): ShownReport {
  const keyOf = ({ endpoint, field, expected }: z.infer<typeof KnownFinding>) =>
    [endpoint, field, expected].join('\n')
  const known = new Set(before.differs.map(keyOf))
  const noted = new Set([...known, ...before.notes.map(keyOf)])
  const { assumptions, unchecked, checked } = report
  const others = assumptions.flatMap(({ name, reading, evidence }): Finding[] => {
    const expected = before.readings[name] ?? reading
    const found = `${reading}, shown by ${evidence}`
    return expected === reading
      ? []
      : [{ endpoint: 'open point', call: '', field: name, expected, found, times: 1 }]
  })
  const lost = before.checked
    .filter((one) => !checked.includes(one))
    .map((endpoint): Finding => {
      const found = unchecked.find((one) => one.endpoint === endpoint)?.reason ?? 'not checked'
      return { endpoint, call: '', field: 'check', expected: 'checked', found, times: 1 }
    })
  const differs = [...report.differs.filter((one) => !known.has(keyOf(one))), ...others, ...lost]
  return {
    ...report,
    ok: differs.length === 0,
    differs,
    notes: report.notes.filter((one) => !noted.has(keyOf(one))),
    ...{ unchecked: [], assumptions: [], not_measured: [] },
    since: before.measured_at,
  }
}
