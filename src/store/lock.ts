import type { Stats } from 'node:fs'
import { connect, createServer } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname } from 'node:path'
import { uniqueText } from '../runtime/random.ts'
import {
  createPrivate,
  type Disk,
  errnoOf,
  ignoreErrors,
  isSameFile,
  readIfExists,
  removeFile,
  statOf,
} from './disk.ts'
import { FileInUse } from './errors.ts'

// The lock, FILE.lock, is a socket that its owner listens on: the kernel closes it with the process, and not before, so
// a paused owner lives, and a killed one is replaced at once, in any container of this machine. Where there are no such
// sockets, it is a file with the number of the process. Either is kept open, so no other file can get its inode.

type Owner = { pid: number; host: string; startedAt: string }

/** The file of a lock before it is put in its place. */
type Draft = { stats: Stats; close: () => void }

const MAX_ATTEMPTS = 20
// The longest address of a Unix socket that every platform accepts, bytes.
const MAX_ADDRESS = 103
// An owner that is paused says nothing.
const GREETING_MS = 300
// The names of the drafts of this process: the next try removes what a failed try leaves.
const DRAFT = uniqueText(12)
// The locks of this process: its pid alone does not identify it.
const ownLocks = new Set<string>()
/** Where a dead lock is put before it is removed. */
const asideOf = (path: string) => `${path}.${DRAFT}.dead`

