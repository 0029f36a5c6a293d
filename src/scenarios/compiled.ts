import * as z from 'zod'
import type { Readings } from '../assumptions/readings.ts'
import { BankStatus } from '../model/bank-account.ts'
import type { DeliveryFault } from '../model/delivery.ts'
import { type Delay, MAX_MS } from '../model/duration.ts'
import { KycStatus, type PanResult } from '../model/kyc.ts'
import { MIN_PAISE, PaymentFailure, PaymentStatus, paiseOf } from '../model/payment.ts'
import type { RuleCall, RuleEvent, Test } from './match.ts'
import {
  EVENTS,
  type EventName,
  MAX_CREATED_USERS,
  MAX_TIMES,
  MIN_REPEAT_MS,
  OPERATIONS,
  type OperationId,
} from './operations-and-events.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import type { RuleDefinition } from './rule-schema.ts'
import type { ScenarioDefinition } from './scenario-schema.ts'
import type { ActionDefinition } from './timeline-schema.ts'

// The schemas check what a client stores of a scenario: steps of resources and entries of timelines, in the payloads of timers.

const afterMs = z.int().min(0).max(MAX_MS)
const text = z.string().max(1_000)
const optionalText = z.exactOptional(text)
const { reason, description, source } = PaymentFailure.shape

/** A step of a payment. `after_ms` is the time since the previous step, on the client's clock; the first step happens at creation. */
export const TransactionStep = z.strictObject({
  status: PaymentStatus,
  after_ms: afterMs,
  reason: z.exactOptional(reason),
  description: z.exactOptional(description),
  source: z.exactOptional(source),
})
export type TransactionStep = z.infer<typeof TransactionStep>

/** Fields that differ from the usual ones of a `statusCode`. */
const KycResult = z.looseObject({}) as unknown as z.ZodType<Partial<Omit<PanResult, 'pan'>>>

/** A step of a KYC record. A `result` of `null`: no result. */
export const KycStep = z.strictObject({
  status: KycStatus,
  after_ms: afterMs,
  message: optionalText,
  statusCode: z.exactOptional(z.int()),
  result: z.exactOptional(KycResult.nullable()),
  reason: optionalText,
})
export type KycStep = z.infer<typeof KycStep>

export const BankStep = z.strictObject({
  status: BankStatus,
  after_ms: afterMs,
  message: optionalText,
  reason: optionalText,
  bankResponse: optionalText,
  accountName: optionalText,
})
export type BankStep = z.infer<typeof BankStep>

export type ResponseFault = NonNullable<OutcomeDefinition['fault']>

/** How a call gets its response, and when a reader sees its effect. If `fault` is set, `at` is set too. */
export type ResponseOutcome = {
  respond?: NonNullable<OutcomeDefinition['respond']>
  delay?: Delay
  fault?: ResponseFault
  at?: 'before' | 'after'
  /** The operation runs before the delay. */
  runs_first?: true
  /** The operation runs this long after the response. */
  late_ms?: number
  /** How long reads and lists do not have what the call creates. */
  visible_after_ms?: number
}

/** The lifecycle of the resource that the call creates. The lists are never empty. */
export type LifecycleOutcome = {
  kyc?: readonly KycStep[]
  bank?: readonly BankStep[]
  transaction?: readonly TransactionStep[]
}

export type Outcome = ResponseOutcome & LifecycleOutcome

/** One turn of a rule: what it decides about the response and about the lifecycle. */
export type Turn = { response?: ResponseOutcome; lifecycle?: LifecycleOutcome }

export type WebhookOutcome = {
  /** The delay of each copy; without it there is one copy, in its place. */
  copies?: readonly Delay[]
  drop?: true
  /** `next`: the next event of its resource, with which it is sent. */
  holdUntil?: EventName | 'next'
  fault?: DeliveryFault
}

/** The common part of rules and webhook rules: what they match, and how often they act. */
export type RuleLimits = {
  scenario: string
  /** Unique in its scenario: the name, or a hash of the rule's text if it has none. Counters and chance use it. */
  id: string
  /** The name, or `rule 3` for the third rule if it has none. */
  name: string
  tests: readonly Test[]
  skip: number
  times: number
  chance: number
  keyOf?: (call: RuleCall | RuleEvent) => unknown
  /** Whether it applies at a time, ms of the client's clock; `sinceMs` after its scenario was activated, or it was pushed. */
  appliesAt?: (now: number, sinceMs: number) => boolean
}

