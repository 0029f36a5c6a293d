import { openSync, statSync } from 'node:fs'
import { nodeDisk } from './disk.ts'
import { createNewPrivate, createPrivate } from './files.ts'

/** Opens a device such as /dev/null directly, and any other file with `create`. */
function openWith(create: typeof createPrivate, file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && !found.isFile() ? openSync(file, 'w') : create(nodeDisk, file)
}

/**
 * Creates and opens a file that only its owner can access; an existing file or link is replaced, whatever its
 * permissions were.
 */
export const openPrivate = (file: string): number => openWith(createPrivate, file)

/**
 * Creates a file that only its owner can access and opens it. Throws `EEXIST` if there is a file or a link to one,
 * even an empty one: of two processes that create the same file at the same moment, one fails.
 */
export const openNewPrivate = (file: string): number => openWith(createNewPrivate, file)
