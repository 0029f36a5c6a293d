import { BadOption } from '../config/options.ts'
import { type Command, CommandFailed, numberFlag } from './command.ts'
import { gatherSomeOptions, START_FLAGS } from './options.ts'
import { isReaderGone } from './output.ts'

// Account and mobile numbers contain the index of the user in nine digits, and larger files serve no purpose.
const MAX_USERS = 10_000_000

export const generate: Command = {
  name: 'generate',
  isTool: true,
  summary: 'print generated fixtures for --fixtures',
  usage: [
    [
      'generate --users N',
      'print a fixture file with N users, their KYC records, bank accounts and payments',
    ],
  ],
  flags: {
    users: ['N', 'number of users (required)'],
    'random-seed': START_FLAGS['random-seed']!,
  },
  examples: [
    'generate --users 1000 --random-seed 7 > fixtures.json',
    'start --memory --fixtures fixtures.json',
  ],
  syntax: '',
  async run({ flags, env }) {
    const { users: _, ...options } = flags
    const count = numberFlag(flags, 'users', 1, MAX_USERS)
    if (count === undefined) throw new BadOption('generate needs --users N, such as --users 1000')
    const { 'random-seed': seed } = gatherSomeOptions(['random-seed'], options, env)
    const [{ fixtureText }, { Readable }, { pipeline }] = await Promise.all([
      import('../tools/generated-rows.ts'),
      import('node:stream'),
      import('node:stream/promises'),
    ])
    try {
      await pipeline(Readable.from(fixtureText(count, seed)), process.stdout, { end: false })
    } catch (error) {
      // The reader needs no more, such as `head`.
      if (isReaderGone(error)) return 0
      const { code, message } = error as NodeJS.ErrnoException
      throw new CommandFailed(`The fixtures could not be written (${code ?? message}).`)
    }
    return 0
  },
}
