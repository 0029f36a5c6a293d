// Characters that a terminal interprets: control characters, and marks that reverse the text direction, so that a line
// reads differently. Line feeds and tabs are allowed in texts of several lines.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Makes a text safe for a terminal; it may have several lines. */
export const printable = (text: string): string => text.replaceAll(CONTROL, ' ')

/** The same, on one line. */
export const printableLine = (text: string): string => printable(text).replaceAll(/[\n\t]/g, ' ')

/** Formats a value as one line of JSON; characters that a terminal interprets are escaped, so the value is the same. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(
    CONTROL,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}\n`
