import type { ResponseBody } from '../../../admin/contract.ts'
import { countText, numberText, rupeesText, spanText } from '../format.ts'

type Summary = ResponseBody<'readSummary'>
/** What a jump of the clock can change. */
export type Counts = Pick<Summary, 'settled' | 'failed' | 'came_back'>

const WORDS = { settled: 'settled', failed: 'failed', came_back: 'came back' } as const
/** The events that were sent, of those since an instant: the oldest of all are not kept. */
export const sentOf = ({ first_attempt, with_retry, failed }: Summary['deliveries']) =>
  first_attempt + with_retry + failed

/** From when it was, by how much (ms), the counts before and after, and the events that it sent. */
export type Effect = { since: string; byMs: number; before: Counts; after: Counts; sent: number }

type Sum = { count: number; rupees: string }
const less = (a: Sum, b: Sum) => ({ count: a.count - b.count, paise: paiseOf(a) - paiseOf(b) })
const paiseOf = ({ rupees }: Sum) => Math.round(Number(rupees) * 100)

/** The parts of the effect that are not nothing, each with a link. */
function partsOf({ since, before, after, sent }: Effect) {
  const cameBack = less(after.came_back, before.came_back)
  const settled = less(after.settled, before.settled)
  const changes = {
    // What came back had settled, before the jump or in it.
    settled: { count: settled.count + cameBack.count, paise: settled.paise + cameBack.paise },
    failed: less(after.failed, before.failed),
    came_back: cameBack,
  }
  const money = (Object.keys(WORDS) as (keyof typeof WORDS)[]).flatMap((name) => {
    const { count, paise } = changes[name]
    const text = `${numberText(count)} ${WORDS[name]} (${rupeesText((paise / 100).toFixed(2))})`
    return count > 0 ? [{ href: `#/payments?outcome=${name}&since=${since}`, text }] : []
  })
  return sent > 0 ? [...money, { href: '#/deliveries', text: countText(sent, 'webhook') }] : money
}

/** What a jump of the clock did, until it is closed. */
export function EffectOfJump({ onClose, ...effect }: Effect & { onClose: () => void }) {
  const parts = partsOf(effect)
  return (
    <div class="jump bar" role="status">
      <b>{spanText(effect.byMs)}:</b>
      {parts.length === 0 && ' nothing settled or failed, and nothing was sent.'}
      {parts.map(({ href, text }) => (
        <a key={href} href={href}>
          {text}
        </a>
      ))}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  )
}
