import * as z from 'zod'
import { countOf, printableLine } from '../../../model/words.ts'
import {
  type Fault,
  type Finding,
  type SweepResult,
  VERDICTS,
  type Verdict,
} from '../faults-and-findings.ts'

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

const ReportedFinding = z.strictObject({
  id: z
    .string()
    .regex(/^finding-[1-9]\d*$/)
    .meta({ description: 'The name of its scenario file, too.' }),
  verdict: z.enum(VERDICT_WORDS),
  level: z.enum(['none', 'information', 'warning', 'error']),
  what: z.string().meta({ description: 'The plan in words.' }),
  plan: z.array(PlannedFault).min(1).meta({ description: 'The faults that happened together.' }),
  happened: z.string(),
  reproduce: z.string().meta({ description: 'The command that shows the finding again.' }),
})

/** The document `sweep.json`. */
export const SweepDocument = z
  .strictObject({
    runs: z.int().min(0).meta({ description: 'The number of runs, without the baseline.' }),
    left_out: z.int().min(0).meta({
      description:
        'The number of planned runs that were not made, because of --max-runs, --budget or a signal, or because there were too many pairs of faults.',
    }),
    verdicts: z
      .partialRecord(z.enum(VERDICT_WORDS), z.int().min(1))
      .meta({ description: 'How many runs have each verdict.' }),
    findings: z.array(ReportedFinding),
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

/** The result of a sweep as `sweep.json`. */
export const sweepJson = (result: SweepResult): SweepDocument => ({
  runs: result.runs.length,
  left_out: result.leftOut,
  verdicts: verdictCounts(result),
  findings: result.findings.map(({ finding, verdict, level, what, plan, happened, reproduce }) => ({
    id: finding,
    verdict,
    level,
    what,
    plan: plan.map(({ kind, name, operation = null, nth = null, what }) => ({
      kind,
      name,
      operation,
      nth,
      what,
    })),
    happened,
    reproduce,
  })),
})

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
  const stopped =
    result.leftOut > 0 ? ` (not all: ${length} of ${length + result.leftOut} plans were run)` : ''
  return `${[runs, ...(counts.length > 0 ? [counts.join(', ')] : [])].join(': ')}${stopped}`
}

/** The level of a finding in words; a known one fails no run. */
export const levelText = ({ level, isKnown }: Finding): string =>
  isKnown ? `${level}, known` : level

/** The command as a person reads it. */
export const commandText = ({ command }: SweepResult): string => printableLine(command.join(' '))

const pointOf = ({ kind, name, operation, nth }: Fault) =>
  kind === 'assumption' ? name : [kind, operation, nth].join(' ')

const likenessOf = ({ verdict, isKnown, plan, happened }: Finding) =>
  JSON.stringify([verdict, isKnown, plan.map(pointOf), happened])

/** Findings with the same result of other faults at the same point: one bug, as a rule. */
export const groupsOf = (findings: readonly Finding[]): readonly [Finding, ...Finding[]][] => {
  const groups = new Map<string, [Finding, ...Finding[]]>()
  for (const one of findings) {
    const group = groups.get(likenessOf(one))
    if (group) group.push(one)
    else groups.set(likenessOf(one), [one])
  }
  return [...groups.values()]
}
