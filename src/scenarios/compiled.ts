import type { Readings } from '../assumptions/readings.ts'
import type { Delay } from '../model/duration.ts'
import type { KycStatus, PanResult } from '../model/kyc.ts'
import type { PaymentFailure, PaymentStatus } from '../model/payment.ts'
import type { RuleCall, RuleEvent, Test } from './match.ts'
import type { EventName, OperationId } from './operations-and-events.ts'
import type { RuleDefinition } from './rule-schema.ts'
import type { ScenarioDefinition } from './scenario-schema.ts'
import type { ActionDefinition } from './timeline-schema.ts'

/** A step of a payment. `after_ms` is the time since the previous step, on the client's clock; the first step happens at creation. */
export type TransactionStep = { status: PaymentStatus; after_ms: number } & Partial<PaymentFailure>

/** A step of a KYC record. `result` has only the fields that differ from the usual ones of its `statusCode`; `null`: no result. */
export type KycStep = {
  status: KycStatus
  after_ms: number
  message?: string
  statusCode?: number
  result?: Partial<Omit<PanResult, 'pan'>> | null
  reason?: string
}

/** A step of a bank account. */
export type BankStep = {
  status: 'pending' | 'success' | 'failed'
  after_ms: number
  message?: string
  reason?: string
  bankResponse?: string
  accountName?: string
}

/** How a response is broken. */
export type ResponseFault = 'reset' | 'hang' | 'empty' | 'malformed' | 'truncate'

/** How a call gets its response: a scripted one, a delayed one, or a broken one. If `fault` is set, `at` is set too. */
export type ResponseOutcome = {
  respond?: { status: number; body?: unknown; headers?: Readonly<Record<string, string>> }
  delay?: Delay
  fault?: ResponseFault
  at?: 'before' | 'after'
}

/** The lifecycle of the resource that the call creates. The lists are never empty. */
export type LifecycleOutcome = {
  kyc?: readonly KycStep[]
  bank?: readonly BankStep[]
  transaction?: readonly TransactionStep[]
}

/** What happens to a call. */
export type Outcome = ResponseOutcome & LifecycleOutcome

/** One turn of a rule: its outcome as a whole, and its two parts; a part that the rule does not decide is `undefined`. */
export type Turn = { whole: Outcome; response?: ResponseOutcome; lifecycle?: LifecycleOutcome }

/** How an event is sent. `copies` is the total number of sends. */
export type WebhookOutcome = {
  delay?: Delay
  copies?: number
  drop?: true
  holdUntil?: EventName
  signature?: 'wrong' | 'missing'
  timestamp?: 'stale'
  body?: 'truncated'
  lost_attempts?: number
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
}

/** A compiled rule. */
export type CompiledRule = RuleLimits & {
  operations: readonly OperationId[]
  /** Evaluated for each document of POST /kyc instead of once for the call: it tests `item` or has a `kyc` outcome. */
  perItem: boolean
  turns: readonly (Turn | 'pass')[]
  thenOn: 'last' | 'loop' | 'pass'
}

/** A compiled webhook rule. */
export type CompiledWebhookRule = RuleLimits & {
  events: readonly EventName[]
  outcome: WebhookOutcome
}

/** A payment that a timeline creates; the amount has two decimals. */
export type TimelinePayment = Omit<
  NonNullable<ActionDefinition['credit']>,
  'amount' | 'transaction'
> & { amount: string; transaction?: readonly TransactionStep[] }

/** An action of a timeline. */
export type TimelineAction =
  | { trigger: EventName; resource: string }
  | {
      simulate: {
        kind: 'transaction' | 'kyc' | 'bank'
        resource: string
        status: string
        reason?: string
      }
    }
  | { credit: TimelinePayment }
  | { payout: TimelinePayment }
  | { create_users: number }
  | { use: string }
  | { rule: RuleDefinition }
  | { reset: true }

/** An entry of a timeline; times count from the activation of the scenario. Without `times` it repeats forever if `everyMs` is set, and acts once if not. */
export type CompiledTimelineEntry = {
  after_ms: number
  every_ms?: number
  times?: number
  do: TimelineAction
}

/** How many requests an operation must have received. */
export type Expectation = { exactly?: number; at_least?: number; at_most?: number }

/** A compiled scenario. */
export type CompiledScenario = {
  name: string
  title?: string
  description?: string
  extends?: string
  /** Whether the default scenario is below it. */
  base: boolean
  /** Its readings of open points of the contract. */
  assume: Readings
  rules: readonly CompiledRule[]
  webhooks: readonly CompiledWebhookRule[]
  timeline: readonly CompiledTimelineEntry[]
  expect: ReadonlyMap<OperationId, Expectation>
  definition: ScenarioDefinition
}

/** Whether the operation runs: no scripted response replaces it, and no fault happens before it. */
export const runsOperation = ({ respond, fault, at }: ResponseOutcome): boolean =>
  respond === undefined && (fault === undefined || at === 'after')
