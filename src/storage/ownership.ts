import type { Stats } from 'node:fs'
import type { Later } from '../runtime/real-time.ts'
import { wallNow } from '../runtime/real-time.ts'
import type { Disk } from './disk.ts'
import { ignoreErrors } from './files.ts'
import { takeLock } from './lock.ts'
import { type LockContext, readOwner, TOUCH_EVERY } from './lock-owner.ts'

/** This process no longer owns its data file, and never writes it again. */
export class LostOwnership extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'LostOwnership'
  }
}

// Before a write, the lock is read again if the last check is older than this, real ms.
const LOOK_AGAIN_AFTER = 1_000

type Deps = {
  disk: Disk
  file: string
  later: Later
  log: LockContext['log'] & { error(message: string): void }
}

/** Takes the lock of a data file, or throws `FileInUse`; then checks regularly that the lock is still ours. */
export async function takeOwnership({ disk, file, later, log }: Deps) {
  const lock = await takeLock(disk, file, later, log)
  const stat = (path: string) => disk.statSync(path, { throwIfNoEntry: false })
  let seen: Stats | undefined
  // Both clocks: the monotonic one stops while the machine is suspended, and the wall clock may be set back.
  let lookedAt = { elapsed: Number.NEGATIVE_INFINITY, wall: 0 }
  let lost: LostOwnership | undefined
  let journal: { path: string; fd: number } | undefined
  // The files that the journal depends on, and the files allowed at each path; `undefined`: no file.
  const expectedFiles = new Map<string, readonly (Stats | undefined)[]>()

  function markLost(why: string): LostOwnership {
    clearInterval(touching)
    lost = new LostOwnership(
      `This process no longer owns the data file ${file}: ${why}. It rejects all changes from now on. ` +
        'Restart it to continue with the current content of the data file.',
    )
    log.error(lost.message)
    return lost
  }

  const sameFile = (a: Stats, b: Stats) => a.ino === b.ino && a.dev === b.dev

  /** Returns an expected file that was removed or replaced. */
  function findChangedFile(): string | undefined {
    for (const [path, allowed] of expectedFiles) {
      const there = stat(path)
      if (!allowed.some((file) => (file && there ? sameFile(file, there) : file === there)))
        return path
    }
    return undefined
  }

  /** Throws `LostOwnership` if the lock, the journal or an expected file was replaced or removed. */
  function confirm() {
    if (lost) throw lost
    const before = stat(lock.file)
    const owner = readOwner(disk, lock.file)
    if (owner?.nonce !== lock.nonce) throw markLost(whyNotOurs(lock.file, before, owner))
    if (journal) {
      const { path, fd } = journal
      const there = stat(path)
      if (!there || !sameFile(there, disk.fstatSync(fd)))
        throw markLost(`its journal ${path} was removed or replaced`)
    }
    const changed = findChangedFile()
    if (changed !== undefined) throw markLost(`its file ${changed} was removed or replaced`)
    seen = before
    lookedAt = { elapsed: performance.now(), wall: wallNow() }
  }

  function touch() {
    try {
      confirm()
      // Use the real time: another machine checks whether it changes, and a simulated clock may be frozen.
      const now = new Date(wallNow())
      disk.utimesSync(lock.file, now, now)
      // The next write reads the lock again: another process may have taken it since the check above.
      seen = undefined
    } catch {
      // Ownership is lost, which is already logged; or the disk failed, and the next write or touch checks again.
    }
  }
  const touching = setInterval(touch, TOUCH_EVERY)
  touching.unref()

  return {
    /** Whether the previous owner did not stop cleanly. */
    replacedDead: lock.replacedDead,
    /** Why this process no longer owns the file; undefined while it does. */
    get lost() {
      return lost?.message
    },
    confirm,
    /** Before a write: `confirm`, unless the last check is recent. */
    confirmIfStale() {
      const elapsed = performance.now() - lookedAt.elapsed
      const wall = Math.abs(wallNow() - lookedAt.wall)
      if (lost || elapsed > LOOK_AGAIN_AFTER || wall > LOOK_AGAIN_AFTER) confirm()
    },
    /**
     * After a write and before its acknowledgement. A process that takes over first replaces the lock and then reads
     * the journal, so it reads everything that was written while the lock was unchanged. The journal is only valid
     * together with the expected files.
     */
    confirmWritten() {
      const now = stat(lock.file)
      const isAsSeen = now && seen && now.ino === seen.ino && now.mtimeMs === seen.mtimeMs
      if (!isAsSeen || disk.fstatSync(journal!.fd).nlink === 0 || findChangedFile() !== undefined)
        confirm()
    },
    /** Sets the files that are allowed at a path from now on; `undefined`: no file. */
    expectFile(path: string, ...allowed: readonly (Stats | undefined)[]) {
      expectedFiles.set(path, allowed)
    },
    /** The journal no longer depends on this file. */
    forgetFile(path: string) {
      expectedFiles.delete(path)
    },
    /** Sets the file that the journal is written to. */
    setJournal(path: string, fd: number) {
      journal = { path, fd }
    },
    /** Releases the data file if it is still ours. */
    release() {
      clearInterval(touching)
      let isOurs = false
      ignoreErrors(() => {
        isOurs = !lost && readOwner(disk, lock.file)?.nonce === lock.nonce
      })
      lock.release(isOurs)
    },
  }
}

function whyNotOurs(
  lockFile: string,
  lock: Stats | undefined,
  owner: ReturnType<typeof readOwner>,
): string {
  if (owner) return `process ${owner.pid} on ${owner.host} took over the file`
  return lock ? `its lock ${lockFile} was overwritten` : `its lock ${lockFile} was removed`
}

/** The ownership of a data file, until another process takes over. */
export type Ownership = Awaited<ReturnType<typeof takeOwnership>>
