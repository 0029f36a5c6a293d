import * as z from 'zod'
import { Coverage } from '../../../model/coverage.ts'
import { countOf, printableLine } from '../../../model/words.ts'
import {
  type Finding,
  LEVELS,
  type Plan,
  type Run,
  type SweepResult,
  VERDICTS,
  type Verdict,
} from '../faults-and-findings.ts'
import { notProven } from './not-proven.ts'

const VERDICT_WORDS = Object.keys(VERDICTS) as Verdict[]

const PlannedFault = z.strictObject({
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

const ReportedFinding = z.strictObject({
  id: z
    .string()
    .regex(/^finding-[1-9]\d*$/)
    .meta({ description: 'The name of its scenario file, too.' }),
  ...Judged,
  what: z.string().meta({ description: 'The plan in words.' }),
  plan: Planned,
  same: z.array(Planned).meta({ description: 'The other plans that showed the same.' }),
  happened: z.string(),
  reproduce: z.string().meta({ description: 'The command that shows the finding again.' }),
})

/** The document `sweep.json`. */
export const SweepDocument = z
  .strictObject({
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
export function verdictCounts({
  runs,
}: Pick<SweepResult, 'runs'>): Partial<Record<Verdict, number>> {
  const counts = VERDICT_WORDS.map((verdict): [Verdict, number] => [
    verdict,
    runs.filter((run) => run.verdict === verdict).length,
  ])
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

const reportedPlan = (plan: Plan) =>
  plan.map(({ kind, name, operation = null, nth = null, what }) => ({
    kind,
    name,
    operation,
    nth,
    what,
  }))

/** The finding that each run shows, by the id of the run. */
export const findingNames = ({ findings }: Pick<SweepResult, 'findings'>) =>
  new Map(
    findings.flatMap(({ id, same, finding }) =>
      [id, ...same.map((one) => one.id)].map((each) => [each, finding] as const),
    ),
  )

/** The result of a sweep as `sweep.json`. */
export function sweepJson(result: SweepResult): SweepDocument {
  const names = findingNames(result)
  const reportedRun = ({ id, plan, verdict, level, happened, observation }: Run) => ({
    plan: reportedPlan(plan),
    verdict,
    level,
    happened,
    duration_ms: Math.round(observation.durationMs),
    finding: names.get(id) ?? null,
  })
  return {
    runs: result.runs.map(reportedRun),
    untried: result.untried.map(reportedPlan),
    verdicts: verdictCounts(result),
    findings: result.findings.map(
      ({ finding, verdict, level, what, plan, same, happened, reproduce }) => ({
        id: finding,
        verdict,
        level,
        what,
        plan: reportedPlan(plan),
        same: same.map((run) => reportedPlan(run.plan)),
        happened,
        reproduce,
      }),
    ),
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
