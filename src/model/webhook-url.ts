/** The longest webhook URL in characters. */
export const MAX_URL_LENGTH = 2048

/**
 * Why a text is no webhook URL, or `undefined` where it is one: absolute http or https, no user info, at most 2,048
 * characters; local addresses are fine. A sentence's end that fits after "the URL".
 */
export function webhookUrlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`
  // `URL` forgives spaces, backslashes and missing slashes; what it would mend is not what the user reads.
  if (!/^https?:\/\/[^\s\\\u0000-\u001f\u007f]+$/i.test(text) || !URL.canParse(text))
    return 'is not an absolute http or https URL'
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'has user info in it (`name:password@`)'
  if (new URL(text).port === '0') return 'has port 0, but no receiver can listen on port 0'
  return undefined
}
