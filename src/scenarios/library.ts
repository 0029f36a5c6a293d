import { basename, join } from 'node:path'
import type { Readings } from '../assumptions/readings.ts'
import { builtFile, PACKAGE_ROOT } from '../config/package.ts'
import { onDemand } from '../runtime/runtime.ts'
import { compileScenario } from './compile.ts'
import type { CompiledScenario } from './compiled.ts'
import {
  checkReferences,
  DEFAULT_SCENARIO,
  layersIn,
  unknownScenarioMessage,
} from './references.ts'
import type { ScenarioDefinition } from './scenario-schema.ts'

/** A scenario of a library; `scenario` may be a getter that compiles it on first use. */
export type LibraryEntry = {
  file: string
  /** The text of the scenario, if it must not be read from the file. */
  source?: string
  readonly scenario: CompiledScenario
}

/** Creates the library: the scenarios that can be activated, by name. */
export function createLibrary(entries: ReadonlyMap<string, LibraryEntry>) {
  const names = [...entries.keys()].sort()
  const get = (name: string) => entries.get(name)?.scenario

  return {
    entries,
    names,
    get,
    fileOf: (name: string) => entries.get(name)?.file,
    sourceOf: (name: string) => entries.get(name)?.source,
    unknown: (name: string) => unknownScenarioMessage(name, names),
    /** Returns the layers of a scenario in order of priority: itself, those that it extends, and the default one unless one has `base: none`. */
    layersOf: (scenario: CompiledScenario) => layersIn(scenario, get),
    /** Returns the layers of a scenario without the default one, unless it is that scenario. */
    ownLayersOf: (scenario: CompiledScenario) =>
      layersIn(scenario, get).filter(
        ({ name }) => name !== DEFAULT_SCENARIO || name === scenario.name,
      ),
    /** Returns the readings of a scenario and of those that it extends. */
    readingsOf: (scenario: CompiledScenario): Readings =>
      Object.assign(
        {},
        ...layersIn(scenario, get)
          .map(({ assume }) => assume)
          .reverse(),
      ),
    /** Returns what is wrong with the names in a scenario that is not in the library; empty if nothing is. */
    checkNames: (scenario: CompiledScenario) =>
      checkReferences(scenario, names, (name) => (name === scenario.name ? scenario : get(name))),
  }
}

export type Library = ReturnType<typeof createLibrary>

/** The scenarios that a client brings, by name. */
export type OwnScenarios = Readonly<Record<string, ScenarioDefinition>>

/** Returns a library with one more scenario, which no file has. */
export const withInline = (library: Library, name: string, definition: ScenarioDefinition) =>
  createLibrary(
    new Map(library.entries).set(name, {
      file: `${name}.json`,
      source: `${JSON.stringify(definition, null, 2)}\n`,
      scenario: compileScenario(definition, name),
    }),
  )

/** Returns the library of a client: its own scenarios take precedence. */
export const withOwn = (library: Library, own: OwnScenarios): Library =>
  Object.entries(own).reduce(
    (all, [name, definition]) => withInline(all, name, definition),
    library,
  )

/** Returns the path of a scenario's file. A file name without a folder is a shipped scenario. */
export const scenarioPath = (file: string): string =>
  basename(file) === file ? join(PACKAGE_ROOT, 'scenarios', file) : file

/** A shipped scenario as the build writes it, already parsed and checked. */
export type ShippedScenario = { name: string; file: string; definition: ScenarioDefinition }

/** Returns the shipped scenarios that the build has checked, each compiled on first use; `undefined` if there is no build. */
export const shippedLibrary = builtFile((text): Library => {
  const shipped: ShippedScenario[] = JSON.parse(text)
  const entries = shipped.map(({ name, file, definition }): [string, LibraryEntry] => {
    const compiled = onDemand(() => compileScenario(definition, name))
    return [
      name,
      {
        file,
        get scenario() {
          return compiled()
        },
      },
    ]
  })
  return createLibrary(new Map(entries))
})

/** Loads the checks of scenarios and matches on first use, because their YAML parser and schemas would slow down each start. */
export const loadReader = (): Promise<typeof import('./read.ts')> => import('./read.ts')
