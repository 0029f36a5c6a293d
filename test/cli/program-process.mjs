// Runs command lines of the built program one after the other in one process, so that a test does not start Node for each.
import { createRequire } from 'node:module'

const { main } = createRequire(import.meta.url)('../../dist/loader.cjs')
const OUTPUTS = [process.stdout, process.stderr]
for (const output of OUTPUTS) output.setMaxListeners(0)

process.on('message', async ({ args, env, cwd, end }) => {
  process.env = env
  process.chdir(cwd)
  const code = await main(args, env)
  const last = process.exitCode ?? code
  process.exitCode = undefined
  // A process of its own ends with the handlers of its signals.
  for (const name of process.eventNames())
    if (/^SIG/.test(String(name))) process.removeAllListeners(name)
  // The end goes the way of the output, so it arrives after it.
  for (const output of OUTPUTS) output.write(end)
  process.send({ code: last })
})

// The test has ended.
process.on('disconnect', () => process.exit())
