import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** A file whose text cannot be read. Its message continues the name of the file. */
export class UnreadableText extends Error {}

/** A path with `~/` in front, which a variable or a file of options has without a shell that replaces it. */
export const homePath = (path: string): string =>
  /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path

const encodingOf = ([first, second]: Buffer) =>
  (first! ^ second!) === 1 || first === 0 || second === 0
    ? 'but UTF-16, as `>` of Windows PowerShell writes it'
    : 'but perhaps Windows-1252'

/** The text of a file that a person may have written, without a byte order mark. Throws `UnreadableText`. */
export function textOf(bytes: Buffer): string {
  // UTF-16 without a mark is valid UTF-8, full of zeros.
  if (isUtf8(bytes) && bytes[0] !== 0 && bytes[1] !== 0)
    return bytes.toString('utf8').replace(/^\ufeff/, '')
  throw new UnreadableText(`isn't UTF-8 text, ${encodingOf(bytes)}; save it as UTF-8`)
}

/** Reads every file that a person may have written. Throws `UnreadableText`. */
export function readText(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw new UnreadableText(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  return textOf(bytes)
}
