import type { FieldError } from './errors.ts'
import { type HasAnyString, type JsonText, json, stringify, unescaped } from './json-text.ts'

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
  message: HasAnyString<M> extends false ? M : never,
  data: JsonText,
): JsonText =>
  json(`{"status":true,"code":${code},"message":"${unescaped(message)}","data":${data}}`)
