import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** An errno such as `ENOSPC`, or the error's name. */
export const errnoOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException)?.code ?? (error as Error)?.name ?? 'unknown error'

/** Writes all of a text at the end of a file or nothing of it: a short write is cut off again. Returns the bytes. */
export function appendWhole(fd: number, size: number, text: string): number {
  const bytes = Buffer.from(text, 'utf8')
  let written = 0
  try {
    while (written < bytes.length) {
      written += writeSync(fd, bytes, written, bytes.length - written, size + written)
    }
    return bytes.length
  } catch (error) {
    if (written > 0) ftruncateSync(fd, size)
    throw error
  }
}

/** Makes a rename in a folder survive a power cut. Not every platform lets a folder be opened. */
export function syncFolderOf(file: string): void {
  let fd: number | undefined
  try {
    fd = openSync(dirname(file), 'r')
    fsyncSync(fd)
  } catch {
    // Windows refuses; the rename is then as durable as the platform makes it.
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
