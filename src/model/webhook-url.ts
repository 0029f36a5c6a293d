/** The longest webhook URL in characters. */
export const MAX_URL_LENGTH = 2048

// Generators of clients write \u0000 as the character itself, so it is \x00 here.
const SCHEME = '^[Hh][Tt][Tt][Pp][Ss]?://'
const REST = String.raw`[^\s\\\x00-\x1f\x7f-\x9f]+$`
const ABSOLUTE = new RegExp(SCHEME + REST)

/** What a pattern can say of a webhook URL: no user info and no port 0. */
export const URL_PATTERN: string = `${SCHEME}(?![^/?#]*@)(?![^/?#]*:0+(?:[/?#]|$))${REST}`

/**
 * Why a text is not a webhook URL, or `undefined` if it is one: absolute http or https, no user info, at most 2,048
 * characters; local addresses are allowed. The result is the end of a sentence that starts with "the URL".
 */
export function webhookUrlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`
  // `URL` corrects spaces, backslashes and missing slashes; then the user would read another URL than the used one.
  if (!ABSOLUTE.test(text) || !URL.canParse(text)) return 'is not an absolute http or https URL'
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'has user info in it (`name:password@`)'
  if (new URL(text).port === '0') return 'has port 0, but no receiver can listen on port 0'
  return undefined
}
