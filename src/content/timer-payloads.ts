import * as z from 'zod'
import type { StoredTimelineEntry } from '../active-scenario/timeline-limits.ts'
import { BankStatus } from '../model/bank-account.ts'
import { MAX_MS } from '../model/duration.ts'
import { KycStatus } from '../model/kyc.ts'
import { MIN_PAISE, PaymentFailure, PaymentStatus, paiseOf, UTR_TIMER } from '../model/payment.ts'
import { safeParse } from '../model/validation-errors.ts'
import type { BankStep, KycStep, TimelinePayment, TransactionStep } from '../scenarios/compiled.ts'
import { EVENTS, MIN_REPEAT_MS } from '../scenarios/operations-and-events.ts'
import {
  type ActionDefinition,
  MAX_CREATED_USERS,
  MAX_TIMES,
} from '../scenarios/timeline-schema.ts'

/** The payloads of timers by kind, to check a state document that a person may have written. */

/** The schema of each field of a stored value: a new field of the scenario language does not compile until it is here. */
type FieldsOf<T> = { [Field in keyof Required<T>]: z.ZodType }

const afterMs = z.int().min(0).max(MAX_MS)
const text = z.string().max(1_000)

const amount = z.string().refine((rupees) => (paiseOf(rupees) ?? 0) >= MIN_PAISE, {
  error: 'must be rupees such as "2500.00", from 1.00 to 9999999999.99',
})

const failureFields = PaymentFailure.partial().shape

const payment = z.strictObject({
  amount,
  to_user_id: text.optional(),
  from_user_id: text.optional(),
  benif_bank_id: text.optional(),
  reference_id: z.string().max(100).optional(),
  remark: z.string().max(50).optional(),
  transaction: z
    .array(
      z.strictObject({
        ...failureFields,
        status: PaymentStatus,
        after_ms: afterMs,
      } satisfies FieldsOf<TransactionStep>),
    )
    .optional(),
} satisfies FieldsOf<TimelinePayment>)

/** The actions of a timeline, as they are stored. */
const ACTIONS = {
  trigger: z.strictObject({ trigger: z.enum(EVENTS), resource: text }),
  simulate: z.strictObject({
    simulate: z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('transaction'),
        resource: text,
        status: PaymentStatus,
        reason: text.optional(),
      }),
      z.strictObject({
        kind: z.enum(['kyc', 'bank']),
        resource: text,
        status: KycStatus,
        reason: text.optional(),
      }),
    ]),
  }),
  credit: z.strictObject({ credit: payment }),
  payout: z.strictObject({ payout: payment }),
  create_users: z.strictObject({ create_users: z.int().min(1).max(MAX_CREATED_USERS) }),
  use: z.strictObject({ use: text }),
  rule: z.strictObject({ rule: z.looseObject({}) }),
  reset: z.strictObject({ reset: z.literal(true) }),
} satisfies Record<Exclude<keyof ActionDefinition, 'resource'>, z.ZodType>
const isAction = (word: string): word is keyof typeof ACTIONS => Object.hasOwn(ACTIONS, word)

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
  const [word = '', ...more] = Object.keys(value).filter((key) => key !== 'resource')
  if (more.length === 0 && isAction(word)) validate(ACTIONS[word], value, [], context)
  else addIssue(`must have one of ${Object.keys(ACTIONS).join(', ')}`, [], value, context)
})

const needsResource = true
const PAYLOADS: Readonly<Record<string, { payload: z.ZodType; needsResource?: boolean }>> = {
  'transaction.step': {
    payload: z.strictObject({ ...failureFields, status: PaymentStatus }),
    needsResource,
  },
  [UTR_TIMER]: { payload: z.strictObject({}), needsResource },
  'kyc.step': {
    payload: z.strictObject({
      status: KycStatus,
      after_ms: afterMs,
      message: text.optional(),
      statusCode: z.int().optional(),
      result: z.looseObject({}).nullable().optional(),
      reason: text.optional(),
    } satisfies FieldsOf<KycStep>),
    needsResource,
  },
  'bank.step': {
    payload: z.strictObject({
      status: BankStatus,
      after_ms: afterMs,
      message: text.optional(),
      reason: text.optional(),
      bankResponse: text.optional(),
      accountName: text.optional(),
    } satisfies FieldsOf<BankStep>),
    needsResource,
  },
  'webhook.attempt': {
    payload: z.strictObject({ event: text, event_id: text, attempt: z.int().min(1) }),
    needsResource,
  },
  'timeline.entry': {
    payload: z.strictObject({
      do: action,
      every_ms: z.int().min(MIN_REPEAT_MS).max(MAX_MS).optional(),
      remaining: z.int().min(1).max(MAX_TIMES).optional(),
      imposed: z.literal(true).optional(),
    } satisfies FieldsOf<StoredTimelineEntry>),
  },
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
