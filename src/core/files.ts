import { dirname, resolve } from 'node:path'
import type { Disk } from './disk.ts'

/** An errno such as `ENOSPC`, or the error's name. */
export const errnoOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException)?.code ?? (error as Error)?.name ?? 'unknown error'

// As many links in a row as Linux follows.
const MAX_LINKS = 40

/** Where a file really is, or would be: what links lead to. Two names of one file must not be two files. */
export function resolveLinks(disk: Disk, file: string): string {
  let target = resolve(file)
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      target = resolve(dirname(target), disk.readlinkSync(target))
    } catch {
      // No link, or nothing there yet.
      break
    }
  }
  return target
}

/** Whether there is such a file. A disk that can't tell is an error: what is there must not be taken for absent. */
export const fileExists = (disk: Disk, file: string): boolean =>
  disk.statSync(file, { throwIfNoEntry: false }) !== undefined

/** Removes a file, if it is there. */
export function removeFile(disk: Disk, file: string): void {
  try {
    disk.unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

/**
 * Makes a file anew for its owner alone and opens it. What stood there is removed first, be it a link or a file of
 * somebody else: nothing is written through it.
 */
export function createPrivate(disk: Disk, file: string): number {
  removeFile(disk, file)
  return createNewPrivate(disk, file)
}

/** Creates a file for its owner alone and opens it. Throws `EEXIST` if there is a file or a link of this name. */
export const createNewPrivate = (disk: Disk, file: string): number =>
  disk.openSync(file, 'wx', 0o600)

/** Makes a folder and those above it. Node's own way never ends where a file system takes no folders (`/proc`). */
export function makeFolder(disk: Disk, folder: string): void {
  if (fileExists(disk, folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(disk, above)
  disk.mkdirSync(folder, { mode: 0o700 })
}

/** Does what is good to have done and no reason to fail: closing what was written already, removing what nobody reads. */
export function ignoreErrors(run: () => void): void {
  try {
    run()
  } catch {
    // What it was to tidy up stays; whoever comes next finds it as a killed process would have left it.
  }
}

/** Writes all of the bytes at the end of a file or nothing of them: a short write is cut off again. Returns how many. */
export function appendWhole(disk: Disk, fd: number, size: number, bytes: Buffer): number {
  let written = 0
  try {
    while (written < bytes.length)
      written += disk.writeSync(fd, bytes, written, bytes.length - written, size + written)
    return written
  } catch (error) {
    if (written > 0) disk.ftruncateSync(fd, size)
    throw error
  }
}

/** Makes a rename in a folder survive a power cut. Not every platform lets a folder be opened. */
export function syncFolderOf(disk: Disk, file: string): void {
  // Where it is refused, the rename is as durable as the platform makes it.
  ignoreErrors(() => {
    const fd = disk.openSync(dirname(file), 'r')
    ignoreErrors(() => disk.fsyncSync(fd))
    disk.closeSync(fd)
  })
}
