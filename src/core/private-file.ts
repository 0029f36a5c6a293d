import { closeSync, fchmodSync, fstatSync, openSync } from 'node:fs'

/**
 * Opens a file to be written anew, for its owner alone, whoever could read the one that stood there. Throws what `open`
 * and `fchmod` throw.
 */
export function openPrivate(file: string): number {
  const fd = openSync(file, 'w', 0o600)
  try {
    // A device such as /dev/null stays as it is.
    if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}
