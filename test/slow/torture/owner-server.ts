// A store and nothing else, served: POST /ID writes a row, GET / lists them. It prints its port, and ends with 3 where
// another has the file.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeDisk } from '../../../src/store/disk.ts'
import { FileInUse, LostOwnership } from '../../../src/store/errors.ts'
import { openPlain } from '../../store/plain-store.ts'

const [file] = process.argv.slice(2) as [string]
const tell = (message: string) => void process.stderr.write(`${message}\n`)

const { store } = await openPlain<{ notes: { id: string; text: string } }>(
  { notes: { id: (row) => row.id, at: () => 0, indexes: { all: () => 'all' } } },
  file,
  {
    disk: nodeDisk,
    wall: Date.now,
    compactFrom: 2_048,
    log: { info: tell, warn: tell, error: tell },
  },
).catch((error: unknown) => {
  tell(String(error))
  process.exit(error instanceof FileInUse || error instanceof LostOwnership ? 3 : 1)
})
const world = store.worlds.get('w') ?? store.addWorld('w', store.makeBase('', {}))

const server = createServer((request, response) => {
  const end = (status: number, body: unknown) =>
    response.writeHead(status).end(JSON.stringify(body))
  if (request.method === 'GET') {
    const ids = [...world.tables.notes.rows()].map(({ id }) => id)
    end(200, { ids, lost: store.lostOwnership() ?? null })
    return
  }
  request.resume()
  try {
    store.batch(() => world.put('notes', { id: request.url!.slice(1), text: 'x'.repeat(200) }))
    store.onDurable((error) => end(error ? 503 : 201, String(error ?? '')))
  } catch (error) {
    end(503, String(error))
  }
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`),
)
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  void store.close().then(() => process.exit(0))
})
