// Runs command lines of the built program one after the other in one process, so that a test does not start Node for each.
import { createRequire } from 'node:module'

const { main } = createRequire(import.meta.url)('../../dist/loader.cjs')
process.stdout.setMaxListeners(0)
process.stderr.setMaxListeners(0)

process.on('message', async ({ args, env, cwd }) => {
  process.env = env
  process.chdir(cwd)
  const written = { stdout: '', stderr: '' }
  for (const name of Object.keys(written))
    process[name].write = (text, ...more) => {
      written[name] += text
      // As a stream does: the function at the end is called when the text is written.
      process.nextTick(more.findLast((one) => typeof one === 'function') ?? (() => {}))
      return true
    }
  const code = await main(args, env)
  process.send({ code: process.exitCode ?? code, ...written })
  process.exitCode = undefined
})
