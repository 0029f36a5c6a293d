// admin/: the admin API as programs call it: one typed client, which the library, the command line and the tools use. What
// answers the calls is in routes/admin/; the list of them is model/admin-routes.ts.

import type * as z from 'zod'
import type { AdminCall } from '../http/admin-call.ts'
import type { AdminCallId } from '../model/admin-routes.ts'
import type { FieldError } from '../model/errors.ts'
import { fieldErrors, parseSent, valueAt } from '../model/validation-errors.ts'
import { ADMIN_CALLS } from '../routes/admin/admin-calls.ts'

/** Whether an issue is a programming error: a value is defined, but has the wrong type. */
const isWrongType = ({ code, path }: z.core.$ZodIssue, body: unknown): boolean =>
  code === 'invalid_type' && valueAt(body, path) !== undefined

/** Throws if a parameter is no text, or would make the path that of another call: a URL drops `.` and `..`. */
function checkParams(url: string, params: object): void {
  for (const [, name] of url.matchAll(/:(\w+)/g)) {
    const value = (params as Record<string, unknown>)[name!]
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(`${name} must be a name or an id, not ${JSON.stringify(value)}`)
  }
}

/** Throws a `TypeError`, before the request is sent, if an argument has the wrong type; the sandbox validates everything else. */
export function checkArguments(
  id: AdminCallId,
  { params = {}, query, body }: { params?: object | undefined; query?: unknown; body?: unknown },
): void {
  const call: AdminCall = ADMIN_CALLS.find((one) => one.id === id)!
  const { method, url, body: schema, large } = call
  const fail = (what: string) => {
    throw new TypeError(`${method} /__admin${url}: ${what}`)
  }
  if (query !== undefined && (typeof query !== 'object' || query === null))
    fail(`the query must be an object; found ${JSON.stringify(query)}`)
  checkParams(url, params)
  // A state document is large, so only the sandbox validates it.
  if (body === undefined || !schema || large) return
  const result = parseSent(schema, body)
  const wrongTypes = result.error?.issues.filter((issue) => isWrongType(issue, body)) ?? []
  if (wrongTypes.length === 0) return
  const [{ field, message }] = fieldErrors({ issues: wrongTypes } as z.core.$ZodError, body) as [
    FieldError,
  ]
  fail(`${field === 'body' ? 'the body' : field} ${message}`)
}
