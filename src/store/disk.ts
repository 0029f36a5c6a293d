import fs, { constants, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UnusableFile } from './errors.ts'

/** The file system calls of the store. All go through this interface, so that a test can inject faults. */
export type Disk = Pick<
  typeof fs,
  | 'chmodSync'
  | 'closeSync'
  | 'copyFileSync'
  | 'fdatasyncSync'
  | 'fstatSync'
  | 'fsync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'linkSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readFileSync'
  | 'readlinkSync'
  | 'renameSync'
  | 'statSync'
  | 'unlinkSync'
  | 'writeFile'
  | 'writeFileSync'
>

export const nodeDisk: Disk = fs

/** An errno such as `ENOSPC`, or the error's name. */
export const errnoOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException)?.code ?? (error as Error)?.name ?? 'unknown error'

/** Runs a cleanup and ignores its errors: the next process finds the same state as after a killed process. */
export function ignoreErrors(run: () => void): void {
  try {
    run()
  } catch {
    // The cleanup is not done. The next process finds the same state as after a killed process.
  }
}

function ifExists<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** What stands at a path; `undefined` if nothing does. Throws if the disk cannot tell. */
export const statOf = (disk: Disk, path: string) => disk.lstatSync(path, { throwIfNoEntry: false })

/** Whether a file exists. Throws if the disk cannot tell: an existing file must not be treated as absent. */
export const fileExists = (disk: Disk, file: string): boolean =>
  disk.statSync(file, { throwIfNoEntry: false }) !== undefined

export const readIfExists = (disk: Disk, file: string) => ifExists(() => disk.readFileSync(file))

export const removeFile = (disk: Disk, file: string): void => ifExists(() => disk.unlinkSync(file))

export const isSameFile = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev

/** Resolves the symbolic links of a path, whether the file exists or not: two names of one file are one file. */
export function resolveLinks(disk: Disk, file: string): string {
  let target = resolve(file)
  // Linux follows the same number of consecutive links.
  for (let links = 0; links < 40; links++) {
    try {
      target = resolve(dirname(target), disk.readlinkSync(target))
    } catch {
      // Not a link, or the file does not exist yet.
      break
    }
  }
  return target
}

function nameOf(kind: Stats): string {
  if (kind.isSymbolicLink()) return 'a link'
  if (kind.isDirectory()) return 'a folder'
  if (kind.isFIFO()) return 'a FIFO'
  return kind.isSocket() ? 'a socket' : 'a device'
}

/** Throws `UnusableFile` if a file exists and is not regular: reading a FIFO or a device may never end. */
export function requireRegular(disk: Disk, file: string, isAllowed = (_: Stats) => false): void {
  const found = statOf(disk, file)
  if (!found || found.isFile() || isAllowed(found)) return
  throw new UnusableFile(
    `${file} is ${nameOf(found)}, but must be a regular file. Remove it, or choose another data file`,
  )
}

/** Throws `UnusableFile` if the data file is mounted as a single file: the files beside it are lost with the container. */
export function rejectMountedFile(disk: Disk, file: string): void {
  const probe = `${file}.probe`
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

/** Creates a file that only its owner can access, and opens it to append. Nothing is written through a link that stood there. */
export function createPrivate(disk: Disk, file: string): number {
  removeFile(disk, file)
  return disk.openSync(file, 'ax', 0o600)
}

/** Creates a folder and its parents. Node's recursive mkdir never ends where no folder can be made (`/proc`). */
export function makeFolder(disk: Disk, folder: string): void {
  if (fileExists(disk, folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(disk, above)
  disk.mkdirSync(folder, { mode: 0o700 })
}

/** Makes a rename in a folder survive a power failure, if the platform can open a folder. */
export function syncFolderOf(disk: Disk, file: string): void {
  ignoreErrors(() => {
    const fd = disk.openSync(dirname(file), 'r')
    ignoreErrors(() => disk.fsyncSync(fd))
    disk.closeSync(fd)
  })
}

/** Copies a file to the first free path of `NAME-1`, `NAME-2`, …; returns that path. */
export function copyToFree(disk: Disk, file: string, name: string): string {
  for (let n = 1; ; n++) {
    const copy = `${name}-${n}`
    try {
      disk.copyFileSync(file, copy, constants.COPYFILE_EXCL)
      return copy
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
  }
}

// ---- the files of a data file

export const dataFiles = (disk: Disk, file: string): string[] =>
  [file, `${file}.journal`, `${file}.tmp`].filter((path) => fileExists(disk, path))

/** Copies the data files; returns the paths of the copies, to print. */
export function backUpAll(disk: Disk, file: string, why: string, now: number): string {
  const end = `${why}-${new Date(now).toISOString().replaceAll(':', '-')}`
  const copies = dataFiles(disk, file).map((path) => {
    const copy = `${path}.${end}`
    if (!fileExists(disk, copy)) disk.copyFileSync(path, copy, constants.COPYFILE_EXCL)
    return copy
  })
  return copies.join(', ')
}
