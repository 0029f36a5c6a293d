import { SandboxError } from '../model/errors.ts'
import { maskLogText, maskValue } from '../model/mask.ts'
import type { Condition } from '../scenarios/condition.ts'
import {
  type Parts as CallParts,
  holds,
  operationsOf,
  readerOf,
  type Test,
  testsOf,
} from '../scenarios/match.ts'
import type { MatchDefinition, Problem } from '../scenarios/read.ts'
import { CALL_PARTS } from '../scenarios/words.ts'
import { bodyOf, jsonOf, type NotedCall, pathOf, queryOf, requestId } from './request-log.ts'
import type { SandboxTables } from './tables.ts'

/** A part of a call that is not as it was asked for; both sides are masked. */
export type Difference = { field: string; wanted: string; found: string }

/** Which calls of the log are meant, and what sets another one apart from them. */
export type RequestMatch = {
  holds(call: NotedCall): boolean
  failures(call: NotedCall): Failure[]
}

/** What failed about a call, not yet masked and put in words: most are only counted. */
type Failure = { field: string; name: string; wanted: Test | { value: unknown }; value: unknown }

const LONGEST_SHOWN = 200

function shownValue(value: unknown, field: string): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(maskValue(value, field))
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

function shownFailure({ field, name, wanted, value }: Failure): Difference {
  const plain = 'value' in wanted ? wanted.value : wanted.argument
  const operator = 'value' in wanted || wanted.operator === 'eq' ? '' : `${wanted.operator} `
  return {
    field: maskLogText(field),
    wanted: operator + shownValue(plain, name),
    found: shownValue(value, name),
  }
}

/** A call of the log as conditions see it: as it was sent; the user and the account as they are now. */
class LoggedCall implements CallParts {
  readonly #call: NotedCall
  readonly #tables: SandboxTables['tables']
  #body: unknown
  #bodyIsRead = false

  constructor(call: NotedCall, { tables }: SandboxTables) {
    this.#call = call
    this.#tables = tables
  }

