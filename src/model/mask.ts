/** Keeps the last four characters, the rest become X; four or fewer are all X (defaults: Masks). */
export const maskNumber = (value: string): string =>
  value.length <= 4 ? 'X'.repeat(value.length) : 'X'.repeat(value.length - 4) + value.slice(-4)

/** Keeps the first four and last three characters of an IFSC. */
export const maskIfsc = (value: string): string =>
  value.length <= 7
    ? 'X'.repeat(value.length)
    : value.slice(0, 4) + 'X'.repeat(value.length - 7) + value.slice(-3)

// Numbers hide in free text too: account and Aadhaar numbers, PANs, secrets.
const SENSITIVE_TEXT =
  /\d{9,}|(?<![A-Za-z0-9])[A-Za-z]{5}\d{4}[A-Za-z](?![A-Za-z0-9])|whsec_[A-Za-z0-9+/=]+/g
const USER_INFO = /(?<=:\/\/)[^/?#\s]*(?=@)/g

/** Masks what looks like a number of a person, a secret or a URL's user info inside a text. */
export const maskText = (value: string): string =>
  value.replace(USER_INFO, 'XXXX').replace(SENSITIVE_TEXT, maskNumber)
