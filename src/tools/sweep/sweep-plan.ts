import { countOf } from '../../model/words.ts'
import { ENDPOINT_OF, type OperationId } from '../../scenarios/operations-and-events.ts'
import { ordinal } from '../counting.ts'
import { table } from '../report/table.ts'
import { concernedBy, lastDocument, lastOf } from './faults.ts'
import { assumptionOf, type Fault, type Observation } from './faults-and-findings.ts'
import { byRisk, isHanging, planText } from './plans.ts'
import { prepareSweep, type SweepOptions } from './sweep.ts'

// How long many HTTP clients wait for a response.
const HANGING_MS = 30_000

/** What of the run without faults gives a fault its point. */
function whyOf(fault: Fault, baseline: Observation): string {
  const { kind, operation = '', nth = 1, race } = fault
  const assumption = assumptionOf(fault)
  if (assumption !== undefined)
    return `an open reading that concerns ${countOf(concernedBy(assumption, baseline), 'call or event', 'calls and events')} of yours`
  if (race && !race.bringsEvent)
    return race.workers > 1
      ? 'your command can run more than once at a time'
      : 'the calls may be made side by side'
  const isDocument = kind === 'lifecycle' && operation === 'submitKyc'
  const last = isDocument ? lastDocument(baseline) : lastOf(baseline, operation)
  const name = isDocument ? 'documents' : (ENDPOINT_OF[operation as OperationId] ?? operation)
  const what = kind === 'webhook' ? `${name} that the receiver got` : name
  return last === 1 ? `the only ${what}` : `${ordinal(nth)} of ${last} ${what}`
}

/** What a sweep would run, in order, and how long that takes: after the runs without faults, nothing else runs. */
export async function planSweep(options: SweepOptions) {
  const { baseline, plans, together, early, runMs } = await prepareSweep(options)
  const ordered = [...new Set([together, early, plans].flatMap(byRisk))]
  const { jobs, maxJobs, maxTimeMs = Number.POSITIVE_INFINITY, maxRuns = ordered.length } = options
  const hanging = ordered.filter(isHanging).length
  const minutesOf = (ms: number) => Math.ceil(ms / jobs / 6_000) / 10
  let passedMs = 0
  const inTime = ordered.findIndex((plan) => {
    const isLate = passedMs / jobs >= maxTimeMs
    passedMs += runMs + (isHanging(plan) ? HANGING_MS : 0)
    return isLate
  })
  const least = ordered.length * runMs
  const run = Math.min(maxRuns, inTime < 0 ? ordered.length : inTime)
  return {
    runs: ordered.length,
    jobs,
    max_jobs: maxJobs,
    seconds_per_run: Math.round(runMs) / 1_000,
    hanging,
    minutes: { least: minutesOf(least), most: minutesOf(least + hanging * HANGING_MS) },
    left_out: Math.max(0, ordered.length - run),
    plans: ordered.map((plan) => ({
      what: planText(plan),
      why: plan.map((fault) => whyOf(fault, baseline)).join('; '),
    })),
  }
}

export function sweepPlanText(plan: Awaited<ReturnType<typeof planSweep>>): string {
  const { runs, jobs, max_jobs, seconds_per_run, hanging, minutes, left_out, plans } = plan
  const rows = plans.map(({ what, why }, i) => [i + 1, what, why])
  return [
    `${countOf(runs, 'run')}, about ${minutes.least} min: ${seconds_per_run} s each, ${jobs}${max_jobs > jobs ? ' or more' : ''} at a time\n`,
    hanging > 0
      ? `${hanging} of them wait for a response until your client gives up; after 30 s that makes ${minutes.most} min\n`
      : '',
    left_out > 0 ? `--max-time and --max-runs leave out the last ${left_out}\n` : '',
    'Pairs and slow calls that these runs suggest, and repeats of findings, come in addition.\n\n',
    table(['run', 'what is done', 'why'], rows, ''),
  ].join('')
}
