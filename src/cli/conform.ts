import { BadOption } from '../config/options.ts'
import { countOf, jsonLine } from '../model/words.ts'
import type { ConformReport } from '../tools/conform/conform.ts'
import type { Finding } from '../tools/conform/findings.ts'
import { type Command, type Input, quoteShellArguments } from './command.ts'
import { openReport, prepareFile, REPORT_FLAG, table } from './output.ts'

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

/** A titled table; nothing if it has no rows. */
const section = (title: string, head: readonly string[], rows: readonly (readonly unknown[])[]) =>
  rows.length === 0 ? '' : `${title}\n\n${table(head, rows, '')}\n`

const FINDING_HEAD = ['endpoint', 'request', 'field', 'expected', 'found', 'times']
const findingRow = ({ endpoint, call, field, expected, found, times }: Finding) =>
  [endpoint, call || null, field, expected, found, times] as const

/** The text of a report; `assume` are the options of `start` for its readings. */
function reportText(report: ConformReport, assume: readonly string[]) {
  const { differs, notes, unchecked, created, assumptions, not_measured, more } = report
  const notDefined = 'Not defined by the contract, and different from the sandbox'
  return [
    section('Differs from the contract', FINDING_HEAD, differs.map(findingRow)),
    section(notDefined, FINDING_HEAD, notes.map(findingRow)),
    section(
      'Not checked',
      ['endpoint', 'reason'],
      unchecked.map(({ endpoint, reason }) => [endpoint, reason]),
    ),
    section(
      'Created, and not deleted',
      ['endpoint', 'id'],
      created.map(({ endpoint, id }) => [endpoint, id]),
    ),
    section(
      'Open points of the contract',
      ['assumption', 'reading', 'shown by'],
      [
        ...assumptions.map(({ name, reading, evidence }) => [name, reading, evidence]),
        ...not_measured.map(({ name, reason }) => [name, 'not measured', reason]),
      ],
    ),
    assume.length === 0
      ? ''
      : `Start a sandbox that reads the contract in the same way\n\npayout-sandbox start ${assume.join(' ')}\n\n`,
    more === 0 ? '' : `… and ${more} more findings\n\n`,
  ].join('')
}

export const conform: Command = {
  name: 'conform',
  isTool: true,
  summary: 'check a live service against the contract; exit 1 if it differs',
  usage: [
    ['conform --against URL', 'check a live service against the contract, reading only'],
    [
      'conform --against URL --write',
      'also create users, documents, an account, a payment and a webhook',
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
    const { flags } = input
    const [base, token] = [parseBaseUrl(flags['against']), tokenOf(input)]
    const file = flags['save'] === undefined ? undefined : String(flags['save'])
    const writeReport = openReport(flags)
    const output = file === undefined ? undefined : prepareFile('--save', file)
    const { conform: run } = await import('../tools/conform/conform.ts')
    const { assumeOptions } = await import('../tools/conform/measure.ts')
    const { conformReport, resultText, savedReadings } = await import('../tools/conform/report.ts')
    const startedAt = performance.now()
    const report = await run({ base, token, write: flags['write'] === true }).catch((error) => {
      output?.discard()
      throw error
    })
    output?.save(savedReadings(report))
    writeReport(conformReport(report, performance.now() - startedAt))
    if (flags['json']) {
      process.stdout.write(jsonLine(report))
      return report.ok ? 0 : 1
    }
    const assume = assumeOptions(report.assumptions)
    process.stdout.write(`${reportText(report, assume)}${resultText(report)}\n`)
    if (file !== undefined)
      process.stdout.write(
        `${countOf(report.assumptions.length, 'reading')} saved; use them with payout-sandbox start --assume-file ${quoteShellArguments([file])}\n`,
      )
    return report.ok ? 0 : 1
  },
}
