import { readingsDocument } from '../assumptions/readings.ts'
import { BadOption } from '../config/options.ts'
import { countOf, jsonLine } from '../model/words.ts'
import type { ConformReport } from '../tools/conform/conform.ts'
import type { Finding } from '../tools/conform/findings.ts'
import { markdownTable } from '../tools/report/markup.ts'
import { type Report, type TestCase, testsMarkdown } from '../tools/report/report.ts'
import { type Command, checkArguments, type Input, quoteShellArguments } from './command.ts'
import { openReport, prepareFile, REPORT_FLAG, table } from './output.ts'

/** The counts of a check in one line. */
export function conformResult({
  ok,
  against,
  calls,
  checked,
  differs,
  notes,
}: ConformReport): string {
  const summary = ok ? 'No differences' : countOf(differs.length, 'difference')
  const noteCount = notes.length === 0 ? '' : `, ${countOf(notes.length, 'note')}`
  return `${summary}${noteCount}: ${countOf(calls, 'call')} to ${against}, ${countOf(checked.length, 'endpoint')} checked`
}

const findingText = ({ call, field, expected, found, times }: Finding) =>
  `${call && `${call}: `}${field}: expected ${expected}, found ${found} (${countOf(times, 'time')})`

/** An endpoint as a test: it fails if it differs from the contract. */
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
    result: conformResult(report),
    // One of the tests has the time of all, which were not measured apart.
    tests: tests.map((test, i) => (i === 0 ? { ...test, ms } : test)),
    body: `${testsMarkdown(tests)}\n## Open points of the contract\n\n${table}`,
  }
}

/** Parses the base URL of a service and adds `/v1` if it is missing. */
function parseBaseUrl(text: unknown): string {
  if (text === undefined)
    throw new BadOption(
      'conform needs --against URL, such as --against https://api.example.com/v1 --token T',
    )
  const url = URL.canParse(String(text)) ? new URL(String(text)) : undefined
  const isPlain = url && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new BadOption(
      '--against takes the base URL of a service, such as https://api.example.com/v1, without user name, password, query and fragment',
    )
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path.endsWith('/v1') ? path : `${path}/v1`}`
}

function tokenOf({ flags, env }: Input): string | undefined {
  const [label, token] = flags['token']
    ? ['--token', String(flags['token'])]
    : ['PAYOUT_SANDBOX_TOKEN', env['PAYOUT_SANDBOX_TOKEN'] || undefined]
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new BadOption(`${label} takes an access token: visible ASCII characters without spaces`)
  return token
}

/** The text of the file of `--save`. */
async function savedReadings({ against, assumptions }: ConformReport): Promise<string> {
  const { wallNow } = await import('../runtime/real-time.ts')
  return readingsDocument({
    against,
    measured_at: new Date(wallNow()).toISOString(),
    readings: Object.fromEntries(assumptions.map(({ name, reading }) => [name, reading])),
  })
}

const findingTable = (findings: readonly Finding[]) =>
  table(
    ['endpoint', 'request', 'field', 'expected', 'found', 'times'],
    findings.map((one) => [
      one.endpoint,
      one.call || null,
      one.field,
      one.expected,
      one.found,
      one.times,
    ]),
    '',
  )

/** The readings of the service, and why the others are not known. */
const readingTable = ({ assumptions, not_measured }: ConformReport) =>
  table(
    ['assumption', 'reading', 'shown by'],
    [
      ...assumptions.map(({ name, reading, evidence }) => [name, reading, evidence]),
      ...not_measured.map(({ name, reason }) => [name, 'not measured', reason]),
    ],
    '',
  )

/** The text of a report; `assume` are the options of `start` for its readings. */
function reportText({ assume, ...report }: ConformReport & { assume: readonly string[] }) {
  const { ok, differs, notes, unchecked, created, more } = report
  const section = (title: string, rows: string) => `${title}\n\n${rows}\n`
  const sections = [
    ...(ok ? [] : [section('Differs from the contract', findingTable(differs))]),
    ...(notes.length === 0
      ? []
      : [
          section(
            'Not defined by the contract, and different from the sandbox',
            findingTable(notes),
          ),
        ]),
    ...(unchecked.length === 0
      ? []
      : [
          section(
            'Not checked',
            table(
              ['endpoint', 'reason'],
              unchecked.map(({ endpoint, reason }) => [endpoint, reason]),
              '',
            ),
          ),
        ]),
    ...(created.length === 0
      ? []
      : [
          section(
            'Created, and not deleted',
            table(
              ['endpoint', 'id'],
              created.map(({ endpoint, id }) => [endpoint, id]),
              '',
            ),
          ),
        ]),
    section('Open points of the contract', readingTable(report)),
    ...(assume.length === 0
      ? []
      : [
          section(
            'Start a sandbox that reads the contract in the same way',
            `payout-sandbox start ${assume.join(' ')}\n`,
          ),
        ]),
    ...(more === 0 ? [] : [`… and ${more} more findings\n\n`]),
  ]
  return `${sections.join('')}${conformResult(report)}\n`
}

export const conform: Command = {
  name: 'conform',
  summary: 'check a live service against the API contract; exit 1 if it differs',
  usage: [
    [
      'conform --against URL',
      'check a live service against the API contract, with read requests only',
    ],
    [
      'conform --against URL --write',
      'also create users, documents, an account, a payment and a webhook there',
    ],
  ],
  flags: {
    against: ['URL', 'base URL of the service (required)'],
    token: ['T', 'access token of the service (env: PAYOUT_SANDBOX_TOKEN)'],
    write: ['', 'also send writes, such as a payment of 1.50; the created data is not deleted'],
    save: [
      'FILE',
      'save the measured readings, for start --assume-file FILE; an existing file is replaced',
    ],
    json: ['', 'print the report as one line of JSON'],
    ...REPORT_FLAG,
  },
  examples: [
    'conform --against http://127.0.0.1:4310/v1 --token sbx_test_token',
    'conform --against https://api.example.com/v1 --token "$TOKEN" --json',
    'conform --against https://test.example.com/v1 --token "$TOKEN" --write --save service.json',
  ],
  async run(input) {
    const { args, flags } = input
    checkArguments('conform', '', args)
    const [base, token] = [parseBaseUrl(flags['against']), tokenOf(input)]
    const file = flags['save'] === undefined ? undefined : String(flags['save'])
    const writeReport = openReport(flags)
    const output = file === undefined ? undefined : prepareFile('--save', file)
    const { conform: run } = await import('../tools/conform/conform.ts')
    const { assumeOptions } = await import('../tools/conform/measure.ts')
    const startedAt = performance.now()
    let report: ConformReport
    try {
      report = await run({ base, token, write: flags['write'] === true })
    } catch (error) {
      output?.discard()
      throw error
    }
    output?.save(await savedReadings(report))
    writeReport(conformReport(report, performance.now() - startedAt))
    process.stdout.write(
      flags['json']
        ? jsonLine(report)
        : reportText({ ...report, assume: assumeOptions(report.assumptions) }),
    )
    if (file !== undefined && !flags['json'])
      process.stdout.write(
        `${countOf(report.assumptions.length, 'reading')} saved; use them with payout-sandbox start --assume-file ${quoteShellArguments([file])}\n`,
      )
    return report.ok ? 0 : 1
  },
}
