import { didYouMean } from '../model/closest-word.ts'
import { type Findings, isMapping } from './findings.ts'
import { isComparison, operationsOf } from './match.ts'
import { wrongArgument } from './operator-arguments.ts'
import { oneOf, shown } from './wording.ts'
import {
  CALL_PARTS,
  type CallPart,
  EVENT_PARTS,
  type EventPart,
  fieldsOf,
  isWordField,
  OPERATIONS,
  OPERATORS,
  type OperationId,
  type Operator,
} from './words.ts'
import type { Path } from './yaml-source.ts'

type Where = {
  part: CallPart | EventPart
  operations: readonly OperationId[]
  field?: string
} & Findings

const MAX_PATTERNS = 100
const MAX_TESTS = 100

/** A number that stands where account numbers, ids or codes do. */
function checkWord(value: unknown, path: Path, { field, part, faults }: Where) {
  if (typeof value !== 'number' || field === undefined || !isWordField(field) || part === 'query')
    return
  const message = `\`${field}\` is a word, not a number: put ${shown(value)} in quotes`
  faults.push({ path, of: 'value', message })
}

function checkComparison(condition: Record<string, unknown>, path: Path, where: Where) {
  for (const [operator, argument] of Object.entries(condition)) {
    const at = [...path, operator]
    if (operator === 'matches' && ++where.counts.patterns > MAX_PATTERNS) {
      const message = `over ${MAX_PATTERNS} patterns in one file; starts_with, ends_with, contains and in cost less`
      where.faults.push({ path: at, of: 'key', message })
      return
    }
    const wrong = wrongArgument(operator as Operator, argument)
    if (wrong) {
      where.faults.push({ path: at, of: 'value', message: `\`${operator}\` ${wrong}` })
      continue
    }
    if (['eq', 'ne', 'contains', 'starts_with', 'ends_with'].includes(operator))
      checkWord(argument, at, where)
    if (operator === 'in') {
      for (const [i, one] of (argument as unknown[]).entries()) checkWord(one, [...at, i], where)
    }
    if (operator === 'paise' && where.field !== undefined && where.field !== 'amount') {
      const message = `\`paise\` is about amounts; \`${where.field}\` is none`
      where.warnings.push({ path: at, of: 'key', message })
    }
  }
}

function checkMixed(keys: readonly string[], path: Path, where: Where): boolean {
  const strangers = keys.filter((key) => !(OPERATORS as readonly string[]).includes(key))
  if (strangers.length === keys.length) return false
  for (const key of strangers) {
    const near = didYouMean(key, OPERATORS)
    const message = near
      ? `unknown comparison ${shown(key)}${near}`
      : `${shown(key)} is no comparison and cannot stand beside one; known: ${OPERATORS.join(', ')}`
    where.faults.push({ path: [...path, key], of: 'key', message })
  }
  return true
}

function checkFields(condition: Record<string, unknown>, path: Path, where: Where) {
  const top = where.field === undefined
  const known = top ? fieldsOf(where.part, where.operations) : undefined
  const scalar =
    !top && where.field !== 'kyc' && fieldsOf(where.part, OPERATIONS)?.fields.includes(where.field!)
  for (const [field, inner] of Object.entries(condition)) {
    const at = [...path, field]
    if (scalar) {
      const hint = didYouMean(field, OPERATORS) || `; known: ${OPERATORS.join(', ')}`
      where.faults.push({
        path: at,
        of: 'key',
        message: `unknown comparison ${shown(field)} for \`${where.field}\`${hint}`,
      })
      continue
    }
    if (known && !known.fields.includes(field) && where.counts.tests < MAX_TESTS)
      checkStranger(field, at, known, where)
    checkCondition(inner, at, { ...where, field })
  }
}

function checkStranger(
  field: string,
  path: Path,
  known: { fields: readonly string[]; closed: boolean },
  where: Where,
) {
  const near = didYouMean(field, known.fields)
  if (known.closed) {
    const has =
      known.fields.length > 0 ? `it has ${known.fields.join(', ')}` : 'these operations have none'
    const message = `\`${where.part}\` has no ${shown(field)}${near || `; ${has}`}`
    where.faults.push({ path, of: 'key', message })
  } else if (near) {
    where.warnings.push({
      path,
      of: 'key',
      message: `\`${where.part}\` usually has no ${shown(field)}${near}`,
    })
  }
}

