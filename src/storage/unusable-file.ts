import type { Stats } from 'node:fs'
import type { Disk } from './disk.ts'
import { errnoOf, ignoreErrors, removeFile } from './files.ts'

/** The path of a store file is something that the store cannot use, such as a folder. It is not changed. */
export class UnusableFile extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnusableFile'
  }
}

function nameOf(kind: Stats): string {
  if (kind.isSymbolicLink()) return 'a link'
  if (kind.isDirectory()) return 'a folder'
  if (kind.isFIFO()) return 'a FIFO'
  return kind.isSocket() ? 'a socket' : 'a device'
}

/**
 * Throws `UnusableFile` if one of the files exists and is not a regular file: reading a FIFO or a device may never end.
 */
export function requireRegularFiles(disk: Disk, files: readonly string[]): void {
  for (const file of files) {
    const found = disk.lstatSync(file, { throwIfNoEntry: false })
    if (found && !found.isFile())
      throw new UnusableFile(
        `${file} is ${nameOf(found)}, but must be a regular file. Remove it, or choose another data file`,
      )
  }
}

/**
 * Throws `UnusableFile` if the data file is mounted as a single file, as containers allow: no file can be renamed to
 * its path, and the files beside it are lost with the container. The check: a hard link works only within one mount.
 */
export function rejectMountedFile(disk: Disk, file: string): void {
  const probe = `${file}.tmp`
  try {
    removeFile(disk, probe)
    disk.linkSync(file, probe)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') return
    throw new UnusableFile(
      `${file} is mounted as a single file. Its journal must be in the same folder, so mount the folder instead`,
    )
  }
  ignoreErrors(() => disk.unlinkSync(probe))
}
