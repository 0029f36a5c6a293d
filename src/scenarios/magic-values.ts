import { formatDuration } from '../core/duration.ts'
import type { CompiledRule, CompiledScenario, LifeOutcome } from './compiled.ts'
import type { Test } from './match.ts'
import type { OperationId } from './words.ts'

/**
 * A value that decides what becomes of a call: `where` in words (`PAN`, `payout to account`), the `operation` and `field`
 * of it, the `value`, the `outcome` in words, and the `rule` that says so.
 */
export type MagicValue = {
  where: string
  operation: OperationId
  field: string
  value: string
  outcome: string
  rule: string
}

type Position = { field: string; where: string; document?: string }

/** The fields that magic values stand in; a PAN and an Aadhaar share one and differ by the document's type. */
const PLACES: readonly Position[] = [
  { field: 'item.document_number', where: 'PAN', document: 'tid' },
  { field: 'item.document_number', where: 'Aadhaar', document: 'pid' },
  { field: 'item.document_number', where: 'KYC document' },
  { field: 'body.account_number', where: 'account at POST /bank' },
  { field: 'account.account_number', where: 'payout to account' },
  { field: 'body.amount', where: 'paise of the amount' },
]

const fieldOf = ({ part, path }: Test) => [part, ...path].join('.')

function wanted({ operator, argument }: Test): readonly unknown[] {
  if (operator === 'in') return argument as unknown[]
  return operator === 'eq' || operator === 'paise' ? [argument] : []
}

function documentOf({ tests }: CompiledRule): unknown {
  return tests.find((test) => fieldOf(test) === 'item.document_type' && test.operator === 'eq')
    ?.argument
}

type Step = { status: string; after_ms: number; [more: string]: unknown }

/** What is particular about a step, in a word or two. */
function because(step: Step): string | undefined {
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

const told = (step: Step) => {
  const why = because(step)
  return why === undefined ? step.status : `${step.status} (${why})`
}

/** A lifecycle in words: `FAILED (insufficient_funds)`, `stays PENDING`, `SUCCESS, then FAILED 3s later`. */
function lifeInWords({ kyc, bank, transaction }: LifeOutcome): string {
  const steps = (kyc ?? bank ?? transaction ?? []) as readonly Step[]
  const last = steps.at(-1)
  if (!last) return ''
  if (['pending', 'PENDING', 'PROCESSING'].includes(last.status)) return `stays ${told(last)}`
  const before = steps.at(-2)
  if (before?.status === 'SUCCESS')
    return `SUCCESS, then ${told(last)} ${formatDuration(last.after_ms)} later`
  // The usual way of a payment goes without saying; a check that waits does not.
  return before?.status === 'pending' ? `${told(before)} -> ${told(last)}` : told(last)
}

function rowsOf(rule: CompiledRule): MagicValue[] {
  const [turn] = rule.turns
  const [operation] = rule.operations
  if (turn === undefined || turn === 'pass' || !turn.life || !operation) return []
  for (const { field, where, document } of PLACES) {
    const test = rule.tests.find((one) => fieldOf(one) === field && wanted(one).length > 0)
    if (!test || (document !== undefined && documentOf(rule) !== document)) continue
    const shown = (value: unknown) =>
      test.operator === 'paise' ? `.${String(value).padStart(2, '0')}` : String(value)
    const outcome = lifeInWords(turn.life)
    return wanted(test).map((value) => ({
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

/** The magic values of a scenario, in the order of its rules: one row for each value that a rule names outright. */
export const magicValuesOf = ({ rules }: Pick<CompiledScenario, 'rules'>): MagicValue[] =>
  rules.flatMap(rowsOf)
