import { isUtf8 } from 'node:buffer'
import { closeSync, lstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** A file whose text cannot be read. Its message continues the name of the file. */
export class UnreadableText extends Error {}

/** A path with `~/` in front, which a variable or a file of options has without a shell that replaces it. */
export const homePath = (path: string): string =>
  /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path

function encodingOf(bytes: Buffer): string {
  const [first, second] = bytes
  if (/^fffe0000|^0000|^..000000/.test(bytes.toString('hex', 0, 4))) return 'but UTF-32'
  return (first! ^ second!) === 1 || first === 0 || second === 0
    ? 'but UTF-16, as `>` of Windows PowerShell writes it'
    : 'but perhaps Windows-1252'
}

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

/** A position in a string, counted from 1; 0 if it isn't known. */
export type Place = { line: number; column: number }

export const placeAt = (text: string, offset: number): Place => {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** Whether a string is JSON or could become JSON if more followed. */
function isStart(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const { message } = error as Error
    const position = /at position (\d+)/.exec(message)?.[1]
    return position === undefined ? message.includes('end of JSON') : +position === text.length
  }
}

/** Finds the first character that isn't valid JSON: the message of `JSON.parse` doesn't always say where it is. */
export function faultIn(text: string, message: string): Place & { why: string } {
  let [low, high] = [0, text.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (isStart(text.slice(0, middle))) low = middle
    else high = middle - 1
  }
  // Leaves out the part that Node quotes: it can contain a token.
  const said = message.replace(/(?<='), .*$| (in JSON )?at position .*$/s, '')
  return { ...placeAt(text, low), why: low === text.length ? 'the text ends too early' : said }
}

export function readJson(file: string): unknown {
  const text = readText(file)
  try {
    return JSON.parse(text)
  } catch (error) {
    const { line, column, why } = faultIn(text, (error as Error).message)
    throw new UnreadableText(`is not JSON at line ${line}, column ${column}: ${why}`)
  }
}

// These are links, to a file if the output goes to one.
const OUTPUT = /^\/dev\/(?:stdout|stderr|fd\/\d+)$/

/** Whether a path is written as it is, such as a device or a pipe; any other file and every other link is replaced. */
export function isStream(file: string): boolean {
  if (OUTPUT.test(resolve(file))) return true
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isSymbolicLink()
}

/** Removes a file or a link if it exists, but never a link's target. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Opens a new file. It takes the place of an existing file or link: nothing is written through a link. */
export function openInPlace(file: string, mode = 0o666): number {
  removeFile(file)
  return openSync(file, 'wx', mode)
}

/** Writes a file whose name the program has chosen. It takes the place of a file, a link or a device. */
export function replaceFile(file: string, text: string): void {
  const fd = openInPlace(file)
  try {
    writeFileSync(fd, text)
  } finally {
    closeSync(fd)
  }
}
