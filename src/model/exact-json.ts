// Of a JSON text: a string, or a number.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const LONG = /\d{16}|\d[eE]/

const isRounded = (token: string) =>
  !token.startsWith('"') &&
  Math.abs(Number(token)) > Number.MAX_SAFE_INTEGER &&
  String(Number(token)) !== token

/**
 * Parses JSON, but reads a number above 2^53 that JavaScript would round as a string of its digits, as they were received.
 * Throws as `JSON.parse` does.
 */
export const parseExact = (text: string): unknown =>
  JSON.parse(
    LONG.test(text)
      ? text.replace(TOKEN, (token) => (isRounded(token) ? `"${token}"` : token))
      : text,
  )

/** What was received as `text`, if JavaScript has rounded it; else the value that was parsed already. */
export const exactValue = (text: string | undefined, parsed: unknown): unknown =>
  text !== undefined && LONG.test(text) ? parseExact(text) : parsed
