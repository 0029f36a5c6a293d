import { parseDuration } from '../core/duration.ts'
import { didYouMean } from '../model/closest-word.ts'
import { canTransition, FAILURE_REASONS, type PaymentStatus } from '../model/payment.ts'
import type { Findings } from './findings.ts'
import type {
  BankStepDefinition,
  KycStepDefinition,
  OutcomeDefinition,
  TransactionStepDefinition,
} from './outcome-schema.ts'
import { oneOf, shown } from './wording.ts'
import type { OperationId } from './words.ts'
import type { Path } from './yaml-source.ts'

/** Which operation makes what a lifecycle is the life of. */
const MAKER = {
  kyc: 'submitKyc',
  bank: 'addBankAccount',
  transaction: 'createTransaction',
} as const

type Step = { status: string; after?: string | undefined; reason?: string | undefined }
type Transitions = { from: (status: string) => readonly string[]; first: readonly string[] }

const PAYMENT_STATES: readonly PaymentStatus[] = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']
const PAYMENT: Transitions = {
  from: (status) => PAYMENT_STATES.filter((to) => canTransition(status as PaymentStatus, to)),
  // A payment is PENDING when it is made.
  first: ['PENDING'],
}
const CHECK: Transitions = {
  from: (status) => (status === 'pending' ? ['success', 'failed'] : []),
  first: ['pending', 'success', 'failed'],
}

/** The states that a transaction, or a KYC record or bank account, can be moved into later. */
export const reachableStates = (kind: keyof typeof MAKER): readonly string[] =>
  kind === 'transaction' ? ['PROCESSING', 'SUCCESS', 'FAILED'] : ['success', 'failed']

function checkTransition(
  steps: readonly Step[],
  i: number,
  moves: Transitions,
): string | undefined {
  const { status } = steps[i]!
  if (i === 0) {
    if (moves.first.includes(status)) return undefined
    return `a transaction is made ${oneOf(moves.first)}, not ${status}; let ${status} be a later step, with after: 0s if at once`
  }
  const before = steps[i - 1]!.status
  const next = moves.from(before)
  if (next.includes(status)) return undefined
  return next.length === 0
    ? `${before} is final; ${status} cannot follow it`
    : `${status} cannot follow ${before}; ${oneOf(next)} can`
}

function checkSteps(steps: readonly Step[], path: Path, moves: Transitions, { faults }: Findings) {
  for (const [i, step] of steps.entries()) {
    const wrong = checkTransition(steps, i, moves)
    if (wrong)
      faults.push({
        path: [...path, i, 'status'],
        of: 'value',
        message: `impossible step: ${wrong}`,
      })
    if (i === 0 && step.after !== undefined && parseDuration(step.after) !== 0) {
      const message = `the first step is at creation; leave \`after\` out, or put a step before it`
      faults.push({ path: [...path, i, 'after'], of: 'key', message })
    }
  }
}

/** `field` says something about a state that the step is not in. */
function onlyFor(
  states: readonly string[],
  fields: readonly string[],
  step: Step,
  path: Path,
  { faults }: Findings,
) {
  if (states.includes(step.status)) return
  for (const field of fields) {
    if ((step as Record<string, unknown>)[field] === undefined) continue
    const message = `\`${field}\` belongs to ${oneOf(states)}, and this step is ${step.status}; leave it out`
    faults.push({ path: [...path, field], of: 'key', message })
  }
}

