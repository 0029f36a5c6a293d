import { ASSUMPTIONS } from '../../assumptions/readings.ts'
import { EVENTS, OPERATIONS } from '../../scenarios/operations-and-events.ts'
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

// ---- pairs

// How much a fault adds to what can go wrong: first what leaves the caller without knowing the outcome.
const PROMISE: Readonly<Record<string, number>> = {
  reset_after: 6,
  hang_after: 5,
  payment_failed: 5,
  payment_stuck: 4,
  payment_late: 4,
  drop: 4,
  truncate_after: 4,
  body_truncated: 4,
  copies: 3,
  hold_until: 3,
  respond_503: 3,
  reset: 3,
  outage: 3,
  respond_500: 2,
}
const WRITE_OF_MONEY = 'createTransaction'
// As much as another loss of an answer to a payment, so that readings come as early as those.
const SAME_OPERATION = 8

const promiseOf = ({ name, operation }: Fault) =>
  (PROMISE[name] ?? 1) + (operation === WRITE_OF_MONEY ? 3 : 0)

/** The assumption of which a fault chooses another reading. */
export const assumptionOf = ({ scenario }: Fault) => Object.keys(scenario.assume ?? {})[0]

/** Whether two faults can happen together: not at the same point, and not to the same assumption. */
function canCombine(a: Fault, b: Fault): boolean {
  if (a.kind !== b.kind) return true
  if (a.kind === 'assumption') return assumptionOf(a) !== assumptionOf(b)
  return a.operation !== b.operation || a.nth !== b.nth
}

/** Whether a fault is another reading of what the other one hits: then each alone can be harmless, and both are not. */
function isAboutTheSame(reading: Fault, { operation }: Fault): boolean {
  const name = assumptionOf(reading)
  const concerns: readonly string[] = ASSUMPTIONS.find((one) => one.name === name)?.concerns ?? []
  return operation !== undefined && concerns.includes(operation)
}

const promiseOfPair = (a: Fault, b: Fault) =>
  promiseOf(a) + promiseOf(b) + (isAboutTheSame(a, b) || isAboutTheSame(b, a) ? SAME_OPERATION : 0)

// A point that exists only after the first fault is where nobody has looked before.
const NEW_POINT = 6

/** A fault that did no harm alone, and the faults at points that its run had in addition to the baseline. */
export type Quiet = { fault: Fault; added: readonly Fault[] }

/** Pairs of faults, the most promising first. */
export function pairsOf(quiet: readonly Quiet[]): Plan[] {
  const pairs: { plan: Plan; promise: number }[] = []
  const add = (first: Fault, second: Fault, more: number) => {
    if (!canCombine(first, second)) return
    pairs.push({ plan: [first, second], promise: promiseOfPair(first, second) + more })
  }
  for (const [i, { fault, added }] of quiet.entries()) {
    for (const second of added) add(fault, second, NEW_POINT)
    for (const { fault: second } of quiet.slice(i + 1)) add(fault, second, 0)
  }
  // The sort is stable, so the order depends on the faults alone.
  return pairs.sort((a, b) => b.promise - a.promise).map(({ plan }) => plan)
}

const KINDS: readonly Fault['kind'][] = ['assumption', 'call', 'lifecycle', 'webhook']

/** The words that can select faults: kinds, names of faults and assumptions, operations and events. */
const WORDS: ReadonlySet<string> = new Set([
  ...KINDS,
  ...CALL_NAMES,
  ...LIFECYCLE_NAMES,
  ...WEBHOOK_NAMES,
  ...ASSUMPTIONS.map(({ name }) => name),
  ...OPERATIONS,
  ...EVENTS,
])

/** Why a word of `--only` is wrong; `undefined` if all are right. */
export function problemOfOnly(only: readonly string[]): string | undefined {
  const unknown = only.find((word) => !WORDS.has(word))
  return unknown === undefined
    ? undefined
    : `--only takes kinds, names of faults and assumptions, operations and events, not ${JSON.stringify(unknown)}; use some of: ${[...WORDS].join(', ')}`
}

/** Whether words select a fault; without words each fault is selected. */
export const isSelected = (
  { kind, name, operation = '' }: Fault,
  only: readonly string[] | undefined,
): boolean =>
  only === undefined || [kind, name.split('=')[0]!, operation].some((own) => only.includes(own))
