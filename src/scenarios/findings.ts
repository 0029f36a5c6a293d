import type { SchemaFault } from './explain.ts'
import type { Path } from './yaml-source.ts'

/** What a check finds: what refuses the file, and what is only told. */
export type Findings = {
  faults: SchemaFault[]
  warnings: SchemaFault[]
  counts: { patterns: number; tests: number }
}

/** Findings, none yet. */
export const noFindings = (): Findings => ({
  faults: [],
  warnings: [],
  counts: { patterns: 0, tests: 0 },
})

/** Whether the schema found nothing wrong at a path or below it. */
export type Clean = (path: Path) => boolean

/** An object of unchecked content; no list, no null. */
export type Mapping = Record<string, unknown>

/** Whether a value is a mapping. */
export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
