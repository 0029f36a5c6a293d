import { openSync, statSync } from 'node:fs'
import { nodeDisk } from './disk.ts'
import { createNewPrivate, createPrivate } from './files.ts'

/** Opens a device such as /dev/null as it is, and all else by `create`. Throws what `open` and `create` throw. */
function openWith(create: typeof createPrivate, file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && !found.isFile() ? openSync(file, 'w') : create(nodeDisk, file)
}

/**
 * Opens a file to be written anew, for its owner alone, whoever could read the one that stood there. A link to a file is
 * replaced, not followed.
 */
export const openPrivate = (file: string): number => openWith(createPrivate, file)

/**
 * Creates a file for its owner alone and opens it. Throws `EEXIST` if there is a file or a link to one, even an empty
 * one: of two processes that create the same file at the same moment, one fails.
 */
export const openNewPrivate = (file: string): number => openWith(createNewPrivate, file)
