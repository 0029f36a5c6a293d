import { didYouMean } from '../model/closest-word.ts'
import { FIRST_STATUSES, type LifecycleKind, nextStatuses } from '../model/lifecycle.ts'
import { FAILURE_REASONS } from '../model/payment.ts'
import { parseDuration } from '../time/duration.ts'
import type { Findings } from './findings.ts'
import type {
  BankStepDefinition,
  KycStepDefinition,
  OutcomeDefinition,
  TransactionStepDefinition,
} from './outcome-schema.ts'
import { oneOf, quoteValue } from './wording.ts'
import type { OperationId } from './words.ts'
import type { Path } from './yaml-source.ts'

/** The operation that creates the resource of each lifecycle. */
const CREATING_OPERATION = {
  kyc: 'submitKyc',
  bank: 'addBankAccount',
  transaction: 'createTransaction',
} as const

type Step = { status: string; after?: string | undefined; reason?: string | undefined }
function checkTransition(
  steps: readonly Step[],
  i: number,
  kind: LifecycleKind,
): string | undefined {
  const { status } = steps[i]!
  if (i === 0) {
    const first: readonly string[] = FIRST_STATUSES[kind]
    if (first.includes(status)) return undefined
    return `a transaction starts as ${oneOf(first)}, not ${status}; make ${status} a later step, with after: 0s if it must be immediate`
  }
  const before = steps[i - 1]!.status
  const next = nextStatuses(kind, before)
  if (next.includes(status)) return undefined
  return next.length === 0
    ? `${before} is final; ${status} cannot follow it`
    : `${status} cannot follow ${before}; ${oneOf(next)} can`
}

function checkSteps(steps: readonly Step[], path: Path, kind: LifecycleKind, { errors }: Findings) {
  for (const [i, step] of steps.entries()) {
    const wrong = checkTransition(steps, i, kind)
    if (wrong)
      errors.push({
        path: [...path, i, 'status'],
        of: 'value',
        message: `impossible step: ${wrong}`,
      })
    if (i === 0 && step.after !== undefined && parseDuration(step.after) !== 0) {
      const message = `the first step happens at creation; remove \`after\`, or put another step before this one`
      errors.push({ path: [...path, i, 'after'], of: 'key', message })
    }
  }
}

/** Rejects these fields in a step that has none of these statuses. */
function checkOnlyFor(
  states: readonly string[],
  fields: readonly string[],
  step: Step,
  path: Path,
  { errors }: Findings,
) {
  if (states.includes(step.status)) return
  for (const field of fields) {
    if ((step as Record<string, unknown>)[field] === undefined) continue
    const message = `\`${field}\` needs the status ${oneOf(states)}, and this step is ${step.status}; remove it`
    errors.push({ path: [...path, field], of: 'key', message })
  }
}

function checkReason(
  { reason, description, message }: TransactionStepDefinition,
  path: Path,
  findings: Findings,
) {
  if (description !== undefined && message !== undefined) {
    const both = '`message` and `description` are the same field; remove one'
    findings.errors.push({ path: [...path, 'message'], of: 'key', message: both })
  }
  if (
    reason === undefined ||
    (description ?? message) !== undefined ||
    FAILURE_REASONS.includes(reason)
  )
    return
  const near = didYouMean(reason, FAILURE_REASONS)
  const at = { path: [...path, 'reason'], of: 'value' as const }
  if (near)
    findings.errors.push({
      ...at,
      message: `unknown reason ${quoteValue(reason)}${near} (or add a \`description\`)`,
    })
  else
    findings.warnings.push({
      ...at,
      message: `${quoteValue(reason)} is not a known reason; add a \`description\` that explains it`,
    })
}

function checkTransaction(
  steps: readonly TransactionStepDefinition[],
  path: Path,
  findings: Findings,
) {
  checkSteps(steps, path, 'transaction', findings)
  for (const [i, step] of steps.entries()) {
    checkOnlyFor(
      ['FAILED'],
      ['reason', 'description', 'message', 'source'],
      step,
      [...path, i],
      findings,
    )
    checkReason(step, [...path, i], findings)
  }
}

