import * as z from 'zod'
import type { Coverage } from '../../model/coverage.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'
import type { ScenarioDefinition } from '../../scenarios/scenario-schema.ts'

export class SweepError extends Error {
  readonly exitCode = 2
}

export const FAULT_KINDS = ['assumption', 'call', 'lifecycle', 'webhook', 'race'] as const

/** How a run makes two things meet that usually miss each other. */
export type Race = {
  /** How often the command is started, at once and against one sandbox. */
  workers: number
  /** A call of this operation waits until another worker, or another connection, sends one too. */
  holds?: OperationId
  /** Of two calls that met, the one that came second goes first; of two workers, the second one's. */
  isReversed?: boolean
  /** A read of a payment is on its way until the next event about the payment was delivered. */
  bringsEvent?: boolean
}

/** One thing that happens otherwise than in the baseline, at one point of the run. */
export type Fault = {
  kind: (typeof FAULT_KINDS)[number]
  /** The name of the fault: `status_words=other`, `reset_after`, `payment_stuck`, `copies`. */
  name: string
  /** The operation or event that it concerns; absent for an assumption. */
  operation?: string
  /** Which call or event of this kind, counted from 1; absent for an assumption. */
  nth?: number
  /** Of a read: whether it's the one with which a payment was decided, or the first one after that. */
  decides?: boolean
  /** The fault in words: `the response of the 2nd POST /transaction is lost`. */
  what: string
  /** The sweep kills the command when it happens, and starts it again. */
  kills?: true
  /** What it makes meet. */
  race?: Race
  /** The part of a scenario file that makes it happen. */
  scenario: Pick<ScenarioDefinition, 'rules' | 'webhooks' | 'assume'>
}

/** The assumption of which a fault chooses another reading. */
export const assumptionOf = ({ scenario }: Fault): string | undefined =>
  Object.keys(scenario.assume ?? {})[0]

export type Plan = readonly Fault[]

/** The levels of the verdicts; of those that are findings, the worst come first. */
export const VERDICTS = {
  passed: 'none',
  failed_safely: 'information',
  not_reached: 'information',
  paid_twice: 'error',
  wrong_amount: 'error',
  paid_unverified: 'error',
  wrong_books: 'error',
  wrong_state: 'error',
  accepted_forged: 'error',
  lost_event: 'error',
  hung: 'error',
  retry_storm: 'error',
  relies_on: 'error',
  not_paid: 'warning',
  not_recovered: 'warning',
} as const satisfies Record<string, Level>

/** `ask`: no client can guard against it, so it's a question to the provider. */
export const LEVELS = ['none', 'information', 'ask', 'warning', 'error'] as const
export type Level = (typeof LEVELS)[number]
export type Verdict = keyof typeof VERDICTS
export const VERDICT_WORDS = Object.keys(VERDICTS) as Verdict[]

export type SeenCall = {
  client: string
  /** Which of several workers sent it, counted from 1. */
  worker?: number | undefined
  operation: string
  method: string
  path: string
  /** The body and the query, in a form in which equal calls have equal texts. */
  content: string
  status: number | null
  /** The response was an error, was broken or did not arrive, so that a caller may call again. */
  isFailed: boolean
  /** Real ms since the start of the run: when it arrived, and when it was answered. */
  beganMs: number
  atMs: number
  /** The client's time when it arrived, and when it was answered, ms since 1970. */
  clockMs: number
  answeredClockMs: number
  retryAfterMs?: number
  /** Which call of its operation, as rules count them; null if rules do not count it. */
  nth: number | null
  /** The number of the last document that a POST /kyc has submitted. */
  documents: number
  /** The rules that acted, as the request log names them. */
  rule: string | null
  /** The trace that the caller gave it, which names it where calls run side by side. */
  traceparent?: string
}

/** A difference between the books and a payment, or a row of the books without one. */
export type BookDifference = {
  /** What is wrong, of whatever payment: equal for the same bug. */
  sort: string
  transaction_id: string | undefined
  text: string
}

export type SeenPayment = {
  transaction_id: string
  /** Its client, and how often that was reset before. */
  client: string
  reference: string | null
  /** Payer, account and amount; account and amount; amount; one key for all payments. */
  keys: readonly string[]
  /** The one of them by which the runs are compared: equal for the same payment in each run. */
  key: string
  paise: number
  /** The status when the command ended, and a day later. */
  statusAtEnd: string
  status: string
  wasPaid: boolean
  /** Before the command ended. */
  wasFailed: boolean
  /** Why the payee should not have been paid when the payment was made: `whose KYC had failed`. */
  unverified?: string | undefined
  /** A response to a read said that it failed. */
  isReadAsFailed: boolean
  /** What the books have booked for it, less what came back, in paise. */
  booked?: number | undefined
}

