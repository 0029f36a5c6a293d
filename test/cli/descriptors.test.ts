import { connect, type Socket } from 'node:net'
import t from 'tap'
import { createLog, start, until } from '../helper.ts'
import { call } from './program.ts'

t.test('connections beyond the maximum are closed, and logged once', async (t) => {
  const log = createLog()
  const { app } = await start(t, { app: { maxConnections: 4 }, sandbox: { log } })
  const origin = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const dropped = new Set<Socket>()
  const sockets = Array.from({ length: 10 }, () => {
    const socket = connect(Number(origin.port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    return socket.on('error', () => {}).once('close', () => dropped.add(socket))
  })
  await until(() => dropped.size >= 6)
  t.equal(dropped.size, 6)
  t.match(log.lines, [/A connection was rejected because 4 connections are open/])
  for (const socket of sockets) socket.destroy()
  await until(() => dropped.size === 10)
  t.equal((await call(`${origin.origin}/__admin/health`)).status, 200, 'it answers again')
})
