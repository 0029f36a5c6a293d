// The entry point of the bundle: the command line and the library, which share one code cache, and the functions with
// which the build validates the shipped files once for every start.
import { basename } from 'node:path'
import type { ShippedScenario } from './scenarios/library.ts'

export { main } from './cli/main.ts'
export { readFixtures } from './content/fixtures.ts'
export { AdminError, createAdminClient, startSandbox } from './index.ts'

/** Reads and validates the shipped scenarios; the build writes the result to `dist/scenarios.json`. */
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
