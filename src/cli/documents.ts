import { readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { replaceFile } from '../config/files.ts'
import { BadOption, OPTIONS } from '../config/options.ts'
import { PACKAGE_ROOT } from '../config/package.ts'
import { printableLine } from '../model/words.ts'
import { type Command, CommandFailed, OUT_FLAG } from './command.ts'

export const openapi: Command = {
  name: 'openapi',
  summary: 'print the OpenAPI document of the service or of the admin API',
  usage: [
    ['openapi', 'print the OpenAPI document of the service'],
    ['openapi --contract', 'only what the contract shows, for clients of the live service'],
    ['openapi --strict', 'exactly the responses of this sandbox'],
    ['openapi --admin', 'that of the admin API'],
  ],
  flags: {
    contract: ['', 'describe only what the contract shows'],
    strict: ['', 'describe exactly the responses of this sandbox'],
    admin: ['', 'print the document of the admin API'],
    ...OUT_FLAG,
  },
  examples: ['openapi --out openapi.json', 'openapi --admin --out openapi-admin.json'],
  async run({ flags }) {
    const chosen = (['contract', 'strict', 'admin'] as const).filter((name) => flags[name])
    const [form] = chosen
    if (chosen.length > 1)
      throw new BadOption(`openapi prints one document; choose --${chosen.join(' or --')}`)
    const [{ serviceDocument }, { adminDocument }, { OPERATIONS }, { ADMIN_CALLS }] =
      await Promise.all([
        import('../http/openapi-service.ts'),
        import('../http/openapi-routes.ts'),
        import('../routes/v1/operations.ts'),
        import('../routes/admin/admin-calls.ts'),
      ])
    const document = await (form === 'admin'
      ? adminDocument(ADMIN_CALLS)
      : serviceDocument(OPERATIONS, form))
    // A tool that imports the file knows no address but this one.
    const origin = `http://${OPTIONS.host.default}:${OPTIONS.port.default}`
    const servers = document.servers.map((one) => ({ ...one, url: origin + one.url }))
    return `${JSON.stringify({ ...document, servers }, null, 2)}\n`
  },
}

const FILE = 'scenario.schema.json'

/** The lines that name the schema in a scenario file: of VS Code and other editors with its server, and of JetBrains. */
const linesFor = (path: string) => [`# yaml-language-server: $schema=${path}`, `# $schema: ${path}`]

/** Writes the schema into a folder of scenario files, and returns what to write into those files. */
async function writeInto(folder: string, schema: string): Promise<string> {
  const { scenarioTree } = await import('../scenarios/scenario-files.ts')
  const file = join(folder, FILE)
  let files: string[]
  try {
    ;({ files } = scenarioTree(folder))
    replaceFile(file, schema)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFailed(
      `${file} cannot be written (${code}). Give the folder of your scenario files.`,
    )
  }
  const inside = [...new Set(['.', ...files.map(dirname)])].map((one) => {
    const lines = linesFor(join(relative(one, '.'), FILE).replaceAll(sep, '/'))
    return `One of these lines at the top of a file in ${printableLine(join(folder, one))} shows it to an editor:\n${lines.join('\n')}\n`
  })
  return `${printableLine(file)} is written.\n${inside.join('')}`
}

export const schema: Command = {
  name: 'schema',
  summary: 'print the JSON Schema of scenario files, or write it beside yours',
  usage: [
    ['schema', 'print the JSON Schema of scenario files'],
    ['schema DIR', `write it into a folder of scenario files, as ${FILE}`],
  ],
  flags: OUT_FLAG,
  examples: ['schema ./scenarios', 'schema --out scenario.schema.json'],
  syntax: '[DIR]',
  async run({ args: [folder], flags: { out } }) {
    if (folder !== undefined && out !== undefined)
      throw new BadOption('schema writes into DIR or to --out FILE; give one of them')
    const { scenarioJsonSchema } = await import('../scenarios/scenario-schema.ts')
    const text = scenarioJsonSchema()
    return folder === undefined ? text : writeInto(folder, text)
  },
}

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
  summary: 'print the client for tests in another language',
  usage: [
    [`client ${LANGUAGES.join('|')}`, "print a language's client; junit is the extension for java"],
  ],
  flags: OUT_FLAG,
  examples: ['client python --out payout_sandbox.py', 'client java --out PayoutSandbox.java'],
  syntax: 'LANGUAGE',
  async run({ args: [language = ''] }) {
    if (!Object.hasOwn(CLIENTS, language))
      throw new BadOption(
        `client takes ${LANGUAGES.join(', ')}, not ${JSON.stringify(language)}. Other languages can use exec, or the HTTP calls of docs/languages.md.`,
      )
    return readFileSync(join(PACKAGE_ROOT, 'clients', CLIENTS[language as keyof typeof CLIENTS]))
  },
}
