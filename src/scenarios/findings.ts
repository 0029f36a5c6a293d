import type { SchemaError } from './explain.ts'
import type { Path } from './yaml-source.ts'

/** The result of the checks: errors, which make the file invalid, and warnings, which do not. */
export type Findings = {
  errors: SchemaError[]
  warnings: SchemaError[]
  counts: { patterns: number; conditions: number }
}

/** Creates an empty result. */
export const createFindings = (): Findings => ({
  errors: [],
  warnings: [],
  counts: { patterns: 0, conditions: 0 },
})

/** Whether the schema found nothing wrong at a path or below it. */
export type IsClean = (path: Path) => boolean

/** An object with unchecked content; not a list and not null. */
export type Mapping = Record<string, unknown>

/** Whether a value is a mapping. */
export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
