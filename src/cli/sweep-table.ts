import { printableLine } from '../model/printable.ts'
import type { SweepResult } from '../sweep/types.ts'
import { table } from './text-table.ts'

/** The findings of a sweep as tables for a terminal: what was done, what happened, and how to see it again. */
export function sweepTable({ findings }: SweepResult): string {
  const rows = findings.map(({ finding, verdict, level, isKnown, plan, happened }) => [
    finding,
    isKnown ? 'known' : level,
    verdict,
    plan.map(({ what }) => what).join('; and '),
    happened,
  ])
  const found = table(
    ['finding', 'level', 'verdict', 'what was done', 'what happened'],
    rows,
    'No findings.',
  )
  if (findings.length === 0) return found
  const commands = findings.map(
    ({ finding, reproduce }) => `  ${finding}  ${printableLine(reproduce)}\n`,
  )
  return `${found}\nShow them again:\n${commands.join('')}`
}
