// Runs test files one after the other in this process. The path of each comes as a message, and an empty one at the end. A
// file ends when nothing keeps the process alive, as it does in a process of its own. Then its plan comes, such as `5..9`.
import { pathToFileURL } from 'node:url'
import t from 'tap'

// The folder of a test has its name, and two such processes may run tests of one name.
t.testdirName += `-${process.pid}`

let isLoading = false
let isRunning = false
let first = 1

// tap connects to the process at its first output, and ends with the first file. So its handler goes, and ours comes.
t.comment('shared')
process.removeAllListeners('beforeExit')
// A clean-up of the file would run after the first file only.
t.teardown = () => {
  throw new Error(
    'Give teardown to a test: in a shared process it cannot wait for the end of the file.',
  )
}
process.on('beforeExit', () => {
  // After a test that does not end, or an error outside of the tests, tap reports it and the process ends.
  if (!isRunning || isLoading || !t.idle || t.results) return
  isRunning = false
  t.jobs = 1
  const plan = first > t.count ? '1..0' : `${first}..${t.count}`
  process.stdout.write(`${plan}\n# end of file\n`)
  first = t.count + 1
  process.channel?.ref()
})

process.on('message', async (path) => {
  if (path === '') return process.disconnect()
  process.channel.unref()
  isRunning = true
  isLoading = true
  try {
    await import(pathToFileURL(path).href)
  } catch (error) {
    t.threw(error)
  }
  isLoading = false
})
process.channel.ref()
