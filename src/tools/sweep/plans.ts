import { ASSUMPTIONS } from '../../assumptions/readings.ts'
import { didYouMean } from '../../model/words.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'
import {
  ENDPOINT_OF,
  EVENTS,
  OPERATIONS,
  operationNamed,
} from '../../scenarios/operations-and-events.ts'
import type { ScenarioDefinition } from '../../scenarios/scenario-schema.ts'
import { groupBy } from '../counting.ts'
import { absorbableReadings } from '../coverage/report.ts'
import { CALL_NAMES, isRead, LIFECYCLE_NAMES, WEBHOOK_NAMES } from './faults.ts'
import type { Fault, Plan } from './faults-and-findings.ts'
import { assumptionOf, FAULT_KINDS, SweepError } from './faults-and-findings.ts'
import { RACE_NAMES, SLOW_NAMES } from './time-faults.ts'

/** The name of a plan's scenario during its run. */
export const PLAN_NAME = 'sweep-plan'

/** Whether a call of a plan gets no response, so that the command waits. */
export const isHanging = (plan: Plan) =>
  plan.some(({ scenario }) => scenario.rules?.some(({ then }) => then?.fault === 'hang'))

const MIN_DEADLINE_MS = 30_000
// Many HTTP clients wait 30 s for a response, and then try again.
const MIN_DEADLINE_IF_HANGING_MS = 75_000
const DEADLINE_FACTOR = 10

/** Real ms that a run may take; once a command has hung, its other runs may be stopped sooner. */
export function deadlineOf(plan: Plan, slowestMs: number, hasHung: boolean): number {
  const least = isHanging(plan) && !hasHung ? MIN_DEADLINE_IF_HANGING_MS : MIN_DEADLINE_MS
  return Math.max(least, DEADLINE_FACTOR * slowestMs)
}

export const planText = (plan: Plan): string => plan.map(({ what }) => what).join(', and ')

const MAX_LISTED = 2

/** A few of some texts, each once. */
export function listed(texts: readonly string[]): string {
  const all = [...new Set(texts)]
  const more = all.length > MAX_LISTED ? [`and ${all.length - MAX_LISTED} more`] : []
  return [...all.slice(0, MAX_LISTED), ...more].join('; ')
}

/** Identifies a plan in each sweep of the same command. */
export const planKey = (plan: Plan): string =>
  plan.map(({ kind, name, operation, nth }) => [kind, name, operation, nth].join(' ')).join(' + ')

export function planDefinition(plan: Plan, startScenario: string): ScenarioDefinition {
  const rules = plan.flatMap(({ scenario }) => scenario.rules ?? [])
  const webhooks = plan.flatMap(({ scenario }) => scenario.webhooks ?? [])
  const assume = Object.assign({}, ...plan.map(({ scenario }) => scenario.assume))
  return {
    title: planText(plan).slice(0, 200),
    counts: 'run',
    ...(startScenario !== 'default' && { extends: startScenario }),
    ...(Object.keys(assume).length > 0 && { assume }),
    ...(rules.length > 0 && { rules }),
    ...(webhooks.length > 0 && { webhooks }),
  }
}

/** The faults of a plan by their rules, as the log names them. */
export const faultsByRule = (plan: Plan): ReadonlyMap<string, Fault> =>
  new Map(
    plan.flatMap((fault) => {
      const { rules = [], webhooks = [] } = fault.scenario
      return [...rules, ...webhooks].map(({ name }) => [`${PLAN_NAME}: ${name}`, fault])
    }),
  )

// ---- risk

// How much money a fault puts at risk: first what leaves the caller without knowing the outcome, and who must not be paid.
const RISKS = {
  10: 'two_workers race',
  9: 'reset_after event_before_read event_after_read copies_at_once',
  8: `respond_504_after kill payment_failed payment_failed_late payment_reversed kyc_failed bank_failed
    payment_late_success slow slow_after`,
  7: 'hang_after late_response signature_wrong copies hold_until together',
  6: `effect_after_timeout respond_html_after visible_after outage respond_500 respond_503
    signature_missing drop delay`,
  5: 'payment_late payment_stuck kyc_pending bank_pending rate_limit truncate_after timestamp_stale',
}
const RISK = new Map(
  Object.entries(RISKS).flatMap(([risk, names]) =>
    names.split(/\s+/).map((name) => [name, Number(risk)]),
  ),
)
const OTHER_RISK = 4
// Readings that decide whether a payment is found, what its status means, and who is verified. One run tries them at all points.
const READING_RISK = 8
const RISKY_READINGS = [
  ...['reference_id', 'idempotency_key', 'processing_status', 'new_words', 'unverified_account'],
  ...['list_order', 'largest_page', 'limit_parameter', 'webhook_delivery', 'status_words'],
  ...['refused_bank_account', 'kyc_bad_document', 'unknown_id', 'late_success'],
]
const MONEY_RISK = 3
const FIRST_POINT = 3
const WORST_EVENT = 1
// A read of one resource: what it says decides about money.
const LOOK_UP = /^GET .*:/
const LOOK_UP_RISK = 2
// What is tried at each payment, because each can be made for another reason: a retry, a restart, a schedule.
const EACH_PAYMENT_RISK: Readonly<Record<string, number>> = { reset_after: 10, reset: 7 }
// What happened at one point happens at the next one, too, as a rule.
const AGAIN = 2
// A pair waits until one fault of each family was tried alone; two workers that recover a payment don't.
const PAIR = 5

