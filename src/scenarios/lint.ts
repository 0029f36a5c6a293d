import { didYouMean } from '../model/words.ts'
import { fieldsOf, OPERATIONS_WITH } from './call-fields.ts'
import { compileScenario } from './compile.ts'
import type { CompiledRule, CompiledScenario } from './compiled.ts'
import type { SchemaError } from './explain.ts'
import { isUndescribed } from './lifecycle-schema.ts'
import type { Test } from './match.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import { outcomesOf, type RuleDefinition } from './rule-schema.ts'
import { unreachableIn } from './shadow.ts'
import { oneOf, quoteValue } from './wording.ts'
import type { Path } from './yaml.ts'

/** A warning about something that is allowed but looks like a mistake. */
type Warning = SchemaError

const at = (path: Path, of: 'key' | 'value', message: string): Warning => ({ path, of, message })

/** Warns about a part that no call of the rule's operations has. */
function missingParts({ when }: RuleDefinition, { operations }: CompiledRule): Warning[] {
  return (['body', 'user', 'account'] as const).flatMap((part) => {
    const has = OPERATIONS_WITH[part]
    if (when[part] === undefined || operations.some((one) => has.includes(one))) return []
    const message = `this rule never matches: calls of ${oneOf(operations)} have no \`${part}\``
    return [at(['when', part], 'key', message)]
  })
}

/** Warns about a field that the contract does not have, if it has a similar one. */
function misspeltField({ part, path: [field] }: Test, { operations }: CompiledRule): Warning[] {
  const known = fieldsOf(part, operations)
  if (field === undefined || !known || known.closed || known.fields.includes(field)) return []
  const near = didYouMean(field, known.fields)
  if (near === '') return []
  const message = `\`${part}\` has no ${quoteValue(field)} in the contract${near}`
  return [at(['when', part, field], 'key', message)]
}

function paiseOfOther({ part, path, operator }: Test): Warning[] {
  const field = path.at(-1)
  if (operator !== 'paise' || field === undefined || field === 'amount') return []
  const message = `\`paise\` tests an amount, and \`${field}\` is not an amount`
  return [at(['when', part, ...path, operator], 'key', message)]
}

/** Warns about the reasons of payments that have no description. */
function undescribedReasons(rule: RuleDefinition): Warning[] {
  return outcomesOf(rule).flatMap(([path, outcome]) => {
    const { transaction = [] } = outcome === 'pass' ? {} : (outcome as OutcomeDefinition)
    return transaction.flatMap((step, i) => {
      if (!isUndescribed(step)) return []
      const message = `${quoteValue(step.reason)} is not a known reason; add a \`description\` that explains it`
      return [at([...path, 'transaction', i, 'reason'], 'value', message)]
    })
  })
}

function uselessKey({ key, then, ...rule }: RuleDefinition): Warning[] {
  const counts = [rule.skip, rule.times, rule.chance, rule.sequence, then?.sequence]
  if (key === undefined || counts.some((word) => word !== undefined)) return []
  return [at(['key'], 'key', '`key` has no effect without skip, times, chance or sequence')]
}

function lintCompiled(rule: RuleDefinition, compiled: CompiledRule, path: Path): Warning[] {
  const found = [
    ...missingParts(rule, compiled),
    ...compiled.tests.flatMap((test) => misspeltField(test, compiled)),
    ...compiled.tests.flatMap(paiseOfOther),
    ...undescribedReasons(rule),
    ...uselessKey(rule),
  ]
  // Two tests of one field give one warning.
  const unique = new Map(found.map((one) => [JSON.stringify(one), one]))
  return [...unique.values()].map((one) => ({ ...one, path: [...path, ...one.path] }))
}

/** Returns the warnings about one valid rule at a path. */
export function lintRule(rule: RuleDefinition, path: Path = []): Warning[] {
  const [compiled] = compileScenario({ rules: [rule] }, 'lint').rules
  return lintCompiled(rule, compiled!, path)
}

/** Returns the warnings about a valid scenario: what never happens, and what is probably misspelt. */
export function lint(scenario: CompiledScenario): Warning[] {
  const { rules = [], timeline = [] } = scenario.definition
  return [
    ...rules.flatMap((rule, i) => lintCompiled(rule, scenario.rules[i]!, ['rules', i])),
    ...timeline.flatMap(({ do: { rule } }, i) =>
      rule ? lintRule(rule, ['timeline', i, 'do', 'rule']) : [],
    ),
    ...unreachableIn(scenario).map(({ list, index, message }) =>
      at([list, index], 'value', message),
    ),
  ]
}
