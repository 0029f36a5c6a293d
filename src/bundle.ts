// What the one bundle holds: the command line and the library, so that both start from one code cache; and what the
// build reads and checks once for every start.
import { basename } from 'node:path'
import type { ShippedScenario } from './scenarios/shipped.ts'

export { main } from './cli/main.ts'
export { AdminError, createAdminClient, startSandbox } from './index.ts'
export { readFixtures } from './services/fixtures.ts'

/** The shipped set, read and checked: what the build keeps as `dist/scenarios.json`. */
export async function readShipped(folder: string): Promise<ShippedScenario[]> {
  const { readLibrary } = await import('./scenarios/read-library.ts')
  const read = readLibrary([folder])
  if (!read.ok)
    throw new Error(read.problems.map(({ file, message }) => `${file}: ${message}`).join('\n'))
  const { names, get, fileOf } = read.library
  return names.map((name) => ({
    name,
    file: basename(fileOf(name)!),
    definition: get(name)!.definition,
  }))
}
