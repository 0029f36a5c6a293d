import { writeFileSync } from 'node:fs'
import * as z from 'zod'
import { Coverage } from '../src/model/coverage.ts'

/** The schema of `coverage.json` as JSON Schema. */
export function coverageJsonSchema(): string {
  const schema = z.toJSONSchema(z.strictObject(Coverage.shape), {
    target: 'draft-7',
    reused: 'inline',
  })
  return `${JSON.stringify(schema, null, 2)}\n`
}

// Writes it: node --import tsx scripts/coverage-schema.ts
if (process.argv[1]?.endsWith('coverage-schema.ts'))
  writeFileSync(new URL('../docs/coverage.schema.json', import.meta.url), coverageJsonSchema())