function checkCondition(condition: unknown, path: Path, where: Where): void {
  if (++where.counts.tests > MAX_TESTS) {
    if (where.counts.tests > MAX_TESTS + 1) return
    const message = `over ${MAX_TESTS} conditions in one \`when\`; split the rule`
    where.faults.push({ path, of: 'key', message })
    return
  }
  if (!isMapping(condition)) {
    checkWord(condition, path, where)
    return
  }
  const keys = Object.keys(condition)
  if (keys.length === 0) {
    const message =
      'an empty condition says nothing; write a value, or { empty: true } or { absent: true }'
    where.faults.push({ path, of: 'value', message })
  } else if (isComparison(condition)) checkComparison(condition, path, where)
  else if (!checkMixed(keys, path, where)) checkFields(condition, path, where)
}

function checkOperation(
  condition: unknown,
  path: Path,
  { faults }: Findings,
): readonly OperationId[] {
  const wrong = (value: unknown, at: Path) => {
    const near = typeof value === 'string' ? didYouMean(value, OPERATIONS) : ''
    const message = `unknown operation ${shown(value)}${near || `; known: ${OPERATIONS.join(', ')} or "*"`}`
    faults.push({ path: at, of: 'value', message })
    return OPERATIONS
  }
  const isKnown = (value: unknown) => (OPERATIONS as readonly unknown[]).includes(value)
  if (condition === undefined || condition === '*') return OPERATIONS
  if (!isMapping(condition))
    return isKnown(condition) ? [condition as OperationId] : wrong(condition, path)
  const before = faults.length
  if (!isComparison(condition)) {
    const message = `\`operation\` takes a name or a comparison such as { in: [getUser, listUsers] }`
    faults.push({ path, of: 'value', message })
    return OPERATIONS
  }
  for (const [operator, argument] of Object.entries(condition)) {
    const bad = wrongArgument(operator as Operator, argument)
    const at = [...path, operator]
    if (bad) faults.push({ path: at, of: 'value', message: `\`${operator}\` ${bad}` })
    else if (operator === 'in') {
      for (const [i, one] of (argument as unknown[]).entries())
        if (!isKnown(one)) wrong(one, [...at, i])
    } else if (['eq', 'ne'].includes(operator) && !isKnown(argument)) wrong(argument, at)
  }
  if (faults.length > before) return OPERATIONS
  const operations = operationsOf(condition)
  if (operations.length > 0) return operations
  faults.push({
    path,
    of: 'value',
    message: `no operation is like this; known: ${oneOf(OPERATIONS)}`,
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
  findings.counts.tests = 0
  for (const part of parts) {
    const condition = when[part]
    if (condition === undefined) continue
    const at = [...path, part]
    if (!isMapping(condition)) {
      const message = `\`${part}\` must be a mapping of fields to conditions, not ${shown(condition)}`
      findings.faults.push({ path: at, of: 'value', message })
    } else if (isComparison(condition)) {
      const message = `\`${part}\` takes fields; a comparison stands under one, such as ${part}: { field: { ${Object.keys(condition)[0]}: … } }`
      findings.faults.push({ path: at, of: 'value', message })
    } else checkCondition(condition, at, { ...findings, part, operations })
  }
}

/** The calls that have a part which not all have. */
const CALLS_WITH: Readonly<Record<'body' | 'user' | 'account', readonly OperationId[]>> = {
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

/** Checks the `when` of a rule, whatever it is; answers the operations it is about. */
export function checkWhen(
  when: Record<string, unknown>,
  path: Path,
  findings: Findings,
): readonly OperationId[] {
  const operations = checkOperation(when['operation'], [...path, 'operation'], findings)
  checkParts(when, CALL_PARTS, path, operations, findings)
  if (when['item'] !== undefined && !operations.includes('submitKyc')) {
    const message = '`item` is a document of POST /kyc; say operation: submitKyc'
    findings.faults.push({ path: [...path, 'item'], of: 'key', message })
  }
  for (const [part, calls] of Object.entries(CALLS_WITH)) {
    if (when[part] === undefined || operations.some((one) => calls.includes(one))) continue
    const message = `this rule never matches: ${oneOf(operations)} has no ${part}`
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

/** Checks a condition on one value of a call that is no part with fields, such as its status. */
export function checkValue(condition: unknown, path: Path, findings: Findings): void {
  if (!isMapping(condition)) return
  if (isComparison(condition))
    checkComparison(condition, path, { ...findings, part: 'query', operations: OPERATIONS })
  else {
    const message = `takes a value or a comparison such as { gte: 400 }; known: ${OPERATORS.join(', ')}`
    findings.faults.push({ path, of: 'value', message })
  }
}

/** Checks the fields that a resource must have. */
export function checkFieldsOf(fields: Record<string, unknown>, path: Path, findings: Findings) {
  checkParts({ data: fields }, ['data'], path, OPERATIONS, findings)
}
