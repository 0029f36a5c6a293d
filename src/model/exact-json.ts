// Of a JSON text: a string, or a number.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const LONG = /[\d.]{16}|\d[eE]/

// The significant digits. A long run of zeros must not be searched from each of them.
const digitsOf = (number: string) => number.replace(/e.*|[-.]/gi, '').replace(/^0+|(?<!0)0+$/g, '')

const isRounded = (token: string) =>
  !token.startsWith('"') &&
  (Math.abs(Number(token)) > Number.MAX_SAFE_INTEGER ||
    digitsOf(token) !== digitsOf(String(Number(token))))

/** Finds a number in JSON that JavaScript would round or that is above 2^53. */
export const roundedIn = (text: string): string | undefined =>
  LONG.test(text) ? text.match(TOKEN)?.find(isRounded) : undefined

/** Parses JSON, but reads a number that JavaScript would round, or above 2^53, as a string: `mark` and its digits as received. */
export const parseExact = (text: string, mark = ''): unknown =>
  JSON.parse(
    LONG.test(text)
      ? text.replace(TOKEN, (token) => (isRounded(token) ? `"${mark}${token}"` : token))
      : text,
  )
