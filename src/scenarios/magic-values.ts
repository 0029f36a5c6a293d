import { formatDuration } from '../model/duration.ts'
import type { CompiledRule, CompiledScenario, Turn } from './compiled.ts'
import type { Test } from './match.ts'
import type { OperationId } from './operations-and-events.ts'

/** A value that decides the outcome of a call; `where` describes the field (`PAN`, `payout to account`). */
export type MagicValue = Record<'where' | 'field' | 'value' | 'outcome' | 'rule', string> & {
  operation: OperationId
}

/** The fields that can have magic values. PAN and Aadhaar are in the same field and differ by the document type. */
const MAGIC_FIELDS: readonly { field: string; where: string; document?: string }[] = [
  { field: 'item.document_number', where: 'PAN', document: 'tid' },
  { field: 'item.document_number', where: 'Aadhaar', document: 'pid' },
  { field: 'item.document_number', where: 'KYC document' },
  { field: 'body.account_number', where: 'account at POST /bank' },
  { field: 'account.account_number', where: 'payout to account' },
  { field: 'body.amount', where: 'amount' },
]

const fieldOf = ({ part, path }: Test) => [part, ...path].join('.')

function wantedValues({ operator, argument }: Test): readonly unknown[] {
  if (operator === 'in') return argument as unknown[]
  return operator === 'eq' || operator === 'paise' ? [argument] : []
}

function documentOf({ tests }: CompiledRule): unknown {
  return tests.find((test) => fieldOf(test) === 'item.document_type' && test.operator === 'eq')
    ?.argument
}

type Step = { status: string; after_ms: number; [more: string]: unknown }

function causeOf(step: Step): string | undefined {
  const result = step['result'] as Readonly<Record<string, string>> | null | undefined
  if (step['reason']) return String(step['reason'])
  if (step['bankResponse']) return String(step['bankResponse'])
  if (step['accountName']) return `in the name of ${String(step['accountName'])}`
  if (result?.['panStatus']) return result['panStatus']
  if (result)
    return Object.entries(result)
      .map(([field, value]) => `${field} ${value}`)
      .join(', ')
  if (step['statusCode'] === 503) return 'source down'
  return step['message'] === undefined ? undefined : String(step['message'])
}

const describeStep = (step: Step) => {
  const why = causeOf(step)
  return why === undefined ? step.status : `${step.status} (${why})`
}

/** Describes a lifecycle: `FAILED (insufficient_funds)`, `stays PENDING`, `SUCCESS, then FAILED 3s later`. */
function describeLifecycle({ lifecycle: { kyc, bank, transaction } = {} }: Turn): string[] {
  const steps = (kyc ?? bank ?? transaction ?? []) as readonly Step[]
  const last = steps.at(-1)
  if (!last) return []
  if (['pending', 'PENDING', 'PROCESSING'].includes(last.status))
    return [`stays ${describeStep(last)}`]
  const before = steps.at(-2)
  if (before?.status === 'SUCCESS')
    return [`SUCCESS, then ${describeStep(last)} ${formatDuration(last.after_ms)} later`]
  // The first steps of a payment are always the same and not shown; those of a check are not.
  const isShown = before?.status === 'pending'
  return [isShown ? `${describeStep(before)} -> ${describeStep(last)}` : describeStep(last)]
}

/** Describes a response that replaces or breaks that of the operation: `response 504 (carried out)`. */
function describeResponse({ response: { respond, fault, at, late_ms } = {} }: Turn): string[] {
  if (!respond && !fault) return []
  const when = late_ms === undefined ? '' : ` ${formatDuration(late_ms)} later`
  const runs = at === 'after' || late_ms !== undefined ? `carried out${when}` : 'not carried out'
  return [`${respond ? `response ${respond.status}` : fault} (${runs})`]
}

function rowsOf(rule: CompiledRule): MagicValue[] {
  const [turn] = rule.turns
  const [operation] = rule.operations
  if (turn === undefined || turn === 'pass' || !operation) return []
  const outcome = [...describeResponse(turn), ...describeLifecycle(turn)].join(', ')
  if (outcome === '') return []
  for (const { field, where, document } of MAGIC_FIELDS) {
    const test = rule.tests.find((one) => fieldOf(one) === field && wantedValues(one).length > 0)
    if (!test || (document !== undefined && documentOf(rule) !== document)) continue
    const shown = (value: unknown) =>
      test.operator === 'paise' ? `.${String(value).padStart(2, '0')}` : String(value)
    return wantedValues(test).map((value) => ({
      where,
      operation,
      field,
      value: shown(value),
      outcome,
      rule: rule.name,
    }))
  }
  return []
}

/** Returns the magic values of a scenario in the order of its rules, one row for each value that a rule names. */
export const magicValuesOf = ({ rules }: Pick<CompiledScenario, 'rules'>) => rules.flatMap(rowsOf)
