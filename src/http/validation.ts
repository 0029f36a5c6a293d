import type * as z from 'zod'
import { SandboxError } from '../model/errors.ts'
import { fieldErrors } from '../model/issues.ts'

const PLACE: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
}

/** The refusal of a request whose body, query or path is not as its schema says. */
function validationFailed(error: z.core.$ZodError, data: unknown, part: string): SandboxError {
  if (part === 'body' && data == null) {
    return new SandboxError(
      'validation_failed',
      'The body is missing or null. Send a JSON object with Content-Type: application/json.',
      { errors: [{ field: 'body', code: 'required', message: 'is required' }] },
    )
  }
  const errors = fieldErrors(error, data)
  const [first] = errors
  const others = error.issues.length - 1
  const more = others > 0 ? ` and ${others} more` : ''
  const message = `The ${PLACE[part] ?? part} is refused: ${first!.field} ${first!.message}${more}.`
  return new SandboxError('validation_failed', message, { errors })
}

/** Fastify's validator compiler: zod's `safeParse`, and a `SandboxError` where it fails. */
export function validatorCompiler({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  const zod = schema as z.ZodType
  return (data: unknown) => {
    // No body at all comes as null; a schema with a default takes it as left out.
    const result = zod.safeParse(data ?? undefined)
    return result.success
      ? { value: result.data }
      : { error: validationFailed(result.error, data, httpPart ?? 'body') }
  }
}