export type CompiledRule = RuleLimits & {
  operations: readonly OperationId[]
  /** Evaluated for each document of POST /kyc instead of once for the call: it tests `item` or has a `kyc` outcome. */
  perItem: boolean
  turns: readonly (Turn | 'pass')[]
  thenOn: 'last' | 'loop' | 'pass'
}

export type CompiledWebhookRule = RuleLimits & {
  events: readonly EventName[]
  outcome: WebhookOutcome
}

/** A break in the statement; `paise` is the difference of the amount. */
export type CompiledStatementRule = RuleLimits & {
  outcome: { omit?: true; repeat?: number; paise?: number; day?: 'next'; utr?: 'missing' }
}

const TimelinePayment = z.strictObject({
  amount: z.string().refine((rupees) => (paiseOf(rupees) ?? 0) >= MIN_PAISE, {
    error: 'must be rupees such as "2500.00", from 1.00 to 9999999999.99',
  }),
  to_user_id: optionalText,
  from_user_id: optionalText,
  benif_bank_id: optionalText,
  reference_id: z.exactOptional(z.string().max(100)),
  remark: z.exactOptional(z.string().max(50)),
  transaction: z.exactOptional(z.array(TransactionStep)),
})
export type TimelinePayment = z.infer<typeof TimelinePayment>

const simulation = <K extends string, S extends z.ZodType>(kinds: readonly K[], status: S) =>
  z.strictObject({ kind: z.enum(kinds), resource: text, status, reason: optionalText })

export const TIMELINE_ACTIONS = {
  call: z.strictObject({
    call: z.enum(OPERATIONS),
    params: z.exactOptional(z.record(z.string(), z.string())),
    body: z.exactOptional(z.looseObject({})),
  }),
  trigger: z.strictObject({ trigger: z.enum(EVENTS), resource: text }),
  simulate: z.strictObject({
    simulate: z.discriminatedUnion('kind', [
      simulation(['transaction'], PaymentStatus),
      simulation(['kyc', 'bank'], KycStatus),
    ]),
  }),
  credit: z.strictObject({ credit: TimelinePayment }),
  payout: z.strictObject({ payout: TimelinePayment }),
  create_users: z.strictObject({ create_users: z.int().min(1).max(MAX_CREATED_USERS) }),
  set_webhook: z.strictObject({ set_webhook: z.literal('inbox') }),
  use: z.strictObject({ use: text }),
  rule: z.strictObject({ rule: z.looseObject({}) as unknown as z.ZodType<RuleDefinition> }),
  reset: z.strictObject({ reset: z.literal(true) }),
} satisfies Record<Exclude<keyof ActionDefinition, 'resource' | 'params' | 'body'>, z.ZodType>

export type TimelineAction = z.infer<(typeof TIMELINE_ACTIONS)[keyof typeof TIMELINE_ACTIONS]>

/** An entry of a timeline as stored, with the number of runs left; `TIMELINE_ACTIONS` checks its action. */
export const StoredTimelineEntry = z.strictObject({
  do: z.custom<TimelineAction>(),
  every_ms: z.exactOptional(z.int().min(MIN_REPEAT_MS).max(MAX_MS)),
  remaining: z.exactOptional(z.int().min(1).max(MAX_TIMES)),
  /** It belongs to an imposed scenario, so it goes on when a call activates another one. */
  imposed: z.exactOptional(z.literal(true)),
})
export type StoredTimelineEntry = z.infer<typeof StoredTimelineEntry>

/** An entry of a timeline; times count from the activation of the scenario. Without `times` it repeats forever if `everyMs` is set, and acts once if not. */
export type CompiledTimelineEntry = {
  /** The instant of an entry that has one, instead of `after_ms`. */
  at_ms?: number
  after_ms: number
  every_ms?: number
  times?: number
  do: TimelineAction
}

/** How many requests an operation must have received. */
export type Expectation = { exactly?: number; at_least?: number; at_most?: number }

export type CompiledScenario = {
  name: string
  /** Whether the default scenario is below it. */
  base: boolean
  assume: Readings
  rules: readonly CompiledRule[]
  webhooks: readonly CompiledWebhookRule[]
  timeline: readonly CompiledTimelineEntry[]
  statement: readonly CompiledStatementRule[]
  expect: ReadonlyMap<OperationId, Expectation>
  definition: ScenarioDefinition
}
