import * as z from 'zod'
import { AnyJson } from './condition-schema.ts'
import { Delay, Duration, text } from './value-schema.ts'
import { shown } from './wording.ts'

const step = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)
const after = Duration.optional().meta({
  description: 'How long after the step before; the first step is at creation.',
})
const lifecycle = <S extends z.ZodType>(one: S) => z.array(one).min(1).max(20)

/** The states of a payment. */
export const PaymentState = z.enum(['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'])
/** The states of a KYC record and of a bank account. */
export const CheckState = z.enum(['pending', 'success', 'failed'])
/** Why something failed, as a word. */
export const Reason = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, {
  error: ({ input }) => `must be a word such as beneficiary_bank_offline, not ${shown(input)}`,
})
const Source = z.enum(['gateway', 'beneficiary_bank', 'business', 'internal'])

const TransactionStep = step({
  status: PaymentState,
  after,
  reason: Reason.optional().meta({
    description: 'Why it is FAILED, such as beneficiary_bank_offline.',
  }),
  description: text(200).optional().meta({ description: 'The reason as a sentence.' }),
  message: text(200).optional().meta({ description: 'The same as `description`.' }),
  source: Source.optional().meta({ description: 'Whose fault it is.' }),
}).meta({ id: 'TransactionStep' })

const KycStep = step({
  status: CheckState,
  after,
  message: text(200).optional().meta({ description: 'The entry’s message.' }),
  statusCode: z
    .int()
    .min(100)
    .max(599)
    .optional()
    .meta({ description: 'The status of the check itself, in metadata.' }),
  result: z
    .strictObject({
      panStatus: text(120).optional(),
      name: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
      dateOfBirth: z.enum(['MATCHING', 'NOT MATCHING']).optional(),
      aadhaarSeedingStatus: z.enum(['Y', 'N', 'NA']).optional(),
    })
    .nullable()
    .optional()
    .meta({ description: 'What differs from a clean PAN check; null: the source told nothing.' }),
  reason: Reason.optional().meta({
    description: 'Why it is failed, as a word: the message of a step that has none.',
  }),
}).meta({ id: 'KycStep' })

const BankStep = step({
  status: CheckState,
  after,
  message: text(200).optional().meta({ description: 'The answer’s inner message.' }),
  reason: Reason.optional().meta({
    description: 'Why it is failed, as a word: the message of a step that has none.',
  }),
  bankResponse: text(120)
    .optional()
    .meta({ description: 'What the bank said, such as Account is blocked.' }),
  accountName: text(120).optional().meta({ description: 'The holder’s name that the bank told.' }),
}).meta({ id: 'BankStep' })

/** What the server sets itself; a scripted value would break the answer's framing. */
const FRAMING =
  /^(?!(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer)$)[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/i

const Respond = z
  .strictObject({
    status: z.int().min(200).max(599),
    body: AnyJson.optional().meta({
      description: 'Sent as JSON; without it, the error envelope of the status.',
    }),
    headers: z
      .record(
        z.string().regex(FRAMING, {
          error: ({ input }) =>
            `${shown(input)} is no header that a scenario can set; the server frames its answers itself`,
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
    description: 'Answers instead of the operation, which is not carried out.',
  })

const outcome = {
  kyc: lifecycle(KycStep).optional().meta({ description: 'What becomes of a KYC item.' }),
  bank: lifecycle(BankStep).optional().meta({ description: 'What becomes of a bank account.' }),
  transaction: lifecycle(TransactionStep)
    .optional()
    .meta({ description: 'What becomes of a payment.' }),
  respond: Respond.optional(),
  delay: Delay.optional(),
  fault: z
    .enum(['reset', 'hang', 'empty', 'malformed', 'truncate'])
    .optional()
    .meta({ description: 'What goes wrong with the answer.' }),
  at: z.enum(['before', 'after']).optional().meta({
    description:
      'Whether the fault comes before (the default) or after the operation is carried out.',
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
