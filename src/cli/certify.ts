// cli/: the command line, one file for each group of commands. main.ts finds the command; one that calls the admin API
// loads no server.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Measurement } from '../assumptions/readings.ts'
import { readJson, replaceFile } from '../config/files.ts'
import { BadOption } from '../config/options.ts'
import { jsonLine } from '../model/words.ts'
import { prepareReport } from '../tools/report/report.ts'
import type { Command, Input } from './command.ts'
import { SANDBOX_FLAGS } from './options.ts'
import { sweep } from './sweep.ts'

const DEFAULT_FOLDER = 'certificate'
const [JSON_FILE, PAGE] = ['certificate.json', 'certificate.html']
const SWEPT = Object.fromEntries(
  ['workers', 'ledger', 'probe', 'restart', 'jobs', 'timeout', 'port'].map((name) => [
    name,
    sweep.flags[name]!,
  ]),
)

/** The commit of the program's code. Throws `BadOption`. */
function commitOf({ flags }: Input): string {
  const given = flags['commit']
  if (given !== undefined) {
    if (/^[\x21-\x7e]{1,100}$/.test(String(given))) return String(given)
    throw new BadOption(`--commit takes the ID of a commit, not ${JSON.stringify(given)}`)
  }
  const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' })
  const head = git('rev-parse', 'HEAD')
  if (head.status !== 0)
    throw new BadOption(
      'certify names the commit of your code, and found none here; run it in your git repository, or add --commit ID',
    )
  const changed = git('status', '--porcelain', '--untracked-files=no').stdout
  return `${head.stdout.trim()}${changed === '' ? '' : ' with uncommitted changes'}`
}

async function certificate(input: Input, signal: AbortSignal): Promise<string | number> {
  const { flags, program } = input
  if (program.length === 0)
    throw new BadOption(
      'certify needs a program after --, such as payout-sandbox certify -- npm test',
    )
  const { withSweep } = await import('./sweep-run.ts')
  const { sweep: makeSweep } = await import('../tools/sweep/sweep.ts')
  const tools = await import('../tools/sweep/certify.ts')
  const { PROFILE, certificateOf, certificatePage, certificateText, dayOf, readAcceptances } = tools
  const date = dayOf(flags['date'])
  const acceptances = flags['accept'] === undefined ? [] : readAcceptances(String(flags['accept']))
  const commit = commitOf(input)
  const folder = String(flags['report'] ?? DEFAULT_FOLDER)
  prepareReport(folder, [JSON_FILE, PAGE])
  const { report: _, ...own } = flags
  const swept = { ...input, flags: { ...own, ...PROFILE.flags } }
  const found = await withSweep(swept, signal, async (options) => {
    const file = options.options['assume-file']
    const measured = file === undefined ? undefined : (readJson(file) as Measurement)
    const result = await makeSweep(options)
    return certificateOf({ result, options, measured, acceptances, date, commit })
  })
  if (signal.aborted) throw new Error('certify was stopped, so there is no certificate')
  replaceFile(join(folder, JSON_FILE), `${JSON.stringify(found, null, 2)}\n`)
  replaceFile(join(folder, PAGE), certificatePage(found))
  process.stdout.write(
    flags['json'] ? jsonLine(found) : `${certificateText(found)}The certificate is in ${folder}\n`,
  )
  return found.open === 0 ? 0 : 1
}

export const certify: Command = {
  name: 'certify',
  isTool: true,
  summary:
    'run a program under a fixed list of faults, and write a certificate; exit 0 if nothing is open',
  usage: [
    ['certify [OPTIONS] -- CMD...', 'sweep CMD with the plans of certify-1, however long it takes'],
  ],
  flags: {
    accept: [
      'FILE',
      'findings that somebody accepts: a list of findings, owner, reason and expires',
    ],
    commit: ['ID', 'commit of your code (default: that of the git repository here)'],
    date: ['DAY', 'day on which acceptances must not have expired (default: today, in UTC)'],
    report: ['DIR', `folder for ${JSON_FILE} and ${PAGE} (default: ${DEFAULT_FOLDER})`],
    json: ['', 'print the certificate as one line of JSON'],
    ...SANDBOX_FLAGS,
    ...SWEPT,
  },
  examples: [
    'certify --clock frozen --workers 2 --ledger ./books.sh -- ./start-workers.sh',
    'certify --assume-file service.json --accept accepted.json -- npm test',
  ],
  takesProgram: true,
  async run(input) {
    const { untilSignal } = await import('./sweep-run.ts')
    return untilSignal((signal) => certificate(input, signal))
  },
}
