import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** An errno such as `ENOSPC`, or the error's name. */
export const errnoOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException)?.code ?? (error as Error)?.name ?? 'unknown error'

/** Writes all of a text at the end of a file or nothing of it: a short write is cut off again. Returns the bytes. */
export function appendWhole(fd: number, size: number, text: string): number {
  const total = Buffer.byteLength(text)
  let written = 0
  try {
    // Nearly always the one write takes all, and the text needs no buffer of its own.
    written = writeSync(fd, text, size)
    if (written < total) {
      const bytes = Buffer.from(text, 'utf8')
      while (written < total) {
        written += writeSync(fd, bytes, written, total - written, size + written)
      }
    }
    return total
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
