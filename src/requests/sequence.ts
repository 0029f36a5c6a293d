import { countOf } from '../model/count-text.ts'
import { SandboxError } from '../model/errors.ts'
import { hideSecrets } from '../model/mask.ts'
import { firstOf } from '../runtime/slices.ts'
import { missErrors, valueText } from './near-miss.ts'
import { type RequestLogEntry, requestId } from './request-log.ts'
import {
  describeRequest,
  nearestRequests,
  nearestRequestText,
  type RequestMatch,
} from './request-match.ts'

/** One step of an order of calls: what a call must match, as it was sent and compiled. */
export type Step = { definition: unknown; match: RequestMatch }

type Log = {
  newestFirst(): Iterable<RequestLogEntry>
  readonly dropped: number
}

const MAX_EARLY = 3

/**
 * Checks that the calls match the steps in their order; other calls may come between. Throws if they do not: the error says
 * which step did not come, what came instead, and which call matches it but came too early.
 */
export async function verifySequence(
  steps: readonly Step[],
  log: Log,
  { elsewhere, pauses }: Pick<Progress, 'elsewhere' | 'pauses'>,
) {
  const calls = [...log.newestFirst()].reverse()
  const found: RequestLogEntry[] = []
  let rest: readonly RequestLogEntry[] = calls
  for (const { match } of steps) {
    const next = await firstOf(rest, (call) => (match.holds(call) ? call : undefined), pauses)
    const { dropped } = log
    if (!next) throw await brokenOrder(steps, { calls, found, rest, dropped, elsewhere, pauses })
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
  /** Whether the search lets other calls run in between. */
  pauses: boolean
}

function cameText([next, ...more]: readonly RequestLogEntry[], isFirst: boolean): string {
  if (!next) return isFirst ? '' : ' No call came after it.'
  const others = more.length > 0 ? `, and ${countOf(more.length, 'more call')}` : ''
  return ` ${isFirst ? 'Instead' : 'Then'} came ${describeRequest(next)}${others}.`
}

async function brokenOrder(
  steps: readonly Step[],
  { calls, found, rest, dropped, elsewhere, pauses }: Progress,
): Promise<SandboxError> {
  const { definition, match } = steps[found.length]!
  const field = `sequence[${found.length}]`
  const before = found.at(-1)
  const after = before ? ` after ${describeRequest(before)}, which is step ${found.length}` : ''
  const early: RequestLogEntry[] = []
  const isEarly = (call: RequestLogEntry) =>
    !found.includes(call) && !rest.includes(call) && match.holds(call)
  await firstOf(calls, (call) => void (isEarly(call) && early.push(call)), pauses)
  const misses = await nearestRequests(match, rest, pauses)
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
