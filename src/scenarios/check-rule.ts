import { checkWhen } from './check-conditions.ts'
import { checkOutcome } from './check-outcomes.ts'
import { type Findings, type IsClean, isMapping, type Mapping } from './findings.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import type { RuleDefinition } from './rule-schema.ts'
import { OPERATIONS, type OperationId } from './words.ts'
import type { Path } from './yaml-source.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Checks one rule of a scenario or of a timeline. `{}` is an error. */
export function checkRule(rule: unknown, path: Path, clean: IsClean, findings: Findings): void {
  if (!isMapping(rule)) return
  const { when } = rule
  if (Object.keys(rule).length === 0) {
    const message = 'an empty rule; specify the calls with `when` and the outcome with `then`'
    findings.errors.push({ path, of: 'value', message })
    return
  }
  const at = [...path, 'when']
  let operations: readonly OperationId[] = OPERATIONS
  if (isMapping(when)) {
    if (Object.keys(when).length === 0) {
      const message = 'an empty `when`; to match every call, write operation: "*"'
      findings.errors.push({ path: at, of: 'value', message })
    } else operations = checkWhen(when, at, findings)
  }
  const whenIsBroken = findings.errors.some((fault) => isUnder(fault.path, at)) || !clean(at)
  // After an error in `operation`, the checks that depend on it would only repeat the same mistake.
  checkThen(rule as RuleDefinition, path, whenIsBroken ? undefined : operations, clean, findings)
}

const isUnder = (path: Path, parent: Path) => parent.every((key, i) => path[i] === key)

function checkThen(
  rule: RuleDefinition,
  path: Path,
  operations: readonly OperationId[] | undefined,
  clean: IsClean,
  findings: Findings,
) {
  const { errors, warnings } = findings
  const reject = (key: string, message: string) =>
    errors.push({ path: [...path, key], of: 'key', message })
  const { then, sequence } = rule
  const inner = isMapping(then) ? then.sequence : undefined
  if (then === undefined && sequence === undefined) {
    errors.push({
      path,
      of: 'value',
      message: 'the rule has no outcome; add `then` or `sequence`',
    })
  }
  if (then !== undefined && sequence !== undefined)
    reject('sequence', 'the rule has both `then` and `sequence`; remove one')
  if (rule.then_on !== undefined && !sequence)
    reject(
      'then_on',
      '`then_on` applies after a `sequence`, and this rule has none; remove it or add a `sequence`',
    )
  if (isMapping(then)) checkSequenceInThen(then, [...path, 'then'], findings)
  const outcomes: [unknown, Path][] = []
  if (isMapping(then) && inner === undefined) outcomes.push([then, [...path, 'then']])
  for (const [i, one] of listOf(inner).entries())
    outcomes.push([one, [...path, 'then', 'sequence', i]])
  for (const [i, one] of listOf(sequence).entries()) outcomes.push([one, [...path, 'sequence', i]])
  for (const [outcome, at] of outcomes) {
    if (outcome === 'pass' || !clean(at)) continue
    const own = operations ?? creatingOperations(outcome as OutcomeDefinition)
    checkOutcome(outcome as OutcomeDefinition, at, own, findings)
  }
  const counts =
    ['skip', 'times', 'chance', 'sequence'].some((word) => rule[word as 'skip'] !== undefined) ||
    inner
  if (rule.key !== undefined && !counts) {
    warnings.push({
      path: [...path, 'key'],
      of: 'key',
      message: '`key` has no effect without skip, times, chance or sequence',
    })
  }
  if (rule.key?.toString().startsWith('item.') && operations && !operations.includes('submitKyc')) {
    reject('key', '`item` is a document of POST /kyc; add operation: submitKyc')
  }
}

/** Returns the operations that an outcome fits; used if the rule's own operations are unknown. */
const creatingOperations = ({
  kyc,
  bank,
  transaction,
}: OutcomeDefinition): readonly OperationId[] =>
  kyc ? ['submitKyc'] : bank ? ['addBankAccount'] : transaction ? ['createTransaction'] : OPERATIONS

function checkSequenceInThen(then: Mapping, path: Path, { errors }: Findings) {
  const { sequence, then_on, ...rest } = then
  if (sequence === undefined) {
    if (then_on === undefined) return
    const message =
      '`then_on` applies after a `sequence`, and this rule has none; remove it or add a `sequence`'
    errors.push({ path: [...path, 'then_on'], of: 'key', message })
    return
  }
  for (const key of Object.keys(rest)) {
    const message = `\`${key}\` cannot be beside a \`sequence\`; move it into the outcomes of the sequence`
    errors.push({ path: [...path, key], of: 'key', message })
  }
}
