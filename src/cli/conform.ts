import { BadOption } from '../config/options.ts'
import { countOf, jsonLine } from '../model/words.ts'
import { type Command, type Input, quoteShellArguments } from './command.ts'
import { openReport, prepareFile, REPORT_FLAG } from './output.ts'

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
    baseline: [
      'FILE',
      'report only what is new since this file of --save, and exit with 1 if there is anything',
    ],
    json: ['', 'print the report as one line of JSON'],
    ...REPORT_FLAG,
  },
  examples: [
    'conform --against http://127.0.0.1:4310/v1 --token sbx_test_token',
    'conform --against https://api.example.com/v1 --token "$TOKEN" --json',
    'conform --against https://test.example.com/v1 --token "$TOKEN" --write --save service.json',
    'conform --against https://test.example.com/v1 --token "$TOKEN" --write --baseline service.json',
  ],
  async run(input) {
    const { flags } = input
    const [base, token] = [parseBaseUrl(flags['against']), tokenOf(input)]
    const file = flags['save'] === undefined ? undefined : String(flags['save'])
    const { conformReport, newSince, readBaseline, reportText, resultText, savedReadings } =
      await import('../tools/conform/report.ts')
    const baseline =
      flags['baseline'] === undefined ? undefined : readBaseline(String(flags['baseline']))
    const writeReport = openReport(flags)
    const save = file === undefined ? undefined : prepareFile('--save', file)
    const { conform: run } = await import('../tools/conform/conform.ts')
    const startedAt = performance.now()
    const measured = await run({ base, token, write: flags['write'] === true })
    const report = baseline ? newSince(measured, baseline) : measured
    save?.(savedReadings(measured))
    writeReport(conformReport(report, performance.now() - startedAt))
    if (flags['json']) {
      process.stdout.write(jsonLine(report))
      return report.ok ? 0 : 1
    }
    process.stdout.write(`${reportText(report)}${resultText(report)}\n`)
    if (file !== undefined)
      process.stdout.write(
        `${countOf(measured.assumptions.length, 'reading')} saved; use them with payout-sandbox start --assume-file ${quoteShellArguments([file])}\n`,
      )
    return report.ok ? 0 : 1
  },
}
