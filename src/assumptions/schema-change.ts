import * as z from 'zod'

/** What a reading changes in the schema of an operation's body or query; another schema is returned as it is. */
export type SchemaChange = (schema: z.ZodObject, operation: string) => z.ZodObject

/** The change of a reading that is written in the schemas themselves. */
export const unchanged: SchemaChange = (schema) => schema

/** Replaces the fields of these names; `change` gets the present schema of a field. */
export const changeFields =
  (
    names: readonly string[],
    change: (field: z.ZodType) => z.ZodType,
    of: (operation: string) => boolean = () => true,
  ): SchemaChange =>
  (schema, operation) => {
    const found = names.filter((name) => Object.hasOwn(schema.shape, name))
    if (found.length === 0 || !of(operation)) return schema
    const fields = found.map((name) => [name, change(schema.shape[name] as z.ZodType)] as const)
    return schema.safeExtend(Object.fromEntries(fields))
  }

/** A field that may have any value, and always counts as missing. */
export const ignored = (field: z.ZodType): z.ZodType =>
  z
    .unknown()
    .optional()
    .transform(() => field.parse(undefined))
