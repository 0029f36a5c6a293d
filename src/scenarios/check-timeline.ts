import { laterStatuses } from '../model/lifecycle.ts'
import { parseDuration } from '../time/duration.ts'
import { checkRule } from './check-rule.ts'
import { MIN_REPEAT_MS } from './compiled.ts'
import type { SchemaError } from './explain.ts'
import { type Findings, type IsClean, isMapping } from './findings.ts'
import type { ActionDefinition, TimelineDefinition } from './schema.ts'
import { oneOf, quoteValue } from './wording.ts'
import type { Path } from './yaml-source.ts'

const ACTIONS = ['trigger', 'simulate', 'credit', 'create_users', 'use', 'rule', 'reset'] as const
const RESOURCE_NAMES = {
  transaction: 'transaction',
  kyc: 'KYC record',
  bank: 'bank account',
} as const

const msOf = (after: unknown) => (typeof after === 'string' ? parseDuration(after)! : 0)

/** Checks one entry of a timeline. */
export function checkEntry(entry: unknown, path: Path, clean: IsClean, findings: Findings) {
  if (!isMapping(entry)) return
  const { after, every, times, do: action } = entry as TimelineDefinition
  const reject = (key: string, message: string, of: 'key' | 'value' = 'value') =>
    findings.errors.push({ path: [...path, key], of, message })
  if (
    typeof every === 'string' &&
    clean([...path, 'every']) &&
    parseDuration(every)! < MIN_REPEAT_MS
  ) {
    reject('every', `\`every\` must be at least ${MIN_REPEAT_MS}ms, not ${quoteValue(every)}`)
  }
  if (typeof times === 'number' && times > 1 && every === undefined)
    reject('times', '`times` needs `every`: the time between two runs')
  if (!isMapping(action)) return
  const at = [...path, 'do']
  if ('rule' in action) checkRule(action['rule'], [...at, 'rule'], clean, findings)
  if (!clean(at)) return
  checkAction(action as ActionDefinition, at, findings.errors)
  const last = (['use', 'reset'] as const).find((word) => action[word] !== undefined)
  if (last && every !== undefined)
    reject('every', `\`${last}\` ends this timeline, so \`every\` has no effect; remove it`, 'key')
  if (last === 'reset' && clean([...path, 'after']) && msOf(after) < MIN_REPEAT_MS) {
    const message = `an immediate reset would undo the activation, and would repeat forever in the start scenario; give the entry an \`after\` of at least ${MIN_REPEAT_MS}ms`
    findings.errors.push({ path: [...at, 'reset'], of: 'key', message })
  }
}

// All other callers wait until the activation has created these users, about 0.1 s.
const MAX_USERS_AT_ACTIVATION = 5_000

/** Checks how many users the entries of a timeline together create in the call that activates it. */
export function checkUsersAtActivation(
  timeline: readonly unknown[],
  clean: IsClean,
  { errors }: Findings,
) {
  let users = 0
  for (const [i, entry] of timeline.entries()) {
    const path: Path = ['timeline', i]
    if (!clean(path) || !isMapping(entry)) continue
    const { after, do: action } = entry as TimelineDefinition
    if (msOf(after) > 0 || action?.create_users === undefined) continue
    const before = users
    users += action.create_users
    if (before > MAX_USERS_AT_ACTIVATION || users <= MAX_USERS_AT_ACTIVATION) continue
    const message = `the entries up to this one create ${users} users in the call that activates the scenario; the maximum is ${MAX_USERS_AT_ACTIVATION}: give some of the entries an \`after\``
    errors.push({ path: [...path, 'do', 'create_users'], of: 'value', message })
  }
}

function checkAction(action: ActionDefinition, path: Path, errors: SchemaError[]) {
  const named = ACTIONS.filter((word) => action[word] !== undefined)
  if (named.length !== 1) {
    const what = named.length === 0 ? 'no action' : `${named.length} actions (${named.join(', ')})`
    errors.push({
      path,
      of: 'value',
      message: `${what}; \`do\` takes exactly one of ${oneOf(ACTIONS)}`,
    })
  }
  if (action.resource !== undefined && action.trigger === undefined) {
    errors.push({
      path: [...path, 'resource'],
      of: 'key',
      message: '`resource` has no effect without `trigger`; remove it',
    })
  }
  if (action.simulate) checkSimulate(action.simulate, [...path, 'simulate'], errors)
}

function checkSimulate(
  simulate: NonNullable<ActionDefinition['simulate']>,
  path: Path,
  errors: SchemaError[],
) {
  const { status, reason, ...which } = simulate
  const kinds = Object.keys(which) as ('transaction' | 'kyc' | 'bank')[]
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    errors.push({
      path,
      of: 'value',
      message:
        '`simulate` changes one resource; write exactly one of transaction, kyc or bank, with latest or an id',
    })
    return
  }
  const states = laterStatuses(kind)
  if (!states.includes(status)) {
    const message = `a ${RESOURCE_NAMES[kind]} can change to ${oneOf(states)}, not to ${status}`
    errors.push({ path: [...path, 'status'], of: 'value', message })
  }
  if (reason !== undefined && status.toUpperCase() !== 'FAILED') {
    errors.push({
      path: [...path, 'reason'],
      of: 'key',
      message: `\`reason\` needs the status FAILED, and the status is ${status}; remove it`,
    })
  }
}
