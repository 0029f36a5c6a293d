import type { Fault, Finding } from '../faults-and-findings.ts'

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
