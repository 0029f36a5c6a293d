import { givenReadings } from '../assumptions/readings.ts'
import { parseDelay, parseDuration } from '../model/duration.ts'
import { paiseOf, rupeesOf } from '../model/payment.ts'
import { onDemand } from '../runtime/node-modules.ts'
import type {
  CompiledRule,
  CompiledScenario,
  CompiledTimelineEntry,
  CompiledWebhookRule,
  Expectation,
  LifecycleOutcome,
  ResponseOutcome,
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
import type { ActionDefinition, TimelineDefinition } from './timeline-schema.ts'

/** Removes the keys whose value is undefined, as exact optional types require. */
function omitUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as never
}

const ms = (duration: string | undefined) => (duration === undefined ? 0 : parseDuration(duration)!)
const delayOf = (delay: string | undefined) =>
  delay === undefined ? undefined : parseDelay(delay)!

const compileSteps = <S extends { after?: string | undefined }>(steps: readonly S[] | undefined) =>
  steps?.map(({ after, ...step }) => omitUndefined({ ...step, after_ms: ms(after) }))

/** Copies the `message` of a payment step to its `description`; both names are allowed for the same field. */
const withDescription = (steps: OutcomeDefinition['transaction']) =>
  steps?.map(({ message, description = message, ...step }) =>
    omitUndefined({ ...step, description }),
  )

const paymentSteps = (steps: OutcomeDefinition['transaction']) =>
  compileSteps(withDescription(steps) as typeof steps)

function compileTurn(definition: OutcomeDefinition | 'pass'): Turn | 'pass' {
  if (definition === 'pass') return 'pass'
  const { kyc, bank, transaction, respond, delay, fault, at } = definition
  const response = omitUndefined({
    respond,
    delay: delayOf(delay),
    fault,
    at: fault && (at ?? 'before'),
  }) as ResponseOutcome
  const lifecycle = omitUndefined({
    kyc: compileSteps(kyc),
    bank: compileSteps(bank),
    transaction: paymentSteps(transaction),
  }) as LifecycleOutcome
  return {
    whole: { ...response, ...lifecycle },
    ...(Object.keys(response).length > 0 && { response }),
    ...(Object.keys(lifecycle).length > 0 && { lifecycle }),
  }
}

/** Returns the turns of a rule: those of its sequence (in the rule or in `then`), or its single outcome. */
function turnsOf({ then, sequence, then_on }: RuleDefinition) {
  const { sequence: inner, then_on: innerEnd, ...single } = then ?? {}
  const list = sequence ?? inner ?? [single]
  return { list, thenOn: then_on ?? innerEnd ?? 'last' }
}

function testsIn(when: Readonly<Record<string, unknown>>, parts: readonly Test['part'][]): Test[] {
  return parts.flatMap((part) =>
    when[part] === undefined ? [] : testsOf(part, when[part] as Condition),
  )
}

function compileLimits({
  key,
  skip,
  times,
  chance,
}: Pick<RuleDefinition, 'key' | 'skip' | 'times' | 'chance'>) {
  return {
    skip: skip ?? 0,
    times: times ?? Number.POSITIVE_INFINITY,
    chance: chance ?? 1,
    ...(key !== undefined && { keyOf: keyReader(key) }),
  }
}

/** Compiles one valid rule. Its counters are named after `scenario` and `id`. */
function compileRule(
  definition: RuleDefinition,
  scenario: string,
  id: string,
  name: string,
): CompiledRule {
  const { when } = definition
  const tests = testsIn(when, CALL_PARTS)
  const { list, thenOn } = turnsOf(definition)
  const turns = list.map(compileTurn)
  return {
    scenario,
    id,
    name,
    tests,
    ...compileLimits(definition),
    operations: operationsOf(when.operation),
    perItem:
      when.item !== undefined ||
      turns.some((turn) => turn !== 'pass' && turn.whole.kyc !== undefined),
    turns,
    thenOn,
  }
}

function compileWebhookRule(
  definition: WebhookRuleDefinition,
  scenario: string,
  id: string,
  name: string,
): CompiledWebhookRule {
  const { when, then } = definition
  const tests = testsIn(when, EVENT_PARTS)
  const { delay, hold_until: holdUntil, ...rest } = then
  return {
    scenario,
    id,
    name,
    tests,
    ...compileLimits(definition),
    events: eventsOf(when.event),
    outcome: omitUndefined({ ...rest, delay: delayOf(delay), holdUntil }) as WebhookOutcome,
  }
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

function compileEntry({
  after,
  every,
  times,
  do: action,
}: TimelineDefinition): CompiledTimelineEntry {
  const entry = {
    after_ms: ms(after),
    every_ms: every && ms(every),
    times,
    do: compileAction(action),
  }
  return omitUndefined(entry) as CompiledTimelineEntry
}

const compileExpectation = (count: CountDefinition): Expectation =>
  typeof count === 'number' ? { exactly: count } : (omitUndefined(count) as Expectation)

/** Compiles a valid definition, and its rules on first use: a start needs none of them. */
export function compileScenario(definition: ScenarioDefinition, name: string): CompiledScenario {
  const {
    title,
    description,
    extends: parent,
    base,
    rules = [],
    webhooks = [],
    timeline = [],
    expect,
    assume = {},
  } = definition
  const ids = ruleIds(rules)
  const compiled = onDemand(() =>
    rules.map((rule, i) => compileRule(rule, name, ids[i]!, rule.name ?? `rule ${i + 1}`)),
  )
  const webhookIds = ruleIds(webhooks)
  return {
    name,
    ...omitUndefined({ title, description, extends: parent }),
    base: base !== 'none',
    assume: givenReadings(assume),
    get rules() {
      return compiled()
    },
    webhooks: webhooks.map((rule, i) =>
      compileWebhookRule(
        rule,
        name,
        `webhooks:${webhookIds[i]}`,
        rule.name ?? `webhook rule ${i + 1}`,
      ),
    ),
    timeline: timeline.map(compileEntry),
    expect: new Map(
      Object.entries(expect?.requests ?? {}).map(([operation, count]) => [
        operation as OperationId,
        compileExpectation(count),
      ]),
    ),
    definition,
  }
}
