import { parseDelay, parseDuration } from '../core/duration.ts'
import { paiseOf, rupeesOf } from '../model/money.ts'
import type {
  AnswerOutcome,
  CompiledRule,
  CompiledScenario,
  CompiledTimelineEntry,
  CompiledWebhookRule,
  Expectation,
  LifeOutcome,
  OperationRules,
  TimelineAction,
  Turn,
  WebhookOutcome,
} from './compiled.ts'
import type { Condition } from './condition.ts'
import { eventsOf } from './events.ts'
import { hashOf } from './hash.ts'
import { keyReader, operationsOf, type Test, testsOf } from './match.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import { createRuleList } from './rule-list.ts'
import type { RuleDefinition, WebhookRuleDefinition } from './rule-schema.ts'
import type {
  ActionDefinition,
  CountDefinition,
  ScenarioDefinition,
  TimelineDefinition,
} from './schema.ts'
import { CALL_PARTS, EVENT_PARTS, EVENTS, OPERATIONS, type OperationId } from './words.ts'

/** An id for each rule that stays when others are added: its name, else its own text. */
function identities(definitions: readonly { name?: string | undefined }[]): string[] {
  const seen = new Map<string, number>()
  return definitions.map((definition) => {
    const id = definition.name ?? `#${hashOf(JSON.stringify(definition))}`
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return count === 1 ? id : `${id}~${count}`
  })
}

/** Without the keys whose value is undefined: what an exact optional type wants. */
function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as never
}

const ms = (duration: string | undefined) => (duration === undefined ? 0 : parseDuration(duration)!)
const delayOf = (delay: string | undefined) =>
  delay === undefined ? undefined : parseDelay(delay)!

const stepsOf = <S extends { after?: string | undefined }>(steps: readonly S[] | undefined) =>
  steps?.map(({ after, ...step }) => given({ ...step, after_ms: ms(after) }))

/** A payment's failure has a description; a step may call it its message, as the other lives do. */
const describedOf = (steps: OutcomeDefinition['transaction']) =>
  steps?.map(({ message, description = message, ...step }) => given({ ...step, description }))

function turnOf(definition: OutcomeDefinition | 'pass'): Turn | 'pass' {
  if (definition === 'pass') return 'pass'
  const { kyc, bank, transaction, respond, delay, fault, at } = definition
  const answer = given({
    respond,
    delay: delayOf(delay),
    fault,
    at: fault && (at ?? 'before'),
  }) as AnswerOutcome
  const life = given({
    kyc: stepsOf(kyc),
    bank: stepsOf(bank),
    transaction: stepsOf(describedOf(transaction) as typeof transaction),
  }) as LifeOutcome
  return {
    whole: { ...answer, ...life },
    ...(Object.keys(answer).length > 0 && { answer }),
    ...(Object.keys(life).length > 0 && { life }),
  }
}

/** The turns that a rule takes: those of its sequence, wherever that is written, or its one outcome. */
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

function limits({
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

/** Compiles one rule that was read without problems. `scenario` and `id` are what its counters hang on. */
function compileRule(
  definition: RuleDefinition,
  scenario: string,
  id: string,
  name: string,
): CompiledRule {
  const { when } = definition
  const tests = testsIn(when, CALL_PARTS)
  const { list, thenOn } = turnsOf(definition)
  const turns = list.map(turnOf)
  return {
    scenario,
    id,
    name,
    tests,
    ...limits(definition),
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
    ...limits(definition),
    events: eventsOf(when.event),
    outcome: given({ ...rest, delay: delayOf(delay), holdUntil }) as WebhookOutcome,
  }
}

function actionOf(definition: ActionDefinition): TimelineAction {
  const { trigger, resource = 'latest', simulate, credit } = definition
  if (trigger) return { trigger, resource }
  if (credit) return { credit: { ...credit, amount: rupeesOf(paiseOf(credit.amount)!) } }
  if (simulate) {
    const { status, reason, ...which } = simulate
    const [kind, id] = Object.entries(which)[0] as ['transaction' | 'kyc' | 'bank', string]
    return { simulate: { kind, resource: id, status, ...(reason !== undefined && { reason }) } }
  }
  return definition as TimelineAction
}

function entryOf({ after, every, times, do: action }: TimelineDefinition): CompiledTimelineEntry {
  const entry = { after_ms: ms(after), every_ms: every && ms(every), times, do: actionOf(action) }
  return given(entry) as CompiledTimelineEntry
}

const expectationOf = (count: CountDefinition): Expectation =>
  typeof count === 'number' ? { exactly: count } : (given(count) as Expectation)

const answersOf = (rule: CompiledRule) => rule.turns.some((turn) => turn !== 'pass' && turn.answer)
const livesOf = (rule: CompiledRule) => rule.turns.some((turn) => turn !== 'pass' && turn.life)

const questions = (rules: readonly CompiledRule[]): OperationRules => ({
  answers: createRuleList(rules.filter(answersOf)),
  lives: createRuleList(rules.filter(livesOf)),
})

/** Compiles a definition that was read without problems; everything that can be known beforehand is looked up, not computed, later. */
export function compileScenario(definition: ScenarioDefinition, name: string): CompiledScenario {
  const {
    title,
    description,
    extends: under,
    base,
    rules = [],
    webhooks = [],
    timeline = [],
    expect,
  } = definition
  const ids = identities(rules)
  const compiled = rules.map((rule, i) =>
    compileRule(rule, name, ids[i]!, rule.name ?? `rule ${i + 1}`),
  )
  const webhookIds = identities(webhooks)
  const outgoing = webhooks.map((rule, i) =>
    compileWebhookRule(
      rule,
      name,
      `webhooks:${webhookIds[i]}`,
      rule.name ?? `webhook rule ${i + 1}`,
    ),
  )
  const of = (operation: OperationId, perItem: boolean) =>
    questions(
      compiled.filter((rule) => rule.perItem === perItem && rule.operations.includes(operation)),
    )
  return {
    name,
    ...given({ title, description, extends: under }),
    base: base !== 'none',
    rules: compiled,
    webhooks: outgoing,
    timeline: timeline.map(entryOf),
    expect: new Map(
      Object.entries(expect?.requests ?? {}).map(([operation, count]) => [
        operation as OperationId,
        expectationOf(count),
      ]),
    ),
    definition,
    byOperation: new Map(OPERATIONS.map((operation) => [operation, of(operation, false)])),
    byItem: of('submitKyc', true),
    byEvent: new Map(
      EVENTS.map((event) => [
        event,
        createRuleList(outgoing.filter(({ events }) => events.includes(event))),
      ]),
    ),
  }
}
