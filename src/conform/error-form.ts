import type { errorBody } from '../assumptions/responses.ts'
import { ErrorResponse } from '../model/errors.ts'
import { isRow } from './lists.ts'

/** The name of a reading of `error_body`. */
export type ErrorFormName = keyof (typeof errorBody)['readings']

/** Which form the body of an error has; `undefined` if it has none of the readings. `body` is its JSON value, if it is JSON. */
export function errorFormOf(text: string, body: unknown): ErrorFormName | undefined {
  if (ErrorResponse.safeParse(body).success) return 'envelope'
  if (isRow(body))
    return typeof body['message'] === 'string' && Object.keys(body).length === 1
      ? 'message_only'
      : undefined
  return /^\s*<(?:!doctype html|html)\b/i.test(text) ? 'html' : undefined
}
