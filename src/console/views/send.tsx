// Buttons that send webhooks now. The line at the bottom shows how the attempts ended: the status of the admin call does
// not show it.
import {
  isRejected,
  nextAttempt,
  type SentDelivery,
  sentStatus,
} from '../../model/delivery-result.ts'
import { Act } from '../act.tsx'
import { callOf, type Effect, read } from '../api.ts'
import type { Timer } from '../types.ts'

const textOf = (one: SentDelivery): string =>
  [sentStatus(one), nextAttempt(one)].filter((part) => part !== undefined).join('; ')

/** Describes how the deliveries of one event ended. */
function effectOf(deliveries: readonly SentDelivery[]): Effect {
  const texts = deliveries.map(textOf)
  return {
    text: texts.length === 1 ? texts[0]! : texts.map((text, i) => `${i + 1}: ${text}`).join('. '),
    isBad: deliveries.some(isRejected),
  }
}

/** Triggers an event for a resource. With an empty id, the server takes the newest resource. */
export const Trigger = ({
  event,
  resource,
  submit = false,
}: {
  event: string
  resource: string
  submit?: boolean
}) => (
  <Act
    submit={submit}
    label="Trigger"
    call={callOf('triggerWebhook', {
      body: { event, ...(resource !== '' && { resource_id: resource }) },
    })}
    effectOf={({ deliveries }) => effectOf(deliveries)}
  />
)

export const Redeliver = ({ id, onDone }: { id: string; onDone: () => void }) => (
  <Act
    label="Redeliver"
    call={callOf('redeliver', { params: { id } })}
    effectOf={(delivery) => effectOf([delivery])}
    onDone={onDone}
  />
)

/** Describes how the attempt of a timer ended; undefined if the delivery was deleted. */
const attemptEffect = (delivery_id: string) =>
  read(callOf('getDelivery', { params: { id: delivery_id } })).then(
    (delivery) => effectOf([delivery]),
    () => undefined,
  )

/** Runs a timer now. */
export const RunTimer = ({
  timer: { timer_id, kind, resource_id },
  onDone,
}: {
  timer: Timer
  onDone: () => void
}) => (
  <Act
    quiet
    label="Run now"
    name={timer_id}
    call={callOf('fireTimer', { params: { id: timer_id } })}
    effectOf={kind === 'webhook.attempt' ? () => attemptEffect(resource_id!) : undefined}
    onDone={onDone}
  />
)
