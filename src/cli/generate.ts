import { BadOption } from '../config/options.ts'
import { type Command, numberFlag, OUT_FLAG } from './command.ts'
import { gatherSomeOptions, START_FLAGS } from './options.ts'

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
    ...OUT_FLAG,
  },
  examples: [
    'generate --users 1000 --random-seed 7 --out fixtures.json',
    'start --memory --fixtures fixtures.json',
  ],
  syntax: '',
  async run({ flags, env }) {
    const { users: _, out: __, ...options } = flags
    const count = numberFlag(flags, 'users', 1, MAX_USERS)
    if (count === undefined) throw new BadOption('generate needs --users N, such as --users 1000')
    const { 'random-seed': seed } = gatherSomeOptions(['random-seed'], options, env)
    const { fixtureText } = await import('../tools/generated-rows.ts')
    return fixtureText(count, seed)
  },
}
