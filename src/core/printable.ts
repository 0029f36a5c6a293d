// What a terminal acts on: control characters, and marks that turn the direction of the text behind them, so that a line
// is read as another one. A line feed and a tab are left to texts of several lines.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A text that a terminal shows as it is; it may have several lines. */
export const printable = (text: string): string => text.replaceAll(CONTROL, ' ')

/** The same, on one line. */
export const printableLine = (text: string): string => printable(text).replaceAll(/[\n\t]/g, ' ')

/** A value as one line of JSON: what a terminal would act on is escaped, so the value is the same. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(
    CONTROL,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}\n`
