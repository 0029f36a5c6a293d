import * as z from 'zod'
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
})
export type LateCall = z.infer<typeof LateCall>

/** The payloads of timers by kind, to check a state document that a person may have written. */

const isAction = (word: string): word is keyof typeof TIMELINE_ACTIONS =>
  Object.hasOwn(TIMELINE_ACTIONS, word)

type Issues = { issues: z.core.$ZodRawIssue[] }

/** Validates a value and adds its issues at a path. */
function validate(schema: z.ZodType, value: unknown, at: PropertyKey[], context: Issues) {
  const result = safeParse(schema, value, { reportInput: true })
  for (const issue of result.error?.issues ?? [])
    context.issues.push({ ...issue, path: [...at, ...issue.path] } as z.core.$ZodRawIssue)
}

function addIssue(message: string, at: PropertyKey[], input: unknown, context: Issues) {
  context.issues.push({
    code: 'custom',
    message,
    path: at,
    input,
    params: { code: 'invalid_value' },
  })
}

const action = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const [word, ...more] = Object.keys(value).filter(isAction)
  if (word && more.length === 0) validate(TIMELINE_ACTIONS[word], value, [], context)
  else addIssue(`must have one of ${Object.keys(TIMELINE_ACTIONS).join(', ')}`, [], value, context)
})

const needsResource = true
const PAYLOADS: Readonly<Record<string, { payload: z.ZodType; needsResource?: boolean }>> = {
  'transaction.step': { payload: TransactionStep.omit({ after_ms: true }), needsResource },
  [UTR_TIMER]: { payload: z.strictObject({}), needsResource },
  'kyc.step': { payload: KycStep, needsResource },
  'bank.step': { payload: BankStep, needsResource },
  'webhook.attempt': {
    payload: z.strictObject({
      event: z.string().max(1_000),
      event_id: z.string().max(1_000),
      attempt: z.int().min(1),
    }),
    needsResource,
  },
  [LATE_CALL]: { payload: LateCall },
  'timeline.entry': { payload: StoredTimelineEntry.extend({ do: action }) },
}

/** Checks the payload of a stored timer, by its kind. */
export function checkTimer(
  timer: { kind: string; resource_id?: string | undefined; payload: Record<string, unknown> },
  context: Issues,
) {
  const { kind, resource_id, payload } = timer
  const known = Object.hasOwn(PAYLOADS, kind) ? PAYLOADS[kind] : undefined
  if (!known) {
    addIssue(`must be one of ${Object.keys(PAYLOADS).join(', ')}`, ['kind'], kind, context)
    return
  }
  if (known.needsResource && resource_id === undefined)
    addIssue(`is required for ${kind}`, ['resource_id'], resource_id, context)
  validate(known.payload, payload, ['payload'], context)
}
