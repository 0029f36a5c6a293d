import { givenReadings } from '../assumptions/readings.ts'
import { parseDelay, parseDuration } from '../model/duration.ts'
import { omitUndefined } from '../model/formats.ts'
import { paiseOf, rupeesOf } from '../model/payment.ts'
import { onDemand } from '../runtime/runtime.ts'
import type {
  CompiledRule,
  CompiledScenario,
  CompiledStatementRule,
  CompiledTimelineEntry,
  CompiledWebhookRule,
  Expectation,
  LifecycleOutcome,
  ResponseOutcome,
  RuleLimits,
  TimelineAction,
  TimelinePayment,
  Turn,
  WebhookOutcome,
} from './compiled.ts'
import type { Condition } from './condition.ts'
import { keyReader, operationsOf, type Test, testsOf } from './match.ts'
import { CALL_PARTS, EVENT_PARTS, eventsOf, type OperationId } from './operations-and-events.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import { ruleIds } from './references.ts'
import type { RuleDefinition, WebhookRuleDefinition } from './rule-schema.ts'
import type { CountDefinition, ScenarioDefinition } from './scenario-schema.ts'
import type { StatementRuleDefinition } from './statement-schema.ts'
import type { ActionDefinition, TimelineDefinition } from './timeline-schema.ts'
import { timesOf } from './times.ts'

type AnyRuleDefinition = RuleDefinition | WebhookRuleDefinition

const ms = (duration: string | undefined) => (duration === undefined ? 0 : parseDuration(duration)!)
const delayOf = (delay: string | undefined) =>
  delay === undefined ? undefined : parseDelay(delay)!

const compileSteps = <S extends { after?: string | undefined }>(steps: readonly S[] | undefined) =>
  steps?.map(({ after, ...step }) => omitUndefined({ ...step, after_ms: ms(after) }))

/** Compiles the steps of a payment; `message` is another name of `description`. */
const paymentSteps = (steps: OutcomeDefinition['transaction']) =>
  compileSteps(
    steps?.map(({ message, description = message, ...step }) => ({ ...step, description })),
  )

function compileTurn(definition: OutcomeDefinition | 'pass'): Turn | 'pass' {
  if (definition === 'pass') return 'pass'
  const { kyc, bank, transaction, respond, delay, fault, effect, after, visible_after } = definition
  // An effect at once is one before the response.
  const at = effect && ms(after) === 0 ? 'after' : definition.at
  const response = omitUndefined({
    respond,
    delay: delayOf(delay),
    fault,
    at: fault ? (at ?? 'before') : at,
    // Beside a response or a fault, the delay comes before both.
    runs_first: (definition.at === 'after' && !respond && !fault) || undefined,
    late_ms: ms(after) || undefined,
    visible_after_ms: ms(visible_after) || undefined,
  }) as ResponseOutcome
  const lifecycle = omitUndefined({
    kyc: compileSteps(kyc),
    bank: compileSteps(bank),
    transaction: paymentSteps(transaction),
  }) as LifecycleOutcome
  return {
    ...(Object.keys(response).length > 0 && { response }),
    ...(Object.keys(lifecycle).length > 0 && { lifecycle }),
  }
}

/** Returns the turns of a rule: those of its sequence (in the rule or in `then`), or its single outcome. */
function turnsOf({ then, sequence, then_on }: RuleDefinition) {
  const { sequence: inner, then_on: innerEnd, ...single } = then ?? {}
  return { list: sequence ?? inner ?? [single], thenOn: then_on ?? innerEnd ?? 'last' }
}

function testsIn(when: Readonly<Record<string, unknown>>, parts: readonly Test['part'][]): Test[] {
  return parts.flatMap((part) =>
    when[part] === undefined ? [] : testsOf(part, when[part] as Condition),
  )
}

type Names = Pick<RuleLimits, 'scenario' | 'id' | 'name'>

const compileLimits = (
  definition: AnyRuleDefinition,
  parts: readonly Test['part'][],
  names: Names,
): RuleLimits => {
  const { when, key, skip = 0, times = Number.POSITIVE_INFINITY, chance = 1 } = definition
  const appliesAt = timesOf({ ...when, for: definition.for })
  return {
    ...names,
    tests: testsIn(when, parts),
    skip,
    times,
    chance,
    ...(key !== undefined && { keyOf: keyReader(key) }),
    ...(appliesAt && { appliesAt }),
  }
}

