import * as z from 'zod'
import { Coverage } from '../../../model/coverage.ts'
import { rupeesOf } from '../../../model/payment.ts'
import { countOf, printableLine } from '../../../model/words.ts'
import {
  type Finding,
  LEVELS,
  type Observation,
  type Plan,
  type Run,
  type SeenPayment,
  type SweepResult,
  VERDICTS,
  type Verdict,
} from '../faults-and-findings.ts'
import { notProven } from './not-proven.ts'
import { StepRow, sideBySide } from './steps.ts'

const VERDICT_WORDS = Object.keys(VERDICTS) as Verdict[]

const PlannedFault = z.object({
  kind: z.enum(['assumption', 'call', 'lifecycle', 'webhook']),
  name: z.string().meta({ description: 'The name of the fault, such as reset_after.' }),
  operation: z
    .string()
    .nullable()
    .meta({ description: 'The operation or event that it concerns; null for an assumption.' }),
  nth: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: 'Which call or event of this kind, counted from 1.' }),
  what: z.string().meta({ description: 'The fault in words.' }),
})

const Planned = z
  .array(PlannedFault)
  .min(1)
  .meta({ description: 'The faults that happened together.' })
const Judged = {
  verdict: z.enum(VERDICT_WORDS),
  level: z.enum(LEVELS).meta({ description: 'ask: a question to the provider.' }),
}

const ReportedRun = z.strictObject({
  plan: Planned,
  ...Judged,
  happened: z.string(),
  duration_ms: z.int().min(0),
  finding: z.string().nullable().meta({ description: 'The finding that it shows.' }),
})

const ShownPayment = z.strictObject({
  transaction_id: z.string(),
  amount: z.string(),
  status_at_end: z.string().meta({ description: 'When the command ended.' }),
  status: z.string().meta({ description: 'A day later.' }),
})
export type ShownPayment = z.infer<typeof ShownPayment>

const ReportedFinding = z.strictObject({
  id: z
    .string()
    .regex(/^finding-[1-9]\d*$/)
    .meta({ description: 'The name of its scenario file, too.' }),
  ...Judged,
  what: z.string().meta({ description: 'The plan in words.' }),
  plan: Planned,
  same: z.array(Planned).meta({ description: 'The other plans that showed the same.' }),
  is_known: z.boolean(),
  happened: z.string(),
  ended: z.string().meta({ description: 'How the command ended.' }),
  probe: z.array(z.string()).meta({ description: 'What the probe said otherwise.' }),
  output: z.string().meta({ description: "The end of the command's output." }),
  steps: z
    .array(StepRow)
    .meta({ description: 'Calls and events, each next to its counterpart in the baseline.' }),
  more_steps: z.int().min(0).meta({ description: 'How many steps were left out at the end.' }),
  payments: z
    .array(z.strictObject({ baseline: z.array(ShownPayment), run: z.array(ShownPayment) }))
    .meta({ description: 'Those with the same payer, account and amount in one row.' }),
  reproduce: z.string().meta({ description: 'The command that shows the finding again.' }),
})

/** The document `sweep.json`. */
export const SweepDocument = z
  .strictObject({
    command: z.string(),
    seed: z.string(),
    baseline: z.strictObject({ calls: z.int(), payments: z.int(), deliveries: z.int() }),
    runs: z.array(ReportedRun).meta({ description: 'All runs, without the baseline.' }),
    untried: z.array(Planned).meta({
      description:
        'The plans that were not run, because of --max-runs, --max-time or a signal, or because there were too many.',
    }),
    verdicts: z
      .partialRecord(z.enum(VERDICT_WORDS), z.int().min(1))
      .meta({ description: 'How many runs have each verdict.' }),
    findings: z.array(ReportedFinding),
    flaky: z.array(ReportedRun).meta({
      description: 'Runs with a finding that did not come again when they were repeated.',
    }),
    baseline_failures: z
      .int()
      .min(0)
      .meta({ description: 'How often the command failed without any fault.' }),
    not_proven: z.array(z.string()).meta({ description: 'What this sweep says nothing about.' }),
    coverage: Coverage.meta({ description: 'What all runs together met.' }),
  })
  .meta({ title: 'Result of payout-sandbox sweep' })
export type SweepDocument = z.infer<typeof SweepDocument>

/** How many runs have each verdict, in the order of the verdicts. */
export function verdictCounts({ runs }: Pick<SweepResult, 'runs'>) {
  const counts = VERDICT_WORDS.map(
    (verdict) => [verdict, runs.filter((run) => run.verdict === verdict).length] as const,
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

const reportedPlan = (plan: Plan) =>
  plan.map((fault) => PlannedFault.parse({ operation: null, nth: null, ...fault }))

/** The finding that each run shows, by the id of the run. */
export const findingNames = ({ findings }: Pick<SweepResult, 'findings'>) =>
  new Map(
    findings.flatMap(({ id, same, finding }) =>
      [id, ...same.map((one) => one.id)].map((each) => [each, finding] as const),
    ),
  )

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

/** The result of a sweep as `sweep.json`. */
export function sweepJson(result: SweepResult): SweepDocument {
  const names = findingNames(result)
  const judged = ({ plan, verdict, level, happened }: Run) => ({
    plan: reportedPlan(plan),
    verdict,
    level,
    happened,
  })
  const reportedRun = (run: Run) => ({
    ...judged(run),
    duration_ms: Math.round(run.observation.durationMs),
    finding: names.get(run.id) ?? null,
  })
  const { baseline } = result
  return {
    command: commandText(result),
    seed: String(result.seed),
    baseline: {
      calls: baseline.calls.length,
      payments: baseline.payments.length,
      deliveries: baseline.deliveries.length,
    },
    runs: result.runs.map(reportedRun),
    untried: result.untried.map(reportedPlan),
    verdicts: verdictCounts(result),
    findings: result.findings.map((found) => ({
      ...judged(found),
      id: found.finding,
      what: found.what,
      same: found.same.map(({ plan }) => reportedPlan(plan)),
      is_known: found.isKnown,
      ended: endText(found.observation),
      probe: [...found.observation.probeDifferences],
      output: found.observation.output,
      ...sideBySide(baseline, found.observation),
      payments: paymentRows(baseline, found.observation),
      reproduce: found.reproduce,
    })),
    flaky: result.flaky.map(reportedRun),
    baseline_failures: result.failures,
    not_proven: notProven(result),
    coverage: result.coverage,
  }
}

/** Returns the text of `docs/sweep.schema.json`: the schema of `sweep.json` as JSON Schema. */
export function sweepJsonSchema(): string {
  const schema = z.toJSONSchema(SweepDocument, { target: 'draft-7', reused: 'inline' })
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** The counts of a sweep in one line. */
export function countsText(result: SweepResult): string {
  const counts = Object.entries(verdictCounts(result)).map(([word, count]) => `${count} ${word}`)
  const { length } = result.runs
  const runs = countOf(length, 'run')
  const { length: untried } = result.untried
  const stopped = untried > 0 ? ` (not all: ${length} of ${length + untried} plans were run)` : ''
  return `${[runs, ...(counts.length > 0 ? [counts.join(', ')] : [])].join(': ')}${stopped}`
}

/** The level of a finding in words; a known one fails no run. */
export const levelText = ({ level, isKnown }: Finding): string =>
  isKnown ? `${level}, known` : level

/** The command as a person reads it. */
export const commandText = ({ command }: SweepResult): string => printableLine(command.join(' '))
