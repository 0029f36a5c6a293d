import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../config/package-root.ts'
import { OPERATIONS } from '../scenarios/operations-and-events.ts'
import { operationPart } from './operation-part.ts'
import type { Connection } from './tool.ts'

const SCHEME = 'payout-sandbox://'

/** A page of the docs: its path in the package, its title, and who needs it. */
export type Page = { path: string; title: string; who: string }

const OTHER_PAGES = ['README.md', 'scenarios/README.md', 'fixtures/README.md']

/** Lists the pages of the docs that the package has. */
export function listPages(): Page[] {
  const docs = join(PACKAGE_ROOT, 'docs')
  const names = existsSync(docs) ? readdirSync(docs).filter((name) => name.endsWith('.md')) : []
  return [...OTHER_PAGES, ...names.sort().map((name) => `docs/${name}`)]
    .filter((path) => existsSync(join(PACKAGE_ROOT, path)))
    .map((path) => {
      const text = readFileSync(join(PACKAGE_ROOT, path), 'utf8')
      const title = /^# (.+)$/m.exec(text)![1]!
      const who = /^You need this page if ([^.]+)\.$/m.exec(text)?.[1]
      return { path, title, who: who ?? 'you want to know what it is and how to start' }
    })
}

/** The text of `llms.txt`: what the package is, and its pages. */
export const llmsText = (): string =>
  [
    '# payout-sandbox',
    '',
    '> A local sandbox of an Indian payout and user-account API: stateful, offline, repeatable, with a clock that you control. An agent can use it with MCP: docs/agents.md.',
    '',
    '## Docs',
    '',
    ...listPages().map(({ path, title, who }) => `- [${title}](${path}): read it if ${who}`),
    '',
    '## Machine-readable',
    '',
    '- [Schema of scenario files](scenarios/scenario.schema.json): JSON Schema',
    '- [Schema of sweep.json](docs/sweep.schema.json): JSON Schema',
    '- `payout-sandbox openapi`: the contract of the service; `payout-sandbox openapi --admin`: the admin API',
    '',
  ].join('\n')

type Resource = {
  uri: string
  name: string
  description: string
  mimeType: string
  read(connection: Connection): string | Promise<string>
}

const fileText = (path: string) => readFileSync(join(PACKAGE_ROOT, path), 'utf8')

const contractText = async ({ send }: Connection): Promise<string> =>
  (await send('/openapi.json', {})).text

/** The whole contract is long for an agent, so each call is a resource of its own. */
const CALLS: readonly Resource[] = OPERATIONS.map((operation) => ({
  uri: `${SCHEME}contract/${operation}`,
  name: operation,
  description: `The part of the contract about ${operation}.`,
  mimeType: 'application/json',
  read: async (connection) =>
    JSON.stringify(operationPart(JSON.parse(await contractText(connection)), operation)),
}))

const FIXED: readonly Resource[] = [
  {
    uri: `${SCHEME}contract`,
    name: 'Contract of the service',
    description: 'The OpenAPI document of all calls, with schemas, errors and webhooks: 140 kB.',
    mimeType: 'application/json',
    read: contractText,
  },
  {
    uri: `${SCHEME}scenario-schema`,
    name: 'Schema of scenario files',
    description: 'The JSON Schema of the YAML that write_scenario takes.',
    mimeType: 'application/json',
    read: () => fileText('scenarios/scenario.schema.json'),
  },
  {
    uri: `${SCHEME}assumptions`,
    name: 'Assumptions',
    description: 'The open points of the contract, their readings, and the reading in force.',
    mimeType: 'application/json',
    read: async ({ admin }) => JSON.stringify(await admin('listAssumptions'), null, 2),
  },
]

/** Lists the resources: the contract, each of its calls, the schema, the assumptions, and each page of the docs. */
export const listResources = (): readonly Resource[] => [
  ...FIXED,
  ...CALLS,
  ...listPages().map(({ path, title, who }) => ({
    uri: SCHEME + path,
    name: title,
    description: `Read it if ${who}.`,
    mimeType: 'text/markdown',
    read: () => fileText(path),
  })),
]
