import type * as z from 'zod'
import type { AdminCall } from '../http/admin.ts'
import type { FieldError } from '../model/errors.ts'
import { fieldErrors, valueAt } from '../model/validation-errors.ts'

/** Whether an issue is a programming error: a value is defined, but has the wrong type. */
const isWrongType = ({ code, path }: z.core.$ZodIssue, body: unknown): boolean =>
  code === 'invalid_type' && valueAt(body, path) !== undefined

/**
 * Throws a `TypeError` if an argument has the wrong type, such as a number instead of a duration, before the request is
 * sent. The sandbox itself validates everything else.
 */
export function checkArgumentTypes(
  { method, url, body: schema, large }: AdminCall,
  { query, body }: { query?: unknown; body?: unknown },
): void {
  const fail = (what: string) => {
    throw new TypeError(`${method} /__admin${url}: ${what}`)
  }
  if (query !== undefined && (typeof query !== 'object' || query === null))
    fail(`the query must be an object; found ${JSON.stringify(query)}`)
  // A state document is large, so only the sandbox validates it.
  if (body === undefined || !schema || large) return
  const result = schema.safeParse(body)
  const wrongTypes = result.error?.issues.filter((issue) => isWrongType(issue, body)) ?? []
  if (wrongTypes.length === 0) return
  const [{ field, message }] = fieldErrors({ issues: wrongTypes } as z.core.$ZodError, body) as [
    FieldError,
  ]
  fail(`${field === 'body' ? 'the body' : field} ${message}`)
}