const isMoney = (fault: Fault): boolean =>
  fault.operation === 'createTransaction' ||
  fault.operation?.startsWith('transaction.') === true ||
  ASSUMPTIONS.some(
    ({ name, concerns }) => name === assumptionOf(fault) && concerns.includes('createTransaction'),
  )

/** Whether a fault concerns the check of a payee or of an account. */
export const isCheck = ({ kind, name }: Fault) => kind === 'lifecycle' && /^(kyc|bank)_/.test(name)

// A lost response to a read changes nothing.
const LOST_WRITES = ['hang_after', 'respond_html_after', 'truncate_after']

function riskOf(fault: Fault): number {
  const { name, operation = '', nth = 1 } = fault
  const isHarmless = LOST_WRITES.includes(name) && isRead(operation)
  const isRisky = RISKY_READINGS.includes(assumptionOf(fault) ?? '')
  const own = isRisky ? READING_RISK : (!isHarmless && RISK.get(name)) || OTHER_RISK
  // An event that comes late is worse if others have followed it.
  const worst = name === 'delay' ? /\.pending$/ : /\.(success|failed)$/
  const endpoint = ENDPOINT_OF[operation as OperationId] ?? ''
  // The second document is the other one of a user.
  const isFirst = fault.decides ?? (nth === 1 || (nth === 2 && isCheck(fault)))
  return (
    own +
    (isMoney(fault) || isCheck(fault) ? MONEY_RISK : 0) +
    (isFirst ? FIRST_POINT : 0) +
    (worst.test(operation) ? WORST_EVENT : 0) +
    (fault.decides || LOOK_UP.test(endpoint) ? LOOK_UP_RISK : 0)
  )
}

/** That of a pair is the risk of a lost payment with another reading or fault, or that of its smaller half. */
const riskOfPlan = (plan: Plan): number => {
  const risks = plan.map(riskOf)
  const isLostMoney = plan.some((fault) => isMoney(fault) && isLost(fault))
  const risk = isLostMoney ? Math.max(...risks) : Math.min(...risks)
  return plan.length > 1 && !plan.some(({ race }) => race) ? risk - PAIR : risk
}

/** Plans with the most money at risk first, and each kind of fault early. The order depends on the faults alone. */
export function byRisk(plans: readonly Plan[]): Plan[] {
  const counts = new Map<string, number>()
  return plans
    .map((plan) => ({ plan, risk: riskOfPlan(plan) }))
    .sort((a, b) => b.risk - a.risk)
    .map(({ plan, risk }) => {
      const names = plan.map(({ name, operation }) => `${name} ${isRead(operation)}`).join()
      const count = counts.get(names) ?? 0
      counts.set(names, count + 1)
      const isPayment = plan.length === 1 && plan[0]!.operation === 'createTransaction'
      const least = isPayment ? EACH_PAYMENT_RISK[plan[0]!.name] : undefined
      return { plan, risk: Math.max(risk - AGAIN * count, least ?? 0) }
    })
    .sort((a, b) => b.risk - a.risk)
    .map(({ plan }) => plan)
}

// ---- pairs

/** Whether two faults can happen together: not at the same point, and not to the same assumption. */
function canCombine(a: Fault, b: Fault): boolean {
  if (a.kind !== b.kind) return true
  if (a.kind === 'assumption') return assumptionOf(a) !== assumptionOf(b)
  return a.operation !== b.operation || a.nth !== b.nth
}

// The call is carried out, and its caller gets no response.
const NO_RESPONSE = ['reset_after', 'respond_504_after', 'hang_after']

/** Whether a caller doesn't know if its call was carried out. */
const isLost = ({ name }: Fault) => NO_RESPONSE.includes(name) || name === 'kill'

/** Whether a fault leaves a payment as it is, and its caller without a response. */
const isLostPayment = ({ name, operation }: Fault): boolean =>
  operation === 'createTransaction' && NO_RESPONSE.includes(name)

/** Whether two plans leave a payment as it is, and its caller without a response, each in another way. */
export const areAlike = ([a, ...more]: Plan, [b, ...others]: Plan): boolean =>
  more.length + others.length === 0 && isLostPayment(a!) && isLostPayment(b!) && a!.nth === b!.nth

// What would make another try of a lost payment safe, and the words of a payment that is open before it fails late.
const PAIRED = [
  { name: 'reset_after', maxNth: 2, readings: ['reference_id', 'idempotency_key'] },
  { name: 'payment_failed_late', maxNth: 1, readings: ['processing_status', 'new_words'] },
]

