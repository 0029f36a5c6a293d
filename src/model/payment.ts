import * as z from 'zod'
import { BankStatus } from './bank-account.ts'
import { named, Timestamp, Uuid, VisibleAt } from './formats.ts'
import type { KycStatus } from './kyc.ts'

/** The four states of a payment, as the history names them. */
export const PaymentStatus = z.enum(['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'])
export type PaymentStatus = z.infer<typeof PaymentStatus>

/** Why a payment failed, as the metadata of the history returns it. */
export const PaymentFailure = named('PaymentFailure', {
  reason: z.string(),
  description: z.string(),
  source: z.enum(['gateway', 'beneficiary_bank', 'business', 'internal']),
})
export type PaymentFailure = z.infer<typeof PaymentFailure>

/** Who can set the status of a payment outside its steps: an admin call, or the timeline of a scenario. */
export const SetBy = z.enum(['call', 'timeline'])
export type SetBy = z.infer<typeof SetBy>

/** The one stored row behind both views of a payment: full account number, paise as an integer. */
export const PaymentRow = z.strictObject({
  transaction_id: Uuid,
  id: Uuid,
  reference_id: z.string().nullable(),
  client_transaction_id: z.string(),
  partner_transaction_id: z.string(),
  from_user_id: Uuid,
  to_user_id: Uuid,
  benif_bank_id: Uuid,
  account_number: z.string(),
  ifsc_code: z.string(),
  account_name: z.string(),
  bank_status: BankStatus,
  currency_code: z.literal('INR'),
  transaction_type: z.enum(['debit', 'credit']),
  paise: z.int(),
  status: PaymentStatus,
  utr: z.string().nullable(),
  remark: z.string(),
  failure: PaymentFailure.nullable(),
  created_at: Timestamp,
  /** When it changed: when it reached its current status, or got its UTR after that. */
  updated_at: Timestamp,
  /** When it reached the statuses after the first one, if `updated_at` does not say it. */
  earlier: z
    .strictObject({
      PROCESSING: Timestamp.optional(),
      SUCCESS: Timestamp.optional(),
      FAILED: Timestamp.optional(),
      /** Those that it has reached once more since. */
      before: z.array(z.strictObject({ status: PaymentStatus, at: Timestamp })).optional(),
    })
    .optional(),
  /** Who set the status that it has, if not the steps with which it began. */
  set_by: SetBy.optional(),
  visible_at: VisibleAt,
})
export type PaymentRow = z.infer<typeof PaymentRow>

export const PaymentStep = named('PaymentStep', { status: PaymentStatus, at: Timestamp })

type FailureSource = PaymentFailure['source']

/** The descriptions of failure reasons, by their source; the source of any other reason is `gateway`. */
const FAILURES: Readonly<Record<FailureSource, Readonly<Record<string, string>>>> = {
  beneficiary_bank: {
    beneficiary_bank_offline: 'The beneficiary bank is offline.',
    beneficiary_bank_failure: 'The beneficiary bank reported a failure.',
    beneficiary_bank_rejected: 'The beneficiary bank rejected the payment.',
    beneficiary_account_dormant: 'The beneficiary account is dormant.',
    bank_account_closed: 'The beneficiary account is closed.',
    bank_account_frozen: 'The beneficiary account is frozen.',
    bank_account_invalid: 'The beneficiary account is invalid.',
    imps_not_allowed: 'IMPS is not allowed on the beneficiary account.',
  },
  business: {
    invalid_ifsc_code: 'The IFSC is invalid.',
    insufficient_funds: 'The balance is too low for the payment.',
    transaction_limit_exceeded: 'The payment exceeds a limit.',
  },
  gateway: {
    npci_beneficiary_timeout: 'The beneficiary bank did not answer in time.',
    gateway_down: 'The payment gateway is down.',
    gateway_timeout: 'The payment gateway did not answer in time.',
  },
  internal: { server_error: 'An internal error stopped the payment.' },
}

/** The reasons with a description of their own; other reasons are accepted too. */
export const FAILURE_REASONS: readonly string[] = Object.values(FAILURES).flatMap(Object.keys)

export function failureOf(reason: string, more: Partial<PaymentFailure> = {}): PaymentFailure {
  const sources = Object.keys(FAILURES) as FailureSource[]
  // An inherited property such as `constructor` is not a known reason.
  const known = sources.find((one) => Object.hasOwn(FAILURES[one], reason))
  const { source = known ?? 'gateway', description } = more
  const words = known
    ? FAILURES[known][reason]!
    : `The payment failed: ${reason.replaceAll('_', ' ')}.`
  return { reason, description: description ?? words, source }
}

/** The kind of the timer that sets the UTR of a payment after its SUCCESS. */
export const UTR_TIMER = 'transaction.utr'

/** `earlier` with one more status. */
export function withStep(
  earlier: PaymentRow['earlier'],
  status: 'PROCESSING' | 'SUCCESS' | 'FAILED',
  at: string,
): PaymentRow['earlier'] {
  const last = earlier?.[status]
  const isAgain = last !== undefined && last !== at
  const before = isAgain && { before: [...(earlier?.before ?? []), { status, at: last }] }
  return { ...earlier, ...before, [status]: at }
}

