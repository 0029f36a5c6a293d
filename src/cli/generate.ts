import { BadOption } from '../config/options.ts'
import { type Command, CommandFailed, checkWords } from './command.ts'
import { gatherSome, START_FLAGS } from './options.ts'
import { isReaderGone } from './output.ts'
import { progressBar } from './progress.ts'
import { wholeNumber } from './values.ts'

// Account and mobile numbers have nine digits for them; more than this fills no purpose and a disk.
const MAX_USERS = 10_000_000

export const generate: Command = {
  name: 'generate',
  summary: 'print a made-up data set, to be used with --fixtures',
  usage: [
    [
      'generate --users N',
      'print a fixture file with N users, their KYC records, bank accounts and payments',
    ],
  ],
  flags: {
    users: ['N', 'how many users; needed'],
    'random-seed': START_FLAGS['random-seed']!,
  },
  examples: [
    'generate --users 1000 --random-seed 7 > fixtures.json',
    'start --memory --fixtures fixtures.json',
  ],
  async run({ words, flags: { users, ...flags }, env }) {
    checkWords('generate', '', words)
    if (users === undefined) throw new BadOption('generate needs --users N, such as --users 1000')
    const count = wholeNumber('--users', String(users), 1, MAX_USERS)
    const { 'random-seed': seed } = gatherSome(['random-seed'], flags, env)
    const [{ fixtureText, stepsOf }, { Readable }, { pipeline }] = await Promise.all([
      import('./generate-fixtures.ts'),
      import('node:stream'),
      import('node:stream/promises'),
    ])
    const bar = progressBar(process.stderr, stepsOf(count), `of ${count} users`)
    try {
      const text = Readable.from(fixtureText(count, seed, bar.step))
      await pipeline(text, process.stdout, { end: false })
    } catch (error) {
      // Who reads has had enough, such as head.
      if (isReaderGone(error)) return 0
      const { code, message } = error as NodeJS.ErrnoException
      throw new CommandFailed(`The data set could not be written (${code ?? message}).`)
    } finally {
      bar.end()
    }
    return 0
  },
}
