// What happened while a program ran, for somebody who wasn't there. Only session.html has it, so it sends no call.
import type { SessionDocument, SessionItem } from '../../report/session.ts'
import { countText, rupeesText } from '../format.ts'
import { Card, Facts, List, Table } from '../ui.tsx'
import { callText, errorText, isBad, OUTCOMES, wordsOf } from './payment-words.ts'

type Said = { lane: 0 | 1 | 2; tone: string; text: string }

/** An item as the console would say it, with its place on the axis. */
function saidOf({ call, payment, event }: SessionItem): Said {
  if (call) {
    const whole = { operation: null, amount: null, rule: null, reason: null, ...call }
    const isMade = call.made && errorText(whole)
    const text = isMade
      ? `${callText({ ...whole, reason: null })} The payment was made.`
      : callText(whole)
    return { lane: 0, tone: isBad(call) ? 'bad' : 'text', text }
  }
  if (payment) {
    const { tone, verb } = OUTCOMES[payment.outcome]
    const why = payment.reason === undefined ? '' : `: ${wordsOf(payment.reason)}`
    const what = `${rupeesText(payment.amount)} (${payment.reference}) to ${payment.name}`
    return { lane: 1, tone, text: `${what} ${verb}${why}.` }
  }
  const { event: name, status, error, attempt } = event!
  const isTaken = status !== null && status >= 200 && status < 300
  const tries = attempt > 1 ? ` at try ${attempt}` : ''
  const text = isTaken
    ? `Your webhook got ${name}${tries}.`
    : `Your webhook didn’t take ${name}${tries}: ${status ?? error}.`
  return { lane: 2, tone: isTaken ? 'good' : 'bad', text }
}

/** The client's time of an item, which may be that of an item before it. */
const timeOf = (item: SessionItem, items: readonly SessionItem[]) =>
  items.slice(0, items.indexOf(item) + 1).findLast(({ at }) => at)?.at

const LANES = ['Your calls', 'Money', 'Your webhook'] as const

function Axis({ items }: Pick<SessionDocument, 'items'>) {
  const hasClients = items.some(({ client }) => client)
  return (
    <Table
      label="What happened, in order"
      titles={['Time', ...(hasClients ? ['Client'] : []), ...LANES]}
      rows={items.map((item) => {
        const { lane, tone, text } = saidOf(item)
        const said = <span style={{ color: `var(--${tone})` }}>{text}</span>
        return [
          <span class="whole">{item.at?.replace('T', ' ').replace('Z', '')}</span>,
          ...(hasClients ? [item.client ?? 'default'] : []),
          ...LANES.map((_, n) => n === lane && said),
        ]
      })}
    />
  )
}

export function Session({ session }: { session: SessionDocument }) {
  const { command, result, items, left_out, unmet, coverage } = session
  const first = items.find(({ call }) => call && isBad(call))
  return (
    <>
      <p>
        <code>{command}</code>: {result}
      </p>
      <Card title="The first call without 2xx" wide>
        <p>
          {first
            ? `${timeOf(first, items)}: ${saidOf(first).text}`
            : `All ${countText(items.filter(({ call }) => call).length, 'call')} got 2xx.`}
        </p>
      </Card>
      {unmet.length > 0 && (
        <Card title="Expected, and not met" wide>
          <List
            items={unmet.map(({ text, nearest }) =>
              nearest.length === 0 ? `${text}.` : `${text}. Nearest: ${nearest.join('; ')}.`,
            )}
          />
        </Card>
      )}
      <Card title="What happened" wide>
        <Axis items={items} />
        {left_out > 0 && <p class="hint">{countText(left_out, 'more item')} left out.</p>}
        {items.length === 0 && <p class="empty">The command made no call.</p>}
      </Card>
      <Card title="Coverage" wide>
        {coverage.length === 0 ? (
          <p class="hint">Run it with --coverage DIR to see what the calls have met.</p>
        ) : (
          <Facts
            facts={Object.fromEntries(coverage.map(([group, ...met]) => [group, met.join(', ')]))}
          />
        )}
      </Card>
    </>
  )
}
