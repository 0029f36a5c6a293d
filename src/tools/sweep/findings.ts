import type { Finding, Plan, Run, Verdict } from './faults-and-findings.ts'
import { UUID } from './judge.ts'

const ORDER: readonly Verdict[] = [
  'paid_twice',
  'wrong_amount',
  'paid_unverified',
  'wrong_state',
  'accepted_forged',
  'lost_event',
  'hung',
  'retry_storm',
  'relies_on',
  'not_paid',
]
// A test suite that fails by chance must fail three times in the same run of a plan before it is blamed.
const REPEATS: Partial<Record<Verdict, number>> = { relies_on: 2, lost_event: 2 }
// How many runs of a group to rerun before calling it flaky.
const MAX_CANDIDATES = 3

// What they say is the cause, whatever led to it.
const OF_ONE_CAUSE: readonly Verdict[] = ['accepted_forged', 'wrong_state']

export const isFinding = ({ level }: Pick<Run, 'level'>): boolean =>
  level === 'error' || level === 'warning' || level === 'ask'

const familyOf = (plan: Plan) =>
  plan
    .map(({ kind, name }) => (kind === 'call' ? 'call' : name))
    .sort()
    .join(' + ')

/** What happened, without what changes from fault to fault: calls, events, ids and numbers, and which test noticed it. */
const causeOf = ({ verdict, happened }: Run) =>
  (verdict === 'relies_on' ? '' : happened)
    .replace(new RegExp(UUID, 'g'), 'ID')
    .replace(/\b(GET|POST|PUT|DELETE) \S+/g, 'CALL')
    .replace(/\b(transaction|kyc|bank|webhook)\.\w+/g, 'EVENT')
    .replace(/\bonce\b|\btwice\b|\d+(?:\.\d+)?(?: times)?/g, 'N')

/** The run that shows the same with half of a pair; the run itself if there is none. */
const simplest = (run: Run, runs: readonly Run[]): Run =>
  runs.find(
    (one) =>
      one.plan.length === 1 &&
      run.plan.some(({ name }) => name === one.plan[0]!.name) &&
      one.verdict === run.verdict &&
      causeOf(one) === causeOf(run),
  ) ?? run

/** The runs with a finding, the worst first; those with the same cause are one bug, as a rule. */
export function groupsOf(runs: readonly Run[]): (readonly [Run, ...Run[]])[] {
  const groups = new Map<string, [Run, ...Run[]]>()
  const sorted = runs
    .filter(isFinding)
    .sort(
      (a, b) =>
        ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) ||
        a.plan.length - b.plan.length ||
        a.id - b.id,
    )
  for (const run of sorted) {
    const { level, plan } = simplest(run, sorted)
    const family = OF_ONE_CAUSE.includes(run.verdict) ? '' : familyOf(plan)
    const key = [run.verdict, level, family, causeOf(run)].join('\n')
    const group = groups.get(key)
    if (group) group.push(run)
    else groups.set(key, [run])
  }
  return [...groups.values()]
}

/** Repeats a run of a group until one shows its verdict each time. Returns the group with it first; `undefined`: flaky. */
export async function confirmed(
  group: readonly [Run, ...Run[]],
  again: (plan: Plan) => Promise<Run>,
): Promise<readonly [Run, ...Run[]] | undefined> {
  for (const candidate of group.slice(0, MAX_CANDIDATES)) {
    let left = REPEATS[candidate.verdict] ?? 1
    let run = candidate
    while (left > 0 && run.verdict === candidate.verdict) {
      run = await again(candidate.plan)
      left--
    }
    if (run.verdict === candidate.verdict)
      return [{ ...run, id: candidate.id }, ...group.filter((one) => one !== candidate)]
  }
  return undefined
}

/** The findings of groups, numbered. */
export const findingsOf = (
  groups: readonly (readonly [Run, ...Run[]])[],
  more: (
    group: readonly [Run, ...Run[]],
    finding: string,
  ) => Pick<Finding, 'reproduce' | 'definition' | 'isKnown'>,
): Finding[] =>
  groups.map((group, i) => {
    const [run, ...same] = group
    const finding = `finding-${i + 1}`
    return { ...run, finding, same, ...more(group, finding) }
  })
