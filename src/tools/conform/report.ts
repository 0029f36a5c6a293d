import { readingsDocument } from '../../assumptions/readings.ts'
import { countOf } from '../../model/words.ts'
import { wallNow } from '../../runtime/real-time.ts'
import { markdownTable } from '../report/markup.ts'
import { type Report, type TestCase, testsMarkdown } from '../report/report.ts'
import type { ConformReport } from './conform.ts'
import type { Finding } from './findings.ts'

export function resultText({ ok, against, calls, checked, differs, notes }: ConformReport): string {
  const summary = ok ? 'No differences' : countOf(differs.length, 'difference')
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
  const table = markdownTable(['assumption', 'reading', 'shown by'], readings)
  return {
    title: 'payout-sandbox conform',
    subject: against,
    result: resultText(report),
    // One of the tests has the time of all, which were not measured apart.
    tests: tests.map((test, i) => (i === 0 ? { ...test, ms } : test)),
    body: `${testsMarkdown(tests)}\n## Open points of the contract\n\n${table}`,
  }
}

export const savedReadings = ({ against, assumptions }: ConformReport): string =>
  readingsDocument({
    against,
    measured_at: new Date(wallNow()).toISOString(),
    readings: Object.fromEntries(assumptions.map(({ name, reading }) => [name, reading])),
  })
