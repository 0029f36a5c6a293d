// Starts sandboxes in its own process, as a test suite does.
import { startSandbox } from '../dist/index.js'

const JOBS = {
  /** The time of each start and close, ms. */
  async startAndClose(times) {
    const took = []
    for (let i = 0; i < times; i++) {
      const start = performance.now()
      const sandbox = await startSandbox()
      await sandbox.close()
      took.push(performance.now() - start)
    }
    return took
  },
  /** Starts sandboxes at the same time. Returns their ports. */
  async startAtOnce(count) {
    const sandboxes = await Promise.all(Array.from({ length: count }, () => startSandbox()))
    return sandboxes.map(({ url }) => Number(new URL(url).port))
  },
}

process.on('message', async ([job, input]) => {
  process.send(await JOBS[job](input))
})
process.send('open')
