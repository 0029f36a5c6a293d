import { type Problem, SandboxError } from '../model/errors.ts'
import { hideSecrets, maskLogText, maskRequest } from '../model/mask.ts'
import { countOf } from '../model/words.ts'
import type { Condition } from '../scenarios/condition.ts'
import { operationsOf, passes, passesAll, testsOf } from '../scenarios/match.ts'
import { CALL_PARTS } from '../scenarios/operations-and-events.ts'
import type { MatchDefinition } from '../scenarios/read.ts'
import type { SandboxTables } from '../tables/tables.ts'
import {
  type FailedCheck,
  failedTests,
  missErrors,
  missText,
  type NearMiss,
  nearestOf,
  valueText,
} from './near-miss.ts'
import {
  parseJsonOrUndefined,
  pathOf,
  queryOf,
  type RequestLogEntry,
  requestId,
} from './request-log.ts'

/** A compiled match: decides which entries of the log match, and why an entry does not. */
export type RequestMatch = {
  holds(call: RequestLogEntry): boolean
  failures(call: RequestLogEntry): FailedCheck[]
}

/** A logged request as conditions read it: as it was sent; the user and the account in their present state. */
function partsOf(call: RequestLogEntry, tables: SandboxTables['tables'] | undefined) {
  const { operation, params, headers } = call
  let parsed: { body: unknown } | undefined
  function bodyOf(): unknown {
    parsed ??= { body: parseJsonOrUndefined(call.body) }
    return parsed.body
  }
  const fields = () => (bodyOf() ?? {}) as Record<string, unknown>
  return {
    operation,
    params,
    headers,
    get query() {
      return queryOf(call)
    },
    get body() {
      return bodyOf()
    },
    get items(): readonly unknown[] {
      const list = fields()['kyc']
      return Array.isArray(list) ? list : []
    },
    get user() {
      const { user_id, from_user_id } = fields()
      const id = user_id ?? from_user_id ?? (params as { userId?: unknown } | undefined)?.userId
      return typeof id === 'string' ? tables?.users.get(id) : undefined
    },
    get account() {
      const id = fields()['benif_bank_id']
      return typeof id === 'string' ? tables?.bank_accounts.get(id) : undefined
    },
  }
}

/** The failures of the item that fails the fewest checks: a match needs only one item. */
function fewestFailures(found: readonly FailedCheck[][]): FailedCheck[] {
  return found.reduce((best, one) => (one.length < best.length ? one : best))
}

/** Returns the tables of a call's client; `undefined` if it is deleted. */
export type TablesOf = (call: RequestLogEntry) => SandboxTables | undefined

export function compileMatch(definition: MatchDefinition, tablesOf: TablesOf): RequestMatch {
  const { operation, method, path, status } = definition
  const operations = operation === undefined ? undefined : new Set<string>(operationsOf(operation))
  const partTests = CALL_PARTS.flatMap((part) =>
    definition[part] === undefined ? [] : testsOf(part, definition[part] as Condition),
  )
  const callTests = partTests.filter(({ part }) => part !== 'item')
  const itemTests = partTests.filter(({ part }) => part === 'item')
  const checkOf = (field: string, wanted: unknown, read: (call: RequestLogEntry) => unknown) => {
    const tests = wanted === undefined ? [] : testsOf('body', wanted as Condition)
    return { field, tests, read }
  }
  const fieldChecks = [
    checkOf('method', method, (call) => call.method),
    checkOf('path', path, pathOf),
    checkOf('status', status, (call) => call.status),
  ]

  /** The failed checks; those that identify the request come first. */
  function failures(call: RequestLogEntry): FailedCheck[] {
    const failed: FailedCheck[] = []
    if (operations && !operations.has(call.operation ?? ''))
      failed.push({
        field: 'operation',
        name: '',
        wanted: { value: operation },
        value: call.operation,
      })
    for (const { field, tests, read } of fieldChecks) {
      const value = read(call)
      for (const test of tests)
        if (!passes(test, value)) failed.push({ field, name: '', wanted: test, value })
    }
    const parts = partsOf(call, tablesOf(call)?.tables)
    failed.push(...failedTests(callTests, parts))
    if (itemTests.length > 0) {
      const items: readonly unknown[] = parts.items.length > 0 ? parts.items : [undefined]
      failed.push(...fewestFailures(items.map((item) => failedTests(itemTests, { item }))))
    }
    return failed
  }

  return {
    holds(call) {
      if (operations && !operations.has(call.operation ?? '')) return false
      if (!fieldChecks.every(({ tests, read }) => tests.every((test) => passes(test, read(call)))))
        return false
      const parts = partsOf(call, tablesOf(call)?.tables)
      return (
        passesAll(callTests, parts) &&
        (itemTests.length === 0 || parts.items.some((item) => passesAll(itemTests, { item })))
      )
    },
    failures,
  }
}

