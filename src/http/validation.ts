import type * as z from 'zod'
import { SandboxError } from '../model/errors.ts'
import { fieldErrors, LIST_KNOWN_KEYS, validationFailed } from '../model/issues.ts'

/** How a sentence about a part of a request starts: a field of the body speaks for itself. */
function subjectOf(part: string, field: string): string {
  if (part === 'querystring') return `The query parameter ${field}`
  if (part === 'params') return `The path parameter ${field}`
  return field === 'body' ? 'The request body' : field
}

/** The refusal of a request whose body, query or path is not as its schema says. */
function errorOf(error: z.core.$ZodError, data: unknown, part: string): SandboxError {
  if (part === 'body' && data == null) {
    return new SandboxError(
      'validation_failed',
      'The body is missing or null. Send a JSON object with Content-Type: application/json.',
      { errors: [{ field: 'body', code: 'required', message: 'is required' }] },
    )
  }
  const errors = fieldErrors(error, data)
  const subject = subjectOf(part, errors[0]!.field)
  return validationFailed(errors, { subject, count: Math.max(errors.length, error.issues.length) })
}

/** Fastify's validator compiler: zod's `safeParse`, and a `SandboxError` where it fails. */
export function validatorCompiler({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  const zod = schema as z.ZodType
  return (data: unknown) => {
    // No body at all comes as null; a schema with a default takes it as left out.
    const result = zod.safeParse(data ?? undefined, LIST_KNOWN_KEYS)
    return result.success
      ? { value: result.data }
      : { error: errorOf(result.error, data, httpPart ?? 'body') }
  }
}
