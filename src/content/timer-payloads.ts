import * as z from 'zod'
import { Traceparent } from '../model/formats.ts'
import { UTR_TIMER } from '../model/payment.ts'
import { safeParse } from '../model/validation-errors.ts'
import {
  BankStep,
  KycStep,
  StoredTimelineEntry,
  TIMELINE_ACTIONS,
  TransactionStep,
} from '../scenarios/compiled.ts'
import { CREATING } from '../scenarios/operations-and-events.ts'

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
  traceparent: z.exactOptional(Traceparent),
})
export type LateCall = z.infer<typeof LateCall>

/** Checks a value by the schema that a table has for it; if there's none, the value at `path` is wrong. */
const checkBy =
  <T>(schemas: object, namesIn: (value: T) => string[], says: string, path: string[] = []) =>
  (value: T, context: z.RefinementCtx<T>) => {
    const [name, ...more] = namesIn(value).filter((one) => Object.hasOwn(schemas, one))
    if (name === undefined || more.length > 0) {
      const message = `${says} ${Object.keys(schemas).join(', ')}`
      context.addIssue({ code: 'custom', message, path, params: { code: 'invalid_value' } })
      return
    }
    const schema = (schemas as Record<string, z.ZodType>)[name]!
    for (const issue of safeParse(schema, value).error?.issues ?? [])
      context.issues.push(issue as never)
  }

const action = z
  .record(z.string(), z.unknown())
  .superRefine(checkBy(TIMELINE_ACTIONS, Object.keys, 'must have one of'))

const ofResource = (payload: z.ZodType) => z.object({ resource_id: z.string(), payload })
const TIMERS = {
  'transaction.step': ofResource(TransactionStep.omit({ after_ms: true })),
  [UTR_TIMER]: ofResource(z.strictObject({})),
  'kyc.step': ofResource(KycStep),
  'bank.step': ofResource(BankStep),
  'webhook.attempt': ofResource(
    z.strictObject({
      event: z.string().max(1_000),
      event_id: z.string().max(1_000),
      attempt: z.int().min(1),
    }),
  ),
  [LATE_CALL]: z.object({ payload: LateCall }),
  'timeline.entry': z.object({ payload: StoredTimelineEntry.extend({ do: action }) }),
}

/** Checks a stored timer by its kind, which a person may have written. */
export const checkTimer = checkBy<{ kind: string }>(
  TIMERS,
  ({ kind }) => [kind],
  'must be one of',
  ['kind'],
)
