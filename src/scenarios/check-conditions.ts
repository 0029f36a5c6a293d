import { didYouMean } from '../model/closest-word.ts'
import { type Findings, isMapping } from './findings.ts'
import { isComparison, operationsOf } from './match.ts'
import { argumentError } from './operator-arguments.ts'
import { oneOf, quoteValue } from './wording.ts'
import {
  CALL_PARTS,
  type CallPart,
  EVENT_PARTS,
  type EventPart,
  fieldsOf,
  isTextField,
  OPERATIONS,
  OPERATORS,
  type OperationId,
  type Operator,
} from './words.ts'
import type { Path } from './yaml-source.ts'

type ConditionContext = {
  part: CallPart | EventPart
  operations: readonly OperationId[]
  field?: string
} & Findings

const MAX_PATTERNS = 100
const MAX_CONDITIONS = 100

/** Rejects a number in a field of text, such as an account number, an id or a code. */
function checkIsQuoted(value: unknown, path: Path, { field, part, errors }: ConditionContext) {
  if (typeof value !== 'number' || field === undefined || !isTextField(field) || part === 'query')
    return
  const message = `\`${field}\` is text, not a number: put ${quoteValue(value)} in quotes`
  errors.push({ path, of: 'value', message })
}

function checkComparison(
  condition: Record<string, unknown>,
  path: Path,
  context: ConditionContext,
) {
  for (const [operator, argument] of Object.entries(condition)) {
    const at = [...path, operator]
    if (operator === 'matches' && ++context.counts.patterns > MAX_PATTERNS) {
      const message = `more than ${MAX_PATTERNS} patterns in one file; use starts_with, ends_with, contains or in, which are cheaper`
      context.errors.push({ path: at, of: 'key', message })
      return
    }
    const reportUnknown = argumentError(operator as Operator, argument)
    if (reportUnknown) {
      context.errors.push({ path: at, of: 'value', message: `\`${operator}\` ${reportUnknown}` })
      continue
    }
    if (['eq', 'ne', 'contains', 'starts_with', 'ends_with'].includes(operator))
      checkIsQuoted(argument, at, context)
    if (operator === 'in') {
      for (const [i, one] of (argument as unknown[]).entries())
        checkIsQuoted(one, [...at, i], context)
    }
    if (operator === 'paise' && context.field !== undefined && context.field !== 'amount') {
      const message = `\`paise\` tests an amount, and \`${context.field}\` is not an amount`
      context.warnings.push({ path: at, of: 'key', message })
    }
  }
}

function checkMixedKeys(keys: readonly string[], path: Path, context: ConditionContext): boolean {
  const unknownKeys = keys.filter((key) => !(OPERATORS as readonly string[]).includes(key))
  if (unknownKeys.length === keys.length) return false
  for (const key of unknownKeys) {
    const near = didYouMean(key, OPERATORS)
    const message = near
      ? `unknown operator ${quoteValue(key)}${near}`
      : `${quoteValue(key)} is not an operator, and a comparison can have only operators; known: ${OPERATORS.join(', ')}`
    context.errors.push({ path: [...path, key], of: 'key', message })
  }
  return true
}

function checkFields(condition: Record<string, unknown>, path: Path, context: ConditionContext) {
  const top = context.field === undefined
  const known = top ? fieldsOf(context.part, context.operations) : undefined
  const scalar =
    !top &&
    context.field !== 'kyc' &&
    fieldsOf(context.part, OPERATIONS)?.fields.includes(context.field!)
  for (const [field, inner] of Object.entries(condition)) {
    const at = [...path, field]
    if (scalar) {
      const hint = didYouMean(field, OPERATORS) || `; known: ${OPERATORS.join(', ')}`
      context.errors.push({
        path: at,
        of: 'key',
        message: `unknown operator ${quoteValue(field)} for \`${context.field}\`${hint}`,
      })
      continue
    }
    if (known && !known.fields.includes(field) && context.counts.conditions < MAX_CONDITIONS)
      checkUnknownField(field, at, known, context)
    checkCondition(inner, at, { ...context, field })
  }
}

function checkUnknownField(
  field: string,
  path: Path,
  known: { fields: readonly string[]; closed: boolean },
  context: ConditionContext,
) {
  const near = didYouMean(field, known.fields)
  if (known.closed) {
    const has =
      known.fields.length > 0 ? `it has ${known.fields.join(', ')}` : 'these operations have none'
    const message = `\`${context.part}\` has no ${quoteValue(field)}${near || `; ${has}`}`
    context.errors.push({ path, of: 'key', message })
  } else if (near) {
    context.warnings.push({
      path,
      of: 'key',
      message: `\`${context.part}\` has no ${quoteValue(field)} in the contract${near}`,
    })
  }
}

function checkCondition(condition: unknown, path: Path, context: ConditionContext): void {
  if (++context.counts.conditions > MAX_CONDITIONS) {
    if (context.counts.conditions > MAX_CONDITIONS + 1) return
    const message = `more than ${MAX_CONDITIONS} conditions in one \`when\`; split the rule`
    context.errors.push({ path, of: 'key', message })
    return
  }
  if (!isMapping(condition)) {
    checkIsQuoted(condition, path, context)
    return
  }
  const keys = Object.keys(condition)
  if (keys.length === 0) {
    const message = 'an empty condition; write a value, { empty: true } or { absent: true }'
    context.errors.push({ path, of: 'value', message })
  } else if (isComparison(condition)) checkComparison(condition, path, context)
  else if (!checkMixedKeys(keys, path, context)) checkFields(condition, path, context)
}

