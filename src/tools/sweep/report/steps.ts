// tools/sweep/report/: everything a sweep prints or writes: progress, the terminal's table, sweep.json, the HTML page and
// JUnit. This file compares the steps of a finding with those of a run without the fault.

import * as z from 'zod'
import { inPairs } from '../divergence.ts'
import type { Observation, Plan, SeenCall, SeenDelivery } from '../faults-and-findings.ts'
import { faultsByRule } from '../plans.ts'

const ShownStep = z.strictObject({
  what: z.string().describe('The call or event.'),
  worker: z.int().nullable().describe('Which of several workers sent the call.'),
  response: z.string(),
  changed: z.string().nullable().describe('What the sandbox did to it on purpose.'),
  at_ms: z.int().nullable().describe('Real ms since the start; null if that is unknown.'),
  times: z.int().min(1).describe('How often it came in a row.'),
})
/** A row of a timeline: the same step of both runs, or a step of one of them. */
export const StepRow = z.strictObject({ baseline: ShownStep.nullable(), run: ShownStep.nullable() })
export type StepRow = z.infer<typeof StepRow>

/** `key` is equal for the same call in each run. */
type Step = { key: string; shown: z.infer<typeof ShownStep> }

// A retry storm has thousands of calls, and the report must stay readable.
const MAX_STEPS = 200

const callStep = ({ method, operation, path, status, rule, beganMs, worker }: SeenCall) => ({
  key: `${method} ${operation}`,
  ms: beganMs,
  what: `${method} ${path}`,
  worker: worker ?? null,
  response: status === null ? 'no response' : String(status),
  changed: rule,
})

const deliveryStep = (delivery: SeenDelivery) => {
  const { event, resource_id, isForged, isAfterEnd, status, atMs } = delivery
  return {
    key: event,
    ms: atMs,
    worker: null,
    what: `${event} of ${resource_id}${isAfterEnd ? ', after the command ended' : ''}`,
    response: status === null ? 'not delivered' : String(status),
    changed: isForged ? 'not authentic' : null,
  }
}

function stepsOf({ calls, deliveries }: Observation, plan: Plan): Step[] {
  const faults = faultsByRule(plan)
  // A fault is named by what it does.
  const inWords = (rules: string) =>
    rules
      .split(', ')
      .map((rule) => faults.get(rule)?.what ?? rule)
      .join('; ')
  const own = calls.map((call) => callStep({ ...call, rule: call.rule && inWords(call.rule) }))
  const all = [...own, ...deliveries.map(deliveryStep)]
  const steps: Step[] = []
  for (const { key, ms, ...step } of all.sort((a, b) => a.ms - b.ms)) {
    const last = steps.at(-1)?.shown
    const isRepeat = (Object.keys(step) as (keyof typeof step)[]).every(
      (one) => last?.[one] === step[one],
    )
    if (last && isRepeat) last.times++
    else {
      const at_ms = Number.isNaN(ms) ? null : Math.round(ms)
      steps.push({ key, shown: { ...step, at_ms, times: 1 } })
    }
  }
  return steps
}

/** The steps of a run beside those of the baseline; `more` counts those that are left out at the end. */
export function sideBySide(baseline: Observation, run: Observation, plan: Plan) {
  const [whole, other] = [stepsOf(baseline, []), stepsOf(run, plan)]
  const [a, b] = [whole.slice(0, MAX_STEPS), other.slice(0, MAX_STEPS)]
  const steps = inPairs(a, b, ({ key }) => key).map(
    ([left, right]): StepRow => ({ baseline: left?.shown ?? null, run: right?.shown ?? null }),
  )
  return { steps, more_steps: whole.length - a.length + other.length - b.length }
}
