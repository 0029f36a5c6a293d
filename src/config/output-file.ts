import { closeSync, lstatSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

// These are links, to a file if the output goes to one.
const OUTPUT = /^\/dev\/(?:stdout|stderr|fd\/\d+)$/

/** Whether a path is written as it is, such as a device or a pipe; any other file and every other link is replaced. */
export function isStream(file: string): boolean {
  if (OUTPUT.test(resolve(file))) return true
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isSymbolicLink()
}

/** Removes a file or a link, if it is there; not the file that the link leads to. */
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