/** Compiles one valid rule. Its counters are named after the scenario and the id. */
function compileRule(definition: RuleDefinition, names: Names): CompiledRule {
  const { when } = definition
  const { list, thenOn } = turnsOf(definition)
  const turns = list.map(compileTurn)
  return {
    ...compileLimits(definition, CALL_PARTS, names),
    operations: operationsOf(when.operation),
    perItem:
      when.item !== undefined || turns.some((turn) => turn !== 'pass' && turn.lifecycle?.kyc),
    turns,
    thenOn,
  }
}

function compileWebhookRule(definition: WebhookRuleDefinition, names: Names): CompiledWebhookRule {
  const { delay = '0s', copies = 1, hold_until, together, drop, ...fault } = definition.then
  const holdUntil = together ? 'next' : hold_until
  const delays = typeof copies === 'number' ? Array<string>(copies).fill(delay) : copies
  const sent = { copies: delays.map(delayOf), drop, holdUntil, fault }
  return {
    ...compileLimits(definition, EVENT_PARTS, names),
    events: eventsOf(definition.when.event),
    outcome: omitUndefined(sent) as WebhookOutcome,
  }
}

function compileStatementRule(
  { when, skip = 0, times = Number.POSITIVE_INFINITY, then }: StatementRuleDefinition,
  names: Names,
): CompiledStatementRule {
  const { amount, ...others } = then
  const paise = amount && Math.sign(Number(amount)) * paiseOf(amount.slice(1))!
  return {
    ...names,
    tests: testsOf('data', when as Condition),
    skip,
    times,
    chance: 1,
    outcome: omitUndefined({ ...others, paise }) as CompiledStatementRule['outcome'],
  }
}

/** Compiles the rules of a list. A rule without a name has its number as its name. */
function compileRules<D extends { name?: string | undefined }, R>(
  definitions: readonly D[],
  { scenario, prefix, noun }: { scenario: string; prefix: string; noun: string },
  compileOne: (definition: D, names: Names) => R,
): R[] {
  const ids = ruleIds(definitions)
  return definitions.map((definition, i) =>
    compileOne(definition, {
      scenario,
      id: `${prefix}${ids[i]}`,
      name: definition.name ?? `${noun} ${i + 1}`,
    }),
  )
}

const compilePayment = ({
  amount,
  transaction,
  ...more
}: NonNullable<ActionDefinition['credit']>): TimelinePayment =>
  omitUndefined({
    ...more,
    amount: rupeesOf(paiseOf(amount)!),
    transaction: paymentSteps(transaction),
  }) as TimelinePayment

function compileAction(definition: ActionDefinition): TimelineAction {
  const { trigger, resource = 'latest', simulate, credit, payout } = definition
  if (trigger) return { trigger, resource }
  if (credit) return { credit: compilePayment(credit) }
  if (payout) return { payout: compilePayment(payout) }
  if (simulate) {
    const { status, reason, ...which } = simulate
    const [kind, id] = Object.entries(which)[0]!
    return { simulate: omitUndefined({ kind, resource: id, status, reason }) } as TimelineAction
  }
  return definition as TimelineAction
}

const compileEntry = ({ at, after, every, times, do: action }: TimelineDefinition) =>
  omitUndefined({
    at_ms: at && Date.parse(at),
    after_ms: ms(after),
    every_ms: every && ms(every),
    times,
    do: compileAction(action),
  }) as CompiledTimelineEntry

const compileExpectation = (count: CountDefinition): Expectation =>
  typeof count === 'number' ? { exactly: count } : (omitUndefined(count) as Expectation)

/** Compiles a valid definition, and its rules on first use: a start needs none of them. */
export function compileScenario(definition: ScenarioDefinition, name: string): CompiledScenario {
  const { base, rules = [], webhooks = [], timeline = [], statement = [] } = definition
  const { expect, assume = {} } = definition
  const compiled = onDemand(() =>
    compileRules(rules, { scenario: name, prefix: '', noun: 'rule' }, compileRule),
  )
  return {
    name,
    base: base !== 'none',
    assume: givenReadings(assume),
    get rules() {
      return compiled()
    },
    webhooks: compileRules(
      webhooks,
      { scenario: name, prefix: 'webhooks:', noun: 'webhook rule' },
      compileWebhookRule,
    ),
    timeline: timeline.map(compileEntry),
    statement: compileRules(
      statement,
      { scenario: name, prefix: 'statement:', noun: 'statement rule' },
      compileStatementRule,
    ),
    expect: new Map(
      Object.entries(expect?.requests ?? {}).map(([operation, count]) => [
        operation as OperationId,
        compileExpectation(count),
      ]),
    ),
    definition,
  }
}
