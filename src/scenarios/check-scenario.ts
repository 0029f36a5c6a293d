import { parseDuration } from '../core/duration.ts'
import { checkEventWhen, checkWhen, type Findings, noFindings } from './check-conditions.ts'
import { checkOutcome, movable } from './check-outcomes.ts'
import { eventsOf } from './events.ts'
import type { Fault } from './explain.ts'
import type {
  ActionDefinition,
  CountDefinition,
  OutcomeDefinition,
  RuleDefinition,
  TimelineDefinition,
  WebhookRuleDefinition,
} from './schema.ts'
import { oneOf, orMeant, shown } from './wording.ts'
import { EVENTS, OPERATIONS, type OperationId } from './words.ts'
import type { Path } from './yaml-source.ts'

/** Whether the schema found nothing wrong at a path or below it. */
type Clean = (path: Path) => boolean

type Mapping = Record<string, unknown>

const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const ACTIONS = ['trigger', 'simulate', 'credit', 'create_users', 'use', 'rule', 'reset'] as const
const THING = { transaction: 'transaction', kyc: 'KYC record', bank: 'bank account' } as const
// A timeline entry is a timer each time: below this, a month's advance would never come to its end.
const SHORTEST_EVERY_MS = 100

/** Everything about a definition that its schema cannot say. Parts that the schema refused are left alone. */
export function checkScenario(definition: unknown, clean: Clean): Findings {
  const findings = noFindings()
  if (!isMapping(definition)) return findings
  const check = (key: string, one: (value: unknown, path: Path) => void) => {
    for (const [i, value] of listOf(definition[key]).entries()) one(value, [key, i])
  }
  const saysSomething = ['rules', 'webhooks', 'timeline', 'extends', 'expect'].some(
    (key) => definition[key] !== undefined,
  )
  if (!saysSomething && clean([])) {
    const message = 'the scenario says nothing; give it rules, webhooks, a timeline or extends'
    findings.faults.push({ path: [], of: 'value', message })
  }
  check('rules', (rule, path) => checkRule(rule, path, clean, findings))
  check('webhooks', (rule, path) => checkWebhookRule(rule, path, clean, findings))
  check('timeline', (entry, path) => checkEntry(entry, path, clean, findings))
  checkNames('rules', listOf(definition['rules']), findings)
  checkNames('webhooks', listOf(definition['webhooks']), findings)
  checkExpect(definition['expect'], clean, findings)
  return findings
}

function checkNames(list: string, rules: readonly unknown[], { faults }: Findings) {
  const seen = new Map<string, number>()
  for (const [i, rule] of rules.entries()) {
    const name = isMapping(rule) ? rule['name'] : undefined
    if (typeof name !== 'string') continue
    const before = seen.get(name)
    if (before === undefined) seen.set(name, i)
    else {
      const message = `the name ${shown(name)} is that of ${list}[${before}] too; counters hang on it, so give each its own`
      faults.push({ path: [list, i, 'name'], of: 'value', message })
    }
  }
}

/** Checks one rule of a scenario or of a timeline; `{}` is refused. */
export function checkRule(rule: unknown, path: Path, clean: Clean, findings: Findings): void {
  if (!isMapping(rule)) return
  const { when } = rule
  if (Object.keys(rule).length === 0) {
    const message = 'an empty rule; say which calls with `when` and what happens with `then`'
    findings.faults.push({ path, of: 'value', message })
    return
  }
  const at = [...path, 'when']
  let operations: readonly OperationId[] = OPERATIONS
  if (isMapping(when)) {
    if (Object.keys(when).length === 0) {
      const message = 'an empty `when`; for every call say operation: "*"'
      findings.faults.push({ path: at, of: 'value', message })
    } else operations = checkWhen(when, at, findings)
  }
  const whenIsBroken = findings.faults.some((fault) => isUnder(fault.path, at)) || !clean(at)
  // After a typo in `operation`, what depends on the operation would only be told twice.
  checkThen(rule as RuleDefinition, path, whenIsBroken ? undefined : operations, clean, findings)
}

const isUnder = (path: Path, parent: Path) => parent.every((key, i) => path[i] === key)

