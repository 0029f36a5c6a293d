import { openSync, statSync } from 'node:fs'
import { nodeDisk } from './disk.ts'
import { createPrivate } from './files.ts'

/**
 * Opens a file to be written anew, for its owner alone, whoever could read the one that stood there. A link to a file is
 * replaced, not followed; a device such as /dev/null is written to as it is. Throws what `unlink` and `open` throw.
 */
export function openPrivate(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && !found.isFile() ? openSync(file, 'w') : createPrivate(nodeDisk, file)
}