function checkReason(
  { reason, description, message }: TransactionStepDefinition,
  path: Path,
  findings: Findings,
) {
  if (description !== undefined && message !== undefined) {
    const both = '`message` is the `description` in other words; leave one out'
    findings.faults.push({ path: [...path, 'message'], of: 'key', message: both })
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
    findings.faults.push({
      ...at,
      message: `unknown reason ${shown(reason)}${near} (or give it a \`description\`)`,
    })
  else
    findings.warnings.push({
      ...at,
      message: `${shown(reason)} is a reason of your own; a \`description\` says what it means`,
    })
}

function checkTransaction(
  steps: readonly TransactionStepDefinition[],
  path: Path,
  findings: Findings,
) {
  checkSteps(steps, path, PAYMENT, findings)
  for (const [i, step] of steps.entries()) {
    onlyFor(
      ['FAILED'],
      ['reason', 'description', 'message', 'source'],
      step,
      [...path, i],
      findings,
    )
    checkReason(step, [...path, i], findings)
  }
}

const CLEAN: Readonly<Record<string, string>> = {
  panStatus: 'EXISTING AND VALID',
  name: 'MATCHING',
  dateOfBirth: 'MATCHING',
}

function checkKyc(steps: readonly KycStepDefinition[], path: Path, findings: Findings) {
  checkSteps(steps, path, CHECK, findings)
  for (const [i, step] of steps.entries()) {
    onlyFor(['failed'], ['reason'], step, [...path, i], findings)
    if (step.status !== 'success') continue
    for (const [field, clean] of Object.entries(CLEAN)) {
      const value = step.result?.[field as keyof typeof step.result]
      if (value === undefined || value === clean) continue
      const message = `impossible step: a check with ${field} ${shown(value)} is no success; say failed, or ${clean}`
      findings.faults.push({ path: [...path, i, 'result', field], of: 'value', message })
    }
  }
}

function checkBank(steps: readonly BankStepDefinition[], path: Path, findings: Findings) {
  checkSteps(steps, path, CHECK, findings)
  for (const [i, step] of steps.entries()) {
    onlyFor(['success'], ['accountName'], step, [...path, i], findings)
    onlyFor(['failed'], ['reason'], step, [...path, i], findings)
  }
}

function checkMaker(
  outcome: OutcomeDefinition,
  path: Path,
  operations: readonly OperationId[],
  { faults }: Findings,
) {
  for (const [kind, maker] of Object.entries(MAKER)) {
    if (outcome[kind as keyof typeof MAKER] === undefined) continue
    if (operations.length === 1 && operations[0] === maker) continue
    const message = `\`${kind}\` is the life of what ${maker} makes; say operation: ${maker} in \`when\``
    faults.push({ path: [...path, kind], of: 'key', message })
  }
}

function checkAnswer(
  { respond, fault, at, ...rest }: OutcomeDefinition,
  path: Path,
  { faults }: Findings,
) {
  const say = (key: string, message: string) =>
    faults.push({ path: [...path, key], of: 'key', message })
  const life = (['kyc', 'bank', 'transaction'] as const).find((kind) => rest[kind] !== undefined)
  if (at !== undefined && fault === undefined)
    say('at', '`at` says when a fault comes; add `fault`, or leave it out')
  if (respond && life)
    say(
      life,
      `\`respond\` answers instead of the operation, so no \`${life}\` is made; leave one out`,
    )
  if (respond && fault && !['malformed', 'truncate'].includes(fault)) {
    say('fault', `a fault \`${fault}\` sends no answer, and \`respond\` is one; leave one out`)
  }
  if (respond && at === 'after')
    say('at', '`respond` answers instead of the operation; `at: after` would carry it out')
  if (fault && !respond && life && at !== 'after') {
    say(
      life,
      `the fault comes before the operation, so no \`${life}\` is made; say at: after, or leave one out`,
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
    const message = 'an empty outcome; say kyc, bank, transaction, respond, delay or fault'
    findings.faults.push({ path, of: 'value', message })
  }
  checkMaker(outcome, path, operations, findings)
  checkAnswer(outcome, path, findings)
  if (outcome.transaction) checkTransaction(outcome.transaction, [...path, 'transaction'], findings)
  if (outcome.kyc) checkKyc(outcome.kyc, [...path, 'kyc'], findings)
  if (outcome.bank) checkBank(outcome.bank, [...path, 'bank'], findings)
}
