// The entry point of the bundle of the service: the command line and the library, which share one code cache, and the
// functions with which the build validates the shipped files once for every start. The server is loaded when it is needed:
// a command that only calls the admin API starts without it. The tools are in a bundle of their own (tools.ts).
import { basename } from 'node:path'
import { main as run } from './cli/main.ts'
import type { startSandbox as start } from './index.ts'
import type { ShippedScenario } from './scenarios/library.ts'

export { AdminError, createAdminClient } from './admin/admin-client.ts'

export const main = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> =>
  run(args, env, async () => (await import('./tools.ts')).main)

export const startSandbox: typeof start = async (options) =>
  (await import('./index.ts')).startSandbox(options)

/** Reads and validates the shipped fixtures; the build writes the result to `dist/fixtures.json`. */
export const readFixtures = async (folder: string) =>
  (await import('./content/fixture-files.ts')).readFixtures(folder)

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
