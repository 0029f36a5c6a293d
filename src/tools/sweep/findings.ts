import * as z from 'zod'
import { readJson, UnreadableText } from '../../config/files.ts'
import { BadOption } from '../../config/options.ts'
import { groupBy } from '../counting.ts'
import { coverageOf } from '../coverage/report.ts'
import type { Fault, Observation, Plan, Run, SweepResult, Verdict } from './faults-and-findings.ts'
import { LEVELS, VERDICT_WORDS } from './faults-and-findings.ts'
import { planKey } from './plans.ts'

/** Runs that show the same, the first one first. */
export type Group = readonly [Run, ...Run[]]

/** A group that is reported: it came again, or the sandbox saw it happen by chance. */
export type Confirmed = { group: Group; isByChance: boolean }

// A test suite that fails by chance must fail three times in the same run of a plan before it is blamed.
const REPEATS: Partial<Record<Verdict, number>> = { relies_on: 2, lost_event: 2 }
// The sandbox saw them: money moved, whether or not it does so again. A race never comes on demand.
const SEEN: readonly Verdict[] = ['paid_twice', 'wrong_amount', 'paid_unverified', 'wrong_books']
const MAX_RERUNS_IF_SEEN = 5
// How many runs of a group to rerun before calling it flaky, and how often each.
const MAX_RERUNS = 3

// What they say is the cause, whatever led to it.
const OF_ONE_CAUSE: readonly Verdict[] = ['accepted_forged', 'retry_storm']

export const isFinding = ({ level }: Pick<Run, 'level'>): boolean =>
  level === 'error' || level === 'warning' || level === 'ask'

/** Whether several workers are the cause, of whatever their calls do in which order. */
const isOfWorkers = ({ race }: Fault) => (race?.workers ?? 1) > 1

const familyOf = (plan: Plan) =>
  plan
    .map((fault) => {
      if (isOfWorkers(fault)) return 'workers'
      const { kind, name } = fault
      return kind === 'call' ? kind : name.replace(/_(late|at_once)$|_(before|after)_read$/, '')
    })
    .sort()
    .join(' + ')

/** The run that shows the same with half of a pair; the run itself if there is none. */
const simplest = (run: Run, runs: readonly Run[]): Run =>
  runs.find(
    (one) =>
      one.plan.length === 1 &&
      one.verdict === run.verdict &&
      one.sort === run.sort &&
      (isOfWorkers(one.plan[0]!)
        ? run.plan.some(isOfWorkers)
        : run.plan.some(({ name }) => name === one.plan[0]!.name) &&
          (one.sort ?? one.divergence?.key) === (run.sort ?? run.divergence?.key)),
  ) ?? run

/** The runs with a finding, the worst first; those in which the same comes first are one bug, as a rule. */
export function groupsOf(runs: readonly Run[]): Group[] {
  const sorted = runs
    .filter(isFinding)
    .sort(
      (a, b) =>
        LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level) ||
        VERDICT_WORDS.indexOf(a.verdict) - VERDICT_WORDS.indexOf(b.verdict) ||
        a.plan.length - b.plan.length ||
        a.id - b.id,
    )
  const keyOf = (run: Run) => {
    const { level, plan, divergence, sort } = simplest(run, sorted)
    if (OF_ONE_CAUSE.includes(run.verdict)) return [run.verdict, level].join()
    const family = run.verdict === 'wrong_state' || sort ? '' : familyOf(plan)
    // Which test noticed it, and what it called next, is another matter for each test.
    const isAnyFirst = run.verdict === 'relies_on' || plan.some(isOfWorkers)
    const first = sort ?? (isAnyFirst ? '' : divergence?.key)
    return [run.verdict, level, family, first].join('\n')
  }
  return [...groupBy(sorted, keyOf).values()]
}

/** Repeats runs of a group until one has shown its verdict often enough. Returns the group with it first; null: flaky. */
export async function confirmed(
  group: Group,
  again: (plan: Plan) => Promise<Run>,
): Promise<Confirmed | null> {
  const isSeen = SEEN.includes(group[0].verdict)
  const tries = isSeen ? MAX_RERUNS_IF_SEEN : MAX_RERUNS
  for (const candidate of group.slice(0, isSeen ? 1 : MAX_RERUNS)) {
    const { verdict, plan, id } = candidate
    let left = REPEATS[verdict] ?? 1
    for (let n = 0; n < tries; n++) {
      const run = await again(plan)
      const others = group.filter((one) => one !== candidate)
      if (run.verdict === verdict && --left === 0)
        return { group: [{ ...run, id }, ...others], isByChance: false }
      // A rerun that never came to the fault says nothing, and whether a read was inside its handler depends on milliseconds.
      const isOpen = isSeen || run.observation.hits.includes(0) || verdict === 'lost_event'
      if (run.verdict !== verdict && !isOpen) break
    }
  }
  if (!isSeen) return null
  const by = (run: Run): Run => (run.level === 'error' ? { ...run, level: 'warning' } : run)
  const [first, ...same] = group
  const happened = `${first.happened} (by chance: ${MAX_RERUNS_IF_SEEN} reruns did not show it)`
  return { group: [by({ ...first, happened }), ...same.map(by)], isByChance: true }
}

