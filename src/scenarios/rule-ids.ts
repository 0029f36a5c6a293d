import type { RuleLimits } from './compiled.ts'
import type { RuleCall, RuleEvent } from './match.ts'

/** Returns a 53-bit hash of a text as hex. It distinguishes rules and key values without storing them. */
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

/**
 * Returns the name of a rule's counter. A rule with a `key` has one counter for each value of the key, named
 * `<this name>\n<hash of the value>`. The value itself is not stored, because it may be an account number.
 */
export const counterName = ({ scenario, id }: Pick<RuleLimits, 'scenario' | 'id'>): string =>
  `${scenario}#${id}`

/** Returns the name of the counter that a call increments. */
export function counterFor(rule: RuleLimits, call: RuleCall | RuleEvent): string {
  if (!rule.keyOf) return counterName(rule)
  // Calls without a value at the path share one counter.
  return `${counterName(rule)}\n${hashOf(JSON.stringify(rule.keyOf(call) ?? null))}`
}
