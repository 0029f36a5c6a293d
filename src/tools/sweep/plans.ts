import { ASSUMPTIONS } from '../../assumptions/readings.ts'
import { EVENTS, OPERATIONS, operationNamed } from '../../scenarios/operations-and-events.ts'
import type { RuleDefinition, WebhookRuleDefinition } from '../../scenarios/rule-schema.ts'
import type { ScenarioDefinition } from '../../scenarios/scenario-schema.ts'
import { CALL_NAMES, LIFECYCLE_NAMES } from './faults.ts'
import type { Fault, Plan } from './faults-and-findings.ts'
import type { PlanRules } from './observe.ts'
import { WEBHOOK_NAMES } from './webhook-faults.ts'

/** The name of a plan's scenario during its run. */
export const PLAN_NAME = 'sweep-plan'

/** The faults of a plan in words. */
export const planText = (plan: Plan): string => plan.map(({ what }) => what).join('; and ')

/** Identifies a plan in each sweep of the same command. */
export const planKey = (plan: readonly Pick<Fault, 'kind' | 'name' | 'operation' | 'nth'>[]) =>
  plan.map(({ kind, name, operation, nth }) => [kind, name, operation, nth].join(' ')).join(' + ')

/** A plan as a scenario. */
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

const logged = ({ name }: RuleDefinition | WebhookRuleDefinition) => `${PLAN_NAME}: ${name}`

/** The rules of a fault, as the log names them. */
export const rulesOfFault = ({ scenario: { rules = [], webhooks = [] } }: Fault): string[] =>
  [...rules, ...webhooks].map(logged)

/** What the rules of a plan do, by the name that the log has for them. */
export function planRules(plan: Plan): PlanRules {
  const waits = new Map<string, number>()
  for (const { scenario } of plan)
    for (const rule of scenario.rules ?? []) {
      const seconds = rule.then?.respond?.headers?.['retry-after']
      if (seconds !== undefined) waits.set(logged(rule), Number(seconds) * 1_000)
    }
  return { retryAfterOf: (rule) => waits.get(rule) }
}

// ---- risk

// How much money a fault puts at risk: first what leaves the caller without knowing the outcome.
const RISK: Readonly<Record<string, number>> = {
  reset_after: 9,
  respond_504_after: 8,
  hang_after: 7,
  payment_failed: 7,
  kill: 7,
  effect_after_timeout: 6,
  payment_late: 6,
  payment_reversed: 6,
  respond_html_after: 6,
  visible_after: 6,
  kyc_failed: 6,
  bank_failed: 6,
  signature_wrong: 6,
  copies: 5,
  drop: 5,
  hold_until: 5,
  payment_stuck: 5,
  truncate_after: 5,
  outage: 5,
  reset: 4,
  respond_500: 4,
  respond_503: 4,
  respond_429: 4,
}
const MONEY_RISK = 4
const FIRST_POINT = 3

/** The assumption of which a fault chooses another reading. */
export const assumptionOf = ({ scenario }: Fault) => Object.keys(scenario.assume ?? {})[0]

const concernsOf = (fault: Fault): readonly string[] =>
  ASSUMPTIONS.find(({ name }) => name === assumptionOf(fault))?.concerns ?? []

/** Whether a fault concerns payments. */
const isMoney = (fault: Fault): boolean =>
  fault.operation === 'createTransaction' ||
  fault.operation?.startsWith('transaction.') === true ||
  concernsOf(fault).includes('createTransaction')

const riskOf = (fault: Fault): number =>
  (RISK[fault.name] ?? 3) +
  (isMoney(fault) ? MONEY_RISK : 0) +
  ((fault.nth ?? 1) === 1 ? FIRST_POINT : 0)

/** Plans with the most money at risk first. The sort is stable, so the order depends on the faults alone. */
export const byRisk = (plans: readonly Plan[]): Plan[] => {
  const riskOfPlan = (plan: Plan) => plan.reduce((sum, fault) => sum + riskOf(fault), 0)
  const risks = new Map(plans.map((plan) => [plan, riskOfPlan(plan)]))
  return plans.toSorted((a, b) => risks.get(b)! - risks.get(a)!)
}

// ---- pairs

