import { printableLine } from '../../model/printable.ts'
import type { Plan, SweepResult } from '../types.ts'
import { verdictCounts } from './sweep-json.ts'

/** The faults of a plan in words. */
export const planText = (plan: Plan): string => plan.map(({ what }) => what).join('; and ')

/** The counts of a sweep in one line. */
export function countsText(result: SweepResult): string {
  const counts = Object.entries(verdictCounts(result)).map(([word, count]) => `${count} ${word}`)
  const runs = `${result.runs.length} ${result.runs.length === 1 ? 'run' : 'runs'}`
  return `${[runs, ...(counts.length > 0 ? [counts.join(', ')] : [])].join(': ')}${result.isPartial ? ' (stopped before the end)' : ''}`
}

/** The command as a person reads it. */
export const commandText = ({ command }: SweepResult): string => printableLine(command.join(' '))
