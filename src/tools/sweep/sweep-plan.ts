import { formatDuration } from '../../model/duration.ts'
import { countOf } from '../../model/words.ts'
import { concernedBy, isRead } from './faults.ts'
import { assumptionOf, type Fault, type Observation } from './faults-and-findings.ts'
import { byRisk, isCheck, isHanging, planText } from './plans.ts'
import { narrowTable, type Row, sentence } from './report/sweep-text.ts'
import { prepareSweep, type SweepOptions } from './sweep.ts'

// How long many HTTP clients wait for a response.
const HANGING_MS = 30_000

/** What of the run without faults gives a fault its point. */
function whyOf(fault: Fault, baseline: Observation): string {
  const { kind, operation, race, decides } = fault
  const assumption = assumptionOf(fault)
  if (assumption !== undefined)
    return `the contract leaves this open for ${countOf(concernedBy(assumption, baseline), 'call or event', 'calls and events')} of yours`
  if (race?.bringsEvent) return 'you read a payment about which an event comes'
  if (race)
    return race.workers > 1
      ? 'your command can run more than once at a time'
      : 'your calls may be made side by side'
  if (kind === 'webhook') return 'your receiver gets this event'
  if (isCheck(fault)) return 'you pay only those who are verified'
  if (operation === 'createTransaction') return 'this call moves money'
  if (decides) return 'this read decides about a payment'
  return isRead(operation) ? 'your command reads this' : 'this call changes what you rely on'
}

/** What a sweep would run, in order, and how long that takes: after the runs without faults, nothing else runs. */
export async function planSweep(options: SweepOptions) {
  const { baseline, plans, together, early, runMs } = await prepareSweep(options)
  const ordered = [...new Set([together, early, plans].flatMap(byRisk))]
  const { jobs, maxJobs, maxTimeMs = Number.POSITIVE_INFINITY, maxRuns = ordered.length } = options
  const minutesOf = (ms: number) => Math.ceil((ordered.length * runMs + ms) / jobs / 6_000) / 10
  let passedMs = 0
  const late = `--max-time ends after ${formatDuration(Math.min(maxTimeMs, Number.MAX_SAFE_INTEGER))}`
  const shown = ordered.map((plan, i) => {
    const isLate = passedMs / jobs >= maxTimeMs
    passedMs += runMs + (isHanging(plan) ? HANGING_MS : 0)
    const left_out = i >= maxRuns ? `--max-runs is ${maxRuns}` : isLate ? late : null
    const why = [...new Set(plan.map((fault) => whyOf(fault, baseline)))].join('; ')
    return { what: planText(plan), why, left_out }
  })
  const hangingMs = ordered.filter(isHanging).length * HANGING_MS
  return {
    runs: ordered.length,
    jobs,
    max_jobs: maxJobs,
    seconds_per_run: Math.round(runMs) / 1_000,
    minutes: { least: minutesOf(0), most: minutesOf(hangingMs) },
    left_out: shown.filter(({ left_out }) => left_out !== null).length,
    plans: shown,
  }
}

export function sweepPlanText(plan: Awaited<ReturnType<typeof planSweep>>): string {
  const { runs, jobs, max_jobs, seconds_per_run, minutes, left_out, plans } = plan
  const rows = plans.map((one, i): Row => {
    const out = one.left_out === null ? '' : ` Left out: ${one.left_out}.`
    return [[String(i + 1)], [`${sentence(one.what)} Why: ${one.why}.${out}`]]
  })
  const pace = `${seconds_per_run.toFixed(1)} s each, ${jobs}${max_jobs > jobs ? ' or more' : ''} at a time`
  const out = left_out > 0 ? `; the limits leave out the last ${left_out}` : ''
  return `${countOf(runs, 'run')}, about ${minutes.least} min for all of them: ${pace}${out}
${minutes.most} min if your client waits 30 s for each response that never comes
Pairs and slow calls that these runs suggest, and repeats of findings, come in addition.

${narrowTable(['run', 'what is done, and why'], rows, '')}`
}
