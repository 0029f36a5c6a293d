// Buttons that send webhooks now. The line at the bottom shows how the attempts ended: the status of the admin call does
// not show it.
import {
  isRejected,
  nextAttempt,
  type SentDelivery,
  sentStatus,
} from '../../../model/feed-kinds.ts'
import { EVENTS } from '../../../scenarios/operations-and-events.ts'
import { Act } from '../act.tsx'
import { callOf, type Effect } from '../api.ts'
import { Choice, Form, Input, useFields } from '../fields.tsx'
import { useTimeText } from '../settings.tsx'

type TimeText = (at: string) => string

const textOf = (one: SentDelivery, timeText: TimeText): string =>
  [sentStatus(one), nextAttempt(one, timeText)].filter((part) => part !== undefined).join('; ')

/** Describes how the deliveries of one event ended. */
function effectOf(deliveries: readonly SentDelivery[], timeText: TimeText): Effect {
  const texts = deliveries.map((one) => textOf(one, timeText))
  return {
    text: texts.length === 1 ? texts[0]! : texts.map((text, i) => `${i + 1}: ${text}`).join('. '),
    isBad: deliveries.some(isRejected),
  }
}

/** Triggers an event for a resource; without one, for that whose id the user types, or the newest. */
export function Trigger({ resource }: { resource?: string }) {
  const timeText = useTimeText()
  const { fields, field } = useFields({ event: 'transaction.success', id: '' })
  const events = EVENTS.filter((one) => !resource || one.startsWith('transaction.'))
  const id = resource ?? fields.id
  const body = { event: fields.event, ...(id !== '' && { resource_id: id }) }
  return (
    <Form>
      <Choice label="Event" {...field('event')} values={events} />
      {!resource && <Input label="Resource id (default: the newest)" {...field('id')} />}
      <Act
        submit
        label="Trigger"
        call={callOf('triggerWebhook', { body })}
        effectOf={({ deliveries }) => effectOf(deliveries, timeText)}
      />
    </Form>
  )
}

export function Redeliver({ id, label = 'Redeliver' }: { id: string; label?: string }) {
  const timeText = useTimeText()
  return (
    <Act
      label={label}
      call={callOf('redeliver', { params: { id } })}
      effectOf={(delivery) => effectOf([delivery], timeText)}
    />
  )
}
