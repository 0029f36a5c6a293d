import { dirname, resolve } from 'node:path'
import type { Disk } from './disk.ts'

/** An errno such as `ENOSPC`, or the error's name. */
export const errnoOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException)?.code ?? (error as Error)?.name ?? 'unknown error'

// Linux follows the same number of consecutive links.
const MAX_LINKS = 40

/**
 * Resolves the symbolic links of a path, whether the file exists or not. Two names of one file must be seen as one
 * file.
 */
export function resolveLinks(disk: Disk, file: string): string {
  let target = resolve(file)
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      target = resolve(dirname(target), disk.readlinkSync(target))
    } catch {
      // Not a link, or the file does not exist yet.
      break
    }
  }
  return target
}

/** Whether a file exists. Throws if the disk cannot tell: an existing file must not be treated as absent. */
export const fileExists = (disk: Disk, file: string): boolean =>
  disk.statSync(file, { throwIfNoEntry: false }) !== undefined

/** Removes a file if it exists. */
export function removeFile(disk: Disk, file: string): void {
  try {
    disk.unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

/**
 * Creates a new file that only its owner can access, and opens it. What stood there is removed first, be it a link or
 * a file of somebody else: nothing is written through it.
 */
export function createPrivate(disk: Disk, file: string): number {
  removeFile(disk, file)
  return createNewPrivate(disk, file)
}

/** Creates a file for its owner alone and opens it. Throws `EEXIST` if there is a file or a link of this name. */
export const createNewPrivate = (disk: Disk, file: string): number =>
  disk.openSync(file, 'wx', 0o600)

/**
 * Creates a folder and its parents. Node's recursive mkdir never ends on a file system that accepts no folders
 * (`/proc`).
 */
export function makeFolder(disk: Disk, folder: string): void {
  if (fileExists(disk, folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(disk, above)
  disk.mkdirSync(folder, { mode: 0o700 })
}

/**
 * Runs a cleanup and ignores its errors: to close a file that is already written, to remove a file that nobody reads.
 */
export function ignoreErrors(run: () => void): void {
  try {
    run()
  } catch {
    // The cleanup is not done. The next process finds the same state as after a killed process.
  }
}

/** Appends all bytes to a file or none: a partial write is truncated. Returns the number of bytes. */
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

/** Makes a rename in a folder survive a power failure. Not every platform can open a folder. */
export function syncFolderOf(disk: Disk, file: string): void {
  // If the platform does not allow it, the rename is as durable as the platform makes it.
  ignoreErrors(() => {
    const fd = disk.openSync(dirname(file), 'r')
    ignoreErrors(() => disk.fsyncSync(fd))
    disk.closeSync(fd)
  })
}
