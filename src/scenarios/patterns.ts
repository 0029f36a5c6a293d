import { isOperator } from './operators.ts'
import type { Path } from './yaml-source.ts'

/** The maximum number of patterns that one call is tested with; RE2 takes long for a large one. */
export const MAX_PATTERNS = 100

/** The paths of the patterns in a condition. */
export function patternsIn(condition: unknown, path: Path = []): Path[] {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return []
  return Object.entries(condition).flatMap(([key, inner]) => {
    if (key === 'matches') return [[...path, key]]
    return isOperator(key) ? [] : patternsIn(inner, [...path, key])
  })
}
