import { join } from 'node:path'
import type { Later } from '../runtime/real-time.ts'
import { uniqueText } from '../runtime/unique-text.ts'
import type { Disk } from './disk.ts'
import { createPrivate, errnoOf, ignoreErrors, removeFile } from './files.ts'
import {
  isAlive,
  type LockContext,
  type LockOwner,
  newOwner,
  ownNonces,
  readOwner,
} from './lock-owner.ts'
import { openOwnerSocket, socketOf } from './owner-socket.ts'
import { UnusableFile } from './unusable-file.ts'

/** The data file is in use by another process, which the message names. */
export class FileInUse extends Error {
  readonly owner: LockOwner
  constructor(file: string, owner: LockOwner) {
    super(`${file} is in use by process ${owner.pid} on ${owner.host}`)
    this.name = 'FileInUse'
    this.owner = owner
  }
}

/** A lock that this process has taken. `nonce`: the content that shows that it is still ours. */
export type Lock = {
  file: string
  nonce: string
  /** Whether it replaced the lock of an owner that did not stop cleanly. */
  replacedDead: boolean
  /** Releases the lock. `isOurs`: whether the lock file may be removed. */
  release: (isOurs: boolean) => void
}

// Another process uses a claim for less than a millisecond.
const MAX_ATTEMPTS = 20
const RETRY_MS = 20
// Windows replaces no folder, not even an empty one.
const IS_CLAIMED = [
  'EEXIST',
  'ENOTEMPTY',
  'ENOTDIR',
  ...(process.platform === 'win32' ? ['EPERM'] : []),
]
// The name of the drafts of this process: the next try reuses what a failed try leaves.
const DRAFT = uniqueText(12)
const IS_DRAFT = /^[0-9a-f]{12}$/

/**
 * Takes the lock of a data file, or throws `FileInUse`. Takes over the lock of a dead owner immediately, and the lock
 * of an owner that cannot be checked after a wait.
 */
export async function takeLock(
  disk: Disk,
  file: string,
  later: Later,
  log: LockContext['log'],
): Promise<Lock> {
  const lockFile = `${file}.lock`
  const owner = newOwner(disk)
  const { nonce } = owner
  const socket = openOwnerSocket(disk, file, nonce)
  const me: LockOwner = { ...owner, listens: socket !== undefined }
  let replacedDead: boolean
  try {
    replacedDead = await place({ disk, file, me, later, log }, lockFile)
  } catch (error) {
    socket?.close()
    throw error
  }
  ownNonces.add(nonce)
  return {
    file: lockFile,
    nonce,
    replacedDead,
    release(isOurs) {
      ownNonces.delete(nonce)
      // Remove the lock first: another process that finds a lock without its socket treats the owner as dead.
      if (isOurs) ignoreErrors(() => disk.unlinkSync(lockFile))
      socket?.close()
    },
  }
}

/** Puts our lock in place; returns whether it replaced the lock of a dead owner. */
async function place(context: LockContext, lockFile: string): Promise<boolean> {
  const { disk, file, me, later } = context
  for (let attempt = 0; ; attempt++) {
    if (link(disk, me, lockFile)) return false
    const owner = readOwner(disk, lockFile)
    if (owner && (await isAlive(context, lockFile, owner))) throw new FileInUse(file, owner)
    const other = await replaceDead(context, lockFile, owner)
    if (other === undefined) return true
    if (attempt === MAX_ATTEMPTS) throw new FileInUse(file, other)
    await new Promise<void>((resolve) => later(RETRY_MS, resolve))
  }
}

/**
 * Creates our lock if there is none; returns false if there is one. The link is atomic: of two processes one succeeds.
 */
function link(disk: Disk, me: LockOwner, lockFile: string): boolean {
  const draft = `${lockFile}.${DRAFT}.tmp`
  try {
    writePrivate(disk, draft, JSON.stringify(me))
    disk.linkSync(draft, lockFile)
    return true
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    return false
  } finally {
    ignoreErrors(() => disk.unlinkSync(draft))
  }
}

