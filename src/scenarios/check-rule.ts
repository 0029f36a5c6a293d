import { checkWhen } from './check-conditions.ts'
import { checkOutcome } from './check-outcomes.ts'
import { type Clean, type Findings, isMapping, type Mapping } from './findings.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import type { RuleDefinition } from './rule-schema.ts'
import { OPERATIONS, type OperationId } from './words.ts'
import type { Path } from './yaml-source.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Checks one rule of a scenario or of a timeline; `{}` is refused. */
export function checkRule(rule: unknown, path: Path, clean: Clean, findings: Findings): void {
  if (!isMapping(rule)) return
  const { when } = rule
  if (Object.keys(rule).length === 0) {
    const message = 'an empty rule; say which calls with `when` and what happens with `then`'
    findings.faults.push({ path, of: 'value', message })
    return
  }
  const at = [...path, 'when']
  let operations: readonly OperationId[] = OPERATIONS
  if (isMapping(when)) {
    if (Object.keys(when).length === 0) {
      const message = 'an empty `when`; for every call say operation: "*"'
      findings.faults.push({ path: at, of: 'value', message })
    } else operations = checkWhen(when, at, findings)
  }
  const whenIsBroken = findings.faults.some((fault) => isUnder(fault.path, at)) || !clean(at)
  // After a typo in `operation`, what depends on the operation would only be told twice.
  checkThen(rule as RuleDefinition, path, whenIsBroken ? undefined : operations, clean, findings)
}

const isUnder = (path: Path, parent: Path) => parent.every((key, i) => path[i] === key)

function checkThen(
  rule: RuleDefinition,
  path: Path,
  operations: readonly OperationId[] | undefined,
  clean: Clean,
  findings: Findings,
) {
  const { faults, warnings } = findings
  const say = (key: string, message: string) =>
    faults.push({ path: [...path, key], of: 'key', message })
  const { then, sequence } = rule
  const inner = isMapping(then) ? then.sequence : undefined
  if (then === undefined && sequence === undefined) {
    faults.push({
      path,
      of: 'value',
      message: 'the rule does not say what happens; give it `then` or `sequence`',
    })
  }
  if (then !== undefined && sequence !== undefined)
    say('sequence', '`then` and `sequence` exclude each other; keep one')
  if (rule.then_on !== undefined && !sequence)
    say('then_on', '`then_on` says what comes after a `sequence`; this rule has none')
  if (isMapping(then)) checkSequenceInThen(then, [...path, 'then'], findings)
  const outcomes: [unknown, Path][] = []
  if (isMapping(then) && inner === undefined) outcomes.push([then, [...path, 'then']])
  for (const [i, one] of listOf(inner).entries())
    outcomes.push([one, [...path, 'then', 'sequence', i]])
  for (const [i, one] of listOf(sequence).entries()) outcomes.push([one, [...path, 'sequence', i]])
  for (const [outcome, at] of outcomes) {
    if (outcome === 'pass' || !clean(at)) continue
    const own = operations ?? makersIn(outcome as OutcomeDefinition)
    checkOutcome(outcome as OutcomeDefinition, at, own, findings)
  }
  const counts =
    ['skip', 'times', 'chance', 'sequence'].some((word) => rule[word as 'skip'] !== undefined) ||
    inner
  if (rule.key !== undefined && !counts) {
    warnings.push({
      path: [...path, 'key'],
      of: 'key',
      message: '`key` has nothing to count here; it goes with skip, times, chance or sequence',
    })
  }
  if (rule.key?.toString().startsWith('item.') && operations && !operations.includes('submitKyc')) {
    say('key', '`item` is a document of POST /kyc; say operation: submitKyc')
  }
}

/** Where a rule's operations are unknown: those that its outcome fits. */
const makersIn = ({ kyc, bank, transaction }: OutcomeDefinition): readonly OperationId[] =>
  kyc ? ['submitKyc'] : bank ? ['addBankAccount'] : transaction ? ['createTransaction'] : OPERATIONS

function checkSequenceInThen(then: Mapping, path: Path, { faults }: Findings) {
  const { sequence, then_on, ...rest } = then
  if (sequence === undefined) {
    if (then_on === undefined) return
    const message = '`then_on` says what comes after a `sequence`; this rule has none'
    faults.push({ path: [...path, 'then_on'], of: 'key', message })
    return
  }
  for (const key of Object.keys(rest)) {
    const message = `\`${key}\` stands beside a \`sequence\`; put it into the outcomes of the sequence`
    faults.push({ path: [...path, key], of: 'key', message })
  }
}
