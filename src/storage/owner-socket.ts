import { connect, createServer } from 'node:net'
import { basename, dirname } from 'node:path'
import type { Disk } from './disk.ts'
import { errnoOf, ignoreErrors, removeFile } from './files.ts'

// The longest address of a Unix socket that every platform accepts, bytes.
const MAX_BYTES = 103
const NONCE = /^[0-9a-f]{16}$/

/**
 * Calls a function with an address of a socket file. If the path is too long, Linux can address it by the descriptor
 * of its folder. Returns `undefined` if no address is short enough.
 */
function withAddress<T>(disk: Disk, path: string, use: (address: string) => T): T | undefined {
  const fits = (address: string) => Buffer.byteLength(address) <= MAX_BYTES
  if (fits(path)) return use(path)
  if (process.platform !== 'linux') return undefined
  const folder = disk.openSync(dirname(path), 'r')
  try {
    const address = `/proc/self/fd/${folder}/${basename(path)}`
    return fits(address) ? use(address) : undefined
  } finally {
    disk.closeSync(folder)
  }
}

/** A socket that listens while its process lives: the kernel closes it with the process, and not before. */
export type OwnerSocket = { close: () => void }

/** The socket file of an owner: beside the data file, with a name that no other process uses. */
export function socketOf(
  file: string,
  { nonce, listens }: { nonce?: string; listens?: boolean },
): string | undefined {
  return listens === true && NONCE.test(nonce ?? '') ? `${file}.${nonce}.lock` : undefined
}

// The sockets of this process that it could not remove: its next try removes them.
const leftSockets = new Set<string>()

function removeSocket(disk: Disk, path: string) {
  try {
    removeFile(disk, path)
    leftSockets.delete(path)
  } catch {
    leftSockets.add(path)
  }
}

/**
 * Listens beside the data file if the platform supports it. No data is sent: a connection that the kernel accepts
 * shows that the process lives, even while it is stopped, and in any namespace.
 */
export function openOwnerSocket(disk: Disk, file: string, nonce: string): OwnerSocket | undefined {
  if (process.platform === 'win32') return undefined
  for (const left of leftSockets) removeSocket(disk, left)
  const path = socketOf(file, { nonce, listens: true })!
  const server = createServer((connection) => connection.destroy())
  server.on('error', () => {
    // It does not listen; the code below checks that.
  })
  server.unref()
  const close = () => {
    server.close()
    removeSocket(disk, path)
  }
  // Without a socket, others check the owner by its process id, or by the updates of its lock.
  ignoreErrors(() =>
    withAddress(disk, path, (address) => server.listen({ path: address, exclusive: true })),
  )
  if (!server.listening) return undefined
  try {
    disk.chmodSync(path, 0o600)
  } catch (error) {
    close()
    throw error
  }
  return { close }
}

/** Whether a process listens on a socket; `undefined` if the kernel cannot tell. */
export function isListening(disk: Disk, path: string): Promise<boolean | undefined> {
  return new Promise((resolve, reject) => {
    const ask = (address: string) => {
      const connection = connect(address)
      connection.on('connect', () => {
        connection.destroy()
        resolve(true)
      })
      connection.on('error', (error) => {
        const code = errnoOf(error)
        // EAGAIN: the queue of the listener is full.
        resolve(code === 'ECONNREFUSED' ? false : code === 'EAGAIN' ? true : undefined)
      })
      return true
    }
    try {
      if (!withAddress(disk, path, ask)) resolve(undefined)
    } catch (error) {
      reject(error)
    }
  })
}
