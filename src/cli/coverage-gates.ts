import { BadOption } from '../config/options.ts'
import { COVERAGE_GROUPS, type Coverage, type CoverageGroup } from '../model/coverage.ts'

/** The least percentage of each group that a caller wants. */
export type Gates = ReadonlyMap<CoverageGroup, number>

/** Reads gates such as `money=80,webhooks=60`; none if there is no value. Throws `BadOption`. */
export function readGates(value: unknown): Gates {
  const parts = value === undefined ? [] : String(value).split(',')
  return new Map(
    parts.map((part) => {
      const [, name, percent] = /^\s*(\w+)=(\d{1,3})\s*$/.exec(part) ?? []
      const group = COVERAGE_GROUPS.find((one) => one === name)
      const isOnce = parts.filter((one) => one.trim().startsWith(`${name}=`)).length === 1
      if (group && isOnce && Number(percent) <= 100) return [group, Number(percent)]
      throw new BadOption(
        `--min-coverage takes percentages of groups, each once, such as money=80,webhooks=60, not ${JSON.stringify(part)}; the groups are ${COVERAGE_GROUPS.join(', ')}`,
      )
    }),
  )
}

/** A line for each group below its gate. */
export const missedGates = ({ groups }: Coverage, gates: Gates): string[] =>
  groups
    .filter(({ group, percent }) => percent < (gates.get(group) ?? 0))
    .map(
      ({ group, met, total, percent }) =>
        `\nthe coverage of ${group} is ${percent} % (${met} of ${total}), and --min-coverage asks for ${gates.get(group)} %\n`,
    )
