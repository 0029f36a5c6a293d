import * as z from 'zod'
import { Coverage } from '../../../model/coverage.ts'
import { rupeesOf } from '../../../model/payment.ts'
import { countOf, printableLine } from '../../../model/words.ts'
import type {
  Finding,
  Observation,
  Plan,
  Run,
  SeenPayment,
  SweepResult,
} from '../faults-and-findings.ts'
import { FAULT_KINDS, HoldoutScore, LEVELS, VERDICT_WORDS } from '../faults-and-findings.ts'
import { adviceFor, findingOfRun } from '../findings.ts'
import { listed, planText } from '../plans.ts'
import { StepRow, sideBySide } from './steps.ts'

const PlannedFault = z.object({
  kind: z.enum(FAULT_KINDS),
  name: z.string().describe('The name of the fault, such as reset_after.'),
  operation: z.string().nullable().describe('Operation or event; null for an assumption.'),
  nth: z.int().min(1).nullable().describe('Which call or event of this kind, counted from 1.'),
  what: z.string().describe('The fault in words.'),
})

const Planned = z
  .array(PlannedFault)
  .describe('The faults that happened together; none: a run without any fault shows it.')
const Judged = {
  verdict: z.enum(VERDICT_WORDS),
  level: z.enum(LEVELS).describe('ask: a question to the provider.'),
}

const ReportedRun = z.strictObject({
  plan: Planned,
  ...Judged,
  happened: z.string(),
  duration_ms: z.int().min(0),
  finding: z.string().nullable().describe('The finding that it shows.'),
})

const ShownPayment = z.strictObject({
  transaction_id: z.string(),
  amount: z.string(),
  status_at_end: z.string().describe('When the command ended.'),
  status: z.string().describe('A day later.'),
})
export type ShownPayment = z.infer<typeof ShownPayment>

const ReportedFinding = z.strictObject({
  id: z
    .string()
    .regex(/^finding-[1-9]\d*$/)
    .describe('The name of its scenario file, too.'),
  ...Judged,
  what: z.string().describe('The plan in words.'),
  plan: Planned,
  same: z.array(Planned).describe('The other plans that showed the same.'),
  is_known: z.boolean(),
  by_chance: z.boolean().describe('The sandbox saw it once; five reruns did not show it.'),
  happened: z.string().describe('What happened to the money.'),
  first_divergence: z
    .string()
    .nullable()
    .describe('The first step that the run without faults does not have.'),
  advice: z.string().describe('What to change.'),
  ended: z.string().describe('How the command ended.'),
  probe: z.array(z.string()).describe('What the probe said otherwise.'),
  books: z.array(z.string()).describe('What the ledger said otherwise.'),
  output: z.string().describe("The end of the command's output."),
  steps: z.array(StepRow).describe('Calls and events, side by side with the baseline run.'),
  more_steps: z.int().min(0).describe('How many steps were left out at the end.'),
  payments: z
    .array(z.strictObject({ baseline: z.array(ShownPayment), run: z.array(ShownPayment) }))
    .describe('Those with the same payer, account and amount in one row.'),
  reproduce: z.string().describe('The command that shows the finding again.'),
})

const COUNTED = [...VERDICT_WORDS, 'flaky'] as const

export const SweepDocument = z
  .strictObject({
    command: z.string(),
    swept_at: z.iso.datetime().optional().describe('Of a report: when it was written.'),
    seed: z.string(),
    baseline: z.strictObject({ calls: z.int(), payments: z.int(), deliveries: z.int() }),
    runs: z.array(ReportedRun).describe('All runs, without the baseline.'),
    pruned: z
      .array(z.strictObject({ plan: Planned, reason: z.string() }))
      .describe('Plans that an earlier run showed to be needless.'),
    untried: z.array(Planned).describe('Plans that were not run before the sweep ended.'),
    verdicts: z.partialRecord(z.enum(COUNTED), z.int().min(1)).describe('Runs per verdict.'),
    findings: z.array(ReportedFinding),
    flaky: z.array(ReportedRun).describe('Runs whose finding did not show up again.'),
    baseline_failures: z.int().min(0).describe('How often the command failed without any fault.'),
    not_proven: z.array(z.string()).describe('What this sweep says nothing about.'),
    coverage: Coverage.describe('What all runs together met.'),
    holdout: HoldoutScore.optional().describe('With --holdout; runs then has findings alone.'),
  })
  .meta({ title: 'Result of payout-sandbox sweep' })
