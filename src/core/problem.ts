import { printableLine } from './printable.ts'

/**
 * Something wrong with a file, or only worth telling. `line` and `column` count from 1; both are 0 where there is no
 * text (a definition sent as JSON), and `path` (`rules[0].when`) says where.
 */
export type Problem = { file: string; line: number; column: number; path: string; message: string }

/** `file:line:column: message`; without a line `file: path: message`. Fit for a terminal. */
export function problemText({ file, line, column, path, message }: Problem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : path === '' ? file : `${file}: ${path}`
  return printableLine(`${place}: ${message}`)
}
