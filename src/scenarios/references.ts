import { didYouMean, quoteValue } from '../model/words.ts'
import type { CompiledScenario, RuleLimits } from './compiled.ts'
import type { RuleCall, RuleEvent } from './match.ts'
import { MIN_REPEAT_MS } from './operations-and-events.ts'
import type { Path } from './yaml.ts'

/** The scenario below every other one. */
export const DEFAULT_SCENARIO = 'default'

/** The message for the name of a scenario that does not exist; it suggests a similar one. */
export const unknownScenarioMessage = (name: string, known: readonly string[]) =>
  `there is no scenario ${quoteValue(name)}${didYouMean(name, known) || `; known scenarios: ${known.join(', ')}`}`

export type Find = (name: string) => CompiledScenario | undefined

/** Returns a scenario and all that it extends, in order; and the names of the cycle if there is one. */
function chainOf(start: CompiledScenario, find: Find) {
  const chain: CompiledScenario[] = []
  for (
    let next: CompiledScenario | undefined = start;
    next;
    next = next.definition.extends === undefined ? undefined : find(next.definition.extends)
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
export function checkReferences(scenario: CompiledScenario, names: readonly string[], find: Find) {
  const found: { path: Path; message: string }[] = []
  const { extends: parent } = scenario.definition
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

/** Returns a 53-bit hash of a string as hex. It distinguishes rules and key values without storing them. */
function hashOf(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    low = Math.imul(low ^ unit, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (4_294_967_296 * (0x1fffff & low) + (high >>> 0)).toString(16).padStart(14, '0')
}

/** Returns an id for each rule that does not change when other rules are added: its name, or a hash of its text. */
export function ruleIds(definitions: readonly { name?: string | undefined }[]): string[] {
  const seen = new Map<string, number>()
  return definitions.map((definition) => {
    const id = definition.name ?? `#${hashOf(JSON.stringify(definition))}`
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return count === 1 ? id : `${id}~${count}`
  })
}

/** The name of a rule's counter; a `key` adds the hash of its value, which is not stored: it may be an account number. */
export const counterName = ({ scenario, id }: Pick<RuleLimits, 'scenario' | 'id'>): string =>
  `${scenario}#${id}`

export function counterFor(rule: RuleLimits, call: RuleCall | RuleEvent): string {
  if (!rule.keyOf) return counterName(rule)
  // Calls without a value at the path share one counter.
  return `${counterName(rule)}\n${hashOf(JSON.stringify(rule.keyOf(call) ?? null))}`
}
