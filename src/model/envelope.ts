import * as z from 'zod'

/** The envelope of most responses. */
export const envelope = <T extends z.ZodType>(code: number, data: T) =>
  z.strictObject({ status: z.literal(true), code: z.literal(code), message: z.string(), data })
