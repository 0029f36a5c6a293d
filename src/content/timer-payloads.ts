import * as z from 'zod'
import { MAX_MS } from '../model/duration.ts'
import { MIN_PAISE, paiseOf } from '../model/money.ts'
import { PaymentFailure, PaymentStatus } from '../model/payment.ts'
import { UTR_TIMER } from '../model/payment-steps.ts'
import { safeParse } from '../model/safe-parse.ts'
import { EVENTS, MIN_REPEAT_MS } from '../scenarios/words.ts'

/** The payloads of timers by kind, to check a state document that a person may have written. */

const afterMs = z.int().min(0).max(MAX_MS)
const checkStatus = z.enum(['pending', 'success', 'failed'])
const text = z.string().max(1_000)

const amount = z.string().refine((rupees) => (paiseOf(rupees) ?? 0) >= MIN_PAISE, {
  error: 'must be rupees such as "2500.00", from 1.00 to 9999999999.99',
})

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
        ...PaymentFailure.partial().shape,
        status: PaymentStatus,
        after_ms: afterMs,
      }),
    )
    .optional(),
})

/** The actions of a timeline, as they are stored. */
const ACTIONS: Readonly<Record<string, z.ZodType>> = {
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
        status: checkStatus,
        reason: text.optional(),
      }),
    ]),
  }),
  credit: z.strictObject({ credit: payment }),
  payout: z.strictObject({ payout: payment }),
  create_users: z.strictObject({ create_users: z.int().min(1).max(1_000) }),
  use: z.strictObject({ use: text }),
  rule: z.strictObject({ rule: z.looseObject({}) }),
  reset: z.strictObject({ reset: z.literal(true) }),
}

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
  const schema = more.length === 0 && Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined
  if (schema) validate(schema, value, [], context)
  else addIssue(`must have one of ${Object.keys(ACTIONS).join(', ')}`, [], value, context)
})

const needsResource = true
const PAYLOADS: Readonly<Record<string, { payload: z.ZodType; needsResource?: boolean }>> = {
  'transaction.step': {
    payload: z.strictObject({ ...PaymentFailure.partial().shape, status: PaymentStatus }),
    needsResource,
  },
  [UTR_TIMER]: { payload: z.strictObject({}), needsResource },
  'kyc.step': {
    payload: z.strictObject({
      status: checkStatus,
      after_ms: afterMs,
      message: text.optional(),
      statusCode: z.int().optional(),
      result: z.looseObject({}).nullable().optional(),
      reason: text.optional(),
    }),
    needsResource,
  },
  'bank.step': {
    payload: z.strictObject({
      status: checkStatus,
      after_ms: afterMs,
      message: text.optional(),
      reason: text.optional(),
      bankResponse: text.optional(),
      accountName: text.optional(),
    }),
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
      remaining: z.int().min(1).max(1_000_000).optional(),
    }),
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
