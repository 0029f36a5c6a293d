import type { Condition } from './condition.ts'
import {
  type CallPart,
  type EventName,
  type EventPart,
  OPERATIONS,
  type OperationId,
  operationCondition,
  type Part,
} from './operations-and-events.ts'
import {
  asText,
  CONVERT,
  type Conversion,
  isComparison,
  OPERATORS,
  type Operator,
  type OperatorSpec,
} from './operators.ts'

/** A call as rules see it, as it was sent. Only a part that a rule tests is read; `item` is one document of POST /kyc. */
export type RuleCall = { readonly operation: OperationId } & {
  readonly [part in CallPart]?: unknown
}

/** One event, as webhook rules see it: `data` is the resource as its GET endpoint returns it, `account` has unmasked numbers. */
export type RuleEvent = { readonly event: EventName } & { readonly [part in EventPart]?: unknown }

export type CallParts = { readonly [part in Part]?: unknown }

/** One comparison of a `when`: compares the value at `part` and `path` with `argument`. */
export type Test = {
  part: Part
  path: readonly string[]
  operator: Operator
  argument: unknown
  conversion: Conversion
  accepts: (read: unknown) => boolean
  read: (call: CallParts) => unknown
}

const TEXT_PARTS = new Set(['params', 'query', 'headers'])

const asTexts = (argument: unknown): unknown =>
  Array.isArray(argument) ? argument.map(asText) : asText(argument)

export const passes = ({ conversion, accepts }: Test, value: unknown): boolean =>
  accepts(CONVERT[conversion](value))

function testOf(part: Part, path: readonly string[], operator: Operator, argument: unknown): Test {
  const { conversion: fixed, matcher }: OperatorSpec = OPERATORS[operator]
  // Params, query and headers are always text, so `page: 2` in a file must match "2".
  const conversion = fixed ?? (TEXT_PARTS.has(part) ? 'text' : 'value')
  const converted = conversion === 'text' ? asTexts(argument) : argument
  return {
    part,
    path,
    operator,
    argument: converted,
    conversion,
    accepts: matcher(converted as never),
    read: readerOf(part, path),
  }
}

export function testsOf(part: Part, condition: Condition, path: readonly string[] = []): Test[] {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition))
    return [testOf(part, path, 'eq', condition)]
  const entries = Object.entries(condition)
  if (isComparison(condition))
    return entries.map(([operator, argument]) => testOf(part, path, operator as Operator, argument))
  return entries.flatMap(([field, inner]) => {
    const name = part === 'headers' && path.length === 0 ? field.toLowerCase() : field
    return testsOf(part, inner as Condition, [...path, name])
  })
}

const ownProperty = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

/** Returns a function that reads the value at a path of a call. It ignores inherited properties, such as `constructor`. */
export function readerOf(part: Part, path: readonly string[]): (call: CallParts) => unknown {
  const [first = '', ...rest] = path
  if (rest.length === 0) return (call) => ownProperty(call[part], first)
  return (call) => {
    let value = ownProperty(call[part], first)
    for (const key of rest) value = ownProperty(value, key)
    return value
  }
}

/** Whether a call or an event passes all these tests. Reads no value after the first one that fails. */
export const passesAll = (tests: readonly Test[], call: CallParts): boolean =>
  tests.every((test) => passes(test, test.read(call)))

/** Returns the operations that a `when.operation` matches; all of them if it is missing or `*`. */
export function operationsOf(condition: unknown): readonly OperationId[] {
  if (condition === undefined || condition === '*') return OPERATIONS
  const tests = testsOf('body', operationCondition(condition) as Condition)
  return OPERATIONS.filter((operation) => tests.every((test) => passes(test, operation)))
}

/** Returns a function that reads the value of a `key`, such as `body.user_id`. */
export function keyReader(key: string): (call: RuleCall | RuleEvent) => unknown {
  const [part = '', ...path] = key.split('.')
  if (path.length === 0) return (call) => (call as Record<string, unknown>)[part]
  const names = part === 'headers' ? path.map((name) => name.toLowerCase()) : path
  return readerOf(part as CallPart, names) as (call: RuleCall | RuleEvent) => unknown
}