function writePrivate(disk: Disk, file: string, text: string) {
  const fd = createPrivate(disk, file)
  try {
    disk.writeFileSync(fd, text)
  } finally {
    disk.closeSync(fd)
  }
}

/** Replaces the lock of a dead owner with ours. Returns the other process if one was faster. */
async function replaceDead(
  context: LockContext,
  lockFile: string,
  dead: LockOwner | undefined,
): Promise<LockOwner | undefined> {
  const { disk, file, me } = context
  const claim = `${lockFile}.claim`
  if (!claimIt(disk, me, claim)) return (await removeDeadClaim(context, claim)) ?? me
  // No other process removes a lock until the claim is removed; this block does not wait for anything.
  try {
    const now = readOwner(disk, lockFile)
    if (now?.nonce !== dead?.nonce || now?.startedAt !== dead?.startedAt || now?.pid !== dead?.pid)
      return now ?? me
    removeFile(disk, lockFile)
    if (!link(disk, me, lockFile)) return readOwner(disk, lockFile) ?? me
  } finally {
    ignoreErrors(() => disk.unlinkSync(join(claim, DRAFT)))
    ignoreErrors(() => disk.rmdirSync(claim))
  }
  const socket = dead && socketOf(file, dead)
  if (socket !== undefined) ignoreErrors(() => disk.unlinkSync(socket))
  return undefined
}

/**
 * Takes the right to remove a lock. A claim is a folder with one file, named after the claiming process. A folder that
 * is not empty cannot be replaced, and no process removes the file of another one by mistake, so there is only one
 * claim.
 */
function claimIt(disk: Disk, me: LockOwner, claim: string): boolean {
  const draft = `${claim}.${DRAFT}.tmp`
  try {
    makeEmpty(disk, draft)
    writePrivate(disk, join(draft, DRAFT), JSON.stringify(me))
    disk.renameSync(draft, claim)
    return true
  } catch (error) {
    if (!IS_CLAIMED.includes(errnoOf(error))) throw error
    return false
  } finally {
    ignoreErrors(() => disk.unlinkSync(join(draft, DRAFT)))
    ignoreErrors(() => disk.rmdirSync(draft))
  }
}

function makeEmpty(disk: Disk, folder: string) {
  try {
    disk.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** Removes the claim of a dead process. Returns the owner of a claim that is in use. */
async function removeDeadClaim(
  context: LockContext,
  claim: string,
): Promise<LockOwner | undefined> {
  const { disk, me } = context
  const found = disk.lstatSync(claim, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) {
    // An earlier version used a file. A link is removed, never followed.
    removeFile(disk, claim)
    return undefined
  }
  for (const name of namesIn(disk, claim)) {
    const entry = join(claim, name)
    const claimant = readClaimant(disk, claim, name)
    if (claimant && claimant.nonce !== me.nonce && (await isAlive(context, entry, claimant)))
      return claimant
    removeFile(disk, entry)
  }
  // If it is not empty, it belongs to another process.
  ignoreErrors(() => disk.rmdirSync(claim))
  return undefined
}

function namesIn(disk: Disk, claim: string): string[] {
  try {
    return disk.readdirSync(claim)
  } catch (error) {
    // Another process removed it or replaced it with a file.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
    throw error
  }
}

/** Reads an entry of a claim. Throws `UnusableFile` if payout-sandbox did not write it; then it must not be removed. */
function readClaimant(disk: Disk, claim: string, name: string): LockOwner | undefined {
  const entry = join(claim, name)
  const found = disk.lstatSync(entry, { throwIfNoEntry: false })
  if (!found) return undefined
  const owner = IS_DRAFT.test(name) && found.isFile() ? readOwner(disk, entry) : undefined
  // A power failure can leave our file empty.
  const isOurs = owner || (IS_DRAFT.test(name) && found.isFile() && found.size === 0)
  // The other process may have removed its file after the check.
  if (!isOurs && disk.lstatSync(entry, { throwIfNoEntry: false }))
    throw new UnusableFile(
      `${entry} is not a lock claim of payout-sandbox. Move it away and remove the folder ${claim}, or choose another data file`,
    )
  return owner
}
