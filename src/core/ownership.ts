import type { Stats } from 'node:fs'
import { wallNow } from './clock.ts'
import type { Disk } from './disk.ts'
import { ignoreErrors } from './files.ts'
import type { Later } from './later.ts'
import { takeLock } from './lock.ts'
import { type Judge, readOwner, TOUCH_EVERY } from './lock-owner.ts'

/** This process owns its data file no more, and never writes it again. */
export class LostOwnership extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'LostOwnership'
  }
}

// Before a write the lock is read again where the last look is older than this, real ms.
const LOOK_AGAIN_AFTER = 1_000

type Deps = {
  disk: Disk
  file: string
  later: Later
  log: Judge['log'] & { error(message: string): void }
}

/** Owns a data file: takes its lock, or throws `FileInUse`, and looks again and again whether it is still ours. */
export async function takeOwnership({ disk, file, later, log }: Deps) {
  const lock = await takeLock(disk, file, later, log)
  const look = (path: string) => disk.statSync(path, { throwIfNoEntry: false })
  let seen: Stats | undefined
  // Both clocks: a machine that is suspended stops the one, and the other may be set back.
  let lookedAt = { elapsed: Number.NEGATIVE_INFINITY, wall: 0 }
  let lost: LostOwnership | undefined
  let journal: { path: string; fd: number } | undefined
  // Files that the journal needs beside it, and what may stand there; `undefined`: no file.
  const kept = new Map<string, readonly (Stats | undefined)[]>()

  function lose(why: string): LostOwnership {
    clearInterval(touching)
    lost = new LostOwnership(
      `This process no longer owns the data file ${file}: ${why}. It rejects all changes from now on. ` +
        'Restart it to continue with the current content of the data file.',
    )
    log.error(lost.message)
    return lost
  }

  const sameFile = (a: Stats, b: Stats) => a.ino === b.ino && a.dev === b.dev

  /** A kept file that is not there any more, or that somebody replaced. */
  function findChanged(): string | undefined {
    for (const [path, allowed] of kept) {
      const there = look(path)
      if (!allowed.some((file) => (file && there ? sameFile(file, there) : file === there)))
        return path
    }
    return undefined
  }

  /** Throws `LostOwnership` where the lock, the journal or a kept file is another's, or gone. */
  function confirm() {
    if (lost) throw lost
    const before = look(lock.file)
    const owner = readOwner(disk, lock.file)
    if (owner?.nonce !== lock.nonce) throw lose(whyNotOurs(lock.file, before, owner))
    if (journal) {
      const { path, fd } = journal
      const there = look(path)
      if (!there || !sameFile(there, disk.fstatSync(fd)))
        throw lose(`its journal ${path} was removed or replaced`)
    }
    const changed = findChanged()
    if (changed !== undefined) throw lose(`its file ${changed} was removed or replaced`)
    seen = before
    lookedAt = { elapsed: performance.now(), wall: wallNow() }
  }

  function touch() {
    try {
      confirm()
      // The real time: another machine looks for a change of it, and a clock of ours may stand still.
      const now = new Date(wallNow())
      disk.utimesSync(lock.file, now, now)
      // The next write reads the lock again: what stands there may be another's since the look above.
      seen = undefined
    } catch {
      // Lost, which was said; or the disk can't tell, and the next write or touch will.
    }
  }
  const touching = setInterval(touch, TOUCH_EVERY)
  touching.unref()

  return {
    /** Whether the owner before did not stop cleanly. */
    replacedDead: lock.replacedDead,
    /** Why it is ours no more. */
    get lost() {
      return lost?.message
    },
    confirm,
    /** Before a write: `confirm`, unless that was done a moment ago. */
    confirmSometimes() {
      const elapsed = performance.now() - lookedAt.elapsed
      const wall = Math.abs(wallNow() - lookedAt.wall)
      if (lost || elapsed > LOOK_AGAIN_AFTER || wall > LOOK_AGAIN_AFTER) confirm()
    },
    /**
     * After a write and before it is acknowledged: whoever takes over puts a lock of their own in the place of ours
     * first, and reads the journal then. So what was written while the lock is still as it was, they have. The journal
     * is good only together with the kept files.
     */
    confirmWritten() {
      const now = look(lock.file)
      const isAsSeen = now && seen && now.ino === seen.ino && now.mtimeMs === seen.mtimeMs
      if (!isAsSeen || disk.fstatSync(journal!.fd).nlink === 0 || findChanged() !== undefined)
        confirm()
    },
    /** Which files may stand at a path from now on; `undefined`: none. */
    keep(path: string, ...allowed: readonly (Stats | undefined)[]) {
      kept.set(path, allowed)
    },
    /** The journal needs this file no more. */
    forget(path: string) {
      kept.delete(path)
    },
    /** Which file the journal is written to. */
    journalIs(path: string, fd: number) {
      journal = { path, fd }
    },
    /** Gives the data file back, as far as it is still ours. */
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

/** A data file that is ours, as long as nobody takes it over. */
export type Ownership = Awaited<ReturnType<typeof takeOwnership>>