export type SeenDelivery = {
  client: string
  event_id: string
  event: string
  resource_id: string
  /** Which event of its type, as rules count them. */
  nth: number
  /** Whether it was forged, stale or truncated on purpose, and a receiver can see it. */
  isForged: boolean
  signed: 'message' | 'body' | 'none'
  isAfterEnd: boolean
  status: number | null
  /** Real ms since the start of the run: when it was sent, and when it was answered. */
  beganMs: number
  atMs: number
}

export const isAccepted = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300

/** Whether a receiver accepted an event about a payment after the command had ended. */
export const hasLaterEvent = (deliveries: readonly SeenDelivery[], id: string): boolean =>
  deliveries.some((one) => one.resource_id === id && one.isAfterEnd && isAccepted(one.status))

export type Observation = {
  calls: readonly SeenCall[]
  payments: readonly SeenPayment[]
  /** How many events there were while the client had a webhook: also those that were not sent. */
  events: number
  deliveries: readonly SeenDelivery[]
  /** The exit code of the command; null if it was killed at the deadline. Of several workers, that of the first one that failed. */
  exitCode: number | null
  /** Those that failed, of several workers. */
  failedWorkers?: readonly number[] | undefined
  /** The ledger gave nothing, as the command had failed. */
  hasNoBooks?: boolean
  isHung: boolean
  /** How long a caller waited for a response that never came, real ms. */
  patienceMs?: number | undefined
  hits: readonly number[]
  probeDifferences: readonly string[]
  bookDifferences: readonly BookDifference[]
  durationMs: number
  seen: ReadonlySet<string>
  output: string
}

/** The most that a run without faults has of something. */
export const mostOf = (baselines: readonly Observation[], count: (run: Observation) => number) =>
  Math.max(0, ...baselines.map(count))

/** `sort`: what is wrong with the books, of whatever payment. */
export type Judgement = {
  verdict: Verdict
  level: Level
  happened: string
  sort?: string | undefined
}

/** What a run first does otherwise than the run without faults; `key` is equal where the same comes first. */
export type Divergence = { key: string; text: string }

export type Run = Judgement & {
  id: number
  plan: Plan
  what: string
  observation: Observation
  /** Of a finding, what the fault caused first. */
  divergence?: Divergence | undefined
}

/** A bug that is reported: the first run that showed it, and those that showed it under other faults. */
export type Finding = Run & {
  finding: string
  same: readonly Run[]
  reproduce: string
  /** Its scenario file, as the scenario of `reproduce` needs it. */
  definition: ScenarioDefinition
  /** The file of `--baseline` has it too, so it fails no run. */
  isKnown: boolean
  /** The sandbox saw it, and no rerun showed it again. */
  isByChance: boolean
}

export type Progress = { done: number; left: number; found: number; what: string }

/** A plan that wasn't run because an earlier run had shown that it's needless. */
export type Pruned = { plan: Plan; reason: string }

const Score = z.strictObject({
  runs: z.int().min(0).describe('Those that met their fault.'),
  passed: z.int().min(0).describe('Those without a finding.'),
  errors: z.int().min(0),
})

/** What a report of `--holdout` says about the faults that it does not name. */
export const HoldoutScore = z.strictObject({
  classes: z.array(
    z.strictObject({ kind: z.enum([...FAULT_KINDS, 'all']), shown: Score, held_out: Score }),
  ),
  verdicts: z.array(z.enum(VERDICT_WORDS)).describe('The verdicts of the sealed findings.'),
  not_reached: z.int().min(0).describe('Runs of both halves that did not meet their fault.'),
  untried: z.int().min(0).describe('Plans of both halves that were not run.'),
  sha256: z.string().describe('Of the text in sealed.'),
  sealed: z.string().describe('Faults and findings; sweep --reveal opens it with the seed.'),
})
export type HoldoutScore = z.infer<typeof HoldoutScore>

export type SweepResult = {
  command: readonly string[]
  seed: number
  baseline: Observation
  isStopped: boolean
  failures: number
  /** The tests that failed then, by name. */
  flakyTests: readonly string[]
  runs: readonly Run[]
  findings: readonly Finding[]
  /** Runs with a finding that did not come again when they were repeated. */
  flaky: readonly Run[]
  /** The user's own scenario files that the scenarios of the findings extend, by name. */
  scenarios: Readonly<Record<string, ScenarioDefinition>>
  /** The plans that were not run: because of `--max-time`, `--max-runs` or a signal, or because they were too many. */
  untried: readonly Plan[]
  pruned: readonly Pruned[]
  coverage: Coverage
  holdout?: HoldoutScore
}