export type SweepDocument = z.infer<typeof SweepDocument>

function verdictCounts({ runs, flaky }: SweepResult) {
  const unsure = new Set(flaky.map(({ id }) => id))
  const words = runs.map(({ id, verdict }) => (unsure.has(id) ? 'flaky' : verdict))
  const counts = COUNTED.map((word) => [word, words.filter((one) => one === word).length] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

const reportedPlan = (plan: Plan) =>
  plan.map((fault) => PlannedFault.parse({ operation: null, nth: null, ...fault }))

const shownPayment = ({ transaction_id, paise, statusAtEnd, status }: SeenPayment) => ({
  transaction_id,
  amount: rupeesOf(paise),
  status_at_end: statusAtEnd,
  status,
})

function paymentRows(baseline: Observation, run: Observation) {
  const keys = new Set([...baseline.payments, ...run.payments].map(({ key }) => key))
  const having = (key: string, { payments }: Observation) =>
    payments.filter((one) => one.key === key).map(shownPayment)
  return [...keys].map((key) => ({ baseline: having(key, baseline), run: having(key, run) }))
}

function endText({ isHung, exitCode }: Observation): string {
  if (isHung) return 'was stopped at the deadline'
  return exitCode === null ? 'was stopped by a signal' : `ended with exit code ${exitCode}`
}

const textOf = (plans: readonly Plan[]) => listed(plans.map(planText))
export function notProven(result: SweepResult): string[] {
  const { runs, untried, pruned, flaky, failures, flakyTests, baseline, isStopped, holdout } =
    result
  const unreached = runs.filter(({ verdict }) => verdict === 'not_reached')
  // Their rule acted, but showed only after the command had ended.
  const isLate = unreached.some(({ observation }) => observation.hits.every((count) => count > 0))
  const eventsOf = (isAfterEnd: boolean) => {
    const deliveries = baseline.deliveries.filter((one) => one.isAfterEnd === isAfterEnd)
    return new Set(deliveries.map(({ event }) => event))
  }
  const unread = runs.filter(({ observation }) => observation.hasNoBooks).length
  const races = runs.filter(({ plan }) => plan.some(({ race }) => race?.holds && race.workers > 1))
  const met = races.filter((one) => !unreached.includes(one))
  const failing = [1, 2, 3, 4].find((worker) =>
    met.every(({ observation }) => observation.failedWorkers!.includes(worker)),
  )
  const seen = eventsOf(false)
  const missed = [...eventsOf(true)].filter((event) => !seen.has(event))
  return [
    isStopped && 'The sweep was stopped early: a finding that was not rerun may be flaky.',
    missed.length > 0 &&
      `${missed.join(', ')} came after the command had ended, so nothing was shown about it. Let the command wait for it.`,
    untried.length > 0 && `${countOf(untried.length, 'plan')} not tried: ${textOf(untried)}.`,
    pruned.length > 0 &&
      `${countOf(pruned.length, 'plan')} left out, as an earlier run showed that nothing would happen: ${textOf(pruned.map(({ plan }) => plan))}.`,
    unreached.length > 0 &&
      `${countOf(unreached.length, 'plan')} not reached: ${textOf(unreached.map(({ plan }) => plan))}.${isLate ? ' Let a test wait, or advance the clock, until the fault shows.' : ''}`,
    holdout &&
      `${countOf(holdout.untried, 'plan')} not tried, and ${holdout.not_reached} not reached: their names would tell which faults are held out.`,
    met.length > 1 &&
      failing &&
      `Worker ${failing} failed in every run, even when it went first. Check by hand that your command can run twice at once.`,
    races.length > 0 &&
      met.length === 0 &&
      'No two calls of the workers met, so nothing was shown about races: give them more jobs in one queue.',
    unread > 0 &&
      `The ledger printed no books after ${countOf(unread, 'run')} in which the command failed, so nothing was shown about those.`,
    baseline.payments.length === 0 && 'No payment was made, so nothing was shown about money.',
    seen.size === 0 &&
      'No event was received while the command ran, so nothing was shown about webhooks.',
    flaky.length + failures > 0 &&
      `The command is flaky: ${countOf(failures, 'run')} failed without any fault${flakyTests.map((one) => ` (${one})`).join('')}, and ${countOf(flaky.length, 'run')} had a finding that did not come again.`,
    'The live service itself: conform measures how it reads the open points of the contract.',
  ].filter((text) => typeof text === 'string')
}

export function sweepJson(result: SweepResult): SweepDocument {
  const findings = findingOfRun(result)
  const judged = ({ plan, verdict, level, happened }: Run) => {
    return { plan: reportedPlan(plan), verdict, level, happened }
  }
  const reportedRun = (run: Run) => ({
    ...judged(run),
    duration_ms: Math.round(run.observation.durationMs),
    finding: findings.get(run.id)?.finding ?? null,
  })
  const { baseline } = result
  const { calls, payments, deliveries } = baseline
  return {
    command: commandText(result),
    seed: String(result.seed),
    baseline: { calls: calls.length, payments: payments.length, deliveries: deliveries.length },
    runs: result.runs.map(reportedRun),
    pruned: result.pruned.map(({ plan, reason }) => ({ plan: reportedPlan(plan), reason })),
    untried: result.untried.map(reportedPlan),
    verdicts: verdictCounts(result),
    findings: result.findings.map((found) => ({
      ...judged(found),
      id: found.finding,
      what: found.what,
      same: found.same.map(({ plan }) => reportedPlan(plan)),
      is_known: found.isKnown,
      by_chance: found.isByChance,
      first_divergence: found.divergence?.text ?? null,
      advice: adviceFor(found),
      ended: endText(found.observation),
      probe: [...found.observation.probeDifferences],
      books: found.observation.bookDifferences.map(({ text }) => text),
      output: found.observation.output,
      ...sideBySide(baseline, found.observation, found.plan),
      payments: paymentRows(baseline, found.observation),
      reproduce: found.reproduce,
    })),
    flaky: result.flaky.map(reportedRun),
    baseline_failures: result.failures,
    not_proven: notProven(result),
    coverage: result.coverage,
    ...(result.holdout && { holdout: result.holdout }),
  }
}

/** The score of each kind of fault, of what is shown and of what is held out; that of all comes last. */
export const holdoutRows = ({ classes }: HoldoutScore): string[][] =>
  classes.map(({ kind, shown, held_out }) => [
    kind,
    ...[shown, held_out].map(({ runs, passed }) => `${passed} of ${runs} passed`),
  ])

export function countsText(result: SweepResult): string {
  if (result.holdout) {
    const [, shown, heldOut] = holdoutRows(result.holdout).at(-1)!
    return `Runs that met their fault: ${shown}; with held-out faults, ${heldOut}`
  }
  const counts = Object.entries(verdictCounts(result)).map(([word, count]) => `${count} ${word}`)
  const { length } = result.runs
  const { length: untried } = result.untried
  const verdicts = length > 0 ? `: ${counts.join(', ')}` : ''
  const stopped = untried > 0 ? ` (not all: ${length} of ${length + untried} plans were run)` : ''
  return `${countOf(length, 'run')}${verdicts}${stopped}`
}

/** The level of a finding in words; a known one fails no run. */
export const levelText = ({ level, isKnown }: Finding): string =>
  isKnown ? `${level}, known` : level

/** What is said where there's no finding. */
export function noFindings({ flaky, isStopped, runs }: SweepResult): string {
  if (isStopped)
    return `The sweep was stopped; the ${countOf(runs.length, 'run')} before showed no finding.`
  return flaky.length === 0
    ? 'No findings.'
    : `No finding came again, but ${countOf(flaky.length, 'run')} had one: the command is flaky.`
}

export const commandText = ({ command }: SweepResult): string => printableLine(command.join(' '))
