import type * as z from 'zod'
import type { AdminCall } from './http/admin.ts'
import type { FieldError } from './model/errors.ts'
import { fieldErrors, valueAt } from './model/issues.ts'

/** An issue that only a mistake in the program makes: something was given, and it is of another kind. */
const isWrongKind = ({ code, path }: z.core.$ZodIssue, body: unknown): boolean =>
  code === 'invalid_type' && valueAt(body, path) !== undefined

/**
 * Throws a `TypeError` where an argument is of the wrong kind, such as a number in place of a duration, before anything
 * is sent. What is wrong in another way is left to the sandbox, which knows more.
 */
export function checkKinds(
  { method, url, body: schema, large }: AdminCall,
  { query, body }: { query?: unknown; body?: unknown },
): void {
  const refuse = (what: string) => {
    throw new TypeError(`${method} /__admin${url}: ${what}`)
  }
  if (query !== undefined && (typeof query !== 'object' || query === null))
    refuse(`the query must be an object; found ${JSON.stringify(query)}`)
  // A whole world is checked once, by the sandbox.
  if (body === undefined || !schema || large) return
  const result = schema.safeParse(body)
  const wrong = result.error?.issues.filter((issue) => isWrongKind(issue, body)) ?? []
  if (wrong.length === 0) return
  const [{ field, message }] = fieldErrors({ issues: wrong } as z.core.$ZodError, body) as [
    FieldError,
  ]
  refuse(`${field === 'body' ? 'the body' : field} ${message}`)
}
