import * as z from 'zod'
import { AnyJson } from './condition-schema.ts'
import { Delay, Duration, text } from './value-schema.ts'
import { quoteValue } from './wording.ts'

const step = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)
const after = Duration.optional().meta({
  description: 'The time since the previous step; the first step happens at creation.',
})
const lifecycle = <S extends z.ZodType>(one: S) => z.array(one).min(1).max(20)

/** The states of a payment. */
export const PaymentState = z.enum(['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'])
/** The states of a KYC record and of a bank account. */
export const CheckState = z.enum(['pending', 'success', 'failed'])
/** A failure reason, such as `beneficiary_bank_offline`. */
export const Reason = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, {
  error: ({ input }) =>
    `must be lowercase letters, digits and underscores, such as beneficiary_bank_offline, not ${quoteValue(input)}`,
})
const Source = z.enum(['gateway', 'beneficiary_bank', 'business', 'internal'])

const TransactionStep = step({
  status: PaymentState,
  after,
  reason: Reason.optional().meta({
    description: 'The failure reason of a FAILED step, such as beneficiary_bank_offline.',
  }),
  description: text(200).optional().meta({ description: 'The reason as a sentence.' }),
  message: text(200).optional().meta({ description: 'The same as `description`.' }),
  source: Source.optional().meta({ description: 'The party that caused the failure.' }),
}).meta({ id: 'TransactionStep' })

const KycStep = step({
  status: CheckState,
  after,
  message: text(200).optional().meta({ description: 'The message of the KYC entry.' }),
  statusCode: z
    .int()
    .min(100)
    .max(599)
    .optional()
    .meta({ description: 'The status code of the check, in the metadata.' }),
  result: z
    .strictObject({
      panStatus: text(120).optional(),
      name: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
      dateOfBirth: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
      aadhaarSeedingStatus: z.enum(['Y', 'N', 'NA']).optional(),
    })
    .nullable()
    .optional()
    .meta({
      description:
        'The fields that differ from a clean PAN check. null: the source returned no result.',
    }),
  reason: Reason.optional().meta({
    description: 'The failure reason; used as the message if the step has none.',
  }),
}).meta({ id: 'KycStep' })

const BankStep = step({
  status: CheckState,
  after,
  message: text(200).optional().meta({ description: 'The inner message of the response.' }),
  reason: Reason.optional().meta({
    description: 'The failure reason; used as the message if the step has none.',
  }),
  bankResponse: text(120)
    .optional()
    .meta({ description: 'The response of the bank, such as Account is blocked.' }),
  accountName: text(120)
    .optional()
    .meta({ description: 'The name of the account holder that the bank returned.' }),
}).meta({ id: 'BankStep' })

/** All header names except those that frame the response: the server sets those itself. */
const ALLOWED_HEADER =
  /^(?!(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer)$)[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/i

const Respond = z
  .strictObject({
    status: z.int().min(200).max(599),
    body: AnyJson.optional().meta({
      description:
        'Sent as JSON. If it is missing, the response is the error envelope of the status.',
    }),
    headers: z
      .record(
        z.string().regex(ALLOWED_HEADER, {
          error: ({ input }) =>
            `${quoteValue(input)} is not a header that a scenario can set; the server sets it itself`,
        }),
        z
          .string()
          .max(1_024)
          .regex(/^[\t\x20-\x7e]*$/, { error: 'must be one line of printable ASCII' }),
      )
      .optional(),
  })
  .meta({
    id: 'Respond',
    description: 'Sends this response. The operation does not run.',
  })

const outcome = {
  kyc: lifecycle(KycStep)
    .optional()
    .meta({ description: 'The lifecycle of the KYC item, as a list of steps.' }),
  bank: lifecycle(BankStep)
    .optional()
    .meta({ description: 'The lifecycle of the bank account, as a list of steps.' }),
  transaction: lifecycle(TransactionStep)
    .optional()
    .meta({ description: 'The lifecycle of the payment, as a list of steps.' }),
  respond: Respond.optional(),
  delay: Delay.optional(),
  fault: z
    .enum(['reset', 'hang', 'empty', 'malformed', 'truncate'])
    .optional()
    .meta({ description: 'How the response is broken.' }),
  at: z.enum(['before', 'after']).optional().meta({
    description: 'Whether the fault happens before (default) or after the operation runs.',
  }),
}

/** What happens to a call. */
export const Outcome = z
  .strictObject(outcome)
  .meta({ id: 'Outcome', description: 'What happens to a call.' })

export type OutcomeDefinition = z.infer<typeof Outcome>
export type TransactionStepDefinition = z.infer<typeof TransactionStep>
export type KycStepDefinition = z.infer<typeof KycStep>
export type BankStepDefinition = z.infer<typeof BankStep>
