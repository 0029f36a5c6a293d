import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Test } from 'tap'

/** The port on which a server listens until the test ends. */
export async function portOf(t: Test, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** A port on which nobody listens any more. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/** The whole response to bytes on a new connection, which no HTTP client would send. */
export async function exchange(
  port: number,
  bytes: string | Buffer,
  encoding: 'latin1' | 'utf8' = 'utf8',
): Promise<string> {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  let text = ''
  socket.setEncoding(encoding).on('data', (chunk) => {
    text += chunk
  })
  await once(socket, 'close')
  return text
}
