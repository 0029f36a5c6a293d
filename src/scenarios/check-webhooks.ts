import { didYouMean } from '../model/closest-word.ts'
import { checkEventWhen } from './check-conditions.ts'
import { eventsOf } from './events.ts'
import { type Clean, type Findings, isMapping } from './findings.ts'
import type { WebhookRuleDefinition } from './rule-schema.ts'
import { oneOf, shown } from './wording.ts'
import { EVENTS } from './words.ts'
import type { Path } from './yaml-source.ts'

/** Checks one webhook rule. */
export function checkWebhookRule(rule: unknown, path: Path, clean: Clean, findings: Findings) {
  if (!isMapping(rule)) return
  const { faults } = findings
  if (Object.keys(rule).length === 0) {
    faults.push({
      path,
      of: 'value',
      message: 'an empty rule; say which events with `when` and what happens with `then`',
    })
    return
  }
  const { when, then } = rule
  let events: readonly string[] = EVENTS
  if (isMapping(when)) {
    const at = [...path, 'when']
    checkEventWhen(when, at, findings)
    if (Object.keys(when).length === 0)
      faults.push({
        path: at,
        of: 'value',
        message: 'an empty `when`; for every event say event: "*"',
      })
    if (typeof when['event'] === 'string' && clean([...at, 'event'])) {
      events = eventsOf(when['event'])
      if (events.length === 0)
        faults.push({ path: [...at, 'event'], of: 'value', message: unknownEvent(when['event']) })
    }
  }
  if (isMapping(then) && clean([...path, 'then']))
    checkWebhookThen(then as WebhookRuleDefinition['then'], [...path, 'then'], events, findings)
}

const unknownEvent = (event: string) =>
  `unknown event ${shown(event)}${didYouMean(event, EVENTS) || `; known: ${EVENTS.join(', ')}`}`

function checkWebhookThen(
  then: WebhookRuleDefinition['then'],
  path: Path,
  events: readonly string[],
  { faults }: Findings,
) {
  const { drop, hold_until, ...rest } = then
  if (Object.keys(then).length === 0) {
    faults.push({
      path,
      of: 'value',
      message:
        'an empty outcome; say delay, copies, drop, hold_until, signature, timestamp or body',
    })
  }
  const others = Object.keys({ ...rest, ...(hold_until && { hold_until }) })
  if (drop && others.length > 0) {
    const message = `a dropped event is not sent, so ${oneOf(others.map((key) => `\`${key}\``))} has no effect; leave one out`
    faults.push({ path: [...path, 'drop'], of: 'key', message })
  }
  if (hold_until && events.includes(hold_until)) {
    const message = `${hold_until} would wait for itself; let \`when.event\` name the events that are to wait`
    faults.push({ path: [...path, 'hold_until'], of: 'value', message })
  }
}
