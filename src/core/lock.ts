import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Disk } from './disk.ts'
import { errnoOf, quietly, removeFile } from './files.ts'

/** Who holds a data file. `startedAt` tells two processes with one number apart. */
export type LockOwner = { pid: number; host: string; startedAt: string }

/** The data file is in use by another process, which the message names. */
export class FileInUse extends Error {
  readonly owner: LockOwner
  constructor(file: string, owner: LockOwner) {
    super(`${file} is in use by process ${owner.pid} on ${owner.host}`)
    this.name = 'FileInUse'
    this.owner = owner
  }
}

// A lock from another machine or container can't be asked; its owner touches the file this often, real ms.
const TOUCH_EVERY = 2_000
const SILENT_AFTER = 10_000
// The lock files this process holds: where there is no /proc, its own number alone does not tell.
const held = new Set<string>()

/** When a process started, as the kernel counts it; empty where there is none, or no /proc; `undefined` where it is hidden. */
function startOf(disk: Disk, pid: number): string | undefined {
  try {
    const stat = disk.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const boot = disk.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ESRCH') return ''
    if (code === 'EACCES' || code === 'EPERM') return undefined
    // A disk that can't tell must not make an owner dead.
    throw error
  }
}

function isAlive(disk: Disk, owner: LockOwner, lockFile: string, wall: () => number): boolean {
  if (owner.host !== hostname()) {
    const touched = disk.statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs
    return touched !== undefined && wall() - touched < SILENT_AFTER
  }
  if (owner.startedAt !== '' && (startOf(disk, owner.pid) ?? owner.startedAt) !== owner.startedAt)
    return false
  if (owner.pid === process.pid) return held.has(resolve(lockFile))
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whose a lock is; `undefined` where there is none, or what stands there was written by no owner. */
function readOwner(disk: Disk, lockFile: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(disk.readFileSync(lockFile, 'utf8'))
    return typeof owner?.pid === 'number' ? owner : undefined
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Takes the lock of a data file, or throws `FileInUse`. A lock whose process is dead is taken over at once.
 * Returns the verb that gives it back.
 */
export function takeLock(disk: Disk, file: string, wall: () => number): () => void {
  const lockFile = `${file}.lock`
  const mine: LockOwner = {
    pid: process.pid,
    host: hostname(),
    startedAt: startOf(disk, process.pid) ?? '',
  }
  // One name for each who may ask at once: what a failed try leaves is taken by the next.
  const draft = `${lockFile}.${process.pid}.${threadId}`
  try {
    disk.writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 })
    for (let attempt = 0; ; attempt++) {
      try {
        // A link appears whole and fails if the name is taken: two starters can't both succeed.
        disk.linkSync(draft, lockFile)
        break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 20) throw error
        const owner = readOwner(disk, lockFile)
        if (owner && isAlive(disk, owner, lockFile, wall)) throw new FileInUse(file, owner)
        removeStale(disk, lockFile, draft, owner, wall)
      }
    }
  } finally {
    quietly(() => disk.unlinkSync(draft))
  }
  held.add(resolve(lockFile))
  const touch = setInterval(() => {
    const now = new Date(wall())
    try {
      disk.utimesSync(lockFile, now, now)
    } catch {
      // Gone with its folder: the next write of the document tells.
    }
  }, TOUCH_EVERY)
  touch.unref()
  return () => {
    clearInterval(touch)
    if (!held.delete(resolve(lockFile))) return
    quietly(() => {
      const owner = readOwner(disk, lockFile)
      if (owner?.pid === mine.pid && owner.host === mine.host) disk.unlinkSync(lockFile)
    })
  }
}

/** Removes a dead owner's lock; of several starters only the one that can claim the removal does it. */
function removeStale(
  disk: Disk,
  lockFile: string,
  draft: string,
  dead: LockOwner | undefined,
  wall: () => number,
): void {
  const claim = `${lockFile}.claim`
  try {
    disk.linkSync(draft, claim)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    const claimant = readOwner(disk, claim)
    if (claimant && claimant.pid !== process.pid && isAlive(disk, claimant, claim, wall)) return
    removeFile(disk, claim)
    return
  }
  try {
    const now = readOwner(disk, lockFile)
    if (now?.pid === dead?.pid && now?.startedAt === dead?.startedAt) removeFile(disk, lockFile)
  } finally {
    quietly(() => disk.unlinkSync(claim))
  }
}