const CLEAN_RESULT: Readonly<Record<string, string>> = {
  panStatus: 'EXISTING AND VALID',
  name: 'MATCHING',
  dateOfBirth: 'MATCHING',
}

function checkKyc(steps: readonly KycStepDefinition[], path: Path, findings: Findings) {
  checkSteps(steps, path, 'kyc', findings)
  for (const [i, step] of steps.entries()) {
    checkOnlyFor(['failed'], ['reason'], step, [...path, i], findings)
    if (step.status !== 'success') continue
    for (const [field, clean] of Object.entries(CLEAN_RESULT)) {
      const value = step.result?.[field as keyof typeof step.result]
      if (value === undefined || value === clean) continue
      const message = `impossible step: a check with ${field} ${quoteValue(value)} cannot succeed; change the status to failed, or ${field} to ${clean}`
      findings.errors.push({ path: [...path, i, 'result', field], of: 'value', message })
    }
  }
}

function checkBank(steps: readonly BankStepDefinition[], path: Path, findings: Findings) {
  checkSteps(steps, path, 'bank', findings)
  for (const [i, step] of steps.entries()) {
    checkOnlyFor(['success'], ['accountName'], step, [...path, i], findings)
    checkOnlyFor(['failed'], ['reason'], step, [...path, i], findings)
  }
}

function checkCreatingOperation(
  outcome: OutcomeDefinition,
  path: Path,
  operations: readonly OperationId[],
  { errors }: Findings,
) {
  for (const [kind, operation] of Object.entries(CREATING_OPERATION)) {
    if (outcome[kind as keyof typeof CREATING_OPERATION] === undefined) continue
    if (operations.length === 1 && operations[0] === operation) continue
    const message = `\`${kind}\` needs a rule for ${operation} only; write operation: ${operation} in \`when\``
    errors.push({ path: [...path, kind], of: 'key', message })
  }
}

function checkResponse(
  { respond, fault, at, ...rest }: OutcomeDefinition,
  path: Path,
  { errors }: Findings,
) {
  const reject = (key: string, message: string) =>
    errors.push({ path: [...path, key], of: 'key', message })
  const lifecycle = (['kyc', 'bank', 'transaction'] as const).find(
    (kind) => rest[kind] !== undefined,
  )
  if (at !== undefined && fault === undefined)
    reject('at', '`at` says when the fault happens; add `fault`, or remove `at`')
  if (respond && lifecycle)
    reject(
      lifecycle,
      `\`respond\` replaces the operation, so no \`${lifecycle}\` is created; remove one`,
    )
  if (respond && fault && !['malformed', 'truncate'].includes(fault)) {
    reject(
      'fault',
      `the fault \`${fault}\` sends no response, so \`respond\` has no effect; remove one`,
    )
  }
  if (respond && at === 'after')
    reject('at', '`respond` replaces the operation, and `at: after` would run it; remove one')
  if (fault && !respond && lifecycle && at !== 'after') {
    reject(
      lifecycle,
      `the fault happens before the operation, so no \`${lifecycle}\` is created; add at: after, or remove one`,
    )
  }
}

/** Checks that an outcome of a rule for these operations can happen. */
export function checkOutcome(
  outcome: OutcomeDefinition,
  path: Path,
  operations: readonly OperationId[],
  findings: Findings,
): void {
  if (Object.keys(outcome).length === 0) {
    const message = 'an empty outcome; write kyc, bank, transaction, respond, delay or fault'
    findings.errors.push({ path, of: 'value', message })
  }
  checkCreatingOperation(outcome, path, operations, findings)
  checkResponse(outcome, path, findings)
  if (outcome.transaction) checkTransaction(outcome.transaction, [...path, 'transaction'], findings)
  if (outcome.kyc) checkKyc(outcome.kyc, [...path, 'kyc'], findings)
  if (outcome.bank) checkBank(outcome.bank, [...path, 'bank'], findings)
}
