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
import { callOf, type Effect, read, send } from '../api.ts'
import { Choice, Form } from '../fields.tsx'
import { useTimeText } from '../settings.tsx'
import { Button } from '../ui.tsx'

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

// A page of the admin API.
const MAX_SENT = 100

/** Sends the deliveries of a filter again, one after the other. */
export function SendAgain({ query, total }: { query: object; total: number }) {
  const [left, setLeft] = useState(0)
  const count = Math.min(total, MAX_SENT)
  async function sendAll() {
    const all = callOf('listDeliveries', { query: { ...query, limit: MAX_SENT } })
    const { deliveries } = await read(all)
    for (const [i, { delivery_id: id }] of deliveries.entries()) {
      setLeft(deliveries.length - i)
      await send(callOf('redeliver', { params: { id } }), 'Send again').catch(() => {})
    }
    setLeft(0)
  }
  return (
    <Button
      label={
        left > 0 ? `${left} left` : count === 1 ? 'Send it again' : `Send these ${count} again`
      }
      isOff={left > 0}
      onPress={() => void sendAll()}
    />
  )
}
