import { countOf, printableLine } from '../../../model/words.ts'
import type { Fault, Finding, SweepResult } from '../faults-and-findings.ts'
import { verdictCounts } from './sweep-json.ts'

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
