// Buttons that send webhooks now. The line at the bottom shows how the attempts ended: the status of the admin call does
// not show it.
import { useState } from 'preact/hooks'
import {
  isRejected,
  nextAttempt,
  type SentDelivery,
  sentStatus,
} from '../../../model/feed-kinds.ts'
import { EVENTS } from '../../../scenarios/operations-and-events.ts'
import { Act } from '../act.tsx'
import { callOf, type Effect } from '../api.ts'
import { Choice, Form } from '../fields.tsx'
import { useTimeText } from '../settings.tsx'

type TimeText = (at: string) => string

function effectOf(deliveries: readonly SentDelivery[], timeText: TimeText): Effect {
  const texts = deliveries.map((one) =>
    [sentStatus(one), nextAttempt(one, timeText)].filter(Boolean).join('; '),
  )
  return {
    text: texts.length === 1 ? texts[0]! : texts.map((text, i) => `${i + 1}: ${text}`).join('. '),
    isBad: deliveries.some(isRejected),
  }
}

const EVENTS_OF_PAYMENTS = EVENTS.filter((one) => one.startsWith('transaction.'))

export function Trigger({ payment }: { payment: string }) {
  const timeText = useTimeText()
  const [event, setEvent] = useState('transaction.success')
  return (
    <Form>
      <Choice label="Event" value={event} values={EVENTS_OF_PAYMENTS} onInput={setEvent} />
      <Act
        submit
        label="Trigger"
        call={callOf('triggerWebhook', { body: { event, resource_id: payment } })}
        effect={({ deliveries }) => effectOf(deliveries, timeText)}
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
      effect={(delivery) => effectOf([delivery], timeText)}
    />
  )
}
