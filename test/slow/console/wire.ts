import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A proxy to a port. A test can cut all connections, restore the proxy, or stop the data of the server. */
export async function createWire(t: Test, to: number) {
  const sockets = new Map<Socket, Socket>()
  const streams = new Set<Socket>()
  let server: Server
  let port = 0
  let isMute = false
  const listen = () =>
    new Promise<void>((resolve) => {
      server = createServer((near) => {
        const far = connect(to, '127.0.0.1')
        sockets.set(near, far)
        near.on('error', () => {}).on('close', () => far.destroy())
        far.on('error', () => {}).on('close', () => near.destroy())
        near.on('close', () => sockets.delete(near) && streams.delete(near))
        near.on('data', (bytes) => {
          if (bytes.includes('/__admin/events ')) streams.add(near)
          far.write(bytes)
        })
        if (!isMute) far.pipe(near)
      })
      server.listen(port, '127.0.0.1', () => {
        port = (server.address() as AddressInfo).port
        resolve()
      })
    })
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const [near, far] of sockets) for (const socket of [near, far]) socket.destroy()
    })
  await listen()
  t.teardown(cut)
  return {
    origin: `http://127.0.0.1:${port}`,
    cut,
    restore: listen,
    /** Stops all data from the server; the connections stay open. */
    mute() {
      isMute = true
      for (const far of sockets.values()) far.pause()
    },
    /** Sends a text on the event streams, as the server would: as an HTTP chunk. */
    send(text: string) {
      for (const near of streams) near.write(`${text.length.toString(16)}\r\n${text}\r\n`)
    },
  }
}