function checkThen(
  rule: RuleDefinition,
  path: Path,
  operations: readonly OperationId[] | undefined,
  clean: Clean,
  findings: Findings,
) {
  const { faults, warnings } = findings
  const say = (key: string, message: string) =>
    faults.push({ path: [...path, key], of: 'key', message })
  const { then, sequence } = rule
  const inner = isMapping(then) ? then.sequence : undefined
  if (then === undefined && sequence === undefined) {
    faults.push({
      path,
      of: 'value',
      message: 'the rule does not say what happens; give it `then` or `sequence`',
    })
  }
  if (then !== undefined && sequence !== undefined)
    say('sequence', '`then` and `sequence` exclude each other; keep one')
  if (rule.then_on !== undefined && !sequence)
    say('then_on', '`then_on` says what comes after a `sequence`; this rule has none')
  if (isMapping(then)) checkSequenceInThen(then, [...path, 'then'], findings)
  const outcomes: [unknown, Path][] = []
  if (isMapping(then) && inner === undefined) outcomes.push([then, [...path, 'then']])
  for (const [i, one] of listOf(inner).entries())
    outcomes.push([one, [...path, 'then', 'sequence', i]])
  for (const [i, one] of listOf(sequence).entries()) outcomes.push([one, [...path, 'sequence', i]])
  for (const [outcome, at] of outcomes) {
    if (outcome === 'pass' || !clean(at)) continue
    const own = operations ?? makersIn(outcome as OutcomeDefinition)
    checkOutcome(outcome as OutcomeDefinition, at, own, findings)
  }
  const counts =
    ['skip', 'times', 'chance', 'sequence'].some((word) => rule[word as 'skip'] !== undefined) ||
    inner
  if (rule.key !== undefined && !counts) {
    warnings.push({
      path: [...path, 'key'],
      of: 'key',
      message: '`key` has nothing to count here; it goes with skip, times, chance or sequence',
    })
  }
  if (rule.key?.toString().startsWith('item.') && operations && !operations.includes('submitKyc')) {
    say('key', '`item` is a document of POST /kyc; say operation: submitKyc')
  }
}

/** Where a rule's operations are unknown: those that its outcome fits. */
const makersIn = ({ kyc, bank, transaction }: OutcomeDefinition): readonly OperationId[] =>
  kyc ? ['submitKyc'] : bank ? ['addBankAccount'] : transaction ? ['createTransaction'] : OPERATIONS

function checkSequenceInThen(then: Mapping, path: Path, { faults }: Findings) {
  const { sequence, then_on, ...rest } = then
  if (sequence === undefined) {
    if (then_on === undefined) return
    const message = '`then_on` says what comes after a `sequence`; this rule has none'
    faults.push({ path: [...path, 'then_on'], of: 'key', message })
    return
  }
  for (const key of Object.keys(rest)) {
    const message = `\`${key}\` stands beside a \`sequence\`; put it into the outcomes of the sequence`
    faults.push({ path: [...path, key], of: 'key', message })
  }
}

function checkWebhookRule(rule: unknown, path: Path, clean: Clean, findings: Findings) {
  if (!isMapping(rule)) return
  const { faults } = findings
  if (Object.keys(rule).length === 0) {
    faults.push({
      path,
      of: 'value',
      message: 'an empty rule; say which events with `when` and what happens with `then`',
    })
    return
  }
  const { when, then } = rule
  let events: readonly string[] = EVENTS
  if (isMapping(when)) {
    const at = [...path, 'when']
    checkEventWhen(when, at, findings)
    if (Object.keys(when).length === 0)
      faults.push({
        path: at,
        of: 'value',
        message: 'an empty `when`; for every event say event: "*"',
      })
    if (typeof when['event'] === 'string' && clean([...at, 'event'])) {
      events = eventsOf(when['event'])
      if (events.length === 0)
        faults.push({ path: [...at, 'event'], of: 'value', message: unknownEvent(when['event']) })
    }
  }
  if (isMapping(then) && clean([...path, 'then']))
    checkWebhookThen(then as WebhookRuleDefinition['then'], [...path, 'then'], events, findings)
}

const unknownEvent = (event: string) =>
  `unknown event ${shown(event)}${orMeant(event, EVENTS) || `; known: ${EVENTS.join(', ')}`}`

