import * as z from 'zod'
import { UTR_TIMER } from '../model/payment.ts'
import { BankStep, KycStep, StoredTimelineEntry, TransactionStep } from '../scenarios/compiled.ts'
import { CREATING } from '../scenarios/operations-and-events.ts'
import { ROWS } from '../tables/rows.ts'

/** The kind of the timer of a call that runs after its caller got no response. */
export const LATE_CALL = 'call.late'
/** Such a call, with the later steps of what it creates, and its idempotency key. */
const LateCall = z.strictObject({
  operation: z.enum(CREATING),
  body: z.looseObject({}),
  lifecycles: z.strictObject({
    transaction: z.exactOptional(z.array(TransactionStep)),
    bank: z.exactOptional(z.array(BankStep)),
    kyc: z.exactOptional(z.array(z.array(KycStep).nullish())),
    visible_after_ms: z.int().min(0).optional(),
  }),
  key: z.exactOptional(z.string()),
})
export type LateCall = z.infer<typeof LateCall>

const ofResource = { resource_id: z.string() }

/** What a timer has by its kind, to check a state that a person may have written. */
const FIELDS: Readonly<Record<string, { payload: z.ZodType; resource_id?: z.ZodString }>> = {
  'transaction.step': { payload: TransactionStep.omit({ after_ms: true }), ...ofResource },
  [UTR_TIMER]: { payload: z.strictObject({}), ...ofResource },
  'kyc.step': { payload: KycStep, ...ofResource },
  'bank.step': { payload: BankStep, ...ofResource },
  'webhook.attempt': {
    payload: z.strictObject({
      event: z.string().max(1_000),
      event_id: z.string().max(1_000),
      attempt: z.int().min(1),
    }),
    ...ofResource,
  },
  [LATE_CALL]: { payload: LateCall },
  'timeline.entry': { payload: StoredTimelineEntry },
}

const [first, ...others] = Object.entries(FIELDS).map(([kind, fields]) =>
  ROWS.timers.extend({ kind: z.literal(kind), ...fields }),
)

export const StateTimer = z.discriminatedUnion('kind', [first!, ...others], {
  error: `must be one of ${Object.keys(FIELDS).join(', ')}`,
})