// ---- near misses

const IDENTIFYING_FIELDS = new Set(['operation', 'method', 'path'])
export const describeRequest = (call: RequestLogEntry): string =>
  `${requestId(call)} ${call.method} ${maskLogText(pathOf(call))}`

export const nearestRequests = (match: RequestMatch, calls: readonly RequestLogEntry[]) =>
  nearestOf(calls, {
    failuresOf: match.failures,
    weightOf: ({ field }) => (IDENTIFYING_FIELDS.has(field) ? 10 : 1),
    describe: describeRequest,
    redactFound: maskRequest,
  })

export const nearestRequestText = (misses: readonly NearMiss[], count: number): string =>
  missText(misses, count === 0 ? ' The log is empty.' : '')

export function invalidMatch(
  [first, ...more]: readonly Pick<Problem, 'path' | 'message'>[],
  field = 'match',
): SandboxError {
  const what = field === 'match' ? 'The match' : field
  const why = `${first!.path ? `${first!.path}: ` : ''}${first!.message}`
  const errors = [first!, ...more].map(({ path, message }) => ({
    // In the match itself, the fields of a resource have no prefix `data.`.
    field: path ? `${field}.${path.replace(/^data\./, '')}` : field,
    code: 'invalid_value',
    message,
  }))
  return new SandboxError('validation_failed', `${what} is invalid: ${why}`, { errors })
}

// ---- the order of calls

/** One step of an order of calls: what a call must match, as it was sent and compiled. */
export type Step = { definition: unknown; match: RequestMatch }

type Log = { newestFirst(): RequestLogEntry[]; readonly dropped: number }

const MAX_EARLY = 3

/** Throws if the calls do not match the steps in their order, and says which step did not come; others may come between. */
export function verifySequence(steps: readonly Step[], log: Log, elsewhere: string) {
  const calls = log.newestFirst().toReversed()
  const found: RequestLogEntry[] = []
  let rest: readonly RequestLogEntry[] = calls
  for (const { match } of steps) {
    const next = rest.find(match.holds)
    const { dropped } = log
    if (!next) throw brokenOrder(steps, { calls, found, rest, dropped, elsewhere })
    found.push(next)
    rest = rest.slice(rest.indexOf(next) + 1)
  }
}

type Progress = {
  calls: readonly RequestLogEntry[]
  /** The calls of the steps before. */
  found: readonly RequestLogEntry[]
  /** The calls after them. */
  rest: readonly RequestLogEntry[]
  dropped: number
  /** Where the calls are, if there are none. */
  elsewhere: string
}

function cameText([next, ...more]: readonly RequestLogEntry[], isFirst: boolean): string {
  if (!next) return isFirst ? '' : ' No call came after it.'
  const others = more.length > 0 ? `, and ${countOf(more.length, 'more call')}` : ''
  return ` ${isFirst ? 'Instead' : 'Then'} came ${describeRequest(next)}${others}.`
}

function brokenOrder(steps: readonly Step[], { calls, found, rest, dropped, elsewhere }: Progress) {
  const { definition, match } = steps[found.length]!
  const field = `sequence[${found.length}]`
  const before = found.at(-1)
  const after = before ? ` after ${describeRequest(before)}, which is step ${found.length}` : ''
  const early = calls.filter(
    (call) => !found.includes(call) && !rest.includes(call) && match.holds(call),
  )
  const misses = nearestRequests(match, rest)
  const message = [
    `Step ${found.length + 1} of ${steps.length}, ${valueText(definition, '', hideSecrets)}, did not come${after}.`,
    cameText(rest, found.length === 0),
    early.length > 0 ? ` It came too early: ${describeRequest(early.at(-1)!)}.` : '',
    dropped > 0 ? ` The log has discarded ${countOf(dropped, 'older call')}.` : '',
    nearestRequestText(misses, calls.length),
    elsewhere,
  ].join('')
  return new SandboxError('verification_failed', message, {
    errors: [
      ...early.slice(-MAX_EARLY).map((call) => ({
        field: requestId(call),
        code: 'too_early',
        message: `${describeRequest(call)} matches ${field}, but came too early`,
      })),
      ...missErrors(misses).map((one) => ({ ...one, field: `${field}.${one.field}` })),
    ],
  })
}
