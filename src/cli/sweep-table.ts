import { printableLine } from '../model/words.ts'
import type { Finding } from '../sweep/faults-and-findings.ts'
import { table } from './output.ts'

const HEAD = ['finding', 'level', 'verdict', 'what was done', 'what happened']

/** The findings of a sweep as tables for a terminal: what was done, what happened, and how to see it again. */
export function sweepTable(groups: readonly (readonly [Finding, ...Finding[]])[]): string {
  const rows = groups.flatMap((group) =>
    group.map(({ finding, verdict, level, isKnown, what, happened }, i) => [
      finding,
      isKnown ? 'known' : level,
      verdict,
      what,
      i === 0 ? happened : `the same as in ${group[0].finding}`,
    ]),
  )
  const found = table(HEAD, rows, 'No findings.')
  if (groups.length === 0) return found
  const commands = groups.map(
    ([{ finding, reproduce }]) => `  ${finding}  ${printableLine(reproduce)}\n`,
  )
  return `${found}\nShow them again:\n${commands.join('')}`
}
