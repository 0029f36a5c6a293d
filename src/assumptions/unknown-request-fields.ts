import * as z from 'zod'
import { assumption } from './assumption.ts'
import { type SchemaChange, unchanged } from './schema-change.ts'

/** The same schema, but an object with a field that the schema does not have is an error. */
function closed(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) {
    const element = closed(schema.element as z.ZodType)
    return schema.clone({ ...schema.def, element })
  }
  if (!(schema instanceof z.ZodObject)) return schema
  const inner = Object.entries(schema.shape as Record<string, z.ZodType>)
    .map(([name, field]) => [name, closed(field)] as const)
    .filter(([name, field]) => field !== schema.shape[name])
  return schema.safeExtend(Object.fromEntries(inner)).strict()
}

/** What a field or a query parameter that no schema has does. */
export const unknownRequestFields = assumption<SchemaChange>({
  name: 'unknown_request_fields',
  section: '4',
  concerns: ['all calls'],
  question:
    'What does a field of a body, or a query parameter, that the contract does not have do?',
  basis: 'custom',
  why: 'Most services of this kind ignore such a field. A service that does not says so on the first call.',
  default: 'ignored',
  readings: {
    ignored: { does: 'it has no effect', value: unchanged },
    refused: {
      does: '400 `validation_failed`, with an error for each such field; a field that another reading ignores has no effect, as that reading says',
      value: (schema) => closed(schema) as z.ZodObject,
    },
  },
})
