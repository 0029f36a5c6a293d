import * as z from 'zod'

/** The envelope of most responses. */
export const envelope = <C extends number, T extends z.ZodType>(code: C, data: T) =>
  z.strictObject({ status: z.literal(true), code: z.literal(code), message: z.string(), data })

/** A success in this envelope. */
export const success = <C extends number, T>(code: C, message: string, data: T) => ({
  status: true as const,
  code,
  message,
  data,
})