function checkWebhookThen(
  then: WebhookRuleDefinition['then'],
  path: Path,
  events: readonly string[],
  { faults }: Findings,
) {
  const { drop, hold_until, ...rest } = then
  if (Object.keys(then).length === 0) {
    faults.push({
      path,
      of: 'value',
      message:
        'an empty outcome; say delay, copies, drop, hold_until, signature, timestamp or body',
    })
  }
  const others = Object.keys({ ...rest, ...(hold_until && { hold_until }) })
  if (drop && others.length > 0) {
    const message = `a dropped event is not sent, so ${oneOf(others.map((key) => `\`${key}\``))} has no effect; leave one out`
    faults.push({ path: [...path, 'drop'], of: 'key', message })
  }
  if (hold_until && events.includes(hold_until)) {
    const message = `${hold_until} would wait for itself; let \`when.event\` name the events that are to wait`
    faults.push({ path: [...path, 'hold_until'], of: 'value', message })
  }
}

function checkEntry(entry: unknown, path: Path, clean: Clean, findings: Findings) {
  if (!isMapping(entry)) return
  const { every, times, do: action } = entry as TimelineDefinition
  const say = (key: string, message: string) =>
    findings.faults.push({ path: [...path, key], of: 'value', message })
  if (
    typeof every === 'string' &&
    clean([...path, 'every']) &&
    parseDuration(every)! < SHORTEST_EVERY_MS
  ) {
    say('every', `\`every\` must be at least ${SHORTEST_EVERY_MS}ms, not ${shown(every)}`)
  }
  if (typeof times === 'number' && times > 1 && every === undefined)
    say('times', '`times` needs `every`: how long between them')
  if (!isMapping(action)) return
  const at = [...path, 'do']
  if ('rule' in action) checkRule(action['rule'], [...at, 'rule'], clean, findings)
  if (clean(at)) checkAction(action as ActionDefinition, at, findings.faults)
}

function checkAction(action: ActionDefinition, path: Path, faults: Fault[]) {
  const named = ACTIONS.filter((word) => action[word] !== undefined)
  if (named.length !== 1) {
    const what = named.length === 0 ? 'no action' : `${named.length} actions (${named.join(', ')})`
    faults.push({ path, of: 'value', message: `${what}; \`do\` takes one of ${oneOf(ACTIONS)}` })
  }
  if (action.resource !== undefined && action.trigger === undefined) {
    faults.push({
      path: [...path, 'resource'],
      of: 'key',
      message: '`resource` goes with `trigger`; leave it out',
    })
  }
  if (action.simulate) checkSimulate(action.simulate, [...path, 'simulate'], faults)
}

function checkSimulate(
  simulate: NonNullable<ActionDefinition['simulate']>,
  path: Path,
  faults: Fault[],
) {
  const { status, reason, ...which } = simulate
  const kinds = Object.keys(which) as ('transaction' | 'kyc' | 'bank')[]
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    faults.push({
      path,
      of: 'value',
      message:
        '`simulate` moves one resource: say one of transaction, kyc or bank, as latest or an id',
    })
    return
  }
  const states = movable(kind)
  if (!states.includes(status)) {
    const message = `a ${THING[kind]} moves to ${oneOf(states)}, not to ${status}`
    faults.push({ path: [...path, 'status'], of: 'value', message })
  }
  if (reason !== undefined && status.toUpperCase() !== 'FAILED') {
    faults.push({
      path: [...path, 'reason'],
      of: 'key',
      message: `\`reason\` belongs to FAILED, and the status is ${status}; leave it out`,
    })
  }
}

function checkExpect(expect: unknown, clean: Clean, { faults }: Findings) {
  const requests = isMapping(expect) ? expect['requests'] : undefined
  if (!isMapping(requests)) return
  for (const [operation, count] of Object.entries(requests)) {
    const path = ['expect', 'requests', operation]
    if (!isMapping(count) || !clean(path)) continue
    const {
      exactly,
      atLeast = 0,
      atMost = Number.POSITIVE_INFINITY,
    } = count as Exclude<CountDefinition, number>
    if (Object.keys(count).length === 0)
      faults.push({ path, of: 'value', message: 'an empty count; say exactly, atLeast or atMost' })
    if (exactly !== undefined && Object.keys(count).length > 1) {
      faults.push({
        path: [...path, 'exactly'],
        of: 'key',
        message: '`exactly` leaves no room for atLeast and atMost; keep one',
      })
    }
    if (atLeast > atMost)
      faults.push({
        path,
        of: 'value',
        message: `no number is at least ${atLeast} and at most ${atMost}`,
      })
  }
}