/** Whether two faults can happen together: not at the same point, and not to the same assumption. */
function canCombine(a: Fault, b: Fault): boolean {
  if (a.kind !== b.kind) return true
  if (a.kind === 'assumption') return assumptionOf(a) !== assumptionOf(b)
  return a.operation !== b.operation || a.nth !== b.nth
}

/** Faults after which a caller does not know whether its call was carried out. */
const isLost = ({ name }: Fault) =>
  ['reset_after', 'respond_504_after', 'hang_after', 'kill'].includes(name)
// What protects a caller that sends a payment again.
const GUARDS = ['reference_id', 'idempotency_key']

/** A lost response to a payment under each reading of what would make another try safe. */
export const guardPairs = (faults: readonly Fault[]): Plan[] =>
  faults
    .filter(({ name, operation }) => name === 'reset_after' && operation === 'createTransaction')
    .flatMap((lost) =>
      faults
        .filter((fault) => GUARDS.includes(assumptionOf(fault) ?? ''))
        .map((reading): Plan => [reading, lost]),
    )

/** A fault that did no harm alone, and the faults at calls that its run made in addition to the baseline. */
export type Quiet = { fault: Fault; added: readonly Fault[] }

/** Faults of the calls that are made only when a response is lost: look-ups, lists and further tries. */
export function recoveryPairs(quiet: readonly Quiet[]): Plan[] {
  const plans = new Map<string, Plan>()
  for (const { fault, added } of quiet.filter((one) => isLost(one.fault)))
    for (const second of added) {
      const key = `${fault.operation} ${planKey([second])}`
      if (canCombine(fault, second) && !plans.has(key)) plans.set(key, [fault, second])
    }
  return [...plans.values()]
}

/** All pairs of faults that did no harm alone. */
export const pairsOf = (quiet: readonly Quiet[]): Plan[] =>
  quiet.flatMap(({ fault, added }, i) =>
    [...added, ...quiet.slice(i + 1).map((one) => one.fault)]
      .filter((second) => canCombine(fault, second))
      .map((second): Plan => [fault, second]),
  )

// A service that keeps no reference shows nobody whether a payment was made.
const UNGUARDED = ['reference_id=ignored']

/** Whether no client can know what became of its payment. */
export const isUnguarded = (plan: Plan): boolean =>
  plan.some(({ name }) => UNGUARDED.includes(name))

// ---- choice

const KINDS: readonly Fault['kind'][] = ['assumption', 'call', 'lifecycle', 'webhook']

/** The words that can select faults: money, kinds, names of faults and assumptions, operations and events. */
const WORDS: ReadonlySet<string> = new Set([
  'money',
  ...KINDS,
  ...CALL_NAMES,
  ...LIFECYCLE_NAMES,
  ...WEBHOOK_NAMES,
  ...ASSUMPTIONS.map(({ name }) => name),
  ...OPERATIONS,
  ...EVENTS,
])

/** What `--only` and `--except` select: a list of words, where `a & b` selects what both select. */
export type Choice = {
  only?: readonly string[] | undefined
  except?: readonly string[] | undefined
}

const wordsOf = (term: string) => term.split('&').map((word) => String(operationNamed(word.trim())))

/** Why a word of `--only` or `--except` is wrong; `undefined` if all are right. */
export function problemOfChoice(choice: Choice): string | undefined {
  for (const flag of ['only', 'except'] as const) {
    const unknown = choice[flag]?.flatMap(wordsOf).find((word) => !WORDS.has(word))
    if (unknown !== undefined)
      return `--${flag} takes kinds, names of faults and assumptions, operations and events, not ${JSON.stringify(unknown)}; use some of: ${[...WORDS].join(', ')}`
  }
  return undefined
}

const hasWord = (fault: Fault, word: string): boolean =>
  word === 'money'
    ? isMoney(fault)
    : [fault.kind, fault.name.split('=')[0], fault.operation].includes(word)

const isNamed = (fault: Fault, terms: readonly string[]) =>
  terms.some((term) => wordsOf(term).every((word) => hasWord(fault, word)))

/** Whether a fault is wanted. */
export const isSelected = (fault: Fault, { only, except = [] }: Choice): boolean =>
  (only === undefined || isNamed(fault, only)) && !isNamed(fault, except)
