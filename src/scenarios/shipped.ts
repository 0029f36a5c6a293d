import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { PACKAGE_ROOT } from '../config/package-root.ts'
import { compileScenario } from './compile.ts'
import type { CompiledScenario } from './compiled.ts'
import { createLibrary, type Library, type LibraryEntry } from './library.ts'
import type { ScenarioDefinition } from './schema.ts'

/** The path of a scenario's file; those of the shipped set are known by their bare names. */
export const scenarioPath = (file: string): string =>
  basename(file) === file ? join(PACKAGE_ROOT, 'scenarios', file) : file

/** One scenario of the shipped set as the build writes it: read and checked already. */
export type ShippedScenario = { name: string; file: string; definition: ScenarioDefinition }

/** The shipped set as the build checked it, each compiled on its first use; `undefined` where nothing was built. */
export function shippedLibrary(path: string): Library | undefined {
  if (!existsSync(path)) return undefined
  const shipped: ShippedScenario[] = JSON.parse(readFileSync(path, 'utf8'))
  const entries = shipped.map(({ name, file, definition }): [string, LibraryEntry] => {
    let compiled: CompiledScenario | undefined
    return [
      name,
      {
        file,
        get scenario() {
          compiled ??= compileScenario(definition, name)
          return compiled
        },
      },
    ]
  })
  return createLibrary(new Map(entries))
}
