import type * as z from 'zod'
import { SandboxError } from '../model/errors.ts'
import { safeParse } from '../model/safe-parse.ts'
import { fieldErrors, LIST_KNOWN_KEYS, validationFailed } from '../model/validation-errors.ts'

/** The subject of a message about a part of a request; a field of the body needs no prefix. */
function subjectOf(part: string, field: string): string {
  if (part === 'querystring') return `The query parameter ${field}`
  if (part === 'params') return `The path parameter ${field}`
  return field === 'body' ? 'The request body' : field
}

/** The error of a request whose body, query or path does not match its schema. */
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

/** The valid value of a part of a request; throws a `SandboxError` if it does not match its schema. */
export function parsePart(schema: z.ZodType, data: unknown, part: string): unknown {
  // A missing body is null; a schema with a default needs undefined.
  const input = data ?? undefined
  const result = safeParse(schema, input)
  if (result.success) return result.data
  // A parse with options takes ten times as long, so only a rejected request pays for the list of known keys.
  const { error = result.error } = safeParse(schema, input, LIST_KNOWN_KEYS)
  throw errorOf(error, data, part)
}

/** Fastify's validator compiler. */
export function validatorCompiler({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  return (data: unknown) => {
    try {
      return { value: parsePart(schema as z.ZodType, data, httpPart ?? 'body') }
    } catch (error) {
      return { error }
    }
  }
}