/** The findings by the runs that show them. */
export const findingOfRun = ({ findings }: Pick<SweepResult, 'findings'>) =>
  new Map(findings.flatMap((one) => [one, ...one.same].map(({ id }) => [id, one] as const)))

export function coverageOfRuns(baselines: readonly Observation[], runs: readonly Run[]) {
  const all = [...baselines, ...runs.map(({ observation }) => observation)]
  const reached = runs.filter(({ verdict }) => verdict !== 'not_reached')
  const tried = reached.flatMap(({ plan }) => plan.map(({ name }) => name))
  return coverageOf(new Set(all.flatMap(({ seen }) => [...seen])), new Set(tried))
}

// ---- advice

/** What to change after a verdict, and after some of the faults that lead to it. */
const ADVICE: Readonly<Partial<Record<Verdict, string>>> = {
  paid_twice: 'look for the payment by its reference before you send it again',
  wrong_amount: 'send the amount that was ordered, in paise or as an exact decimal',
  paid_unverified: 'pay when both the KYC and the account are verified, and ask right before',
  wrong_books: 'book each payment once, by its id, from what the service says last',
  wrong_state: 'read the payment again after an event or a failure, and keep what it says last',
  accepted_forged: 'verify the signature and the time of an event before you read it',
  lost_event: 'answer 500 to an event that you could not handle, and it comes again',
  hung: 'give each call a timeout',
  retry_storm: 'wait longer before each try, and as long as Retry-After asks',
  relies_on: 'accept all that the contract permits',
  not_paid: 'wait until the payment has ended, and treat FAILED as not paid',
  not_recovered: 'find out what became of the call, and go on from there',
}
const PAID_TWICE: readonly (readonly [faults: readonly string[], advice: string])[] = [
  [['two_workers', 'race'], 'claim a payout in one atomic step, for longer than your longest call'],
  [['slow', 'slow_after'], 'let a claim last longer than your longest call, and renew it'],
  [['kill'], 'save the reference before you send, and look for it after a start'],
]
const MADE = 'book a payment when the service says SUCCESS, and take it back when it fails'
/** By what is wrong in the books. */
const BOOKS: Readonly<Record<string, string>> = {
  missing_in_books: 'look for a payment whose response or event you miss, and book it',
  missing_in_statement: MADE,
  status: MADE,
  amount: 'book the amount that the service says',
  utr: 'read a payment again until it has its UTR, and book that',
}

type Advised = Pick<Run, 'verdict' | 'level' | 'plan' | 'sort'>
export function adviceFor({ verdict, level, plan, sort = '' }: Advised): string {
  if (level === 'ask') return 'ask your provider, as no client can guard against it'
  const names = plan.map(({ name }) => name)
  const own = PAID_TWICE.find(([faults]) => faults.some((one) => names.includes(one)))
  return (verdict === 'paid_twice' && own?.[1]) || BOOKS[sort.split(' ')[0]!] || ADVICE[verdict]!
}

// ---- findings that are known

/** Identifies a finding in each sweep of the same command. */
export const findingKey = (plan: Plan, verdict: string) => `${verdict}: ${planKey(plan)}`

const PlanOfFile = z.custom<Plan>(Array.isArray)
const KnownFindings = z.looseObject({
  findings: z.array(
    z.looseObject({ verdict: z.string(), plan: PlanOfFile, same: z.array(PlanOfFile).default([]) }),
  ),
})

/** A part of the `sweep.json` of an earlier sweep. Throws `BadOption`. */
export function readReport<T>(schema: z.ZodType<T>, option: string, file: string, missing: string) {
  try {
    return schema.parse(readJson(file))
  } catch (error) {
    const problem = error instanceof UnreadableText ? error.message : `has ${missing}`
    throw new BadOption(`--${option} ${file} ${problem}; use the sweep.json of an earlier report`)
  }
}

/** The keys of the findings in the `sweep.json` of an earlier sweep. Throws `BadOption`. */
export function knownFindings(file: string): ReadonlySet<string> {
  const { findings } = readReport(KnownFindings, 'baseline', file, 'no list of findings')
  const keysOf = ({ plan, same, verdict }: (typeof findings)[number]) =>
    [plan, ...same].map((one) => findingKey(one, verdict))
  return new Set(findings.flatMap(keysOf))
}
