import { parseDuration } from '../core/duration.ts'
import { movable } from './check-outcomes.ts'
import { checkRule } from './check-rule.ts'
import { SHORTEST_TURN_MS } from './compiled.ts'
import type { Fault } from './explain.ts'
import { type Clean, type Findings, isMapping } from './findings.ts'
import type { ActionDefinition, TimelineDefinition } from './schema.ts'
import { oneOf, shown } from './wording.ts'
import type { Path } from './yaml-source.ts'

const ACTIONS = ['trigger', 'simulate', 'credit', 'create_users', 'use', 'rule', 'reset'] as const
const THING = { transaction: 'transaction', kyc: 'KYC record', bank: 'bank account' } as const

const msOf = (after: unknown) => (typeof after === 'string' ? parseDuration(after)! : 0)

/** Checks one entry of a timeline. */
export function checkEntry(entry: unknown, path: Path, clean: Clean, findings: Findings) {
  if (!isMapping(entry)) return
  const { after, every, times, do: action } = entry as TimelineDefinition
  const say = (key: string, message: string, of: 'key' | 'value' = 'value') =>
    findings.faults.push({ path: [...path, key], of, message })
  if (
    typeof every === 'string' &&
    clean([...path, 'every']) &&
    parseDuration(every)! < SHORTEST_TURN_MS
  ) {
    say('every', `\`every\` must be at least ${SHORTEST_TURN_MS}ms, not ${shown(every)}`)
  }
  if (typeof times === 'number' && times > 1 && every === undefined)
    say('times', '`times` needs `every`: how long between them')
  if (!isMapping(action)) return
  const at = [...path, 'do']
  if ('rule' in action) checkRule(action['rule'], [...at, 'rule'], clean, findings)
  if (!clean(at)) return
  checkAction(action as ActionDefinition, at, findings.faults)
  const last = (['use', 'reset'] as const).find((word) => action[word] !== undefined)
  if (last && every !== undefined)
    say('every', `\`${last}\` ends this timeline, so \`every\` has no effect; leave it out`, 'key')
  if (last === 'reset' && clean([...path, 'after']) && msOf(after) < SHORTEST_TURN_MS) {
    const message = `a reset at once would undo the activation, without end where this is the start scenario; give the entry an \`after\` of at least ${SHORTEST_TURN_MS}ms`
    findings.faults.push({ path: [...at, 'reset'], of: 'key', message })
  }
}

// Activating a scenario keeps all other callers waiting until these are made, about 0.1 s.
const MOST_USERS_AT_ONCE = 5_000

/** Checks what the entries of a timeline do together, in the call that activates it. */
export function checkAtOnce(timeline: readonly unknown[], clean: Clean, { faults }: Findings) {
  let users = 0
  for (const [i, entry] of timeline.entries()) {
    const path: Path = ['timeline', i]
    if (!clean(path) || !isMapping(entry)) continue
    const { after, do: action } = entry as TimelineDefinition
    if (msOf(after) > 0 || action?.create_users === undefined) continue
    const before = users
    users += action.create_users
    if (before > MOST_USERS_AT_ONCE || users <= MOST_USERS_AT_ONCE) continue
    const message = `up to here ${users} users are made at once, in the call that activates the scenario; at most ${MOST_USERS_AT_ONCE}: give some of the entries an \`after\``
    faults.push({ path: [...path, 'do', 'create_users'], of: 'value', message })
  }
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
