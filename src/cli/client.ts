import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadOption } from '../config/options.ts'
import { PACKAGE_ROOT } from '../config/package-root.ts'
import { type Command, checkArguments } from './command.ts'

/** The file of each client. */
const CLIENTS = {
  python: 'python/payout_sandbox.py',
  java: 'java/PayoutSandbox.java',
  junit: 'java/PayoutSandboxExtension.java',
  go: 'go/payoutsandbox.go',
  php: 'php/PayoutSandbox.php',
} as const

const LANGUAGES = Object.keys(CLIENTS)

export const client: Command = {
  name: 'client',
  summary: 'print the client for tests in Python, Java, Go or PHP, to save it in your project',
  usage: [
    [
      `client ${LANGUAGES.join('|')}`,
      'print the client of a language; junit is the JUnit 5 extension beside the one of java',
    ],
  ],
  flags: {},
  examples: ['client python > payout_sandbox.py', 'client java > PayoutSandbox.java'],
  async run({ args }) {
    checkArguments('client', 'LANGUAGE', args)
    const [language = ''] = args
    if (!Object.hasOwn(CLIENTS, language))
      throw new BadOption(
        `client takes ${LANGUAGES.join(', ')}, not ${JSON.stringify(language)}. Other languages can use exec, or the HTTP calls of docs/languages.md.`,
      )
    const file = CLIENTS[language as keyof typeof CLIENTS]
    process.stdout.write(readFileSync(join(PACKAGE_ROOT, 'clients', file)))
    return 0
  },
}
