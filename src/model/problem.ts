import { printableLine } from './printable.ts'

/**
 * An error or a warning about a file. `line` and `column` count from 1; both are 0 if there is no text (a definition
 * sent as JSON); then `path` (`rules[0].when`) is the position.
 */
export type Problem = { file: string; line: number; column: number; path: string; message: string }

/** Formats a problem as `file:line:column: message`, without a line as `file: path: message`. Safe for a terminal. */
export function problemText({ file, line, column, path, message }: Problem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : path === '' ? file : `${file}: ${path}`
  return printableLine(`${place}: ${message}`)
}
