import type { Delay } from '../core/duration.ts'
import type { KycStatus, PanResult } from '../model/kyc.ts'
import type { PaymentFailure, PaymentStatus } from '../model/payment.ts'
import type { Call, EventCall, Test } from './match.ts'
import type { RuleList } from './rule-list.ts'
import type { RuleDefinition } from './rule-schema.ts'
import type { ActionDefinition, ScenarioDefinition } from './schema.ts'
import type { EventName, OperationId } from './words.ts'

/** A step of a payment; `afterMs` counts from the step before, on the client's clock. The first is at creation. */
export type TransactionStep = { status: PaymentStatus; after_ms: number } & Partial<PaymentFailure>

/** A step of a KYC record; `result` is what differs from a clean PAN check, `null`: the source told nothing. */
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

/** What goes wrong with an answer. */
export type Fault = 'reset' | 'hang' | 'empty' | 'malformed' | 'truncate'

/** How a call is answered: instead of the operation, later, or broken. With a `fault` there always is an `at`. */
export type AnswerOutcome = {
  respond?: { status: number; body?: unknown; headers?: Readonly<Record<string, string>> }
  delay?: Delay
  fault?: Fault
  at?: 'before' | 'after'
}

/** What becomes of what the call makes; never empty lists. */
export type LifeOutcome = {
  kyc?: readonly KycStep[]
  bank?: readonly BankStep[]
  transaction?: readonly TransactionStep[]
}

/** What happens to a call. */
export type Outcome = AnswerOutcome & LifeOutcome

/** One turn of a rule: its outcome, whole and by question; `undefined` where it has no say in one. */
export type Turn = { whole: Outcome; answer?: AnswerOutcome; life?: LifeOutcome }

/** What happens to an event on its way out. `copies` counts all sends. */
export type WebhookOutcome = {
  delay?: Delay
  copies?: number
  drop?: true
  holdUntil?: EventName
  signature?: 'wrong' | 'missing'
  timestamp?: 'stale'
  body?: 'truncated'
}

/** What a rule and a webhook rule have in common: whom they are about, and how often they act. */
export type Limited = {
  scenario: string
  /** Its own in its scenario: the name, else a hash of its text. Counters and chance hang on it. */
  id: string
  /** The name, or `rule 3` by its place. */
  name: string
  tests: readonly Test[]
  skip: number
  times: number
  chance: number
  keyOf?: (call: Call | EventCall) => unknown
}

/** A rule, ready to be asked. */
export type CompiledRule = Limited & {
  operations: readonly OperationId[]
  /** Asked for each document of POST /kyc, not for the call: it looks at `item`, or decides about `kyc`. */
  perItem: boolean
  turns: readonly (Turn | 'pass')[]
  thenOn: 'last' | 'loop' | 'pass'
}

/** A webhook rule, ready to be asked. */
export type CompiledWebhookRule = Limited & {
  events: readonly EventName[]
  outcome: WebhookOutcome
}

/** A timeline may not come round faster, ms: each turn is a timer, and an advance of a month would never come to its end. */
export const MIN_TURN_MS = 100

/** Something that a timeline does. */
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
  | { credit: Omit<NonNullable<ActionDefinition['credit']>, 'amount'> & { amount: string } }
  | { create_users: number }
  | { use: string }
  | { rule: RuleDefinition }
  | { reset: true }

/** An entry of a timeline, from the moment the scenario is activated. No `times`: without end where `everyMs` is set, else once. */
export type CompiledTimelineEntry = {
  after_ms: number
  every_ms?: number
  times?: number
  do: TimelineAction
}

/** How many requests an operation must have had. */
export type Expectation = { exactly?: number; at_least?: number; at_most?: number }

/** The rules that can speak to one operation, by the question they answer. */
export type OperationRules = { answers: RuleList<CompiledRule>; lives: RuleList<CompiledRule> }

/** A scenario, ready to be asked. */
export type CompiledScenario = {
  name: string
  title?: string
  description?: string
  extends?: string
  /** Whether the default scenario lies under it. */
  base: boolean
  rules: readonly CompiledRule[]
  webhooks: readonly CompiledWebhookRule[]
  timeline: readonly CompiledTimelineEntry[]
  expect: ReadonlyMap<OperationId, Expectation>
  definition: ScenarioDefinition
  byOperation: ReadonlyMap<OperationId, OperationRules>
  /** For POST /kyc asked about one document. */
  byItem: OperationRules
  byEvent: ReadonlyMap<EventName, RuleList<CompiledWebhookRule>>
}

/** Whether the operation is carried out: neither answered in its place nor broken before. */
export const isCarriedOut = ({ respond, fault, at }: AnswerOutcome): boolean =>
  respond === undefined && (fault === undefined || at === 'after')
