import * as z from 'zod'
import { isObject } from '../model/formats.ts'
import { oneOf, quoteValue } from '../model/words.ts'
import { operationsOf } from './match.ts'
import { CREATING, eventsOf, type OperationId } from './operations-and-events.ts'
import {
  LIFECYCLES,
  sequenceFields,
  THEN_ON_ALONE,
  Then,
  WebhookOutcome,
} from './outcome-schema.ts'
import { type Check, crossCheck, Duration, type Mapping, mustBe, text } from './schema-parts.ts'
import { EventWhen, When } from './when-schema.ts'
import type { Path } from './yaml.ts'

export const limits = {
  key: z
    .string()
    .regex(
      /^(?:operation|event|(?:params|query|headers|body|item|user|account|data)(?:\.[A-Za-z0-9_-]{1,64}){1,8})$/,
      { error: mustBe('the path of a value of the call, such as body.user_id') },
    )
    .optional()
    .describe('Counts separately for each value at this path, such as body.user_id.'),
  skip: z.int().min(1).max(1_000_000).optional().describe('Ignore the first N matching calls.'),
  times: z.int().min(1).max(1_000_000).optional().describe('The rule acts at most N times.'),
  for: Duration.optional().describe(
    'How long the rule applies, since its scenario was activated or it was pushed.',
  ),
  chance: z
    .optional(z.number().gt(0).max(1))
    .describe('The probability that the rule acts on a matching call: 0.05 is 5 %.'),
}

const CREATING_OPERATION: Readonly<Record<(typeof LIFECYCLES)[number], OperationId>> = {
  kyc: 'submitKyc',
  bank: 'addBankAccount',
  transaction: 'createTransaction',
}

/** Returns the outcomes of a rule, each with its path in the rule. The parts of the rule may be invalid. */
export function outcomesOf({ then, sequence }: Mapping): [path: Path, outcome: unknown][] {
  const listed = (list: unknown, path: Path) =>
    Array.isArray(list) ? list.map((one, i): [Path, unknown] => [[...path, i], one]) : []
  const inner = isObject(then) ? then['sequence'] : undefined
  const single: [Path, unknown][] = then === undefined || inner ? [] : [[['then'], then]]
  return [...single, ...listed(inner, ['then', 'sequence']), ...listed(sequence, ['sequence'])]
}

/** Checks that the operations of a rule create the resources of its outcomes. */
function checkOperations(rule: Mapping, operations: readonly OperationId[], check: Check) {
  for (const [path, outcome] of outcomesOf(rule)) {
    if (!isObject(outcome) || !check.isValid(...path)) continue
    const other = operations.find((one) => !(CREATING as readonly string[]).includes(one))
    for (const key of ['effect', 'visible_after'] as const)
      if (outcome[key] !== undefined && other !== undefined) {
        const message = `\`${key}\` needs operations that create something, and ${other} doesn't; name ${oneOf(CREATING)} in \`when\``
        check.report([...path, key], message, 'key')
      }
    for (const kind of LIFECYCLES) {
      const operation = CREATING_OPERATION[kind]
      if (outcome[kind] === undefined) continue
      if (operations.length === 1 && operations[0] === operation) continue
      const message = `\`${kind}\` needs a rule for ${operation} only; write operation: ${operation} in \`when\``
      check.report([...path, kind], message, 'key')
    }
  }
  const { key } = rule
  if (typeof key === 'string' && key.startsWith('item.') && !operations.includes('submitKyc'))
    check.report(['key'], '`item` is a document of POST /kyc; add operation: submitKyc', 'key')
}

function rejectEmpty({ isEmpty, clear, report }: Check, what: string): boolean {
  if (!isEmpty) return false
  clear()
  report([], `an empty rule; specify the ${what} with \`when\` and the outcome with \`then\``)
  return true
}

function checkRule(rule: Mapping, check: Check) {
  if (rejectEmpty(check, 'calls')) return
  const { when, then, sequence, then_on: thenOn } = rule
  if (then === undefined && sequence === undefined)
    check.report([], 'the rule has no outcome; add `then` or `sequence`')
  if (then !== undefined && sequence !== undefined)
    check.report(['sequence'], 'the rule has both `then` and `sequence`; remove one', 'key')
  if (thenOn !== undefined && sequence === undefined)
    check.report(['then_on'], THEN_ON_ALONE, 'key')
  // Without a valid `when`, the operations are unknown.
  if (isObject(when) && check.isValid('when'))
    checkOperations(rule, operationsOf(when['operation']), check)
}

/** One rule: which calls it matches, how often it acts, and what happens to those calls. */
export const Rule = z
  .strictObject({
    name: z
      .optional(text(120))
      .describe('The name of the rule in responses and logs; unique in the file.'),
    description: text(500).optional(),
    when: When,
    ...limits,
    then: Then.optional(),
    ...sequenceFields,
  })
  .check(crossCheck(checkRule))
  .meta({ id: 'Rule' })
export type RuleDefinition = z.infer<typeof Rule>

function checkWebhookRule(rule: Mapping, check: Check) {
  if (rejectEmpty(check, 'events')) return
  const { when, then } = rule as Partial<WebhookRuleDefinition>
  const heldUntil = then?.hold_until
  if (heldUntil === undefined || !check.isValid('then') || !check.isValid('when')) return
  if (!eventsOf(when?.event).includes(heldUntil)) return
  const message = `${heldUntil} would wait for itself; name in \`when.event\` only the events that must wait`
  check.report(['then', 'hold_until'], message)
}

/** One webhook rule: which events it matches, how often it acts, and how those events are sent. */
export const WebhookRule = z
  .strictObject({
    name: text(120).optional(),
    description: text(500).optional(),
    when: EventWhen,
    ...limits,
    then: WebhookOutcome,
  })
  .check(crossCheck(checkWebhookRule))
  .meta({ id: 'WebhookRule' })
export type WebhookRuleDefinition = z.infer<typeof WebhookRule>

/** A list of rules. Their names are unique, because counters use them. */
export const rulesSchema = <R extends z.ZodType<{ name?: string | undefined }>>(
  rule: R,
  list: 'rules' | 'webhooks' | 'statement',
) =>
  z.array(rule).check(
    crossCheck<z.output<R>[]>((rules, { report }) => {
      const seen = new Map<string, number>()
      for (const [i, one] of rules.entries()) {
        const name = isObject(one) ? one['name'] : undefined
        if (typeof name !== 'string') continue
        const before = seen.get(name)
        if (before === undefined) seen.set(name, i)
        else {
          const message = `${list}[${before}] also has the name ${quoteValue(name)}; counters use the name, so rename one of the two`
          report([i, 'name'], message)
        }
      }
    }),
  )
