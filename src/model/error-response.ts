import * as z from 'zod'
import { ERRORS, type ErrorCode } from './errors.ts'
import { sandboxDefault } from './sandbox-default.ts'

const errorCodes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** A field of an error that can be missing: the contract shows no error body. */
const ours = <T extends z.ZodType>(field: T, contract: z.ZodType): T =>
  sandboxDefault(field, contract.optional())

const CODE = 'The HTTP status code.'
const WORD = `A stable error code, such as ${errorCodes.slice(0, 3).join(', ')}.`
const fieldErrors = () =>
  z.array(z.strictObject({ field: z.string(), code: z.string(), message: z.string() }))

/** The one error body of every endpoint. */
export const ErrorResponse = z
  .strictObject({
    status: ours(z.literal(false), z.boolean()),
    code: ours(z.int().meta({ description: CODE }), z.int().meta({ description: CODE })),
    // Required in both documents: they are what callers read, and generated types should not make them optional.
    error: z.string().meta({ description: WORD }),
    message: z.string(),
    data: ours(z.null(), z.unknown().meta({ description: 'Null in this sandbox.' })),
    errors: ours(fieldErrors(), fieldErrors()),
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
