import * as z from 'zod'
import type { Observation, SeenCall, SeenDelivery } from '../faults-and-findings.ts'

/** One line of a timeline: a call or the delivery of an event. */
const ShownStep = z.strictObject({
  what: z.string().meta({ description: 'The call or event.' }),
  response: z.string(),
  changed: z.string().nullable().meta({ description: 'What the sandbox did to it on purpose.' }),
  at_ms: z
    .int()
    .nullable()
    .meta({ description: 'Real ms since the start; null if that is unknown.' }),
  times: z.int().min(1).meta({ description: 'How often it came in a row.' }),
})
/** A row of a timeline: the same step of both runs, or a step of one of them. */
export const StepRow = z.strictObject({
  baseline: ShownStep.nullable(),
  run: ShownStep.nullable(),
})
export type StepRow = z.infer<typeof StepRow>

/** `key` is equal for the same call in each run. */
type Step = Omit<z.infer<typeof ShownStep>, 'at_ms'> & { key: string; atMs: number }

// A retry storm has thousands of calls, and the report must stay readable.
const MAX_STEPS = 200

const callStep = ({ method, operation, path, status, rule, beganMs }: SeenCall): Step => ({
  key: `${method} ${operation}`,
  what: `${method} ${path}`,
  response: status === null ? 'no response' : String(status),
  changed: rule,
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
  key: event,
  what: `${event} of ${resource_id}${isAfterEnd ? ', after the command ended' : ''}`,
  response: status === null ? 'not delivered' : String(status),
  changed: isForged ? 'not authentic' : null,
  atMs,
  times: 1,
})

const isRepeat = (one: Step | undefined, next: Step) =>
  one?.what === next.what && one.response === next.response && one.changed === next.changed

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

const shown = (step: Step | undefined): StepRow['run'] => {
  if (!step) return null
  const { key: _, atMs, ...rest } = step
  return { ...rest, at_ms: Number.isNaN(atMs) ? null : Math.round(atMs) }
}

/** How far the next step with a key is. */
const distance = (steps: readonly Step[], from: number, key: string) => {
  const at = steps.findIndex((step, i) => i >= from && step.key === key)
  return at < 0 ? Number.POSITIVE_INFINITY : at - from
}

/** The steps of a run beside those of the baseline; `more` counts those that are left out at the end. */
export function sideBySide(
  baseline: Observation,
  run: Observation,
): { steps: StepRow[]; more_steps: number } {
  const [whole, other] = [stepsOf(baseline), stepsOf(run)]
  const [a, b] = [whole.slice(0, MAX_STEPS), other.slice(0, MAX_STEPS)]
  const steps: StepRow[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left && right && left.key === right.key) {
      steps.push({ baseline: shown(left), run: shown(right) })
      i++
      j++
      continue
    }
    // Whichever side comes back to the other one's step sooner goes on alone.
    const isRun = right && (!left || distance(b, j, left.key) <= distance(a, i, right.key))
    steps.push({ baseline: isRun ? null : shown(left), run: isRun ? shown(right) : null })
    if (isRun) j++
    else i++
  }
  return { steps, more_steps: whole.length - a.length + other.length - b.length }
}