function checkOperation(
  condition: unknown,
  path: Path,
  { errors }: Findings,
): readonly OperationId[] {
  const reportUnknown = (value: unknown, at: Path) => {
    const near = typeof value === 'string' ? didYouMean(value, OPERATIONS) : ''
    const message = `unknown operation ${quoteValue(value)}${near || `; known: ${OPERATIONS.join(', ')} or "*"`}`
    errors.push({ path: at, of: 'value', message })
    return OPERATIONS
  }
  const isKnown = (value: unknown) => (OPERATIONS as readonly unknown[]).includes(value)
  if (condition === undefined || condition === '*') return OPERATIONS
  if (!isMapping(condition))
    return isKnown(condition) ? [condition as OperationId] : reportUnknown(condition, path)
  const before = errors.length
  if (!isComparison(condition)) {
    const message = `\`operation\` takes a name or a comparison such as { in: [getUser, listUsers] }`
    errors.push({ path, of: 'value', message })
    return OPERATIONS
  }
  for (const [operator, argument] of Object.entries(condition)) {
    const wrong = argumentError(operator as Operator, argument)
    const at = [...path, operator]
    if (wrong) errors.push({ path: at, of: 'value', message: `\`${operator}\` ${wrong}` })
    else if (operator === 'in') {
      for (const [i, one] of (argument as unknown[]).entries())
        if (!isKnown(one)) reportUnknown(one, [...at, i])
    } else if (['eq', 'ne'].includes(operator) && !isKnown(argument)) reportUnknown(argument, at)
  }
  if (errors.length > before) return OPERATIONS
  const operations = operationsOf(condition)
  if (operations.length > 0) return operations
  errors.push({
    path,
    of: 'value',
    message: `this matches no operation; known: ${oneOf(OPERATIONS)}`,
  })
  return OPERATIONS
}

function checkParts(
  when: Record<string, unknown>,
  parts: readonly (CallPart | EventPart)[],
  path: Path,
  operations: readonly OperationId[],
  findings: Findings,
) {
  findings.counts.conditions = 0
  for (const part of parts) {
    const condition = when[part]
    if (condition === undefined) continue
    const at = [...path, part]
    if (!isMapping(condition)) {
      const message = `\`${part}\` must be a mapping of fields to conditions, not ${quoteValue(condition)}`
      findings.errors.push({ path: at, of: 'value', message })
    } else if (isComparison(condition)) {
      const message = `\`${part}\` takes fields, not a comparison; put the comparison under a field, such as ${part}: { field: { ${Object.keys(condition)[0]}: … } }`
      findings.errors.push({ path: at, of: 'value', message })
    } else checkCondition(condition, at, { ...findings, part, operations })
  }
}

/** The operations that have a part, for the parts that not all operations have. */
const OPERATIONS_WITH: Readonly<Record<'body' | 'user' | 'account', readonly OperationId[]>> = {
  body: [
    'createUser',
    'createTransaction',
    'submitKyc',
    'addBankAccount',
    'createWebhook',
    'updateWebhook',
  ],
  user: [
    'createTransaction',
    'submitKyc',
    'addBankAccount',
    'getUser',
    'getKyc',
    'listBankAccounts',
    'listUserTransactionHistory',
  ],
  account: ['createTransaction'],
}

/** Checks the `when` of a rule; returns the operations that it matches. */
export function checkWhen(
  when: Record<string, unknown>,
  path: Path,
  findings: Findings,
): readonly OperationId[] {
  const operations = checkOperation(when['operation'], [...path, 'operation'], findings)
  checkParts(when, CALL_PARTS, path, operations, findings)
  if (when['item'] !== undefined && !operations.includes('submitKyc')) {
    const message = '`item` is a document of POST /kyc; add operation: submitKyc'
    findings.errors.push({ path: [...path, 'item'], of: 'key', message })
  }
  for (const [part, calls] of Object.entries(OPERATIONS_WITH)) {
    if (when[part] === undefined || operations.some((one) => calls.includes(one))) continue
    const message = `this rule never matches: calls of ${oneOf(operations)} have no \`${part}\``
    findings.warnings.push({ path: [...path, part], of: 'key', message })
  }
  return operations
}

/** Checks the `when` of a webhook rule. */
export function checkEventWhen(
  when: Record<string, unknown>,
  path: Path,
  findings: Findings,
): void {
  checkParts(when, EVENT_PARTS, path, OPERATIONS, findings)
}

/** Checks a condition on a single value of a call, such as its status. */
export function checkScalarCondition(condition: unknown, path: Path, findings: Findings): void {
  if (!isMapping(condition)) return
  if (isComparison(condition))
    checkComparison(condition, path, { ...findings, part: 'query', operations: OPERATIONS })
  else {
    const message = `takes a value or a comparison such as { gte: 400 }; known: ${OPERATORS.join(', ')}`
    findings.errors.push({ path, of: 'value', message })
  }
}

/** Checks the conditions on the fields of a resource. */
export function checkResourceFields(
  fields: Record<string, unknown>,
  path: Path,
  findings: Findings,
) {
  checkParts({ data: fields }, ['data'], path, OPERATIONS, findings)
}
