import { connect, createServer } from 'node:net'
import { basename, dirname } from 'node:path'
import type { Disk } from './disk.ts'
import { errnoOf, ignoreErrors } from './files.ts'

// The longest address of a Unix socket that every platform takes, bytes.
const MAX_BYTES = 103
const NONCE = /^[0-9a-f]{16}$/

/**
 * Calls a function with an address for a socket file. Where the path is too long, Linux reaches it by the descriptor of
 * its folder. `undefined`: no address is short enough.
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

/** A socket that listens for as long as its process lives: the kernel ends it with the process, and not before. */
export type OwnerSocket = { close: () => void }

/** Where an owner listens: beside the data file, under a name that no other process has. */
export function socketOf(
  file: string,
  { nonce, listens }: { nonce?: string; listens?: boolean },
): string | undefined {
  return listens === true && NONCE.test(nonce ?? '') ? `${file}.${nonce}.lock` : undefined
}

/**
 * Listens beside the data file, where sockets are possible. Nothing is said over it: that the kernel takes a connection
 * is the answer, also while the process is stopped, and in whichever namespace it runs.
 */
export function openOwnerSocket(disk: Disk, file: string, nonce: string): OwnerSocket | undefined {
  if (process.platform === 'win32') return undefined
  const path = socketOf(file, { nonce, listens: true })!
  const server = createServer((connection) => connection.destroy())
  server.on('error', () => {
    // It does not listen, which is seen below.
  })
  server.unref()
  const close = () => {
    server.close()
    ignoreErrors(() => disk.unlinkSync(path))
  }
  // Without it the owner is judged by its process number, or by how it touches its lock.
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

/** Whether a process listens on a socket; `undefined` where the kernel can't say. */
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
        // EAGAIN: so many wait to be taken already.
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
