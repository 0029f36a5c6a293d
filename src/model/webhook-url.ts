/** The longest webhook URL in characters. */
export const MAX_URL_LENGTH = 2048

/**
 * Why a text is not a webhook URL, or `undefined` if it is one: absolute http or https, no user info, at most 2,048
 * characters; local addresses are allowed. The result is the end of a sentence that starts with "the URL".
 */
export function webhookUrlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`
  // `URL` corrects spaces, backslashes and missing slashes; then the user would read another URL than the used one.
  if (!/^https?:\/\/[^\s\\\u0000-\u001f\u007f]+$/i.test(text) || !URL.canParse(text))
    return 'is not an absolute http or https URL'
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'has user info in it (`name:password@`)'
  if (new URL(text).port === '0') return 'has port 0, but no receiver can listen on port 0'
  return undefined
}
