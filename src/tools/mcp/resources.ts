import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../../config/package.ts'
import { OPERATIONS, type OperationId } from '../../scenarios/operations-and-events.ts'
import type { Connection } from './tool.ts'

const SCHEME = 'payout-sandbox://'

const OTHER_PAGES = ['README.md', 'scenarios/README.md', 'fixtures/README.md']

/** Lists the pages of the docs that the package has: the path and title of each, and what it is for, by its first sentence. */
export function listPages() {
  const docs = join(PACKAGE_ROOT, 'docs')
  const isPage = (name: string) => name.endsWith('.md') && name !== 'README.md'
  const names = existsSync(docs) ? readdirSync(docs).filter(isPage) : []
  return [...OTHER_PAGES, ...names.sort().map((name) => `docs/${name}`)]
    .filter((path) => existsSync(join(PACKAGE_ROOT, path)))
    .map((path) => {
      const text = readFileSync(join(PACKAGE_ROOT, path), 'utf8')
      const [, title, opening] = /^# (.+)\n\n((?:.+\n)+)/m.exec(text)!
      const [sentence] = opening!.replaceAll('\n', ' ').split(/(?<=[.:]) /)
      const use = sentence!.trim().replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      return { path, title: title!, use: use.replace(/:$/, '.') }
    })
}

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

type Parts = Record<string, Record<string, unknown>>
type Document = { paths: Parts; components: Parts }

const REFERENCE = /"#\/components\/([^/"]+)\/([^/"]+)"/g

function operationPart({ paths, components }: Document, operation: OperationId): Document {
  const isIt = (call: unknown) => (call as { operationId?: string }).operationId === operation
  const [path, calls] = Object.entries(paths).find(([, all]) => Object.values(all).some(isIt))!
  const described = Object.fromEntries(Object.entries(calls).filter(([, call]) => isIt(call)))
  const part: Document = { paths: { [path]: described }, components: {} }
  function add(value: unknown) {
    for (const [, kind, name] of JSON.stringify(value).matchAll(REFERENCE)) {
      part.components[kind!] ??= {}
      const found = part.components[kind!]!
      if (Object.hasOwn(found, name!)) continue
      found[name!] = components[kind!]![name!]
      add(found[name!])
    }
  }
  add(described)
  return part
}

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

export const listResources = (): readonly Resource[] => [
  ...FIXED,
  ...CALLS,
  ...listPages().map(({ path, title, use }) => ({
    uri: SCHEME + path,
    name: title,
    description: use,
    mimeType: 'text/markdown',
    read: () => fileText(path),
  })),
]
