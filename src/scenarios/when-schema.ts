import * as z from 'zod'
import { isObject } from '../model/formats.ts'
import { didYouMean, oneOf, quoteValue } from '../model/words.ts'
import {
  type Comparison,
  Condition,
  ConditionCheck,
  fieldsSchema,
  NameComparison,
} from './condition-schema.ts'
import { errorsOf } from './explain.ts'
import { operationsOf } from './match.ts'
import {
  CALL_PARTS,
  ENDPOINTS,
  EVENT_PARTS,
  EVENTS,
  eventsOf,
  OPERATIONS,
  operationNamed,
} from './operations-and-events.ts'
import { isComparison, OPERATOR_NAMES } from './operators.ts'
import {
  type Check,
  checkedByParent,
  crossCheck,
  type Mapping,
  mustBe,
  suchAs,
} from './schema-parts.ts'
import { ElapsedWindow, TimeWindow } from './times.ts'

const isOperation = (value: unknown): boolean =>
  (OPERATIONS as readonly unknown[]).includes(operationNamed(value))

function unknownOperation(value: unknown): string {
  const names = typeof value === 'string' && value.includes(' ') ? ENDPOINTS : OPERATIONS
  const near = typeof value === 'string' ? didYouMean(value, names) : ''
  return `unknown operation ${quoteValue(value)}${near || `; known: ${OPERATIONS.join(', ')} or "*"`}`
}

function checkOperation(condition: unknown, { report, isValid }: Check) {
  if (condition === undefined || condition === '*' || isOperation(condition)) return
  if (!isObject(condition)) {
    report(['operation'], unknownOperation(condition))
    return
  }
  if (!isComparison(condition)) {
    const message = `\`operation\` takes a name or a comparison such as { in: [getUser, listUsers] }`
    report(['operation'], message)
    return
  }
  for (const { path, of, message } of errorsOf(NameComparison, condition, ['operation']))
    report(path, message, of)
  for (const operator of ['eq', 'ne', 'in']) {
    const argument = condition[operator]
    const values = operator === 'in' ? argument : [argument]
    if (argument === undefined || !Array.isArray(values)) continue
    for (const [i, value] of values.entries()) {
      const path = ['operation', operator, ...(operator === 'in' ? [i] : [])]
      if (isValid(...path) && !isOperation(value)) report(path, unknownOperation(value))
    }
  }
  if (isValid('operation') && operationsOf(condition).length === 0)
    report(['operation'], `this matches no operation; known: ${oneOf(OPERATIONS)}`)
}

function checkWhen(when: Mapping, check: Check) {
  if (check.isEmpty) check.report([], 'an empty `when`; to match every call, write operation: "*"')
  else checkConditions(when, check)
}

function checkConditions(when: Mapping, check: Check) {
  const { report, isValid } = check
  checkOperation(when['operation'], check)
  const operations = isValid('operation') ? operationsOf(when['operation']) : OPERATIONS
  new ConditionCheck(report, operations).checkParts(when, CALL_PARTS)
  if (when['item'] !== undefined && !operations.includes('submitKyc'))
    report(['item'], '`item` is a document of POST /kyc; add operation: submitKyc', 'key')
}

const callParts = {
  operation: checkedByParent(
    () => z.union([z.enum([...OPERATIONS, ...ENDPOINTS, '*']), NameComparison]),
    { description: 'An operationId or an endpoint such as POST /kyc, or "*" for all operations.' },
  ).optional(),
  params: fieldsSchema('Path parameters.').optional(),
  query: fieldsSchema('Query parameters; compared as text.').optional(),
  headers: fieldsSchema(
    'Request headers, names are case-insensitive; compared as text.',
  ).optional(),
  body: fieldsSchema('The JSON body.').optional(),
  item: fieldsSchema('One document of POST /kyc.').optional(),
  user: fieldsSchema('The user of the call, as stored.').optional(),
  account: fieldsSchema('The receiving bank account, with unmasked numbers.').optional(),
}

const times = {
  time: TimeWindow.optional().describe("A part of each day, by the client's clock."),
  elapsed: ElapsedWindow.optional().describe('The time since the scenario was activated.'),
}

export const When = z
  .strictObject(
    { ...callParts, ...times },
    { error: suchAs('when: { operation: createTransaction }', 'specify the calls') },
  )
  .check(crossCheck(checkWhen))
  .meta({ id: 'When', description: 'The calls that the rule matches. All conditions must match.' })

const EventPattern = z
  .string()
  .regex(/^(?:\*|[a-z]+\.(?:\*|[a-z]+\*?)|[a-z]+\*)$/, {
    error: mustBe('an event such as transaction.success, transaction.* or *'),
  })
  .meta({ examples: ['transaction.*', ...EVENTS] })

function checkEventWhen(when: Mapping, { report, isValid, isEmpty }: Check) {
  if (isEmpty) report([], 'an empty `when`; to match every event, write event: "*"')
  new ConditionCheck(report).checkParts(when, EVENT_PARTS)
  const event = when['event']
  if (typeof event !== 'string' || !isValid('event') || eventsOf(event).length > 0) return
  const hint = didYouMean(event, EVENTS) || `; known: ${EVENTS.join(', ')}`
  report(['event'], `unknown event ${quoteValue(event)}${hint}`)
}

export const EventWhen = z
  .strictObject(
    {
      event: EventPattern.optional(),
      data: fieldsSchema('The resource, as its GET endpoint returns it.').optional(),
      user: fieldsSchema().optional(),
      account: fieldsSchema().optional(),
      ...times,
    },
    { error: suchAs('when: { event: "transaction.*" }', 'specify the events') },
  )
  .check(crossCheck(checkEventWhen))

function checkCallMatch(match: Mapping, check: Check) {
  checkConditions(match, check)
  for (const name of ['path', 'status']) {
    const condition = match[name]
    if (!isObject(condition)) continue
    if (isComparison(condition))
      new ConditionCheck(check.report).checkComparison(condition, [name], { part: 'query' })
    else {
      const message = `takes a value or a comparison such as { gte: 400 }; known: ${OPERATOR_NAMES.join(', ')}`
      check.report([name], message)
    }
  }
}

/** A value of its own type, or a comparison, which `checkCallMatch` checks. */
const orComparison = <S extends z.ZodType>(own: S) =>
  z.union([own, z.looseObject({})]) as unknown as z.ZodUnion<[S, typeof Comparison]>

/** A match on calls of the request log: the conditions of a rule, and method, path and status. */
export const CallMatch = z
  .strictObject({
    ...callParts,
    method: z
      .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])
      .optional()
      .describe('The HTTP method.'),
    path: z
      .optional(orComparison(z.string()))
      .describe('The path without its query and base path, such as /v1/user.'),
    status: z
      .optional(orComparison(z.int().min(100).max(599)))
      .describe('The HTTP status of the response.'),
  })
  .check(crossCheck(checkCallMatch))

export const Fields = z.record(z.string(), Condition).check(
  crossCheck((fields, { report }) =>
    // The messages name the part `data`, which is not in the value.
    new ConditionCheck((path, message, of) => report(path.slice(1), message, of)).checkParts(
      { data: fields },
      ['data'],
    ),
  ),
)
