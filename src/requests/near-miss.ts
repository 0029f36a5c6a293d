import { hideSecrets, maskLogText } from '../model/mask.ts'
import { type CallParts, passes, type Test } from '../scenarios/match.ts'

/** A field that does not match: the wanted value as the caller sent it, and the found value as the API shows it. */
export type FieldMismatch = { field: string; wanted: string; found: string }

/** One check that an item failed, not yet masked or formatted: most of them are only counted. */
export type FailedCheck = {
  field: string
  name: string
  wanted: Test | { value: unknown }
  value: unknown
}

/** A description of an item that does not match, and its mismatches. */
export type NearMiss = { what: string; differences: FieldMismatch[] }

const MAX_SHOWN = 200
const MAX_MISSES = 3

/** The tests that fail, each with the name that messages have for its field. */
export const failedTests = (
  tests: readonly Test[],
  parts: CallParts,
  fieldOf = ({ part, path }: Test) => [part, ...path].join('.'),
): FailedCheck[] =>
  tests.flatMap((test) => {
    const value = test.read(parts)
    if (passes(test, value)) return []
    return [{ field: fieldOf(test), name: test.path.at(-1) ?? '', wanted: test, value }]
  })

type Redact = (value: unknown, name: string) => unknown

/** A value as JSON, shortened and masked. */
export function valueText(value: unknown, name: string, redact: Redact): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(redact(value, name))
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

function mismatchOf({ field, name, wanted, value }: FailedCheck, redactFound: Redact) {
  const plain = 'value' in wanted ? wanted.value : wanted.argument
  const operator = 'value' in wanted || wanted.operator === 'eq' ? '' : `${wanted.operator} `
  return {
    field: maskLogText(field),
    wanted: operator + valueText(plain, name, hideSecrets),
    found: valueText(value, name, redactFound),
  }
}

export type NearestOptions<T> = {
  failuresOf: (item: T) => FailedCheck[]
  /** The distance that a failed check adds (default: 1). */
  weightOf?: (failure: FailedCheck) => number
  describe: (item: T) => string
  /** Masks a found value (default: only secrets). */
  redactFound?: Redact
}

/** The items that almost match, the nearest first; of equally near ones the first in `items`. */
export function nearestOf<T>(
  items: Iterable<T>,
  { failuresOf, weightOf = () => 1, describe, redactFound = hideSecrets }: NearestOptions<T>,
): NearMiss[] {
  let nearest: { item: T; failures: FailedCheck[]; distance: number }[] = []
  for (const item of items) {
    const failures = failuresOf(item)
    const distance = failures.reduce((sum, failure) => sum + weightOf(failure), 0)
    if (distance === 0) continue
    if (nearest.length === MAX_MISSES && distance >= nearest.at(-1)!.distance) continue
    nearest = [...nearest, { item, failures, distance }]
      .sort((a, b) => a.distance - b.distance)
      .slice(0, MAX_MISSES)
  }
  return nearest.map(({ item, failures }) => ({
    what: describe(item),
    differences: failures.map((failure) => mismatchOf(failure, redactFound)),
  }))
}

export const missErrors = (misses: readonly NearMiss[]) =>
  misses.flatMap(({ what, differences }) =>
    differences.map(({ field, wanted, found }) => ({
      field,
      code: 'differs',
      message: `${what}: expected ${wanted}, found ${found}`,
    })),
  )

/** A sentence about the nearest miss, for the end of a message; `emptyText` if there was no item. */
export function missText([nearest]: readonly NearMiss[], emptyText: string): string {
  if (!nearest) return emptyText
  const { field, wanted, found } = nearest.differences[0]!
  return ` Closest: ${nearest.what}: ${field}: expected ${wanted}, found ${found}.`
}
