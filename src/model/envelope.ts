import * as z from 'zod'
import { ERRORS, type ErrorCode, type FieldError } from './errors.ts'
import { type JsonText, json, stringify, unescaped } from './json-text.ts'
import { ANY_VALUE, sandboxDefault } from './sandbox-default.ts'

/** The envelope of most responses. */
export const envelope = <T extends z.ZodType>(code: number, data: T) =>
  z.strictObject({ status: z.literal(true), code: z.literal(code), message: z.string(), data })

const errorCodes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** The one error body of every endpoint. */
export const ErrorResponse = z
  .strictObject({
    status: z.literal(false),
    code: z.int().meta({ description: 'The HTTP status code.' }),
    error: z
      .string()
      .meta({ description: `A stable error code, such as ${errorCodes.slice(0, 3).join(', ')}.` }),
    message: z.string(),
    data: sandboxDefault(z.null(), ANY_VALUE.meta({ description: 'Null in this sandbox.' })),
    errors: z.array(z.strictObject({ field: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({
    id: 'Error',
    examples: [
      {
        status: false,
        code: 404,
        error: 'not_found',
        message: 'No user 00000000-0000-4000-8000-000000000099 for this client.',
        data: null,
        errors: [],
      },
    ],
  })

/** The JSON text of an error response. */
export const errorText = (
  status: number,
  error: string,
  message: string,
  errors: readonly FieldError[] = [],
): JsonText => stringify({ status: false, code: status, error, message, data: null, errors })

/** The JSON text of a success response; its message is a literal. */
export const successText = <const M extends string>(
  code: number,
  message: string extends M ? never : M,
  data: JsonText,
): JsonText =>
  json(`{"status":true,"code":${code},"message":"${unescaped(message)}","data":${data}}`)
