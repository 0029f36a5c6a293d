import type { ComponentChildren } from 'preact'
import { untilText } from '../clock.ts'
import type { Delivery, Payment, Timer } from '../types.ts'
import { At, Chip } from '../ui.tsx'

type Moment = { at: string; order: number; key: string; what: ComponentChildren }

/** What happened to a payment and what will, in the order of time. */
export function timelineOf(
  payment: Payment,
  deliveries: readonly Delivery[],
  timers: readonly Timer[],
) {
  const done: Moment[] = [
    {
      at: payment.created_at,
      order: 0,
      key: 'created',
      what: (
        <>
          created: <b>{payment.amount}</b> {payment.currency_code}
        </>
      ),
    },
  ]
  const ahead: Moment[] = []
  const statuses = new Set<string>()
  for (const delivery of deliveries) {
    const { delivery_id, event, created_at, status, next_attempt_at } = delivery
    statuses.add(event.slice(event.indexOf('.') + 1).toUpperCase())
    const link = <a href={`#/deliveries/${delivery_id}`}>{event}</a>
    done.push({
      at: created_at,
      order: 1,
      key: `event ${delivery_id}`,
      what: (
        <>
          event {link} <Chip state={status} />
        </>
      ),
    })
    for (const { number, at, ok, status: answered, error } of delivery.attempts)
      done.push({
        at,
        order: 2,
        key: `attempt ${delivery_id} ${number}`,
        what: (
          <>
            attempt {number} of {link}: <b>{ok ? 'taken' : 'not taken'}</b> (
            {answered ?? error?.code})
          </>
        ),
      })
    if (status === 'pending')
      ahead.push({
        at: next_attempt_at ?? '',
        order: 2,
        key: `next ${delivery_id}`,
        what: (
          <>
            {next_attempt_at === null
              ? 'waits for the event before it'
              : `attempt ${delivery.attempts.length + 1}`}
            : {link}
          </>
        ),
      })
  }
  // A payment of the fixtures, or one whose events are no longer kept.
  const { status, metadata } = payment.history
  if (!statuses.has(status) && status !== 'PENDING')
    done.push({
      at: payment.updated_at,
      order: 1,
      key: 'status',
      what: (
        <>
          became <Chip state={status} /> {metadata?.reason}
        </>
      ),
    })
  for (const { timer_id, at, kind, payload } of timers)
    ahead.push({
      at,
      order: 0,
      key: timer_id,
      what: (
        <>
          {kind === 'transaction.step' ? 'becomes' : kind}{' '}
          <Chip state={String(payload['status'] ?? '')} />{' '}
          {payload['reason'] === undefined ? '' : String(payload['reason'])}
        </>
      ),
    })
  const inTime = (a: Moment, b: Moment) => a.at.localeCompare(b.at) || a.order - b.order
  // What has no instant waits for what has one.
  const last = (a: Moment, b: Moment) => Number(a.at === '') - Number(b.at === '') || inTime(a, b)
  return { done: done.sort(inTime), ahead: ahead.sort(last) }
}

export const Moments = ({ moments, now }: { moments: readonly Moment[]; now?: number }) => (
  <ol class="timeline">
    {moments.map(({ key, at, what }) => (
      <li key={key} class={now === undefined ? '' : 'ahead'}>
        {at === '' ? <span class="hint">later</span> : <At at={at} />}
        <span>{what}</span>
        {now !== undefined && at !== '' && (
          <span class="hint">{untilText(Date.parse(at) - now)}</span>
        )}
      </li>
    ))}
  </ol>
)
