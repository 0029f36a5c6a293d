import * as z from 'zod'

const OWN_LENGTH = 'has an object with a field "length" that cannot be compared; remove this field'

/**
 * `schema.safeParse` for a value from outside. zod compares the `length` of any value with the limits of a text or list,
 * and throws if that is an object which no number can be made of.
 */
export function safeParse<T>(
  schema: z.ZodType<T>,
  value: unknown,
  options?: z.core.ParseContext<z.core.$ZodIssue>,
): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value, options)
  } catch (error) {
    if (!(error instanceof TypeError && error.message.includes('primitive value'))) throw error
    const issue = { code: 'custom' as const, path: [], input: undefined, message: OWN_LENGTH }
    return { success: false, error: new z.ZodError([issue]) as z.ZodError<T> }
  }
}
