import { checkRule } from './check-rule.ts'
import { checkAtOnce, checkEntry } from './check-timeline.ts'
import { checkWebhookRule } from './check-webhooks.ts'
import { type Clean, type Findings, isMapping, noFindings } from './findings.ts'
import type { CountDefinition } from './schema.ts'
import { shown } from './wording.ts'
import type { Path } from './yaml-source.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Everything about a definition that its schema cannot say. Parts that the schema refused are left alone. */
export function checkScenario(definition: unknown, clean: Clean): Findings {
  const findings = noFindings()
  if (!isMapping(definition)) return findings
  const check = (key: string, one: (value: unknown, path: Path) => void) => {
    for (const [i, value] of listOf(definition[key]).entries()) one(value, [key, i])
  }
  const saysSomething = ['rules', 'webhooks', 'timeline', 'extends', 'expect'].some(
    (key) => definition[key] !== undefined,
  )
  if (!saysSomething && clean([])) {
    const message = 'the scenario says nothing; give it rules, webhooks, a timeline or extends'
    findings.faults.push({ path: [], of: 'value', message })
  }
  check('rules', (rule, path) => checkRule(rule, path, clean, findings))
  check('webhooks', (rule, path) => checkWebhookRule(rule, path, clean, findings))
  check('timeline', (entry, path) => checkEntry(entry, path, clean, findings))
  checkAtOnce(listOf(definition['timeline']), clean, findings)
  checkNames('rules', listOf(definition['rules']), findings)
  checkNames('webhooks', listOf(definition['webhooks']), findings)
  checkExpect(definition['expect'], clean, findings)
  return findings
}

function checkNames(list: string, rules: readonly unknown[], { faults }: Findings) {
  const seen = new Map<string, number>()
  for (const [i, rule] of rules.entries()) {
    const name = isMapping(rule) ? rule['name'] : undefined
    if (typeof name !== 'string') continue
    const before = seen.get(name)
    if (before === undefined) seen.set(name, i)
    else {
      const message = `the name ${shown(name)} is that of ${list}[${before}] too; counters hang on it, so give each its own`
      faults.push({ path: [list, i, 'name'], of: 'value', message })
    }
  }
}

function checkExpect(expect: unknown, clean: Clean, { faults }: Findings) {
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
      faults.push({
        path,
        of: 'value',
        message: 'an empty count; say exactly, at_least or at_most',
      })
    if (exactly !== undefined && Object.keys(count).length > 1) {
      faults.push({
        path: [...path, 'exactly'],
        of: 'key',
        message: '`exactly` leaves no room for at_least and at_most; keep one',
      })
    }
    if (atLeast > atMost)
      faults.push({
        path,
        of: 'value',
        message: `no number is at least ${atLeast} and at most ${atMost}`,
      })
  }
}
