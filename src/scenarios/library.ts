import { didYouMean } from '../model/closest-word.ts'
import { type CompiledScenario, MIN_TURN_MS } from './compiled.ts'
import { shown } from './wording.ts'
import type { Path } from './yaml-source.ts'

/** The scenario that lies under every other one. */
export const DEFAULT_SCENARIO = 'default'

const noScenario = (name: string, known: readonly string[]) =>
  `there is no scenario ${shown(name)}${didYouMean(name, known) || `; there are ${known.join(', ')}`}`

type Find = (name: string) => CompiledScenario | undefined

/** The chain of a scenario and what it extends; the name at which it closes to a circle, if it does. */
function chainOf(
  start: CompiledScenario,
  find: Find,
): { chain: CompiledScenario[]; circle?: string[] } {
  const chain: CompiledScenario[] = []
  for (
    let next: CompiledScenario | undefined = start;
    next;
    next = next.extends === undefined ? undefined : find(next.extends)
  ) {
    const again = chain.findIndex(({ name }) => name === next!.name)
    if (again >= 0) return { chain, circle: [...chain.slice(again), next].map(({ name }) => name) }
    chain.push(next)
  }
  return { chain }
}

/** A scenario, what it extends, and the default one, unless one of them says `base: none`. */
function layersIn(scenario: CompiledScenario, find: Find): readonly CompiledScenario[] {
  const { chain } = chainOf(scenario, find)
  const base = find(DEFAULT_SCENARIO)
  const bare = chain.some((one) => !one.base || one.name === DEFAULT_SCENARIO)
  return bare || !base ? chain : [...chain, base]
}

/** The scenarios that take over as good as at once when this one is activated. */
const usedAtOnce = (scenario: CompiledScenario, find: Find): string[] =>
  layersIn(scenario, find)
    .flatMap(({ timeline }) => timeline)
    .flatMap(({ after_ms: afterMs, do: action }) =>
      'use' in action && afterMs < MIN_TURN_MS ? [action.use] : [],
    )

/** The way from `use` back to a scenario whose timeline has it, each step at once; `undefined` where there is none. */
function loopFrom(
  scenario: CompiledScenario,
  use: string,
  names: readonly string[],
  find: Find,
): string[] | undefined {
  const ways = new Map<string, string[]>([[use, [use]]])
  for (const [name, way] of ways) {
    const next = find(name)
    for (const one of next ? usedAtOnce(next, find) : [])
      if (!ways.has(one)) ways.set(one, [...way, one])
  }
  for (const name of new Set([scenario.name, ...names])) {
    const start = ways.has(name) ? find(name) : undefined
    if (start && layersIn(start, find).includes(scenario)) return [name, ...ways.get(name)!]
  }
  return undefined
}

/** What a scenario says about others, held against those that there are. */
export function referencesOf(
  scenario: CompiledScenario,
  names: readonly string[],
  find: Find,
): { path: Path; message: string }[] {
  const found: { path: Path; message: string }[] = []
  const { extends: under } = scenario
  if (under !== undefined && under !== scenario.name && !names.includes(under)) {
    found.push({ path: ['extends'], message: noScenario(under, names) })
  } else {
    const { circle } = chainOf(scenario, find)
    if (circle)
      found.push({
        path: ['extends'],
        message: `${circle.join(' extends ')}: a circle; let one of them stand alone`,
      })
  }
  for (const [i, { after_ms: afterMs, do: action }] of scenario.timeline.entries()) {
    if (!('use' in action)) continue
    const path = ['timeline', i, 'do', 'use']
    if (!names.includes(action.use)) {
      found.push({ path, message: noScenario(action.use, names) })
    } else if (afterMs < MIN_TURN_MS) {
      const loop = loopFrom(scenario, action.use, names, find)
      if (loop) {
        const message = `${loop.join(' uses ')} at once, without end; give one of them an \`after\` of at least ${MIN_TURN_MS}ms`
        found.push({ path, message })
      }
    }
  }
  return found
}

/** A scenario of a library; `scenario` may be a getter that compiles it on its first use. */
export type LibraryEntry = {
  file: string
  /** Its text, where that is not to be read from the file. */
  source?: string
  readonly scenario: CompiledScenario
}

/** The scenarios that can be used, by name. */
export function createLibrary(loaded: ReadonlyMap<string, LibraryEntry>) {
  const names = [...loaded.keys()].sort()
  const get = (name: string) => loaded.get(name)?.scenario

  return {
    /** All names, sorted. */
    names,
    get,
    /** The file that a scenario was read from. */
    fileOf: (name: string) => loaded.get(name)?.file,
    /** The text of a scenario whose file may be elsewhere. */
    sourceOf: (name: string) => loaded.get(name)?.source,
    /** What to say of a name that there is not: it names the one that was probably meant. */
    unknown: (name: string) => noScenario(name, names),
    /**
     * The layers of a scenario, the first one asked first: itself, what it extends, and the default one, unless one of
     * them says `base: none`.
     */
    layersOf: (scenario: CompiledScenario) => layersIn(scenario, get),
    /** What is wrong with the names in a scenario that is none of the library's; empty where nothing is. */
    checkNames: (scenario: CompiledScenario) =>
      referencesOf(scenario, names, (name) => (name === scenario.name ? scenario : get(name))),
  }
}

/** The scenarios that can be used. */
export type Library = ReturnType<typeof createLibrary>
