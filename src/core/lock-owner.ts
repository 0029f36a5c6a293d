import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Disk } from './disk.ts'
import { errnoOf } from './files.ts'
import type { Later } from './later.ts'
import { isListening, socketOf } from './owner-socket.ts'

/**
 * Who holds a data file, as its lock says. `startedAt` tells two processes with one number apart. Locks of earlier
 * versions end there; the rest says in which kernel and pid namespace that number counts, and what to ask.
 */
export type LockOwner = {
  pid: number
  host: string
  startedAt: string
  /** Different for each owner that ever was. It is no part of a run: chance of the real world, and never recorded. */
  nonce?: string
  /** The kernel's boot id; empty where there is none. */
  boot?: string
  pidNamespace?: string
  /** Whether it listens on a socket beside the data file. */
  listens?: boolean
}

// An owner that can't be asked touches its lock this often, real ms.
export const TOUCH_EVERY = 2_000
// It counts as gone when its lock was not touched for this long, looked at this often, real ms.
const SILENT_AFTER = 12_000
const LOOK_EVERY = 250

// The owners of this process: where there is no /proc, its own number alone does not tell.
export const ownNonces = new Set<string>()

const bootOf = (disk: Disk) => disk.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** What /proc says; empty where there is no such thing, or no /proc; `undefined` where it is hidden. */
function fromProc(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ESRCH') return ''
    if (code === 'EACCES' || code === 'EPERM') return undefined
    // A disk that can't tell must not make an owner dead.
    throw error
  }
}

/** When a process started, as the kernel counts it. */
const startOf = (disk: Disk, pid: number) =>
  fromProc(() => {
    const stat = disk.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return `${bootOf(disk)}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  })

/** This process as an owner, with a nonce of its own. */
export const newOwner = (disk: Disk) => ({
  pid: process.pid,
  host: hostname(),
  startedAt: startOf(disk, process.pid) ?? '',
  nonce: randomBytes(8).toString('hex'),
  boot: fromProc(() => bootOf(disk)) ?? '',
  pidNamespace: fromProc(() => disk.readlinkSync('/proc/self/ns/pid', 'utf8')) ?? '',
})

/** Whose a lock is; `undefined` where there is none, or what stands there was written by no owner. */
export function readOwner(disk: Disk, lockFile: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(disk.readFileSync(lockFile, 'utf8'))
    return typeof owner?.pid === 'number' ? owner : undefined
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** What judges an owner: the disk, this process, and a way to wait. */
export type LockContext = {
  disk: Disk
  file: string
  me: LockOwner
  later: Later
  log: { info(message: string): void }
}

/** Whether the owner of a lock lives. One that can't be asked is given time to touch its lock. */
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

/** Whether a process of this machine and pid namespace runs. */
function isRunning(disk: Disk, owner: LockOwner): boolean {
  if (owner.startedAt !== '' && (startOf(disk, owner.pid) ?? owner.startedAt) !== owner.startedAt)
    return false
  if (owner.pid === process.pid) return ownNonces.has(owner.nonce ?? '')
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return errnoOf(error) === 'EPERM'
  }
}

/**
 * Whether an owner touches its lock while we look. The clocks of two machines are not compared; a lock that is gone or
 * another's meanwhile has no owner to wait for.
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
