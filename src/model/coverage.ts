import * as z from 'zod'
import { Basis } from '../assumptions/assumption.ts'
import { named } from './formats.ts'

/** What a behaviour is about; each has its own minimum. */
const Group = z.enum(['calls', 'money', 'kyc', 'accounts', 'webhooks', 'lists', 'readings'])
export const COVERAGE_GROUPS = Group.options
export type CoverageGroup = z.infer<typeof Group>

const CoverageItem = z.strictObject({
  subject: z.string().describe('An operation, event, assumption or resource.'),
  behaviour: z.string(),
  met: z.boolean(),
  shown_by: z.string().describe('A scenario, magic value or call that shows it.'),
  basis: Basis.optional().describe('Of a reading: what its default rests on.'),
  measurable: z.boolean().optional().describe('Of a reading: whether conform can measure it.'),
})
export type CoverageItem = z.infer<typeof CoverageItem>

/** Which behaviours the callers of all clients have met since the process started. */
export const Coverage = named('CoverageResponse', {
  groups: z.array(
    z.strictObject({
      group: Group,
      met: z.int(),
      total: z.int(),
      percent: z.int().describe('Rounded down; 0 without items.'),
      items: z.array(CoverageItem),
    }),
  ),
})
export type Coverage = z.infer<typeof Coverage>

export const coverageCounts = ({ groups }: Coverage): string[][] =>
  groups.map(({ group, met, total, percent }) => [group, `${met} of ${total}`, `${percent} %`])

/** The first of some names, and how many more there are. */
const namesText = ([first, second, ...more]: readonly string[]): string => {
  if (first === undefined || second === undefined) return first ?? '-'
  return more.length === 0 ? `${first}, ${second}` : `${first} + ${more.length + 1}`
}

export const COVERAGE_HEAD = ['group', 'behaviour', 'met', 'not met', 'what shows it']

/** Each behaviour as a row: for what it was met and not met, and what would show the rest. */
export const coverageRows = ({ groups }: Coverage): string[][] =>
  groups.flatMap(({ group, items }) =>
    [...new Set(items.map(({ behaviour }) => behaviour))].map((behaviour) => {
      const same = items.filter((one) => one.behaviour === behaviour)
      const namesOf = (met: boolean) =>
        namesText(same.filter((one) => one.met === met).map(({ subject }) => subject))
      const shownBy = same.find(({ met }) => !met)?.shown_by ?? ''
      return [group, behaviour, namesOf(true), namesOf(false), shownBy]
    }),
  )
