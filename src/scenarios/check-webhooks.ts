import { didYouMean } from '../model/closest-word.ts'
import { checkEventWhen } from './check-conditions.ts'
import { eventsOf } from './event-patterns.ts'
import { type Findings, type IsClean, isMapping } from './findings.ts'
import type { WebhookRuleDefinition } from './rule-schema.ts'
import { oneOf, quoteValue } from './wording.ts'
import { EVENTS } from './words.ts'
import type { Path } from './yaml-source.ts'

/** Checks one webhook rule. */
export function checkWebhookRule(rule: unknown, path: Path, clean: IsClean, findings: Findings) {
  if (!isMapping(rule)) return
  const { errors } = findings
  if (Object.keys(rule).length === 0) {
    errors.push({
      path,
      of: 'value',
      message: 'an empty rule; specify the events with `when` and the outcome with `then`',
    })
    return
  }
  const { when, then } = rule
  let events: readonly string[] = EVENTS
  if (isMapping(when)) {
    const at = [...path, 'when']
    checkEventWhen(when, at, findings)
    if (Object.keys(when).length === 0)
      errors.push({
        path: at,
        of: 'value',
        message: 'an empty `when`; to match every event, write event: "*"',
      })
    if (typeof when['event'] === 'string' && clean([...at, 'event'])) {
      events = eventsOf(when['event'])
      if (events.length === 0)
        errors.push({ path: [...at, 'event'], of: 'value', message: unknownEvent(when['event']) })
    }
  }
  if (isMapping(then) && clean([...path, 'then']))
    checkWebhookThen(then as WebhookRuleDefinition['then'], [...path, 'then'], events, findings)
}

const unknownEvent = (event: string) =>
  `unknown event ${quoteValue(event)}${didYouMean(event, EVENTS) || `; known: ${EVENTS.join(', ')}`}`

function checkWebhookThen(
  then: WebhookRuleDefinition['then'],
  path: Path,
  events: readonly string[],
  { errors }: Findings,
) {
  const { drop, hold_until, ...rest } = then
  if (Object.keys(then).length === 0) {
    errors.push({
      path,
      of: 'value',
      message:
        'an empty outcome; write delay, copies, drop, hold_until, signature, timestamp or body',
    })
  }
  const others = Object.keys({ ...rest, ...(hold_until && { hold_until }) })
  if (drop && others.length > 0) {
    const message = `a dropped event is not sent, so ${oneOf(others.map((key) => `\`${key}\``))} has no effect; remove \`drop\` or the others`
    errors.push({ path: [...path, 'drop'], of: 'key', message })
  }
  if (hold_until && events.includes(hold_until)) {
    const message = `${hold_until} would wait for itself; name in \`when.event\` only the events that must wait`
    errors.push({ path: [...path, 'hold_until'], of: 'value', message })
  }
}
