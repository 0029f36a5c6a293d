import { hostname } from 'node:os'
import type { Later } from '../runtime/real-time.ts'
import { uniqueText } from '../runtime/unique-text.ts'
import type { Disk } from './disk.ts'
import { errnoOf } from './files.ts'
import { isListening, socketOf } from './owner-socket.ts'

/**
 * The owner of a data file, as its lock file describes it. `startedAt` distinguishes two processes with the same pid.
 * Locks of earlier versions have only these fields; the others give the kernel and pid namespace of the pid, and the
 * socket to check.
 */
export type LockOwner = {
  pid: number
  host: string
  startedAt: string
  /** Unique for each owner. Real randomness, which is not part of a run and never recorded. */
  nonce?: string
  /** The boot id of the kernel; empty if there is none. */
  boot?: string
  pidNamespace?: string
  /** Whether it listens on a socket beside the data file. */
  listens?: boolean
}

// Each owner touches its lock at this interval, real ms.
export const TOUCH_EVERY = 2_000
// An owner counts as dead if its lock was not touched for this time; the lock is checked at this interval; real ms.
const SILENT_AFTER = 12_000
const LOOK_EVERY = 250

// The nonces of the locks of this process: without /proc, its pid alone does not identify it.
export const ownNonces = new Set<string>()

const bootOf = (disk: Disk) => disk.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** Reads a value from /proc; empty if it does not exist, or there is no /proc; `undefined` if access is denied. */
function fromProc(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ESRCH') return ''
    if (code === 'EACCES' || code === 'EPERM') return undefined
    // A disk error must not make an owner look dead.
    throw error
  }
}

/** The start time of a process, as the kernel reports it. */
const startOf = (disk: Disk, pid: number) =>
  fromProc(() => {
    const stat = disk.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return `${bootOf(disk)}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  })

/** Describes this process as an owner, with a new nonce. */
export const newOwner = (disk: Disk) => ({
  pid: process.pid,
  host: hostname(),
  startedAt: startOf(disk, process.pid) ?? '',
  nonce: uniqueText(16),
  boot: fromProc(() => bootOf(disk)) ?? '',
  pidNamespace: fromProc(() => disk.readlinkSync('/proc/self/ns/pid', 'utf8')) ?? '',
})

/** The owner of a lock; `undefined` if there is no lock, or its content was not written by an owner. */
export function readOwner(disk: Disk, lockFile: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(disk.readFileSync(lockFile, 'utf8'))
    return typeof owner?.pid === 'number' ? owner : undefined
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** What is needed to check an owner: the disk, this process, and a timer. */
export type LockContext = {
  disk: Disk
  file: string
  me: LockOwner
  later: Later
  log: { info(message: string): void }
}

/** Whether the owner of a lock lives. An owner that cannot be checked gets time to touch its lock. */
export async function isAlive(
  context: LockContext,
  lockFile: string,
  owner: LockOwner,
): Promise<boolean> {
  const { disk, file, me } = context
  const sameHost = owner.host === me.host
  const sameKernel = me.boot === '' ? sameHost : owner.boot === me.boot
  const socket = socketOf(file, owner)
  if (sameKernel && socket !== undefined) {
    const listens = await isListening(disk, socket)
    if (listens !== undefined) return listens
  }
  const hasNoNonce = owner.nonce === undefined
  const sameNumbers = sameKernel && owner.pidNamespace === me.pidNamespace
  if (sameHost && (hasNoNonce || sameNumbers)) return isRunning(disk, owner)
  return isTouched(context, lockFile, owner)
}

/** Whether a process of this machine and pid namespace is running. */
function isRunning(disk: Disk, owner: LockOwner): boolean {
  if (owner.startedAt !== '' && (startOf(disk, owner.pid) ?? owner.startedAt) !== owner.startedAt)
    return false
  if (owner.pid === process.pid) return ownNonces.has(owner.nonce ?? '')
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    // EPERM: the process lives and belongs to another user.
    return errnoOf(error) === 'EPERM'
  }
}

/**
 * Whether an owner touches its lock while this process waits. The clocks of two machines are not compared. If the lock
 * was removed or replaced meanwhile, there is no owner to wait for.
 */
async function isTouched(
  { disk, file, later, log }: LockContext,
  lockFile: string,
  owner: LockOwner,
) {
  const look = () => disk.statSync(lockFile, { throwIfNoEntry: false })
  const first = look()
  if (!first) return false
  log.info(
    `${file} is locked by process ${owner.pid} on ${owner.host}. This process cannot check whether that one is running. ` +
      `Waiting up to ${SILENT_AFTER / 1_000} s for it to update its lock.`,
  )
  for (let waited = 0; waited < SILENT_AFTER; waited += LOOK_EVERY) {
    await new Promise<void>((resolve) => later(LOOK_EVERY, resolve))
    const now = look()
    if (!now || now.ino !== first.ino) return false
    if (now.mtimeMs !== first.mtimeMs) return true
  }
  return false
}
