import type { ResponseBody } from '../../../admin/contract.ts'
import { rupeesText, spanText } from '../format.ts'

type Summary = ResponseBody<'readSummary'>
/** What a jump of the clock can change. */
export type Counts = Pick<Summary, 'settled' | 'failed' | 'came_back' | 'deliveries'>

const WORDS = { settled: 'settled', failed: 'failed', came_back: 'came back' } as const
const sentOf = ({ first_attempt, with_retry, failed }: Counts['deliveries']) =>
  first_attempt + with_retry + failed

/** The parts of the effect that are not nothing, each with a link. */
function partsOf(before: Counts, after: Counts) {
  const money = (Object.keys(WORDS) as (keyof typeof WORDS)[]).flatMap((name) => {
    const count = after[name].count - before[name].count
    const rupees = (Number(after[name].rupees) - Number(before[name].rupees)).toFixed(2)
    const text = `${count} ${WORDS[name]}${count > 0 ? ` (${rupeesText(rupees)})` : ''}`
    return count === 0 ? [] : [{ href: `#/payments?outcome=${name}`, text }]
  })
  const sent = sentOf(after.deliveries) - sentOf(before.deliveries)
  const webhooks = sent === 1 ? '1 webhook' : `${sent} webhooks`
  return sent === 0 ? money : [...money, { href: '#/deliveries', text: webhooks }]
}

/** What a jump of the clock did, until it is closed. */
export function EffectOfJump({
  byMs,
  before,
  after,
  onClose,
}: {
  byMs: number
  before: Counts
  after: Counts
  onClose: () => void
}) {
  const parts = partsOf(before, after)
  return (
    <div class="jump" role="status">
      <b>{spanText(byMs)}:</b>
      {parts.length === 0 && ' nothing settled, failed or was sent.'}
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
