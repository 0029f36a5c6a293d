import type { Readings } from '../assumptions/readings.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'

/** The scenario that `exec` or a sweep imposes on all clients: its layers and its readings. */
export type Imposed = {
  layers: () => readonly CompiledScenario[]
  readings: () => Readings
}

/** The scenario of this name as the one that is imposed; the default one is below all others anyway. */
export function imposedOf(name: string | undefined, library: () => Library): Imposed {
  const find = () =>
    name === undefined || name === DEFAULT_SCENARIO ? undefined : library().get(name)
  return {
    layers() {
      const scenario = find()
      return scenario ? library().ownLayersOf(scenario) : []
    },
    readings() {
      const scenario = find()
      return scenario ? library().readingsOf(scenario) : {}
    },
  }
}
