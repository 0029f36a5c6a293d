import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { PACKAGE_ROOT } from '../config/package-root.ts'
import { compileScenario } from './compile.ts'
import type { CompiledScenario } from './compiled.ts'
import { createLibrary, type Library, type LibraryEntry } from './library.ts'
import type { ScenarioDefinition } from './schema.ts'

/** Returns the path of a scenario's file. A file name without a folder is a shipped scenario. */
export const scenarioPath = (file: string): string =>
  basename(file) === file ? join(PACKAGE_ROOT, 'scenarios', file) : file

/** A shipped scenario as the build writes it, already parsed and checked. */
export type ShippedScenario = { name: string; file: string; definition: ScenarioDefinition }

/** Returns the shipped scenarios that the build has checked, each compiled on first use; `undefined` if there is no build. */
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
