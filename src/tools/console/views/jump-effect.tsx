import type { ResponseBody } from '../../../admin/contract.ts'
import { countText, numberText, rupeesText, spanText } from '../format.ts'

/** By how much the clock jumped (ms), from when until when, and what happened then. */
export type Effect = {
  byMs: number
  since: string
  until: string
  summary: ResponseBody<'readSummary'>
}

const WORDS = { settled: 'settled', failed: 'failed', came_back: 'came back' } as const

/** The parts of the effect that are not nothing, each with a link. */
function partsOf({ since, until, summary }: Effect) {
  const between = new URLSearchParams({ since, until })
  const money = (Object.keys(WORDS) as (keyof typeof WORDS)[]).flatMap((outcome) => {
    const { count, rupees } = summary[outcome]
    const text = `${numberText(count)} ${WORDS[outcome]} (${rupeesText(rupees)})`
    return count > 0 ? [{ href: `#/payments?outcome=${outcome}&${between}`, text }] : []
  })
  const made = Object.values(summary.deliveries).reduce((sum, count) => sum + count)
  const events = { href: `#/deliveries?${between}`, text: countText(made, 'event') }
  return made > 0 ? [...money, events] : money
}

/** What a jump of the clock did, until it is closed. */
export function EffectOfJump({ onClose, ...effect }: Effect & { onClose: () => void }) {
  const parts = partsOf(effect)
  return (
    <div class="jump bar" role="status">
      <b>{spanText(effect.byMs)}:</b>
      {parts.length === 0 && ' nothing settled or failed, and there were no events.'}
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
