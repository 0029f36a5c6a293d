import { didYouMean } from '../model/words.ts'
import type { CompiledScenario } from './compiled.ts'
import { MIN_REPEAT_MS } from './operations-and-events.ts'
import { quoteValue } from './wording.ts'
import type { Path } from './yaml.ts'

/** The scenario below every other one. */
export const DEFAULT_SCENARIO = 'default'

/** The message for the name of a scenario that does not exist; it suggests a similar one. */
export const unknownScenarioMessage = (name: string, known: readonly string[]) =>
  `there is no scenario ${quoteValue(name)}${didYouMean(name, known) || `; known scenarios: ${known.join(', ')}`}`

/** Returns a scenario by its name. */
export type Find = (name: string) => CompiledScenario | undefined

/** Returns a scenario and all that it extends, in order; and the names of the cycle if there is one. */
function chainOf(
  start: CompiledScenario,
  find: Find,
): { chain: CompiledScenario[]; cycle?: string[] } {
  const chain: CompiledScenario[] = []
  for (
    let next: CompiledScenario | undefined = start;
    next;
    next = next.extends === undefined ? undefined : find(next.extends)
  ) {
    const again = chain.findIndex(({ name }) => name === next!.name)
    if (again >= 0) return { chain, cycle: [...chain.slice(again), next].map(({ name }) => name) }
    chain.push(next)
  }
  return { chain }
}

/** Returns a scenario, those that it extends, and the default one unless one of them has `base: none`. */
export function layersIn(scenario: CompiledScenario, find: Find): readonly CompiledScenario[] {
  const { chain } = chainOf(scenario, find)
  const base = find(DEFAULT_SCENARIO)
  const withoutBase = chain.some((one) => !one.base || one.name === DEFAULT_SCENARIO)
  return withoutBase || !base ? chain : [...chain, base]
}

/** Returns the scenarios that a timeline activates (almost) immediately after this scenario is activated. */
const usedImmediately = (scenario: CompiledScenario, find: Find): string[] =>
  layersIn(scenario, find)
    .flatMap(({ timeline }) => timeline)
    .flatMap(({ after_ms: afterMs, do: action }) =>
      'use' in action && afterMs < MIN_REPEAT_MS ? [action.use] : [],
    )

/** Returns a cycle of scenarios that activate each other immediately through `use`; `undefined` if there is none. */
function findUseLoop(
  scenario: CompiledScenario,
  use: string,
  names: readonly string[],
  find: Find,
): string[] | undefined {
  const paths = new Map<string, string[]>([[use, [use]]])
  for (const [name, way] of paths) {
    const next = find(name)
    for (const one of next ? usedImmediately(next, find) : [])
      if (!paths.has(one)) paths.set(one, [...way, one])
  }
  for (const name of new Set([scenario.name, ...names])) {
    const start = paths.has(name) ? find(name) : undefined
    if (start && layersIn(start, find).includes(scenario)) return [name, ...paths.get(name)!]
  }
  return undefined
}

/** Checks that the scenarios that a scenario names exist, and that `extends` and `use` have no cycles. */
export function checkReferences(
  scenario: CompiledScenario,
  names: readonly string[],
  find: Find,
): { path: Path; message: string }[] {
  const found: { path: Path; message: string }[] = []
  const { extends: parent } = scenario
  if (parent !== undefined && parent !== scenario.name && !names.includes(parent)) {
    found.push({ path: ['extends'], message: unknownScenarioMessage(parent, names) })
  } else {
    const { cycle } = chainOf(scenario, find)
    if (cycle)
      found.push({
        path: ['extends'],
        message: `${cycle.join(' extends ')}: this is a cycle; remove one \`extends\``,
      })
  }
  for (const [i, { after_ms: afterMs, do: action }] of scenario.timeline.entries()) {
    if (!('use' in action)) continue
    const path = ['timeline', i, 'do', 'use']
    if (!names.includes(action.use)) {
      found.push({ path, message: unknownScenarioMessage(action.use, names) })
    } else if (afterMs < MIN_REPEAT_MS) {
      const loop = findUseLoop(scenario, action.use, names, find)
      if (loop) {
        const message = `${loop.join(' uses ')} immediately, in an endless loop; give one of them an \`after\` of at least ${MIN_REPEAT_MS}ms`
        found.push({ path, message })
      }
    }
  }
  return found
}
