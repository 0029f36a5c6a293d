declare const brand: unique symbol

/** JSON text, or a part of one: every string in it is escaped. */
export type JsonText = string & { readonly [brand]: true }

/** Whether the type of a template has a place for any string, character by character. */
export type HasAnyString<T extends string> = string extends T
  ? true
  : T extends `${infer First}${infer Rest}`
    ? string extends First
      ? true
      : HasAnyString<Rest>
    : false

/**
 * Marks a template literal as JSON text. A value in it that could be any string does not compile: `stringify` escapes
 * it. Numbers, booleans, the words of a union and other JSON texts need no escaping. It costs nothing, unlike a tag.
 */
export const json = <const T extends string>(
  text: HasAnyString<T> extends false ? T : never,
): JsonText => text as string as JsonText

/** The JSON text of a value. */
export const stringify = (value: unknown): JsonText => JSON.stringify(value) as JsonText

/** Marks a string whose characters need no escaping, such as an id or a timestamp, as a part of a JSON text. */
export const unescaped = (text: string): JsonText => text as JsonText

/** The JSON text of a list. */
export const listText = (rows: readonly JsonText[]): JsonText => json(`[${unescaped(rows.join())}]`)

/** The two times of a row. */
export const timesText = (row: { created_at: string; updated_at: string }): JsonText =>
  json(`"created_at":"${unescaped(row.created_at)}","updated_at":"${unescaped(row.updated_at)}"`)
