// node scripts/slow.mjs [PROGRAM ARGUMENT ...]: installs the packages of test/slow/package.json, unless they are there, and runs
// a program of theirs. Only the slow checks need them, so a first install goes without them.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './run.mjs'

const folder = join(root, 'test/slow')
const timeOf = (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0

// npm writes the second one at the end.
if (timeOf('package-lock.json') > timeOf('node_modules/.package-lock.json')) {
  console.log('installing the packages of test/slow: 360 MB, once')
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--loglevel=error'], { cwd: folder })
}
const [program, ...args] = process.argv.slice(2)
if (program && import.meta.filename === process.argv[1]) {
  const { status } = spawnSync(join(folder, 'node_modules/.bin', program), args, {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}
