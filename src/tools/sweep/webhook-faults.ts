import type { WebhookRuleDefinition } from '../../scenarios/rule-schema.ts'
import { onlyAt, ordinal, ruleName } from './fault-words.ts'
import type { Fault, Observation } from './faults-and-findings.ts'
import { type EventPoints, eventPoints, type PointChoice } from './points.ts'

type WebhookFault = {
  name: string
  what: (event: string) => string
  then: WebhookRuleDefinition['then']
  mustAbsorb?: boolean
}

function faultsOfEvent({ next, signed }: Pick<EventPoints, 'next' | 'signed'>): WebhookFault[] {
  return [
    {
      name: 'late',
      what: (event) => `the ${event} is sent 5 s late`,
      then: { delay: '5s' },
      mustAbsorb: true,
    },
    {
      name: 'twice',
      what: (event) => `the ${event} is sent twice`,
      then: { copies: 2 },
      mustAbsorb: true,
    },
    ...(next === undefined
      ? []
      : [
          {
            name: 'out_of_order',
            what: (event: string) => `the ${event} is sent after the ${next} that follows it`,
            then: { hold_until: next as NonNullable<WebhookFault['then']['hold_until']> },
            mustAbsorb: true,
          },
        ]),
    {
      name: 'dropped',
      what: (event) => `the ${event} is never sent`,
      then: { drop: true },
    },
    ...(signed === 'none'
      ? []
      : [
          {
            name: 'forged',
            what: (event: string) => `the ${event} has a wrong signature`,
            then: { signature: 'wrong' as const },
          },
          {
            name: 'unsigned',
            what: (event: string) => `the ${event} has no signature`,
            then: { signature: 'missing' as const },
          },
        ]),
    ...(signed === 'message'
      ? [
          {
            name: 'stale',
            what: (event: string) => `the ${event} is signed with a time far in the past`,
            then: { timestamp: 'stale' as const },
          },
        ]
      : []),
    {
      name: 'truncated',
      what: (event) => `the body of the ${event} ends in the middle`,
      then: { body: 'truncated' },
    },
  ]
}

export const WEBHOOK_NAMES: readonly string[] = faultsOfEvent({ next: '', signed: 'message' }).map(
  ({ name }) => name,
)

/** What can happen to the events that the baseline's receiver got. */
export const webhookFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  eventPoints(baseline, choice).flatMap((points) =>
    points.numbers.flatMap((nth) =>
      faultsOfEvent(points).map(
        ({ name, what, then, mustAbsorb = false }): Fault => ({
          kind: 'webhook',
          name,
          operation: points.event,
          nth,
          what: what(`${ordinal(nth)} event ${points.event}`),
          mustAbsorb,
          scenario: {
            webhooks: [
              {
                name: ruleName(name, nth, points.event),
                when: { event: points.event },
                ...onlyAt(nth),
                then,
              },
            ],
          },
        }),
      ),
    ),
  )