export function stepsOf(row: PaymentRow): z.infer<typeof PaymentStep>[] {
  const { created_at, earlier = {}, status, updated_at } = row
  const latest = (['PROCESSING', 'SUCCESS', 'FAILED'] as const).flatMap((was) => {
    const at = earlier[was]
    return at === undefined ? [] : [{ status: was, at }]
  })
  const noted = [...(earlier.before ?? []), ...latest].sort(
    (a, b) => Number(a.at > b.at) - Number(a.at < b.at),
  )
  const isNoted = status === 'PENDING' || noted.at(-1)?.status === status
  const now = isNoted ? [] : [{ status, at: updated_at }]
  return [{ status: 'PENDING', at: created_at }, ...noted, ...now]
}

/** The statuses of the resources that change over time, by the part of an event's name before the dot. */
export type StatusOf = { transaction: PaymentStatus; kyc: KycStatus; bank: BankStatus }
export type LifecycleKind = keyof StatusOf

type Transitions<S extends string> = Readonly<Record<S, readonly S[]>>

/** The statuses that may follow each status. A success may be reversed, and what failed may succeed (see `late_success`). */
const TRANSITIONS: { readonly [K in LifecycleKind]: Transitions<StatusOf[K]> } = {
  transaction: {
    PENDING: ['PROCESSING', 'SUCCESS', 'FAILED'],
    PROCESSING: ['SUCCESS', 'FAILED'],
    SUCCESS: ['FAILED'],
    FAILED: ['SUCCESS'],
  },
  kyc: { pending: ['success', 'failed'], success: [], failed: ['success'] },
  bank: { pending: ['success', 'failed'], success: [], failed: [] },
}

/** The statuses with which a new resource may begin. */
export const FIRST_STATUSES: { readonly [K in LifecycleKind]: readonly StatusOf[K][] } = {
  transaction: ['PENDING'],
  kyc: ['pending', 'success', 'failed'],
  bank: ['pending', 'success', 'failed'],
}

/** How a payment ended: `came_back` has failed after its success. */
export const PaymentOutcome = z.enum(['settled', 'in_flight', 'failed', 'came_back'])

export function outcomeOf({ status, earlier }: PaymentRow): z.infer<typeof PaymentOutcome> {
  if (status === 'SUCCESS') return 'settled'
  if (status !== 'FAILED') return 'in_flight'
  return earlier?.SUCCESS === undefined ? 'failed' : 'came_back'
}

/** The statuses that may follow one; none if it is final or unknown. */
export const nextStatuses = (kind: LifecycleKind, from: string, hasLateSuccess: boolean) =>
  from.toUpperCase() === 'FAILED' && !hasLateSuccess
    ? []
    : ((TRANSITIONS[kind] as Transitions<string>)[from] ?? [])

export const canTransition = (
  kind: LifecycleKind,
  from: string,
  to: string,
  hasLateSuccess: boolean,
): boolean => nextStatuses(kind, from, hasLateSuccess).includes(to)

/** The statuses that a resource can have after its first one. */
export const laterStatuses = (kind: LifecycleKind): readonly string[] => [
  ...new Set(Object.values<readonly string[]>(TRANSITIONS[kind]).flat()),
]

export const DECIMAL = /^\d{1,10}(\.\d{1,2})?$/

/** The minimum amount of a payment, in paise, unless `smallest_amount` says otherwise. */
export const MIN_PAISE = 100
export const MAX_PAISE = 999_999_999_999

/** Whole paise of a number or decimal text; `undefined` for a third decimal, a sign, an exponent or too many digits. */
export function paiseOf(amount: number | string): number | undefined {
  if (typeof amount === 'number') {
    const paise = Math.round(amount * 100)
    // Only what has at most two decimals is the number that is nearest to a whole number of paise.
    return amount >= 0 && amount < 1e10 && paise / 100 === amount ? paise : undefined
  }
  if (!DECIMAL.test(amount)) return undefined
  const [rupees, fraction = ''] = amount.split('.')
  return Number(rupees) * 100 + Number(fraction.padEnd(2, '0'))
}

/** `10050` -> `"100.50"`. */
export const rupeesOf = (paise: number): string =>
  `${Math.floor(paise / 100)}.${String(paise % 100).padStart(2, '0')}`

/** An amount in rupees as a client sends it: a number or, if strings are accepted, a decimal text. */
export function amountFrom(minPaise: number, takesText: boolean): z.ZodType<number | string> {
  // These bounds and the pattern are only for the OpenAPI document. It has no `multipleOf: 0.01`: validators divide in binary,
  // so they reject 1.11.
  const number = z.number().meta({ minimum: minPaise / 100, maximum: 9_999_999_999.99 })
  const pattern = DECIMAL.source.replace('^', String.raw`^(?!0+(?:\.|$))`)
  const input = z.union([number, z.string().meta({ pattern })], {
    error: (issue) =>
      issue.input === undefined ? undefined : 'must be a number or a decimal text',
  })
  const range = `${rupeesOf(minPaise)} to 9999999999.99`
  const schema: z.ZodType<number | string> = takesText ? input : number
  return schema
    .refine((amount) => (paiseOf(amount) ?? 0) >= minPaise, {
      error: `must be ${range} with at most two decimals; amounts are never rounded`,
    })
    .meta({
      ...(takesText && {
        description: `Rupees, ${range}, at most two decimals.`,
        examples: [1500.5],
      }),
    })
}

/** An amount in rupees where strings are refused. */
export const AmountNumber = amountFrom(MIN_PAISE, false)

export const AmountInput = amountFrom(MIN_PAISE, true)

/** An amount in a response: decimal text with two places. */
export const Amount = z.string().regex(/^\d{1,10}\.\d{2}$/)
