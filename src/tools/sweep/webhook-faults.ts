import type { EventName } from '../../scenarios/operations-and-events.ts'
import { WEBHOOK_FAULTS } from '../faults.ts'
import type { Fault, Observation, Plan } from './faults-and-findings.ts'
import {
  type EventPoints,
  eventPoints,
  onlyAt,
  ordinal,
  type PointChoice,
  ruleName,
} from './points.ts'

type Name = keyof typeof WEBHOOK_FAULTS
export const WEBHOOK_NAMES = Object.keys(WEBHOOK_FAULTS) as Name[]
const MUST_ABSORB: ReadonlySet<Name> = new Set([
  ...(['delay', 'copies', 'hold_until', 'drop', 'signature_rotated'] as const),
])

/** Whether an event can have a fault: one follows it, and it is signed. */
function canHave(name: Name, { next, signed }: EventPoints): boolean {
  if (name === 'hold_until') return next !== undefined
  if (name === 'timestamp_stale' || name === 'signature_rotated') return signed === 'message'
  return !name.startsWith('signature') || signed !== 'none'
}

/** What can happen to the events that the baseline's receiver got. */
export const webhookFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  eventPoints(baseline, choice).flatMap((points) => {
    const { event, next = '', numbers } = points
    const names = WEBHOOK_NAMES.filter((name) => canHave(name, points))
    return numbers.flatMap((nth) =>
      names.map((name): Fault => {
        const { what, then } = WEBHOOK_FAULTS[name]
        const rule = { name: ruleName(name, nth, event), when: { event }, ...onlyAt(nth) }
        return {
          kind: 'webhook',
          name,
          operation: event,
          nth,
          what: what(`${ordinal(nth)} event ${event}`, next),
          mustAbsorb: MUST_ABSORB.has(name),
          scenario: { webhooks: [{ ...rule, then: then(next as EventName) }] },
        }
      }),
    )
  })

const FORGING = ['signature_wrong', 'signature_missing', 'timestamp_stale', 'body_truncated']

/** Whether nothing but forged events happens: each attempt is forged, so who rejects them cannot know the state. */
export const isForging = (plan: Plan) =>
  plan.length > 0 && plan.every(({ name }) => FORGING.includes(name))