/** The start time of a process, which tells two processes with the same number apart; empty without /proc. */
function startOf(disk: Disk, pid: number): string {
  try {
    const stat = disk.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch (error) {
    // A disk error must not make an owner look dead.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error))) return ''
    throw error
  }
}

const ownerText = (disk: Disk) =>
  JSON.stringify({ pid: process.pid, host: hostname(), startedAt: startOf(disk, process.pid) })

const describe = (owner: Owner | undefined) =>
  owner ? `process ${owner.pid} on ${owner.host}` : 'another process'

function ownerIn(text: string | undefined): Owner | undefined {
  try {
    const owner = JSON.parse(text ?? '')
    return typeof owner?.pid === 'number' ? owner : undefined
  } catch {
    return undefined
  }
}

/** Calls a function with the address of a socket file, which Linux can shorten; `undefined` if it is too long. */
function withAddress<T>(disk: Disk, path: string, use: (address: string) => T): T | undefined {
  if (Buffer.byteLength(path) <= MAX_ADDRESS) return use(path)
  if (process.platform !== 'linux') return undefined
  const folder = disk.openSync(dirname(path), 'r')
  try {
    const address = `/proc/self/fd/${folder}/${basename(path)}`
    return Buffer.byteLength(address) <= MAX_ADDRESS ? use(address) : undefined
  } finally {
    disk.closeSync(folder)
  }
}

/** Listens on a socket; `undefined` if the platform or the file system has none. */
function listenOn(disk: Disk, path: string): Draft | undefined {
  if (process.platform === 'win32') return undefined
  const greeting = ownerText(disk)
  const server = createServer((connection) => {
    connection.on('error', () => connection.destroy())
    connection.end(greeting)
  })
  // If it does not listen, the code below finds out.
  server.on('error', () => {})
  server.unref()
  ignoreErrors(() => withAddress(disk, path, (address) => server.listen({ path: address })))
  if (!server.listening) return undefined
  try {
    disk.chmodSync(path, 0o600)
    return { stats: disk.lstatSync(path), close: () => server.close() }
  } catch (error) {
    server.close()
    throw error
  }
}

function writePidFile(disk: Disk, path: string): Draft {
  const fd = createPrivate(disk, path)
  try {
    disk.writeFileSync(fd, ownerText(disk))
    return { stats: disk.fstatSync(fd), close: () => disk.closeSync(fd) }
  } catch (error) {
    ignoreErrors(() => disk.closeSync(fd))
    throw error
  }
}

/** Puts our lock in place, if there is none. The link is atomic: of two processes one succeeds. */
function place(disk: Disk, path: string): Draft | undefined {
  const draft = `${path}.${DRAFT}.tmp`
  for (const left of [draft, asideOf(path)]) removeFile(disk, left)
  for (const make of [listenOn, writePidFile]) {
    let made: Draft | undefined
    try {
      made = make(disk, draft)
      if (!made) continue
      disk.linkSync(draft, path)
      return made
    } catch (error) {
      if (made) ignoreErrors(made.close)
      if (errnoOf(error) === 'EEXIST') return undefined
      // Some file systems have sockets, but no links to them.
      if (!made || make === writePidFile) throw error
    } finally {
      ignoreErrors(() => removeFile(disk, draft))
    }
  }
  return undefined
}

/** Asks the owner of a socket who it is; `undefined`: nobody listens any more. The kernel also accepts for a paused process. */
const ask = (disk: Disk, path: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const connection = withAddress(disk, path, connect)
    if (!connection) return resolve('another process')
    let text = ''
    const end = () => {
      connection.destroy()
      resolve(describe(ownerIn(text)))
    }
    connection.setEncoding('utf8').setTimeout(GREETING_MS, end)
    connection.on('data', (more: string) => {
      text += more
    })
    connection.on('end', end)
    connection.on('error', (error) => {
      if (['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error))) resolve(undefined)
      else end()
    })
  })

/** The owner that a file with a number names; `undefined` if that process does not run. */
function runningOwner(disk: Disk, path: string): string | undefined {
  const owner = ownerIn(readIfExists(disk, path)?.toString())
  if (!owner) return undefined
  if (owner.host !== hostname())
    return `${describe(owner)}; if that process no longer runs, remove ${path}`
  if (owner.pid === process.pid) return ownLocks.has(path) ? describe(owner) : undefined
  const now = startOf(disk, owner.pid)
  if (owner.startedAt !== '' && now !== '' && now !== owner.startedAt) return undefined
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM: the process lives and belongs to another user.
    if (errnoOf(error) !== 'EPERM') return undefined
  }
  return describe(owner)
}

/** Removes the lock of a dead owner, unless another process has replaced it meanwhile. */
function removeDead(disk: Disk, path: string, dead: Stats) {
  // The inode of a dead lock can be used again.
  const isDead = (found: Stats | undefined) =>
    isSameFile(found, dead) && found?.mtimeMs === dead.mtimeMs
  if (!isDead(statOf(disk, path))) return
  const aside = asideOf(path)
  try {
    disk.renameSync(path, aside)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    throw error
  }
  try {
    if (!isDead(statOf(disk, aside))) disk.linkSync(aside, path)
  } finally {
    ignoreErrors(() => disk.unlinkSync(aside))
  }
}

/** Takes the lock of a data file, or throws `FileInUse`. Replaces the lock of a dead owner at once. */
export async function takeLock(disk: Disk, file: string) {
  const path = `${file}.lock`
  let replacedDead = false
  for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt++) {
    const found = statOf(disk, path)
    const owner = found && (found.isSocket() ? await ask(disk, path) : runningOwner(disk, path))
    if (owner !== undefined) throw new FileInUse(file, owner)
    if (found) {
      removeDead(disk, path, found)
      replacedDead = true
    }
    const mine = place(disk, path)
    if (mine) return lockOf(disk, path, mine, replacedDead)
  }
  throw new FileInUse(file, 'another process')
}

function lockOf(disk: Disk, path: string, mine: Draft, replacedDead: boolean) {
  ownLocks.add(path)
  return {
    /** Whether it replaced the lock of an owner that did not stop cleanly. */
    replacedDead,
    /** Why the lock is no longer ours; `undefined` while it is. */
    whyLost() {
      const now = statOf(disk, path)
      if (isSameFile(now, mine.stats)) return undefined
      return now ? `another process took over its lock ${path}` : `its lock ${path} was removed`
    },
    release() {
      ownLocks.delete(path)
      // Remove the lock first: another process that finds a lock without its owner treats that one as dead.
      ignoreErrors(() => {
        if (isSameFile(statOf(disk, path), mine.stats)) disk.unlinkSync(path)
      })
      ignoreErrors(mine.close)
    },
  }
}

export type Lock = ReturnType<typeof lockOf>
