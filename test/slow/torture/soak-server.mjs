// The shipped library in a process of its own, which tells what it holds: heap after a full collection, handles, files.
import { readdirSync } from 'node:fs'
import { startSandbox } from '../../../dist/index.js'

const [data] = process.argv.slice(2)
const sandbox = await startSandbox({ data, clock: 'frozen' })

function held() {
  // What a first pass lets go of, such as weak references, a second one collects.
  for (let pass = 0; pass < 3; pass++) gc()
  const handles = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  return {
    heap: process.memoryUsage().heapUsed,
    rss: process.memoryUsage.rss(),
    handles,
    files: readdirSync('/proc/self/fd').length,
  }
}

process.on('message', (word) => {
  if (word === 'stop') void sandbox.close().then(() => process.disconnect())
  else process.send(held())
})
process.send(Number(new URL(sandbox.url).port))
