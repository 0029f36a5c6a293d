import type { Observation, SeenCall, SeenDelivery } from '../faults-and-findings.ts'

/** One line of a timeline: a call or the delivery of an event, and how often it came in a row. */
export type Step = {
  kind: 'call' | 'event'
  /** Equal for the same call in each run. */
  key: string
  what: string
  answer: string
  /** What the sandbox did to it on purpose. */
  changed: string | undefined
  atMs: number
  times: number
}

// A retry storm has thousands of calls, and the report must stay readable.
const MAX_STEPS = 200

const callStep = ({ method, operation, path, status, rule, beganMs }: SeenCall): Step => ({
  kind: 'call',
  key: `${method} ${operation}`,
  what: `${method} ${path}`,
  answer: status === null ? 'no answer' : String(status),
  changed: rule ?? undefined,
  atMs: beganMs,
  times: 1,
})

const deliveryStep = ({
  event,
  resource_id,
  isForged,
  isAfterEnd,
  status,
  atMs,
}: SeenDelivery): Step => ({
  kind: 'event',
  key: event,
  what: `${event} of ${resource_id}${isAfterEnd ? ', after the command ended' : ''}`,
  answer: status === null ? 'not delivered' : String(status),
  changed: isForged ? 'not authentic' : undefined,
  atMs,
  times: 1,
})

const isRepeat = (one: Step | undefined, next: Step) =>
  one?.what === next.what && one.answer === next.answer && one.changed === next.changed

/** The calls and events of a run in order; equal ones in a row are one step. */
function stepsOf({ calls, deliveries }: Observation): Step[] {
  const all = [...calls.map(callStep), ...deliveries.map(deliveryStep)]
  const steps: Step[] = []
  for (const step of all.sort((a, b) => a.atMs - b.atMs)) {
    const last = steps.at(-1)
    if (last && isRepeat(last, step)) last.times++
    else steps.push(step)
  }
  return steps
}

/** A row of a timeline: the same step of both runs, or a step of one of them. */
export type Row = { baseline?: Step; run?: Step }

/** How far the next step with a key is. */
const distance = (steps: readonly Step[], from: number, key: string) => {
  const at = steps.findIndex((step, i) => i >= from && step.key === key)
  return at < 0 ? Number.POSITIVE_INFINITY : at - from
}

/** The steps of a run beside those of the baseline; `more` counts those that are left out at the end. */
export function sideBySide(baseline: Observation, run: Observation): { rows: Row[]; more: number } {
  const [whole, other] = [stepsOf(baseline), stepsOf(run)]
  const [a, b] = [whole.slice(0, MAX_STEPS), other.slice(0, MAX_STEPS)]
  const rows: Row[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left && right && left.key === right.key) {
      rows.push({ baseline: left, run: right })
      i++
      j++
      continue
    }
    // Whichever side comes back to the other one's step sooner goes on alone.
    const isRun = right && (!left || distance(b, j, left.key) <= distance(a, i, right.key))
    rows.push(isRun ? { run: right } : { baseline: left! })
    if (isRun) j++
    else i++
  }
  return { rows, more: whole.length - a.length + other.length - b.length }
}