  get operation() {
    return this.#call.operation
  }
  get params() {
    return this.#call.params
  }
  get headers() {
    return this.#call.headers
  }
  get query() {
    return queryOf(this.#call)
  }
  get body() {
    if (!this.#bodyIsRead) this.#body = jsonOf(bodyOf(this.#call))
    this.#bodyIsRead = true
    return this.#body
  }
  /** The documents of POST /kyc. */
  get items(): readonly unknown[] {
    const list = (this.body as { kyc?: unknown } | null | undefined)?.kyc
    return Array.isArray(list) ? list : []
  }
  get user() {
    const { body, params } = this as { body?: unknown; params?: unknown }
    const sent = (body ?? {}) as Record<string, unknown>
    const id = sent['user_id'] ?? sent['from_user_id'] ?? (params as { userId?: unknown })?.userId
    return typeof id === 'string' ? this.#tables.users.get(id) : undefined
  }
  get account() {
    const id = ((this.body ?? {}) as Record<string, unknown>)['benif_bank_id']
    return typeof id === 'string' ? this.#tables.bank_accounts.get(id) : undefined
  }
}

type Check = { field: string; test: Test; read: (call: CallParts) => unknown }

const checkOf = (test: Test): Check => ({
  field: [test.part, ...test.path].join('.'),
  test,
  read: readerOf(test.part, test.path),
})

const failsFor = (checks: readonly Check[], call: CallParts): Failure[] =>
  checks.flatMap(({ field, test, read }) => {
    const value = read(call)
    return holds(test, value) ? [] : [{ field, name: test.path.at(-1) ?? '', wanted: test, value }]
  })

/** Of some things a match wants one; these are the failures of the one that is nearest. */
function fewest(found: readonly Failure[][]): Failure[] {
  return found.reduce((best, one) => (one.length < best.length ? one : best))
}

/** Compiles what a call must be like. */
export function compileMatch(definition: MatchDefinition, store: SandboxTables): RequestMatch {
  const { operation, method, path, status } = definition
  const operations = operation === undefined ? undefined : new Set<string>(operationsOf(operation))
  const checks = CALL_PARTS.flatMap((part) =>
    definition[part] === undefined ? [] : testsOf(part, definition[part] as Condition).map(checkOf),
  )
  const ofCall = checks.filter(({ test }) => test.part !== 'item')
  const ofItem = checks.filter(({ test }) => test.part === 'item')
  const plain = (condition: unknown) =>
    condition === undefined ? [] : testsOf('body', condition as Condition)
  const facts = [
    { field: 'method', tests: plain(method), read: (call: NotedCall): unknown => call.method },
    { field: 'path', tests: plain(path), read: pathOf },
    { field: 'status', tests: plain(status), read: ({ status }: NotedCall) => status },
  ]

  /** What fails, which call it is first. */
  function failures(call: NotedCall): Failure[] {
    const told: Failure[] = []
    if (operations && !(call.operation !== undefined && operations.has(call.operation)))
      told.push({
        field: 'operation',
        name: '',
        wanted: { value: operation },
        value: call.operation,
      })
    for (const { field, tests, read } of facts) {
      const value = read(call)
      for (const test of tests)
        if (!holds(test, value)) told.push({ field, name: '', wanted: test, value })
    }
    const seen = new LoggedCall(call, store)
    told.push(...failsFor(ofCall, seen))
    if (ofItem.length > 0) {
      const items: readonly unknown[] = seen.items.length > 0 ? seen.items : [undefined]
      told.push(...fewest(items.map((item) => failsFor(ofItem, { item }))))
    }
    return told
  }

  return {
    holds(call) {
      if (operations && !(call.operation !== undefined && operations.has(call.operation)))
        return false
      if (!facts.every(({ tests, read }) => tests.every((test) => holds(test, read(call)))))
        return false
      const seen = new LoggedCall(call, store)
      const fits = (wanted: readonly Check[], of: CallParts) =>
        wanted.every(({ test, read }) => holds(test, read(of)))
      return (
        fits(ofCall, seen) &&
        (ofItem.length === 0 || seen.items.some((item) => fits(ofItem, { item })))
      )
    },
    failures,
  }
}

// ---- verifying

/** A call that does not match, and why not. */
export type NearMiss = { call: NotedCall; differences: Difference[] }

const MOST_MISSES = 3
const OF_WHICH_CALL = new Set(['operation', 'method', 'path'])
const distanceOf = (failures: readonly Failure[]) =>
  failures.reduce((sum, { field }) => sum + (OF_WHICH_CALL.has(field) ? 10 : 1), 0)

/** The calls that come nearest to a match without being one, the nearest first, of equal ones the newest. */
export function nearestMisses(match: RequestMatch, calls: Iterable<NotedCall>): NearMiss[] {
  let nearest: { call: NotedCall; failures: Failure[]; distance: number }[] = []
  for (const call of calls) {
    const failures = match.failures(call)
    const distance = distanceOf(failures)
    if (distance === 0) continue
    if (nearest.length === MOST_MISSES && distance >= nearest.at(-1)!.distance) continue
    nearest = [...nearest, { call, failures, distance }]
      .sort((a, b) => a.distance - b.distance)
      .slice(0, MOST_MISSES)
  }
  return nearest.map(({ call, failures }) => ({
    call,
    differences: failures.map(shownFailure),
  }))
}

const lineOf = (call: NotedCall) => `${requestId(call)} ${call.method} ${maskLogText(pathOf(call))}`

/** Near misses as the fields of an error answer. */
export const missErrors = (misses: readonly NearMiss[]) =>
  misses.flatMap(({ call, differences }) =>
    differences.map(({ field, wanted, found }) => ({
      field,
      code: 'differs',
      message: `${lineOf(call)}: wanted ${wanted}, found ${found}`,
    })),
  )

/** The nearest miss in words, to end a message with. */
export function missText(misses: readonly NearMiss[], count: number): string {
  const [nearest] = misses
  if (!nearest) return count === 0 ? ' The log is empty.' : ''
  const { field, wanted, found } = nearest.differences[0]!
  return ` The nearest was ${lineOf(nearest.call)}: ${field} is ${found}, wanted ${wanted}.`
}

/** The refusal of a `match` that can't be used. */
export function badMatch([first, ...more]: readonly Pick<
  Problem,
  'path' | 'message'
>[]): SandboxError {
  return new SandboxError(
    'validation_failed',
    `The match is refused: ${first!.path ? `${first!.path}: ` : ''}${first!.message}`,
    {
      errors: [first!, ...more].map(({ path, message }) => ({
        // The fields of a resource stand in the match itself.
        field: path ? `match.${path.replace(/^data\./, '')}` : 'match',
        code: 'invalid_value',
        message,
      })),
    },
  )
}
