import type { IncomingMessage, ServerResponse } from 'node:http'
import { seconds } from '../counting.ts'
import { callText, type PointChoice, pointsOf, ruleFault } from './faults.ts'
import type { Fault, Observation, Plan, Run } from './faults-and-findings.ts'

export const SLOW_NAMES = ['slow', 'slow_after'] as const

/** Whether a fault shows how long the command waits for a payment's response. */
export const showsTimeout = ({ name, operation, nth }: Fault) =>
  name === 'hang_after' && operation === 'createTransaction' && nth === 1

// A call that takes this part of the time which its caller waits succeeds, and outlasts a shorter lease.
const PART = 0.8
const MAX_MS = 24_000

/** Watches how long callers wait for a response that never comes, real ms. */
export function watchPatience() {
  let longestMs: number | undefined
  return {
    longestMs: () => longestMs,
    middleware({ method }: IncomingMessage, response: ServerResponse, next: () => void) {
      const beganAt = performance.now()
      response.once('close', () => {
        if (method !== 'POST' || response.writableEnded) return
        longestMs = Math.max(longestMs ?? 0, performance.now() - beganAt)
      })
      next()
    },
  }
}

/** Payments that take most of the time which the command waits for one, and succeed: alone, and with several workers if it has them. */
export function slowPlans(
  runs: readonly Run[],
  baseline: Observation,
  choice: PointChoice,
  workers: Fault | undefined,
): Plan[] {
  const hanging = runs.find(
    ({ plan: [fault, ...more] }) => more.length === 0 && showsTimeout(fault!),
  )
  const { patienceMs, isHung } = hanging?.observation ?? {}
  // Who waits for ever has no lease that this could outlast.
  if (patienceMs === undefined || isHung) return []
  const delayMs = Math.round(Math.min(patienceMs * PART, MAX_MS))
  return pointsOf(baseline, 'createTransaction', choice).flatMap((point) =>
    SLOW_NAMES.flatMap((name): Plan[] => {
      const isFirst = name === 'slow_after'
      const what = `the ${callText(point)} takes ${seconds(delayMs)} of the ${seconds(patienceMs)} that its caller waits, and is carried out ${isFirst ? 'at once' : 'at the end'}`
      const then = { delay: `${delayMs}ms`, ...(isFirst && { at: 'after' as const }) }
      const fault = ruleFault({ ...point, kind: 'call', name, what }, { then })
      return [[fault], ...(workers && point.nth === 1 ? [[workers, fault]] : [])]
    }),
  )
}
