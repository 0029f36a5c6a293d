import * as z from 'zod'
import { Scenario } from './schema.ts'

/** Returns the text of `scenarios/scenario.schema.json`: the schema of scenario files as JSON Schema, for editors. */
export function scenarioJsonSchema(): string {
  const schema = z.toJSONSchema(Scenario, { target: 'draft-7', io: 'input', reused: 'inline' })
  return `${JSON.stringify(schema, null, 2)}\n`
}
