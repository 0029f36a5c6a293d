import { checkRule } from './check-rule.ts'
import { checkEntry, checkUsersAtActivation } from './check-timeline.ts'
import { checkWebhookRule } from './check-webhooks.ts'
import { createFindings, type Findings, type IsClean, isMapping } from './findings.ts'
import type { CountDefinition } from './schema.ts'
import { quoteValue } from './wording.ts'
import type { Path } from './yaml-source.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Checks everything that the schema of a definition cannot express. Skips the parts that the schema has rejected. */
export function checkScenario(definition: unknown, clean: IsClean): Findings {
  const findings = createFindings()
  if (!isMapping(definition)) return findings
  const check = (key: string, one: (value: unknown, path: Path) => void) => {
    for (const [i, value] of listOf(definition[key]).entries()) one(value, [key, i])
  }
  const hasContent = ['rules', 'webhooks', 'timeline', 'extends', 'expect'].some(
    (key) => definition[key] !== undefined,
  )
  if (!hasContent && clean([])) {
    const message = 'the scenario is empty; add rules, webhooks, timeline, expect or extends'
    findings.errors.push({ path: [], of: 'value', message })
  }
  check('rules', (rule, path) => checkRule(rule, path, clean, findings))
  check('webhooks', (rule, path) => checkWebhookRule(rule, path, clean, findings))
  check('timeline', (entry, path) => checkEntry(entry, path, clean, findings))
  checkUsersAtActivation(listOf(definition['timeline']), clean, findings)
  checkNames('rules', listOf(definition['rules']), findings)
  checkNames('webhooks', listOf(definition['webhooks']), findings)
  checkExpect(definition['expect'], clean, findings)
  return findings
}

function checkNames(list: string, rules: readonly unknown[], { errors }: Findings) {
  const seen = new Map<string, number>()
  for (const [i, rule] of rules.entries()) {
    const name = isMapping(rule) ? rule['name'] : undefined
    if (typeof name !== 'string') continue
    const before = seen.get(name)
    if (before === undefined) seen.set(name, i)
    else {
      const message = `${list}[${before}] also has the name ${quoteValue(name)}; counters use the name, so rename one of the two`
      errors.push({ path: [list, i, 'name'], of: 'value', message })
    }
  }
}

function checkExpect(expect: unknown, clean: IsClean, { errors }: Findings) {
  const requests = isMapping(expect) ? expect['requests'] : undefined
  if (!isMapping(requests)) return
  for (const [operation, count] of Object.entries(requests)) {
    const path = ['expect', 'requests', operation]
    if (!isMapping(count) || !clean(path)) continue
    const {
      exactly,
      at_least: atLeast = 0,
      at_most: atMost = Number.POSITIVE_INFINITY,
    } = count as Exclude<CountDefinition, number>
    if (Object.keys(count).length === 0)
      errors.push({
        path,
        of: 'value',
        message: 'an empty count; write exactly, at_least or at_most',
      })
    if (exactly !== undefined && Object.keys(count).length > 1) {
      errors.push({
        path: [...path, 'exactly'],
        of: 'key',
        message: '`exactly` cannot be combined with at_least or at_most; remove one',
      })
    }
    if (atLeast > atMost)
      errors.push({
        path,
        of: 'value',
        message: `no number is at least ${atLeast} and at most ${atMost}; at_least must not be larger than at_most`,
      })
  }
}
