import * as z from 'zod'
import { BankStatus } from '../model/bank-account.ts'
import { parseDuration } from '../model/duration.ts'
import { CHECKED, KycStatus } from '../model/kyc.ts'
import {
  FAILURE_REASONS,
  FIRST_STATUSES,
  type LifecycleKind,
  nextStatuses,
  PaymentFailure,
  PaymentStatus,
} from '../model/payment.ts'
import { didYouMean, oneOf, quoteValue } from '../model/words.ts'
import { crossCheck, Duration, mustBe, type Report, suchAs, text } from './schema-parts.ts'

const after = Duration.optional().describe(
  'The time since the previous step; the first step happens at creation.',
)

export const Reason = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, {
  error: mustBe('lowercase letters, digits and underscores, such as beneficiary_bank_offline'),
})

const TransactionStep = z
  .strictObject(
    {
      status: PaymentStatus,
      after,
      reason: Reason.optional().describe(
        'The failure reason of a FAILED step, such as beneficiary_bank_offline.',
      ),
      description: text(200).optional().describe('The reason as a sentence.'),
      message: text(200).optional().describe('The same as `description`.'),
      source: PaymentFailure.shape.source.optional().describe('The party that caused the failure.'),
    },
    { error: suchAs('{ status: PENDING }') },
  )
  .meta({ id: 'TransactionStep' })

const checkReason = Reason.optional().describe(
  'The failure reason; used as the message if the step has none.',
)

const KycStep = z
  .strictObject(
    {
      status: KycStatus,
      after,
      message: text(200).optional().describe('The message of the KYC entry.'),
      statusCode: z
        .optional(z.int().min(100).max(599))
        .describe('The status code of the check, in the metadata.'),
      result: z
        .strictObject({
          panStatus: text(120).optional(),
          name: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
          dateOfBirth: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
          aadhaarSeedingStatus: z.enum(['Y', 'N', 'NA']).optional(),
        })
        .nullable()
        .optional()
        .describe(
          'The fields that differ from a clean PAN check, or from one that could not be made if statusCode is 503. null: no result.',
        ),
      reason: checkReason,
    },
    { error: suchAs('{ status: failed }') },
  )
  .meta({ id: 'KycStep' })

const BankStep = z
  .strictObject(
    {
      status: BankStatus,
      after,
      message: text(200).optional().describe('The inner message of the response.'),
      reason: checkReason,
      bankResponse: z
        .optional(text(120))
        .describe('The response of the bank, such as Account is blocked.'),
      accountName: z
        .optional(text(120))
        .describe('The name of the account holder that the bank returned.'),
    },
    { error: suchAs('{ status: failed }') },
  )
  .meta({ id: 'BankStep' })

type Step = { status: string; after?: string | undefined; reason?: string | undefined }

function checkTransition(steps: readonly Step[], i: number, kind: LifecycleKind) {
  const { status } = steps[i]!
  if (i === 0) {
    const first: readonly string[] = FIRST_STATUSES[kind]
    if (first.includes(status)) return undefined
    return `a transaction starts as ${oneOf(first)}, not ${status}; make ${status} a later step, with after: 0s if it must be immediate`
  }
  const before = steps[i - 1]!.status
  const next = nextStatuses(kind, before, true)
  if (next.includes(status)) return undefined
  return next.length === 0
    ? `${before} is final; ${status} cannot follow it`
    : `${status} cannot follow ${before}; ${oneOf(next)} can`
}

function checkSteps(steps: readonly Step[], kind: LifecycleKind, report: Report) {
  for (const [i, step] of steps.entries()) {
    const wrong = checkTransition(steps, i, kind)
    if (wrong) report([i, 'status'], `impossible step: ${wrong}`)
    if (i === 0 && step.after !== undefined && parseDuration(step.after) !== 0) {
      const message = `the first step happens at creation; remove \`after\`, or put another step before this one`
      report([i, 'after'], message, 'key')
    }
  }
}

/** Rejects these fields in steps that have another status. */
function checkOnlyFor(
  status: string,
  fields: readonly string[],
  steps: readonly Step[],
  report: Report,
) {
  for (const [i, step] of steps.entries()) {
    if (step.status === status) continue
    for (const field of fields) {
      if ((step as Record<string, unknown>)[field] === undefined) continue
      const message = `\`${field}\` needs the status ${status}, and this step is ${step.status}; remove it`
      report([i, field], message, 'key')
    }
  }
}

/** Whether a reason needs a description, because the sandbox has none for it. */
export const isUndescribed = ({
  reason,
  description,
  message,
}: z.infer<typeof TransactionStep>): boolean =>
  reason !== undefined &&
  (description ?? message) === undefined &&
  !FAILURE_REASONS.includes(reason)

function checkDescription(step: z.infer<typeof TransactionStep>, i: number, report: Report) {
  const { reason, description, message } = step
  if (description !== undefined && message !== undefined)
    report([i, 'message'], '`message` and `description` are the same field; remove one', 'key')
  const near = isUndescribed(step) && didYouMean(reason!, FAILURE_REASONS)
  if (near)
    report([i, 'reason'], `unknown reason ${quoteValue(reason)}${near} (or add a \`description\`)`)
}

function checkResult({ status, result }: z.infer<typeof KycStep>, i: number, report: Report) {
  if (status !== 'success') return
  for (const field of ['panStatus', 'name', 'dateOfBirth'] as const) {
    const [value, clean] = [result?.[field], CHECKED[field]]
    if (value === undefined || value === clean) continue
    const message = `impossible step: a check with ${field} ${quoteValue(value)} cannot succeed; change the status to failed, or ${field} to ${clean}`
    report([i, 'result', field], message)
  }
}

/** A lifecycle: a list of steps, such as one with an `example` status, and a check of them together. */
const lifecycle = <S extends z.ZodType>(
  step: S,
  example: string,
  check: (steps: z.output<S>[], report: Report) => void,
) =>
  z
    .array(step, {
      error: (issue) =>
        Array.isArray(issue.input)
          ? undefined
          : mustBe(`a list of steps, such as [{ status: ${example} }]`)(issue),
    })
    .min(1)
    .max(20)
    .check(
      crossCheck<z.output<S>[]>((steps, { report, isValid }) => {
        if (isValid()) check(steps, report)
      }),
    )

export const TransactionLifecycle = lifecycle(TransactionStep, 'PENDING', (steps, report) => {
  checkSteps(steps, 'transaction', report)
  checkOnlyFor('FAILED', ['reason', 'description', 'message', 'source'], steps, report)
  for (const [i, step] of steps.entries()) checkDescription(step, i, report)
})

export const KycLifecycle = lifecycle(KycStep, 'failed', (steps, report) => {
  checkSteps(steps, 'kyc', report)
  checkOnlyFor('failed', ['reason'], steps, report)
  for (const [i, step] of steps.entries()) checkResult(step, i, report)
})

export const BankLifecycle = lifecycle(BankStep, 'failed', (steps, report) => {
  checkSteps(steps, 'bank', report)
  checkOnlyFor('success', ['accountName'], steps, report)
  checkOnlyFor('failed', ['reason'], steps, report)
})