/** Faults of payments under the readings that decide what a caller makes of them. */
const guardPairs = (faults: readonly Fault[]): Plan[] =>
  PAIRED.flatMap(({ name, maxNth, readings }) => {
    const guards = faults.filter((one) => readings.includes(assumptionOf(one) ?? ''))
    return faults
      .filter((one) => one.name === name && isMoney(one) && one.nth! <= maxNth)
      .flatMap((fault) => guards.map((reading): Plan => [reading, fault]))
  })

// What makes two workers look for one payment again: one of them recovers it.
const RECOVERED = ['reset_after', 'respond_503']

/** Two workers that recover the first payment at once. */
function racePairs(faults: readonly Fault[]): Plan[] {
  const races = faults.filter(({ race, nth }) => race?.holds && race.workers > 1 && nth === 1)
  const race = races.find(({ operation }) => isRead(operation)) ?? races[0]
  return faults
    .filter((one) => one.operation === 'createTransaction' && one.nth === 1)
    .flatMap((one): Plan[] => (race && RECOVERED.includes(one.name) ? [[race, one]] : []))
}

/** The plans of faults, and those of them that come first: several workers, and what shows which calls a lost payment makes. */
export function plansOf(faults: readonly Fault[]) {
  const alone = faults.map((fault): Plan => [fault])
  return {
    plans: [...alone, ...guardPairs(faults), ...racePairs(faults)],
    together: alone.filter(([fault]) => fault!.name === 'two_workers'),
    early: alone.filter(([fault]) => isLostPayment(fault!) && fault!.nth === 1),
  }
}

/** The plan whose run can show that this one is needless: that of the same fault at its first point. */
export function firstOf(plan: Plan): Plan | undefined {
  const [fault] = plan
  const { kind, nth = 1 } = fault!
  const isKnown = plan.length === 1 && nth > 1 && (kind === 'race' || kind === 'lifecycle')
  return isKnown ? [{ ...fault!, nth: 1 }] : undefined
}

/** A fault that did no harm alone, and the faults at calls that its run made in addition to the baseline. */
export type Quiet = { fault: Fault; added: readonly Fault[] }

/** Faults of the calls that are made only when a response is lost: look-ups, lists and further tries. */
export function recoveryPairs(quiet: readonly Quiet[]): Plan[] {
  const pairs = quiet
    .filter(({ fault }) => isLost(fault) && !isRead(fault.operation))
    .flatMap(({ fault, added }) => pairsOf([{ fault, added }]))
  const keyOf = ([first, second]: Plan) => `${first!.operation} ${planKey([second!])}`
  return [...groupBy(pairs, keyOf).values()].map(([pair]) => pair)
}

/** All pairs of faults that did no harm alone. */
export const pairsOf = (quiet: readonly Quiet[]): Plan[] =>
  quiet.flatMap(({ fault, added }, i) =>
    [...added, ...quiet.slice(i + 1).map((one) => one.fault)]
      .filter((second) => canCombine(fault, second))
      .map((second) => [fault, second]),
  )

/** Whether no client can know what became of its payment: the service keeps no reference that would show it. */
export const isUnguarded = (plan: Plan): boolean =>
  plan.some(({ name }) => name === 'reference_id=ignored')

// ---- choice

/** The words that can select faults: money, kinds, names of faults and assumptions, operations and events. */
const WORDS: ReadonlySet<string> = new Set([
  'money',
  ...FAULT_KINDS,
  ...CALL_NAMES,
  ...LIFECYCLE_NAMES,
  ...WEBHOOK_NAMES,
  ...RACE_NAMES,
  ...SLOW_NAMES,
  ...ASSUMPTIONS.flatMap((one) => [
    one.name,
    ...absorbableReadings(one).map((reading) => `${one.name}=${reading}`),
  ]),
  ...OPERATIONS,
  ...EVENTS,
])

/** What `--only` and `--except` select: a list of words, where `a & b` selects what both select. */
export type Choice = { [Flag in 'only' | 'except']?: readonly string[] | undefined }

const wordsOf = (term: string) => term.split('&').map((word) => String(operationNamed(word.trim())))

/** Throws `SweepError` if a word of `--only` or `--except` is wrong. */
export function checkChoice(choice: Choice) {
  for (const flag of ['only', 'except'] as const) {
    const unknown = choice[flag]?.flatMap(wordsOf).find((word) => !WORDS.has(word))
    if (unknown !== undefined)
      throw new SweepError(
        `--${flag}: no kind, fault, assumption, operation or event is called ${JSON.stringify(unknown)}${didYouMean(unknown, [...WORDS])}`,
      )
  }
}

const hasWord = (fault: Fault, word: string): boolean =>
  word === 'money'
    ? isMoney(fault)
    : [fault.kind, fault.name, assumptionOf(fault), fault.operation].includes(word)

const isNamed = (fault: Fault, terms: readonly string[]) =>
  terms.some((term) => wordsOf(term).every((word) => hasWord(fault, word)))

export const isSelected = (fault: Fault, { only, except = [] }: Choice): boolean =>
  (only === undefined || isNamed(fault, only)) && !isNamed(fault, except)
