import { BadOption } from '../config/options.ts'
import type { Report } from '../conform/conform.ts'
import type { Finding } from '../conform/findings.ts'
import { jsonLine } from '../core/printable.ts'
import { type Command, checkWords, type Input } from './command.ts'
import { table } from './table.ts'

/** The base URL of a service, with the version segment that its paths stand under. */
function baseOf(given: unknown): string {
  if (given === undefined)
    throw new BadOption(
      'conform needs --against URL, such as --against https://api.example.com/v1 --token T',
    )
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined
  const isPlain = url && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new BadOption(
      '--against takes the base URL of a service, such as https://api.example.com/v1, without user info, query and fragment',
    )
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path.endsWith('/v1') ? path : `${path}/v1`}`
}

function tokenOf({ flags, env }: Input): string | undefined {
  const [called, token] = flags['token']
    ? ['--token', String(flags['token'])]
    : ['PAYOUT_SANDBOX_TOKEN', env['PAYOUT_SANDBOX_TOKEN'] || undefined]
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new BadOption(`${called} takes an access token: visible ASCII characters, no space`)
  return token
}

const countOf = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`

const findingTable = (findings: readonly Finding[]) =>
  table(
    ['endpoint', 'asked', 'field', 'expected', 'found', 'times'],
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

/** A report for people. */
function reportText({ ok, against, calls, held, differs, notes, unseen, made, more }: Report) {
  const part = (title: string, rows: string) => `${title}\n\n${rows}\n`
  const told = [
    ...(ok ? [] : [part('Differs from the contract', findingTable(differs))]),
    ...(notes.length === 0
      ? []
      : [part('Open in the contract, and not as the sandbox does it', findingTable(notes))]),
    ...(unseen.length === 0
      ? []
      : [
          part(
            'Not looked at',
            table(
              ['endpoint', 'why'],
              unseen.map(({ endpoint, why }) => [endpoint, why]),
              '',
            ),
          ),
        ]),
    ...(made.length === 0
      ? []
      : [
          part(
            'Made, and left there',
            table(
              ['endpoint', 'id'],
              made.map(({ endpoint, id }) => [endpoint, id]),
              '',
            ),
          ),
        ]),
    ...(more === 0 ? [] : [`… and ${more} more that were found\n\n`]),
  ]
  const sum = ok ? 'Nothing differs' : countOf(differs.length, 'difference')
  const noted = notes.length === 0 ? '' : `, ${countOf(notes.length, 'note')}`
  return `${told.join('')}${sum}${noted}: ${countOf(calls, 'call')} to ${against}, ${countOf(held.length, 'endpoint')} held\n`
}

export const conform: Command = {
  name: 'conform',
  summary: 'hold a live service against the contract; exit 1 if it differs',
  usage: [
    ['conform --against URL', 'hold a live service against the contract, by reads only'],
    [
      'conform --against URL --write',
      'the same, and make users, documents, an account, a payment and a webhook there',
    ],
  ],
  flags: {
    against: ['URL', 'base URL of the service; needed'],
    token: ['T', 'its access token; default: PAYOUT_SANDBOX_TOKEN'],
    write: ['', 'write too: what is made stays there, and a payment of 1.50 is one of it'],
    json: ['', 'print the report as one line of JSON'],
  },
  examples: [
    'conform --against http://127.0.0.1:4310/v1 --token sbx_test_token',
    'conform --against https://api.example.com/v1 --token "$TOKEN" --json',
    'conform --against https://test.example.com/v1 --token "$TOKEN" --write',
  ],
  async run(input) {
    const { words, flags } = input
    checkWords('conform', '', words)
    const [base, token] = [baseOf(flags['against']), tokenOf(input)]
    const { conform: run } = await import('../conform/conform.ts')
    const report = await run({ base, token, write: flags['write'] === true })
    process.stdout.write(flags['json'] ? jsonLine(report) : reportText(report))
    return report.ok ? 0 : 1
  },
}
